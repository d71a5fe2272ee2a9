"""The board of Explore: its numbers, its frame at every epsilon, and what a recipient's board can contain."""

import re
from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.boards.explore import (
    DRAWN,
    SHOWN,
    STOPS,
    CuratorInputs,
    RecipientInputs,
    explore,
    explore_release,
    question_about,
)
from dpbayes.figures.posterior import PRIOR_ALONE

NETWORK, CPTS = dp.load_named("asia")
TABLE = dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(1))
COUNTS = dp.count(NETWORK, TABLE)
CELL = [NETWORK.cell_label(cell) for cell in range(NETWORK.cell_count)].index("bronc=yes | smoke=yes")


def laplace_at(epsilon: float) -> dp.LaplaceUpdates:
    return dp.LaplaceUpdates(prior=NETWORK, epsilon=epsilon)


INPUTS = CuratorInputs(laplace_at, COUNTS, question_about(NETWORK, CELL))


def layout_of(view, stop: str, key: str = "posterior") -> dict:
    return view.frames_at(stop)[0].figures[key].layout


def test_the_headline_states_the_range_of_answers():
    """Against the limits of 3,000 other releases, which vary by .002; those of the board's 400 vary by .005."""
    frame = explore(INPUTS).frames_at("1")[0]
    releases = laplace_at(1).release(COUNTS, np.random.default_rng(7), (3000,))
    answers = releases.noise_aware_cells(np.array([CELL])).mean[:, 0]
    assert frame.numbers["low"] == pytest.approx(np.quantile(answers, 0.025), abs=0.02)
    assert frame.numbers["high"] == pytest.approx(np.quantile(answers, 0.975), abs=0.02)
    numbers = [float(number) for number in re.findall(r"0\.\d+", frame.headline)]
    stated = [frame.numbers[name] for name in ("exact", "low", "high")]
    assert numbers == pytest.approx(stated, abs=0.005)


def test_a_naive_reader_gets_other_answers_than_a_noise_aware_one():
    aware, naive = (explore(replace(INPUTS, is_noise_aware=flag)).frames_at("0.1")[0] for flag in (True, False))
    assert aware.numbers["exact"] == naive.numbers["exact"]
    assert aware.numbers["low"] != naive.numbers["low"]


def test_the_frame_of_the_large_picture_does_not_move():
    view = explore(INPUTS)
    layouts = [layout_of(view, stop) for stop in ("0.01", "0.1", "1", "100")]
    assert len({tuple(layout["xaxis"]["range"]) for layout in layouts}) == 1
    assert len({tuple(layout["yaxis"]["range"]) for layout in layouts}) == 1


@pytest.mark.parametrize(("stop", "is_prior"), [("0.01", True), ("1", False), ("100", False)])
def test_the_picture_says_where_nothing_is_learned(stop: str, is_prior: bool):
    texts = [note["text"] for note in layout_of(explore(INPUTS), stop)["annotations"]]
    assert any(PRIOR_ALONE in text for text in texts) == is_prior


def test_draw_another_shows_another_of_the_same_releases():
    frames = explore(INPUTS).frames_at("1")
    assert len(frames) == DRAWN
    dots = [frame.figures["posterior"].data[-2]["x"] for frame in frames]
    assert all(np.array_equal(one, dots[0]) and len(one) == SHOWN for one in dots)
    filled = [float(frame.figures["posterior"].data[-1]["x"][0]) for frame in frames]
    assert filled == [float(x) for x in dots[0][:DRAWN]]


def test_the_bounds_of_theorem_1_stand_beside_laplace_releases_alone():
    names = [trace["name"] for trace in explore(INPUTS).frames_at("1")[0].figures["divergence"].data]
    assert {"proved bound", "as the paper states"} <= set(names)
    other = replace(INPUTS, mechanism_at=lambda epsilon: dp.GaussianUpdates(prior=NETWORK, epsilon=epsilon, delta=1e-5))
    names = [trace["name"] for trace in explore(other).frames_at("1")[0].figures["divergence"].data]
    assert not {"proved bound", "as the paper states"} & set(names)


def test_accuracy_is_shown_where_there_are_records():
    view = explore(replace(INPUTS, table=TABLE, target="bronc"))
    assert [panel.key for panel in view.board.panels] == ["posterior", "divergence", "signs", "accuracy"]
    assert "accuracy" in view.frames_at("1")[0].figures
    assert "accuracy" not in explore(INPUTS).frames_at("1")[0].figures


def test_names_are_text_in_the_picture():
    network = dp.Network.from_edges(["<b>rain</b>"], [])
    counts = dp.Counts(network, np.array([70, 30]), 100)
    inputs = CuratorInputs(
        lambda epsilon: dp.LaplaceUpdates(prior=network, epsilon=epsilon), counts, question_about(network, 1)
    )
    view = explore(inputs)
    assert layout_of(view, "1")["xaxis"]["title"]["text"] == "probability of &lt;b&gt;rain&lt;/b&gt;=yes"
    assert view.board.title == "Probability of <b>rain</b>=yes"


def test_the_board_has_a_frame_for_every_stop():
    board = explore(INPUTS).complete()
    assert sorted(map(float, board.frames)) == sorted(STOPS)
    assert len(board.block()) < 400_000


# The recipient's seat


def test_a_recipients_board_follows_from_releases_alone():
    """Two tables with the same releases have the same board, byte by byte."""
    other = dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(2))
    releases = {
        epsilon: laplace_at(epsilon).release(COUNTS, np.random.default_rng(1), (1,)) for epsilon in (0.1, 1.0, 10.0)
    }
    assert dp.count(NETWORK, other).digest != COUNTS.digest

    def board_of(table):
        counts = dp.count(NETWORK, table)
        assert counts.n == 1000
        view = explore_release(RecipientInputs(releases.__getitem__, question_about(NETWORK, CELL)))
        return view.with_frames({stop: view.frames_at(stop) for stop in ("0.1", "1", "10")})

    assert board_of(TABLE).to_html() == board_of(other).to_html()


def test_a_recipients_board_has_one_release_and_nothing_exact():
    release = laplace_at(1).release(COUNTS, np.random.default_rng(1), (1,))
    view = explore_release(RecipientInputs(lambda epsilon: release, question_about(NETWORK, CELL)))
    (frame,) = view.frames_at("1")
    assert list(frame.figures) == ["posterior"]
    names = [trace["name"] for trace in frame.figures["posterior"].data]
    assert "the table itself (not public)" not in names
    assert len(frame.figures["posterior"].data[-2]["x"]) == 1
    assert not view.board.private
