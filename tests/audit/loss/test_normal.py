"""What Gaussian noise of whole numbers loses, beside all values of small sums."""

import math

import numpy as np
import pytest

from dpbayes.audit.loss.normal import ConcentratedLoss, GaussianLoss, WholeGaussianLoss
from dpbayes.base.zcdp import zcdp_delta

EPSILONS = np.array([0.0, 0.3, 1.0, 2.5, 6.0])


def listed(moved: int, scale: float) -> np.ndarray:
    """delta from the laws of `moved` draws and of the same draws moved by one each: every value of all of them."""
    reach = math.ceil(11 * scale) + 2
    k = np.arange(-reach, reach + 1)
    one = np.exp(-(k**2) / (2 * scale**2))
    one /= one.sum()
    loss, mass = np.zeros(1), np.ones(1)
    for _ in range(moved):
        loss = np.add.outer(loss, (2 * k + 1) / (2 * scale**2)).ravel()
        mass = np.multiply.outer(mass, one).ravel()
    return np.array([float((mass * -np.expm1(np.minimum(e - loss, 0.0))).sum()) for e in EPSILONS])


@pytest.mark.parametrize(("moved", "scale"), [(1, 0.4), (2, 1.0), (3, 1.7), (2, 3.0), (3, 3.5), (2, 8.0)])
def test_whole_noise_loses_what_all_its_values_lose(moved, scale):
    """Below and above the parameter from which on a sum is taken for one draw."""
    low, high = WholeGaussianLoss(moved, scale).deltas(EPSILONS)
    assert np.all(low <= high)
    assert low == pytest.approx(listed(moved, scale), rel=1e-8, abs=1e-20)
    assert high == pytest.approx(low, rel=1e-6, abs=1e-16)


@pytest.mark.parametrize(("moved", "scale"), [(2, 0.5), (16, 17.0), (152, 60.0)])
def test_whole_noise_loses_less_than_its_rho_allows_and_nearly_what_real_noise_does(moved, scale):
    loss = WholeGaussianLoss(moved, scale)
    low, high = loss.deltas(EPSILONS)
    assert np.all(high <= [zcdp_delta(loss.rho, epsilon=float(epsilon)) for epsilon in EPSILONS])
    least, enough = loss.epsilon(1e-6)
    assert least <= enough <= least * (1 + 1e-6)
    if scale > 5:
        real = GaussianLoss(math.sqrt(moved) / scale)
        assert low == pytest.approx(real.deltas(EPSILONS)[0], rel=0.02, abs=1e-15)
        assert enough == pytest.approx(real.epsilon(1e-6)[0], rel=0.02)


def test_where_there_are_too_many_values_rho_speaks():
    loss = WholeGaussianLoss(2, 1e7)
    assert loss.epsilon(1e-6) == ConcentratedLoss(loss.rho).epsilon(1e-6)
    assert loss.deltas(EPSILONS)[1] == pytest.approx(ConcentratedLoss(loss.rho).deltas(EPSILONS)[1])


def test_nothing_that_moves_loses_nothing():
    for loss in (WholeGaussianLoss(0, 3.0), GaussianLoss(0.0), ConcentratedLoss(0.0)):
        assert not loss.deltas(EPSILONS)[1].any()
        assert loss.epsilon(1e-6) == (0.0, 0.0)


def test_no_epsilon_suffices_without_a_delta():
    for loss in (WholeGaussianLoss(2, 3.0), GaussianLoss(0.1), ConcentratedLoss(0.1)):
        assert math.isinf(loss.epsilon(0.0)[1])
