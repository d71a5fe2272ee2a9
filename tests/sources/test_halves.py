"""Columns whose states are gathered in two groups."""

import pandas as pd
import pytest

from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, Groups, OwnState, encode, halves

FIVE = ("a", "b", "c", "d", "e")
GROUPED = (("low", ("1", "2")), ("middle", ("3",)), ("high", ("4",)))


@pytest.mark.parametrize(
    ("column", "states", "missing"),
    [
        (Categories("x", FIVE, public=True), ("a or b", "c to e"), None),
        (Categories("x", FIVE, missing=OwnState()), ("a or b", "c to e"), CountAs("c to e")),
        (Categories("x", FIVE, missing=CountAs("b")), ("a or b", "c to e"), CountAs("a or b")),
        (Categories("x", ("no", "yes"), missing=OwnState()), ("no", "yes"), CountAs("yes")),
        (Groups("x", GROUPED, public=True), ("low", "middle or high"), None),
        (Cuts("x", (1, 2, 3), missing=CountAs("2 to < 3")), ("< 2", ">= 2"), CountAs(">= 2")),
        (Cuts("x", (1, 2), missing=CountAs("1 to < 2")), ("< 2", ">= 2"), CountAs("< 2")),
        (Cuts("x", (1,), missing=OwnState()), ("< 1", ">= 1"), CountAs(">= 1")),
    ],
)
def test_states_are_gathered_in_their_order_and_missing_values_go_with_theirs(
    column: Column, states: tuple[str, ...], missing: object
) -> None:
    halved = halves(column)
    assert halved.domain == states
    assert halved.missing == missing
    assert halved.public is column.public


@pytest.mark.parametrize(
    "column", [Categories("x", ("no", "yes")), Cuts("x", (3,)), Categories("x", ("only",), missing=OwnState())]
)
def test_two_states_stay(column: Column) -> None:
    assert halves(column) is column


@pytest.mark.parametrize("column", [Categories("x", FIVE), Groups("x", (*((v, (v,)) for v in FIVE),))])
def test_records_are_in_the_group_of_their_state(column: Column) -> None:
    frame = pd.DataFrame({"x": list(FIVE)})
    codes = encode(frame, [halves(column)]).codes[:, 0]
    assert codes.tolist() == [0, 0, 1, 1, 1]
