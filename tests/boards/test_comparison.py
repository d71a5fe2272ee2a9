"""The board of all mechanisms: errors on one table and on planned tables."""

from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.looks import Look
from dpbayes.base.validation import InputError
from dpbayes.boards.comparison import (
    GRID,
    ComparisonInputs,
    comparison,
    comparison_headline,
)
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
    assert [curve.look.name for curve in few.curves] == ["Laplace"]
    (frame,) = comparison(few).frames_at("1")
    assert frame.notes[-1:] == ("gone is missing. This mechanism needs binary nodes.",)
    with pytest.raises(InputError, match="No mechanism"):
        comparison(replace(INPUTS, mechanisms={gone: never})).frames_at("1")


def test_the_headline_names_a_tie():
    rng = np.random.default_rng(0)
    a, b = Look("A", "#000000"), Look("B", "#000000")
    errors = {a: 0.1 + 0.001 * rng.normal(size=40), b: 0.5 + 0.001 * rng.normal(size=40)}
    (finding, advice), (tie, doubt) = (
        comparison_headline(errors, 1.0),
        comparison_headline(errors | {b: errors[a] + 0.0005}, 0.1),
    )
    assert "difference" not in finding
    assert "choose A." in advice
    assert "no clear difference between A and B" in tie
    assert "larger ε" in doubt


@pytest.mark.parametrize("stop", ["10", "9"])
def test_the_board_marks_and_states_the_simulated_epsilon(stop):
    frame = comparison(INPUTS).frames_at(stop)[0]
    assert frame.figures["errors"].layout["shapes"][0]["x0"] == 10
    assert ("nearest simulated" in frame.headline) == (stop == "9")
    assert "ε = 10" in frame.headline
    errors = INPUTS.errors[LOOKS[dp.LaplaceUpdates]][GRID.index(10.0)]
    assert frame.numbers["Laplace"] == pytest.approx(float(errors.mean()))
    frame.figures["errors"].to_plotly()
    least = min(frame.numbers, key=frame.numbers.__getitem__)
    assert least in frame.headline


def test_only_the_curators_board_is_private():
    assert comparison(INPUTS).board.private
    assert not comparison(PLANNED).board.private


def test_planned_tables_do_not_depend_on_a_table():
    assert not hasattr(PLANNED.tables, "counts")
    tables = PLANNED.tables.of(4)
    assert isinstance(tables, Counts)
    assert (tables.values[0] != tables.values[1]).any()
    first, second = (comparison(replace(PLANNED)).complete().block() for _ in range(2))
    assert first == second
