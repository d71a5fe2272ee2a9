"""What a bound is drawn against: an axis says all that is its own, and its curves reach as far as its span."""

import itertools
import math

import pytest

from dpbayes.base.parameters import parameters_of
from dpbayes.base.validation import InputError
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.setting import Axis, ClaimParameters, EvaluationPoint, Subject, grid, moved, place

NETWORK, _ = load_named("sprinkler")
SUBJECT = Subject(NETWORK, 1.0, 50, None, 1)
AT = EvaluationPoint((1.0,), 1, ClaimParameters.usual())


def test_an_axis_has_a_name_in_a_link_a_title_and_a_symbol_that_the_title_begins_with() -> None:
    assert Axis("ε") is Axis.EPSILON
    assert Axis("records changed").symbol == "k"
    assert Axis.PRIOR.title == "a, the prior’s pseudo-count of every cell"
    assert Axis.SHIFT.symbol == Axis.SHIFT.value == "shift"
    assert Axis.LEVEL.symbol == "L"
    for axis in Axis:
        assert axis.title.startswith(f"{axis.symbol}, "), axis
        assert len(axis.symbol) <= 2 or axis is Axis.SHIFT, "a symbol, no words"


@pytest.mark.parametrize(
    ("axis", "ends", "points"), [("δ", (1e-4, 0.5), 13), ("t", (0.01, 10), 61), ("n", (10, 1e6), 16)]
)
def test_an_axis_with_a_span_is_drawn_over_it_in_equal_ratios(
    axis: str, ends: tuple[float, float], points: int
) -> None:
    x = grid(SUBJECT, Axis(axis))
    assert (x[0], x[-1], len(x)) == pytest.approx((*ends, points))
    ratios = [after / before for before, after in itertools.pairwise(x)]
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=0.02)


@pytest.mark.parametrize("axis", Axis)
def test_an_axis_is_where_it_was_moved_to(axis: Axis) -> None:
    x = grid(SUBJECT, axis)
    assert len(x) >= 5
    assert list(x) == sorted(set(x))
    for point in (x[0], x[len(x) // 2], x[-1]):
        assert place(*moved(SUBJECT, AT, axis, point), axis) == pytest.approx(point, rel=0.05)


@pytest.mark.parametrize("name", parameters_of(ClaimParameters))
def test_a_parameter_out_of_range_is_refused_by_its_name(name: str) -> None:
    for value in (-1.0, math.nan, 1e300):
        with pytest.raises(InputError, match=name):
            ClaimParameters.usual(**{name: value})
