"""Tests of the rule of panels, of how far a peak reaches, and of integrals of functions with one peak."""

import math

import numpy as np
import pytest
from scipy import special

from dpbayes.base.quadrature import log_integral, panel_rule, reach


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
