"""Laplace noise of unequal scales, between two curves: where all are equal, beside the exact ones."""

import numpy as np
import pytest

from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.unequal import UnequalLoss, laplace_divergences

EPSILONS = np.linspace(0, 2.0, 21)


def loss(ratios, *, whole: bool = False) -> UnequalLoss:
    values = np.array(ratios, dtype=float)
    return UnequalLoss(values, np.arange(len(values)), float(values.sum()), lambda moved: moved.sum(axis=-1), whole)


@pytest.mark.parametrize("moved", [4, 20])
@pytest.mark.parametrize("whole", [0, 2])
def test_equal_scales_lie_around_the_exact_curve(moved, whole):
    low, high = loss([1.5 / moved] * moved, whole=bool(whole)).deltas(EPSILONS)
    exact = LaplaceNoise(moved, 1.5 / moved, whole=whole).deltas(EPSILONS)
    assert np.all(low <= exact[1])
    assert np.all(high >= exact[0])
    assert low == pytest.approx(exact[0], abs=2e-3)
    assert np.all(high[EPSILONS >= 1.5] == 0)
    assert np.all(high <= 5 * exact[1] + 0.2)


@pytest.mark.parametrize("whole", [False, True])
def test_beyond_what_a_double_holds_the_lower_curve_stays_below_the_exact_one(whole):
    """e^epsilon overflows from about 709 on."""
    epsilons = np.array([699.0, 720.0, 790.0, 799.99])
    low, _ = loss([800.0], whole=whole).deltas(epsilons)
    assert np.all(low <= LaplaceNoise(1, 800.0, whole=2 if whole else 0).deltas(epsilons)[1])


def test_unequal_scales_lose_what_a_grid_of_their_noise_loses():
    """The integral of (p - e^epsilon q)_+ over two numbers, on a fine grid."""
    ratios = np.array([1.0, 0.4])
    x = np.linspace(-12, 12, 1201)
    p, q = (np.multiply.outer(np.exp(-np.abs(x - at[0])), np.exp(-np.abs(x - at[1]))) / 4 for at in (ratios, (0, 0)))
    low, high = loss(ratios).deltas(EPSILONS)
    for k, epsilon in enumerate(EPSILONS[:14]):
        integral = float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) * (x[1] - x[0]) ** 2
        assert low[k] <= integral + 2e-4
        assert low[k] == pytest.approx(integral, abs=5e-4)
        assert high[k] >= integral - 2e-4


@pytest.mark.parametrize("whole", [False, True])
def test_the_divergence_of_one_number_is_that_of_its_law(whole):
    ratio, alphas = 0.8, np.array([1.3, 2.0, 7.0])
    if whole:  # scale 2 / 0.8, moved by two
        k = np.arange(-200, 203)
        p, q = (np.exp(-np.abs(k - at) * ratio / 2) for at in (0, 2))
    else:
        k = np.linspace(-40, 40, 800_001)
        p, q = (np.exp(-np.abs(k - at)) for at in (0, ratio))
    p, q = p / p.sum(), q / q.sum()
    expected = [np.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1) for alpha in alphas]
    divergences = laplace_divergences(np.array([ratio]), alphas - 1, whole=whole)[:, 0]
    assert divergences == pytest.approx(expected, rel=1e-4)


def test_an_epsilon_suffices_at_its_delta():
    unequal = loss([0.5, 0.3, 0.2])
    assert unequal.upper_epsilon(0.0) == 1.0
    epsilon = unequal.upper_epsilon(1e-3)
    assert 0 < epsilon <= 1
    assert unequal.deltas(np.array([epsilon]))[1][0] <= 1e-3
    assert unequal.upper_epsilon(0.9) == 0


@pytest.mark.parametrize("whole", [False, True])
def test_delta_suffices_from_the_upper_epsilon_on(whole):
    noise = loss([0.5, 0.3, 0.2], whole=whole)
    for delta in (0.0, 1e-9, 1e-4):
        least = noise.upper_epsilon(delta)
        assert noise.slack(least * (1 + 1e-9), delta=delta) >= 0
        assert noise.slack(least * (1 - 1e-9), delta=delta) < 0
