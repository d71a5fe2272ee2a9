"""What rho says of (epsilon, delta), held against laws whose curve is known."""

import math

import numpy as np
import pytest

from dpbayes.base.zcdp import rho_of_pure, zcdp_delta, zcdp_epsilon, zcdp_rho


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
