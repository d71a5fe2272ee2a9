"""The board of all mechanisms: errors on one table and on planned tables."""

from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.looks import Look
from dpbayes.base.validation import InputError
from dpbayes.boards.comparison import GRID, ComparisonInputs, comparison, comparison_headline
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


def test_the_headline_names_a_tie_and_whether_a_delta_is_needed():
    rng = np.random.default_rng(0)
    a, b = Look("A", "#000000"), Look("B", "#000000")
    errors = {a: 0.1 + 0.001 * rng.normal(size=40), b: 0.5 + 0.001 * rng.normal(size=40)}
    assert comparison_headline(errors, {}, 1.0) == "A has the least error: 0.0999 percentage points."
    tied = errors | {b: errors[a] + 0.0005}
    assert comparison_headline(tied, {}, 1.0).endswith(", tied with B.")
    assert "all errors are large" in comparison_headline(tied, {}, 0.1)
    with_delta = {Look("C", "#000000"): np.full(40, 0.01)}
    assert "A has the least error without a δ" in comparison_headline(errors, with_delta, 1.0)
    assert "C has the least error: " in comparison_headline({}, with_delta, 1.0)
    assert "all errors" not in comparison_headline(tied, with_delta, 0.1)


def test_the_advice_is_about_all_epsilons_and_says_what_needs_a_delta():
    levels = np.full(len(GRID), 0.2), np.geomspace(0.1, 1, len(GRID)), np.full(len(GRID), 0.05)
    looks = [Look(name, "#000000") for name in ("A", "B", "C")]
    few = replace(INPUTS, deltas={"C": 0.01})
    few.__dict__["errors"] = {look: np.tile(level[:, None], 4) for look, level in zip(looks, levels, strict=True)}
    assert "choose A, best or tied for best at most values of ε." in few.advice
    assert "With a δ, C is clearly better than all without one at most values of ε." in few.advice


@pytest.mark.parametrize("stop", ["10", "9"])
def test_the_board_states_the_simulated_epsilon_and_draws_its_errors(stop):
    frame = comparison(INPUTS).frames_at(stop)[0]
    assert ("nearest simulated" in frame.headline) == (stop == "9")
    assert "ε = 10" in frame.headline
    errors = INPUTS.errors[LOOKS[dp.LaplaceUpdates]][GRID.index(10.0)]
    assert frame.numbers["Laplace"] == pytest.approx(float(errors.mean()))
    bars = frame.figures["here"].to_plotly().data[0]
    shown = dict(zip(bars.y, bars.x, strict=True))
    for name, error in frame.numbers.items():
        assert shown[name] == pytest.approx(error)
    assert shown["No release"] == pytest.approx(INPUTS.blind)
    assert min(frame.numbers, key=frame.numbers.__getitem__) in frame.headline


def test_mechanisms_with_and_without_a_delta_are_groups_of_rows_and_the_axis_stays():
    delta = {dp.GaussianUpdates.label: 0.01, dp.GaussianResiduals.label: 0.01}
    figures = [comparison(replace(INPUTS, deltas=delta)).frames_at(stop)[0].figures["here"] for stop in ("0.1", "100")]
    for figure in (figure.to_plotly() for figure in figures):
        bars, rows = figure.data[0], [*figure.layout.yaxis.categoryarray]
        place = rows.index("With δ = 0.01, a weaker promise")
        assert rows[0] == "Pure ε (no δ)"
        assert {*delta} == {*rows[place + 1 : place + 3]}
        assert rows[place + 3 :] == ["For comparison", "No release"]
        assert [row for row in rows if row in bars.y] == list(bars.y)
    assert len({str(figure.layout["yaxis"]["categoryarray"]) for figure in figures}) == 1
    assert figures[0].layout["xaxis"]["range"] == figures[1].layout["xaxis"]["range"]


def test_planned_tables_do_not_depend_on_a_table():
    assert not hasattr(PLANNED.tables, "counts")
    assert [comparison(inputs).board.private for inputs in (INPUTS, PLANNED)] == [True, False]
    tables = PLANNED.tables.of(4)
    assert isinstance(tables, Counts)
    assert (tables.values[0] != tables.values[1]).any()
    first, second = (comparison(replace(PLANNED)).complete().block() for _ in range(2))
    assert first == second
