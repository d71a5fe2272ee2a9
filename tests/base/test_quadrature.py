"""Tests of the rule of panels, of how far a peak reaches, of integrals of functions with one peak, and of halving."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from dpbayes.base.quadrature import last_reached, log_integral, panel_rule, reach, turning_point


@pytest.mark.parametrize(("nodes", "panels"), [(3, 1), (3, 4), (16, 8)])
def test_the_rule_is_exact_for_polynomials_of_twice_its_nodes(nodes: int, panels: int) -> None:
    shares, weights = panel_rule(nodes=nodes, panels=panels)
    assert len(shares) == len(weights) == nodes * panels
    assert np.all((np.diff(shares) > 0) & (shares[1:] < 1))
    for power in range(2 * nodes):
        assert weights @ shares**power == pytest.approx(1 / (power + 1), rel=1e-13)


def test_a_peak_reaches_as_far_as_it_has_not_dropped_by_the_depth() -> None:
    limit = np.array([-20.0, -1.0, 1.0, 20.0])
    np.testing.assert_allclose(
        reach(lambda distance: distance**2 / 2, limit, depth=8.0), [-4.0, -1.0, 1.0, 4.0], rtol=1e-12
    )
    np.testing.assert_array_equal(reach(lambda distance: distance**2 / 2, limit, depth=1e9), limit)


@pytest.mark.parametrize("place", [-2.0, 0.0, 1.5])
@pytest.mark.parametrize("precision", [0.1, 1.0, 1e6])
def test_a_normal_density_cut_to_an_interval_by_its_distribution_function(place: float, precision: float) -> None:
    end = np.array([0.5, 2.0, 7.0])
    root = math.sqrt(precision)
    high, low = (special.log_ndtr(root * (side - abs(place))) for side in (end, -end))  # the interval is symmetric
    mass = high + np.log(-np.expm1(low - high))
    exact = mass + math.log(2 * math.pi / precision) / 2
    value = log_integral(lambda z: -precision * (z - place) ** 2 / 2, end)
    np.testing.assert_allclose(value, exact, rtol=1e-11, atol=1e-11)


def test_an_integral_may_be_far_beyond_the_range_of_floats() -> None:
    assert float(log_integral(lambda z: 5000 - z * z, np.array(9.0))) == pytest.approx(5000 + math.log(math.pi) / 2)


# Bisection

PLACES = st.floats(-1e6, 1e6)


@given(start=PLACES, end=PLACES, share=st.floats(0, 1))
def test_the_turn_lies_between_both_ends_whichever_way_it_is_looked_for(start: float, end: float, share: float) -> None:
    turn = start + share * (end - start)
    sign = 1 if end >= start else -1
    inside, outside = turning_point(lambda z: sign * z <= sign * turn, start, end)
    assert sign * inside <= sign * turn
    assert sign * turn <= sign * outside + 1e-9
    assert abs(outside - inside) <= 1e-9


def test_every_interval_of_an_array_is_halved_on_its_own() -> None:
    inside, outside = turning_point(lambda z: z * z < [[2.0, 3.0], [5.0, 7.0]], 0.0, [3.0, 4.0])
    np.testing.assert_allclose(inside, np.sqrt([[2, 3], [5, 7]]), rtol=1e-15)
    np.testing.assert_allclose(outside, inside, rtol=1e-15)


def test_where_all_holds_the_end_stays_and_where_nothing_does_the_start() -> None:
    assert turning_point(lambda z: z < 10, 0.0, 1.0)[1] == 1
    assert turning_point(lambda z: z < -10, 0.0, 1.0)[0] == 0


@pytest.mark.parametrize("halvings", [0, 1, 5])
def test_so_many_halvings_leave_so_small_an_interval(halvings: int) -> None:
    inside, outside = turning_point(lambda z: z < 0.3, 0.0, 1.0, halvings=halvings)
    assert outside - inside == 0.5**halvings
    assert inside <= 0.3 <= outside


@pytest.mark.parametrize("places", [1, 2, 3, 8, 13])
def test_the_last_place_that_a_level_reaches_is_that_of_a_search_along_its_row(places: int) -> None:
    rng = np.random.default_rng(places)
    starts = np.sort(rng.random((5, places)), axis=-1)
    starts[:, 0] = 0.0
    starts[2] = starts[2, -1]  # of equal ones the last
    levels, rows = rng.random((40, 7)), rng.integers(5, size=7)
    levels[0] = starts[rows, -1]
    expected = [np.searchsorted(starts[row], levels[:, k], side="right") - 1 for k, row in enumerate(rows)]
    np.testing.assert_array_equal(last_reached(starts, levels, rows), np.maximum(np.transpose(expected), 0))
