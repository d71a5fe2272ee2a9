"""Conversions of rho and of the shift of Gaussian noise to (epsilon, delta), against curves by their definition."""

import math

import numpy as np
import pytest

from dpbayes.base.zcdp import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_shift,
    rho_of_pure,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)


def renyi_of_coin(epsilon: float, alpha: float) -> float:
    """The divergence of randomized response, worked out as it is defined."""
    p, q = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    p, q = ((math.exp(epsilon) * a + (1 - a)) / (1 + math.exp(epsilon)) for a in (p, q))
    return math.log(float(np.sum(p**alpha * q ** (1 - alpha)))) / (alpha - 1)


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 5.0])
def test_a_coin_of_pure_epsilon_reaches_its_rho_near_order_one_and_never_exceeds_it(epsilon):
    rho = rho_of_pure(epsilon)
    shares = [renyi_of_coin(epsilon, alpha) / alpha for alpha in (1 + 1e-4, 1.1, 2.0, 5.0, 50.0)]
    assert max(shares) <= rho * (1 + 1e-9)
    assert shares[0] == pytest.approx(rho, rel=5e-3)
    assert rho <= epsilon**2 / 2
    assert math.isinf(rho_of_pure(math.inf))


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.5, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.4])
def test_the_conversions_undo_each_other(rho, delta):
    epsilon = zcdp_epsilon(rho, delta=delta)
    if epsilon:
        assert zcdp_delta(rho, epsilon=epsilon) == pytest.approx(delta, rel=1e-6)
        assert zcdp_rho(epsilon, delta=delta) == pytest.approx(rho, rel=1e-6)
        assert zcdp_epsilon(zcdp_rho(epsilon, delta=delta), delta=delta) <= epsilon


@pytest.mark.parametrize("rho", [0.005, 0.5, 8.0])
def test_a_conversion_is_never_below_the_curve_of_a_gaussian_of_that_rho_and_better_than_the_simple_one(rho):
    """rho + 2 sqrt(rho ln(1/delta)) is [Bun16] Proposition 1.3."""
    shift = math.sqrt(2 * rho)
    x = np.linspace(-40, 40, 400_001)
    density = [np.exp(-((x - at) ** 2) / 2) / math.sqrt(2 * math.pi) for at in (shift, 0.0)]
    for epsilon in (0.1 * shift, shift, 4 * shift):
        exact = np.maximum(density[0] - math.exp(epsilon) * density[1], 0).sum() * (x[1] - x[0])
        delta = zcdp_delta(rho, epsilon=epsilon)
        assert exact <= delta
        if delta < 1:
            assert zcdp_epsilon(rho, delta=delta) < rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_the_edges_of_a_conversion():
    assert zcdp_epsilon(0.0, delta=0.0) == 0
    assert math.isinf(zcdp_epsilon(0.1, delta=0.0))
    assert math.isinf(zcdp_epsilon(math.inf, delta=0.1))
    assert zcdp_epsilon(0.1, delta=1.0) == 0
    assert zcdp_rho(1.0, delta=0.0) == 0
    assert (zcdp_delta(0.0, epsilon=1.0), zcdp_delta(math.inf, epsilon=1.0)) == (0.0, 1.0)


# Gaussian noise


@pytest.mark.parametrize("shift", [0.05, 1.0, 6.0])
def test_delta_is_the_integral_of_what_one_density_exceeds_the_other_by(shift):
    x = np.linspace(-40, 60, 1_000_001)
    p, q = (np.exp(-((x - at) ** 2) / 2) / math.sqrt(2 * math.pi) for at in (shift, 0.0))
    for epsilon in (0.0, shift / 3, shift, 3 * shift, shift**2):
        integral = float(np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0.0), x))
        assert float(gaussian_delta(shift, epsilon)) == pytest.approx(integral, rel=1e-6, abs=1e-14)


def test_small_deltas_keep_their_digits():
    """(2 pi)^-1/2 mu integral over z > epsilon/mu of (z - epsilon/mu) exp(-z^2/2), for a small mu."""
    shift, epsilon = 1e-6, 1e-5
    z = np.linspace(10, 30, 2_000_001)
    limit = shift * float(np.trapezoid((z - 10) * np.exp(-(z**2) / 2), z)) / math.sqrt(2 * math.pi)
    assert float(gaussian_delta(shift, epsilon)) == pytest.approx(limit, rel=1e-4)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.5])
def test_the_largest_shift_of_a_promise_uses_it_up_and_no_more(epsilon, delta):
    shift = gaussian_shift(epsilon, delta=delta)
    assert float(gaussian_delta(shift, epsilon)) <= delta
    assert float(gaussian_delta(1.001 * shift, epsilon)) > delta
    assert gaussian_epsilon(shift, delta=delta) == pytest.approx(epsilon, rel=1e-8)


@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.2])
def test_the_epsilon_of_a_shift_is_rounded_up(delta):
    """The delta at this epsilon is sufficient, for every shift: the end on the safe side is taken."""
    for shift in np.geomspace(0.01, 20, 40):
        epsilon = gaussian_epsilon(shift, delta=delta)
        assert float(gaussian_delta(shift, epsilon)) <= delta


def test_published_values_of_the_analytic_calibration():
    """[Balle18]: for epsilon below 1 the classical sqrt(2 ln(1.25/delta))/epsilon is more than is needed."""
    for epsilon in (0.1, 0.5, 0.99):
        assert 1 / gaussian_shift(epsilon, delta=1e-6) < math.sqrt(2 * math.log(1.25e6)) / epsilon
    assert 1 / gaussian_shift(1.0, delta=1e-6) == pytest.approx(4.2247, abs=1e-4)


def test_the_edges_of_gaussian_noise():
    assert gaussian_shift(1.0, delta=0.0) == 0
    assert math.isinf(gaussian_epsilon(1.0, delta=0.0))
    assert gaussian_epsilon(0.0, delta=0.0) == 0
    assert gaussian_epsilon(0.1, delta=0.5) == 0
    assert not gaussian_delta(0.0, [0.0, 1.0]).any()
