"""The board of all mechanisms: errors on one table and on planned tables."""

from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import Look
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError
from dpbayes.boards.against_epsilon import GRID
from dpbayes.boards.comparison import IDLE, ComparisonInputs, comparison, comparison_advice, comparison_headline
from dpbayes.experiments.planned_tables import PlannedTables, TrueTable
from dpbayes.mechanisms import PRIVATE
from dpbayes.model.dataset import Counts

NETWORK, CPTS = dp.load_named("sprinkler")
TABLE = dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(1))
COUNTS = dp.count(NETWORK, TABLE)


def at(kind):
    return lambda epsilon: kind(prior=NETWORK, epsilon=epsilon)


LOOKS = {kind: Look(kind.label, kind.colour) for kind in PRIVATE}
INPUTS = ComparisonInputs({look: at(kind) for kind, look in LOOKS.items()}, TrueTable(COUNTS))
PLANNED = replace(INPUTS, tables=PlannedTables(NETWORK, CPTS, 1000))


def test_a_mechanism_that_cannot_be_used_is_named_with_the_reason():
    def never(epsilon):
        raise InputError("This mechanism needs binary nodes.")

    gone = Look("gone", "#000000")
    few = replace(INPUTS, mechanisms={LOOKS[dp.LaplaceUpdates]: at(dp.LaplaceUpdates), gone: never})
    assert [look.name for look in few.errors] == ["Laplace"]
    (frame,) = comparison(few).frames_at("1")
    assert frame.notes[-1:] == ("gone is missing. This mechanism needs binary nodes.",)
    with pytest.raises(InputError, match="No mechanism"):
        comparison(replace(INPUTS, mechanisms={gone: never})).frames_at("1")


A, B, C = (Look(name, "#000000") for name in "ABC")
ERRORS = {A: 0.1 + 0.001 * np.random.default_rng(0).normal(size=40)}
TIE, WORSE = ERRORS | {B: ERRORS[A] + 0.0005}, ERRORS | {B: ERRORS[A] + 0.4}


def test_the_headline_names_the_shortest_bar_and_a_tie():
    assert comparison_headline(WORSE, 1.0) == "A has the least error: 0.0999 percentage points."
    assert comparison_headline(TIE, 1.0).endswith(", tied with B.")
    assert "all errors are large" in comparison_headline(TIE, 0.1)


def test_a_tie_is_an_overlap_of_the_drawn_intervals_and_nearly_no_release_is_a_share():
    drawn, blind = 2 * float(standard_error(ERRORS[A])), float(ERRORS[A].mean())
    both = [ERRORS | {B: ERRORS[A] + apart * drawn} for apart in (1.9, 2.1)]
    assert ["tied" in comparison_headline(errors, 1.0) for errors in both] == [True, False]
    assert [len(comparison_advice(ERRORS, "", share * blind)) for share in (1.02, 1.04)] == [2, 1]


def test_the_advice_needs_a_delta_only_where_it_is_clearly_better_and_names_what_is_like_no_release():
    assert comparison_advice(WORSE, "A", 1.0) == ["So: choose A if a δ is allowed, otherwise B."]
    assert comparison_advice(WORSE, "B", 0.5) == ["So: choose A.", f"B is {IDLE}."]
    assert comparison_advice(TIE, "A", 1.0) == ["So: choose B, which needs no δ."]
    assert comparison_advice(TIE, "", 1.0) == ["So: choose A or B."]
    large = ["So: choose a larger ε.", f"A and B are {IDLE}."]
    assert comparison_advice(TIE, "AB", 0.1) == large


@pytest.mark.parametrize("stop", ["10", "9"])
def test_the_board_states_the_simulated_epsilon_and_draws_its_errors(stop):
    frame = comparison(INPUTS).frames_at(stop)[0]
    assert ("nearest simulated" in frame.headline) == (stop == "9")
    assert "ε = 10" in frame.headline
    errors = INPUTS.errors[LOOKS[dp.LaplaceUpdates]][GRID.index(10.0)]
    assert frame.numbers["Laplace"] == pytest.approx(float(errors.mean()))
    bars, limit, texts, _ = frame.figures["here"].to_plotly().data
    assert f"<b>Laplace: {numeral(frame.numbers['Laplace'])}</b><br>{dp.LaplaceUpdates.summary}" in texts.text
    assert list(bars.x) == pytest.approx([frame.numbers[look.name] for look in INPUTS.errors])
    assert (limit.name, *limit.x) == (f"no release: {numeral(INPUTS.blind)}", INPUTS.blind, INPUTS.blind)
    assert min(frame.numbers, key=frame.numbers.__getitem__) in frame.headline
    pale = {look for look, colour in zip(INPUTS.errors, bars.marker.color, strict=True) if colour != look.colour}
    assert [look.name in "".join(frame.notes[1:]) for look in INPUTS.errors] == [look in pale for look in INPUTS.errors]


def test_rows_state_their_delta_and_neither_their_order_nor_the_axis_changes():
    deltas = {dp.GaussianUpdates.label: 0.01}
    figures = [comparison(replace(INPUTS, deltas=deltas)).frames_at(stop)[0].figures["here"] for stop in ("0.1", "100")]
    rows = [[text.split(":")[0] for text in figure.data[2]["text"]] for figure in figures]
    assert rows[0] == rows[1]
    assert [row for row in rows[0] if "δ" in row] == ["<b>Gaussian (δ = 0.01)"]
    assert figures[0].layout["xaxis"]["range"] == figures[1].layout["xaxis"]["range"]


def test_planned_tables_do_not_depend_on_a_table():
    assert not hasattr(PLANNED.tables, "counts")
    assert [comparison(inputs).board.private for inputs in (INPUTS, PLANNED)] == [True, False]
    tables = PLANNED.tables.of(4)
    assert isinstance(tables, Counts)
    assert (tables.values[0] != tables.values[1]).any()
    first, second = (comparison(replace(PLANNED)).complete().block() for _ in range(2))
    assert first == second
