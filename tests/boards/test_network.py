"""The board of the price and worth of an arrow."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.boards.network import (
    ERROR,
    MOST_CELLS,
    STOPS,
    CuratorArrows,
    PublicArrows,
    arrow_worth,
    clear_changes,
    whole_gain,
)
from dpbayes.experiments.arrows import ArrowErrors, Change
from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.sources.named_networks import empty_over, load_named, naive_bayes_over

ASIA, CPTS = load_named("asia")
STATES = dict(zip(ASIA.names, ASIA.states, strict=True))
PUBLIC = PublicArrows(ASIA, PriorRule(), 1, None, ASIA, CPTS, 1_000, "the published probabilities of Asia")
RECORDS = dp.sample_dataset(ASIA, CPTS, 2_000, np.random.default_rng(3))
TABLE = CuratorArrows(ASIA, PriorRule(), 1, None, RECORDS)


def test_the_picture_has_the_numbers_of_the_study():
    errors, frame = PUBLIC.study.at(1.0), arrow_worth(PUBLIC).frames_at("1")[0]
    taught, *looks, ends, _, names, words = frame.figures["worth"].data
    net = ends["x"]
    rows = [(100 * one.limit, 100 * net.value) for one, net in zip(errors.changes, errors.worths, strict=True)]
    order = sorted(range(len(rows)), key=lambda k: -rows[k][1])
    assert names["text"][1:] == [errors.changes[k].name for k in order], "what saves most is the first"
    np.testing.assert_allclose([taught["x"][1:], net[1:]], np.transpose([rows[k] for k in order]))
    clear = [k in clear_changes(errors) for k in order]
    for text, name, saved, is_clear in zip(words["text"][1:], names["text"][1:], net[1:], clear, strict=True):
        assert frame.numbers[name] == saved
        assert [float(number) for number in re.findall(r"\d+\.\d", text)][:1] == [round(abs(saved), 1)] * is_clear
    assert frame.numbers["error"] == 100 * errors.error.value
    assert not all(clear)
    assert [bars["name"] for bars in looks if bars["showlegend"]] == ["saves at this ε"]
    assert looks[0]["x"][1:].tolist() == np.where(clear, net[1:], 0).tolist(), "no bar without a clear difference"
    frame.figures["worth"].to_plotly()  # refuses a property that Plotly does not know


def test_the_headline_compares_the_whole_graph_with_no_arrows_over_the_same_tables():
    errors, empty = PUBLIC.study.at(1.0), replace(PUBLIC, network=empty_over(STATES))
    np.testing.assert_allclose(PUBLIC.bare.at(1.0).drawn, empty.study.at(1.0).drawn)
    headline = arrow_worth(PUBLIC).frames_at("1")[0].headline
    before = f"{100 * empty.study.at(1.0).error.value:.1f}"
    assert headline == f"ε = 1: the 8 arrows lower {ERROR} from {before} to 2.8 percentage points."
    *_, names, words = arrow_worth(PUBLIC).frames_at("1")[0].figures["worth"].data
    assert (names["text"][0], words["text"][0]) == ("all drawn arrows", f"<b>error {before} → 2.8</b>")
    assert round(errors.error.value, 3) == 0.028


def test_the_axis_stays_while_epsilon_moves_and_is_extended_for_a_bar_that_leaves_it():
    view = arrow_worth(PUBLIC)
    figures = [view.frames_at(stop)[0].figures["worth"] for stop in ("0.1", "1", "100")]
    axes = [figure.layout["xaxis"]["range"] for figure in figures]
    assert axes[1] == axes[2]
    assert axes[0][0] < axes[1][0]
    for figure, (low, high) in zip(figures, axes, strict=True):
        assert all(low < end < high for trace in figure.data[:5] for end in trace["x"])


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
    assert view.frames_at("0.01")[0].headline.startswith(f"ε = 0.01: no clear difference: {ERROR} with the 8 arrows")
    assert "the 8 arrows raise the mean error" in view.frames_at("0.05")[0].headline
    harm = view.frames_at("0.1")[0]
    assert harm.figures["worth"].data[-1]["text"][-1] == "<b>loses 3.3</b>"
    assert "smoke → lung costs more than it saves: without it, the error is 3.3 " in harm.captions["worth"]
    for stop in ("1", "10"):
        frame = view.frames_at(stop)[0]
        assert "the 8 arrows lower the mean error" in frame.headline
        taken = {"1": "0.3", "10": "0.1"}[stop]
        assert f"that bronc → dysp saves without noise, noise and few records take {taken}." in frame.captions["worth"]
    assert not clear_changes(PUBLIC.study.at(0.01))
    assert len(clear_changes(PUBLIC.study.at(10.0))) > len(clear_changes(PUBLIC.study.at(1.0)))


def test_the_best_arrow_to_add_to_columns_without_arrows_is_named():
    empty = arrow_worth(replace(PUBLIC, network=empty_over(STATES))).frames_at("1")[0]
    assert empty.headline.startswith(f"ε = 1: without arrows, {ERROR} is 5.7 percentage points.")
    assert empty.figures["worth"].data[-2]["text"][0] == "add bronc → dysp"
    assert set(empty.numbers) == {"error", *(name for name in empty.numbers if name.startswith("add "))}
    assert empty.notes[1:] == ("Draw an arrow to see what it saves.",)
    alone = dp.Network.from_edges(["asia"], [], {"asia": STATES["asia"]})
    _, note = arrow_worth(replace(PUBLIC, network=alone)).frames_at("1")[0].notes
    assert note.startswith("No arrow between these columns")
    bayes = arrow_worth(replace(PUBLIC, network=naive_bayes_over(STATES, "dysp"))).frames_at("1")[0]
    assert "<b>loses " in bayes.figures["worth"].data[-1]["text"][-4]


def errors_of(*worths: float, added: bool = False) -> ArrowErrors:
    """The errors of a graph in which each arrow saves so much, exactly."""
    sign = -1 if added else 1
    changes = tuple(Change((f"a{k}", f"b{k}"), added, ASIA, worth) for k, worth in enumerate(worths))
    return ArrowErrors(changes, np.full(4, 0.5), np.array([np.full(4, 0.5 + sign * worth) for worth in worths]))


@pytest.mark.parametrize(
    ("arrows", "bare", "gain"),
    [
        (1, 0.5005, f"no clear difference: {ERROR} with the arrow is 50.00 points."),
        (0, 0.5, f"without arrows, {ERROR} is 50.0 percentage points."),
        (1, 0.6, f"the arrow lowers {ERROR} from 60.0 to 50.0 percentage points."),
        (2, 0.0046, f"the 2 arrows raise {ERROR} from 0.46 to 50.00 percentage points."),
    ],
)
def test_the_gain_of_all_arrows_has_equal_decimals(arrows: int, bare: float, gain: str):
    assert whole_gain(arrows, errors_of(), ArrowErrors((), np.full(4, bare), np.empty((0, 4)))) == gain


def test_the_last_arrow_has_a_row_and_the_records_propose_arrows():
    arrow, network = ("asia", "tub"), ASIA.without_edge("asia", "tub").without_edge("bronc", "dysp")
    changes = replace(TABLE, network=network, last=arrow).study.changes
    assert {change.arrow for change in changes if change.is_added} >= {arrow, ("bronc", "dysp")}


def test_an_arrow_between_independent_columns_is_never_worth_it():
    """At a small epsilon it lowers the error: to uniform probabilities, which are nearer than any release."""
    states = {name: tuple("abcde") for name in "xy"}
    network = dp.Network.from_edges("xy", ["xy"], states)
    records = dp.sample_dataset(network, np.full(30, 0.2), 500, np.random.default_rng(1))
    arrows = replace(TABLE, network=network, table=records)
    for epsilon, is_saved in ((0.01, True), (1.0, False), (100.0, False)):
        errors, frame = arrows.study.at(epsilon), arrow_worth(arrows).frames_at(str(epsilon))[0]
        assert errors.changes[0].limit == pytest.approx(0, abs=1e-12)
        assert (errors.worths[0].value > 3 * errors.worths[0].error) == is_saved
        assert clear_changes(errors) == ([] if is_saved else [0])
        assert "a larger mean error than a guess" in frame.headline if is_saved else "raises" in frame.headline


def test_only_the_board_of_a_table_is_private():
    assert not arrow_worth(PUBLIC).board.private
    assert arrow_worth(TABLE).board.private
    assert "table" not in {field.name for field in fields(PublicArrows)}


def test_a_true_arrow_is_worth_it_in_a_table_too():
    errors = TABLE.study.at(10.0)
    worths = {change.arrow: worth.value for change, worth in zip(errors.changes, errors.worths, strict=True)}
    assert worths["bronc", "dysp"] == max(worths.values()) > 0.01


def test_all_stops_fit_into_a_small_block_and_a_large_network_has_fewer():
    board = arrow_worth(PUBLIC).complete()
    assert set(board.frames) == set(STOPS)
    assert len(board.block()) < 100_000
    sachs, cpts = load_named("sachs")
    assert sachs.cell_count > MOST_CELLS
    view = arrow_worth(replace(PUBLIC, network=sachs, source=sachs, probabilities=cpts))
    slider = view.with_frames({}, "2.5").slider
    assert slider is not None
    assert slider.stops == ("0.01", "0.1", "1", "2.5", "10", "100")


def test_a_name_with_markup_stays_text():
    names = ["<b>a</b>", "c"]
    network = dp.Network.from_edges(names, [("<b>a</b>", "c")])
    probabilities = np.array([0.5, 0.5, 0.9, 0.1, 0.1, 0.9])
    public = replace(PUBLIC, network=network, source=network, probabilities=probabilities)
    frame = arrow_worth(public).frames_at("1")[0]
    (name,), (word,) = (trace["text"] for trace in frame.figures["worth"].data[-2:])  # no row of all drawn arrows
    assert "<" not in name
    before, after = re.findall(r"\d+\.\d+", frame.headline)
    assert word == f"<b>error {before} → {after}</b>", "one arrow has the numbers of the headline"
