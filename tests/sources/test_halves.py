"""Columns whose states are gathered in two groups."""

import pandas as pd
import pytest

from dpbayes.sources.columns import Categories, Column, Cuts, encode, halves

FIVE = ("a", "b", "c", "d", "e")
GROUPED = Categories("x", ("low", "middle", "high"), values=(("1", "2"), ("3",), ("4",)), public=True)


@pytest.mark.parametrize(
    ("column", "states", "missing"),
    [
        (Categories("x", FIVE, public=True), ("a or b", "c to e"), None),
        (Categories("x", FIVE, missing="unknown"), ("a or b", "c to e"), "c to e"),
        (Categories("x", FIVE, missing="b"), ("a or b", "c to e"), "a or b"),
        (Categories("x", ("no", "yes"), missing="unknown"), ("no", "yes"), "yes"),
        (GROUPED, ("low", "middle or high"), None),
        (Cuts("x", (1, 2, 3), missing="2 to < 3"), ("< 2", ">= 2"), ">= 2"),
        (Cuts("x", (1, 2), missing="1 to < 2"), ("< 2", ">= 2"), "< 2"),
        (Cuts("x", (1,), codes=(-1,)), ("< 1", ">= 1"), ">= 1"),
    ],
)
def test_states_are_gathered_in_their_order_and_missing_values_go_with_theirs(
    column: Column, states: tuple[str, ...], missing: str | None
) -> None:
    halved = halves(column)
    assert (halved.domain, halved.missing, halved.public) == (states, missing, column.public)


@pytest.mark.parametrize(
    "column", [Categories("x", ("no", "yes")), Cuts("x", (3,)), Categories("x", ("a",), missing="b")]
)
def test_two_states_stay(column: Column) -> None:
    assert halves(column) is column


def test_records_are_in_the_group_of_their_state() -> None:
    letters, numbers = pd.DataFrame({"x": list(FIVE)}), pd.DataFrame({"x": list("1234")})
    assert encode(letters, [halves(Categories("x", FIVE))]).codes.ravel().tolist() == [0, 0, 1, 1, 1]
    assert encode(numbers, [halves(GROUPED)]).codes.ravel().tolist() == [0, 0, 1, 1]
    assert encode(numbers, [halves(Cuts("x", (3, 4), codes=(1,)))]).codes.ravel().tolist() == [1, 0, 0, 1]
