"""The board of the price and worth of an arrow."""

from dataclasses import fields, replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.boards.network import (
    MOST_CELLS,
    STOPS,
    CuratorArrows,
    PublicArrows,
    arrow_headline,
    arrow_name,
    arrow_worth,
    clear_changes,
    verdict,
)
from dpbayes.experiments.arrows import ArrowErrors, Change
from dpbayes.sources.named_networks import empty_over, load_named, naive_bayes_over

ASIA, CPTS = load_named("asia")
STATES = dict(zip(ASIA.names, ASIA.states, strict=True))
PUBLIC = PublicArrows(ASIA, CPTS, ASIA, 1_000, "the published probabilities of Asia")
TABLE = CuratorArrows(dp.sample_dataset(ASIA, CPTS, 2_000, np.random.default_rng(3)), ASIA)


def test_the_picture_has_the_numbers_of_the_study():
    errors, frame = PUBLIC.study.at(1.0), arrow_worth(PUBLIC).frames_at("1")[0]
    traces = frame.figures["worth"].data
    names = [arrow_name(change) for change in errors.changes]
    assert frame.figures["worth"].layout["yaxis"]["ticktext"] == names
    for k, (change, net) in enumerate(zip(errors.changes, errors.worths, strict=True)):
        teaches, left, price, interval = traces[4 * k : 4 * k + 4]
        assert (teaches["x"][1], left["x"][1], frame.numbers[names[k]]) == (change.limit, net.value, net.value)
        assert price["x"][1] - price["x"][0] == pytest.approx(change.limit - min(max(net.value, 0.0), change.limit))
        assert interval["x"].mean() == pytest.approx(net.value)
    assert frame.numbers["error"] == errors.error.value
    frame.figures["worth"].to_plotly()  # refuses a property that Plotly does not know


def test_the_axis_stays_while_epsilon_moves_and_is_extended_for_a_bar_that_leaves_it():
    view = arrow_worth(PUBLIC)
    figures = [view.frames_at(stop)[0].figures["worth"] for stop in ("0.1", "1", "100")]
    axes = [figure.layout["xaxis"]["range"] for figure in figures]
    assert axes[1] == axes[2]
    assert axes[0][0] < axes[1][0]
    for figure, (low, high) in zip(figures, axes, strict=True):
        assert all(low < end < high for trace in figure.data for end in trace["x"])


def test_the_errors_of_a_graph_are_the_same_before_and_after_an_arrow_is_drawn():
    arrow = ("either", "dysp")
    without = replace(PUBLIC, network=ASIA.without_edge(*arrow)).study.at(1.0)
    added = next(k for k, change in enumerate(without.changes) if change.is_added and change.arrow == arrow)
    drawn = PUBLIC.study.at(1.0)
    removed = next(k for k, change in enumerate(drawn.changes) if change.arrow == arrow)
    np.testing.assert_allclose(without.changed[added], drawn.drawn)
    np.testing.assert_allclose(drawn.changed[removed], without.drawn)


def test_every_arrow_is_worth_more_at_large_epsilon_and_noise_hides_it_at_small_epsilon():
    view = arrow_worth(PUBLIC)
    assert "no arrow makes a clear difference" in view.frames_at("0.01")[0].headline
    assert "without smoke → lung the error would fall" in view.frames_at("0.1")[0].headline
    for stop in ("1", "10"):
        frame = view.frames_at(stop)[0]
        assert frame.headline.startswith(f"ε = {stop}: without bronc → dysp the error would rise")
    assert not clear_changes(PUBLIC.study.at(0.01))
    assert len(clear_changes(PUBLIC.study.at(10.0))) > len(clear_changes(PUBLIC.study.at(1.0)))


def test_the_best_arrow_to_add_to_columns_without_arrows_is_named():
    empty = arrow_worth(replace(PUBLIC, network=empty_over(STATES))).frames_at("1")[0]
    assert empty.headline.startswith("ε = 1: with bronc → dysp the error would fall from ")
    assert set(empty.numbers) == {"error", *(name for name in empty.numbers if name.startswith("add "))}
    bayes = arrow_worth(replace(PUBLIC, network=naive_bayes_over(STATES, "dysp"))).frames_at("1")[0]
    assert "without dysp → bronc the error would rise" in bayes.headline
    assert "2 not, " in bayes.notes[1]


def errors_of(*worths: float, added: bool = False) -> ArrowErrors:
    """The errors of a graph in which each arrow saves so much, exactly."""
    sign = -1 if added else 1
    changes = tuple(Change((f"a{k}", f"b{k}"), added, ASIA, 0.0) for k in range(len(worths)))
    return ArrowErrors(changes, np.full(4, 0.5), np.array([np.full(4, 0.5 + sign * worth) for worth in worths]))


@pytest.mark.parametrize(
    ("errors", "headline", "counted"),
    [
        (
            errors_of(0.1, -0.2),
            "without a1 → b1 the error would fall from 0.5 to 0.3.",
            "2 arrows: 1 worth the noise, 1 not, 0 without a clear difference.",
        ),
        (
            errors_of(0.001),
            "no arrow makes a clear difference to the error (0.5).",
            "1 arrow: 0 worth the noise, 0 not, 1 without a clear difference.",
        ),
        (
            errors_of(0.1, added=True),
            "with a0 → b0 the error would fall from 0.5 to 0.4.",
            "No arrow",
        ),
        (
            errors_of(-0.1, added=True),
            "with a0 → b0 the error would rise from 0.5 to 0.6.",
            "No arrow",
        ),
    ],
)
def test_the_headline_is_the_largest_clear_difference(errors: ArrowErrors, headline: str, counted: str):
    assert arrow_headline(errors, 1.0) == f"ε = 1: {headline}"
    assert verdict(errors).startswith(counted)


@pytest.mark.parametrize(
    ("worth", "added", "headline"),
    [
        (0.1, True, "without a0 → b0 the error rises from 0.4 to 0.5."),
        (0.1, False, "with a0 → b0 the error falls from 0.6 to 0.5."),
        (-0.1, False, "with a0 → b0 the error rises from 0.4 to 0.5."),
        (0.0, True, "without a0 → b0 the error stays at about 0.5: no clear difference."),
    ],
)
def test_the_headline_answers_the_last_action_whatever_is_larger(worth: float, added: bool, headline: str):
    assert arrow_headline(errors_of(worth, 0.2, added=added), 1.0, ("a0", "b0")) == f"ε = 1: {headline}"


def test_the_last_arrow_has_a_row_and_records_propose_arrows_only_on_request():
    arrow, network = ("asia", "tub"), ASIA.without_edge("asia", "tub")
    changes = replace(TABLE, network=network, last=arrow).study.changes
    assert [change.arrow for change in changes if change.is_added] == [arrow]
    proposed = replace(TABLE, network=ASIA.without_edge("bronc", "dysp"), proposes=True).study.changes
    assert ("bronc", "dysp") in {change.arrow for change in proposed if change.is_added}


def test_only_the_board_of_a_table_is_private():
    assert not arrow_worth(PUBLIC).board.private
    private = arrow_worth(TABLE)
    assert private.board.private
    assert "not private (curator view)" in private.frames_at("1")[0].captions["worth"]
    assert "table" not in {field.name for field in fields(PublicArrows)}


def test_a_true_arrow_is_worth_it_in_a_table_too():
    worths = {change.arrow: worth.value for change, worth in zip(*vars_of(TABLE, 10.0), strict=True)}
    assert worths["bronc", "dysp"] == max(worths.values()) > 0.01


def vars_of(inputs: CuratorArrows, epsilon: float):
    errors = inputs.study.at(epsilon)
    return errors.changes, errors.worths


def test_all_stops_fit_into_a_small_block_and_a_large_network_has_fewer():
    board = arrow_worth(PUBLIC).complete()
    assert set(board.frames) == set(STOPS)
    assert len(board.block()) < 100_000
    sachs, cpts = load_named("sachs")
    assert sachs.cell_count > MOST_CELLS
    view = arrow_worth(PublicArrows(sachs, cpts, sachs, 1_000, "the published probabilities of Sachs"))
    slider = view.with_frames({}, "2.5").slider
    assert slider is not None
    assert slider.stops == ("0.01", "0.1", "1", "2.5", "10", "100")


def test_a_name_with_markup_stays_text():
    names = ["<b>a</b>", "c"]
    network = dp.Network.from_edges(names, [("<b>a</b>", "c")])
    frame = arrow_worth(PublicArrows(network, np.array([0.5, 0.5, 0.9, 0.1, 0.1, 0.9]), network, 1_000, "x")).frames_at(
        "1"
    )[0]
    assert "<" not in frame.figures["worth"].layout["yaxis"]["ticktext"][0]
