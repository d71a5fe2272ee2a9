"""The law of rescaled counts: against quadrature, simulation and its own total."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from dpbayes.audit.loss.rescaled import log_density, rescaled_loss
from dpbayes.mechanisms.die.laplace import LaplaceCells
from dpbayes.posteriors.hellinger import Die

CASES = [(1, 1, 2.0), (5, 1, 2.0), (5, 0, 0.4), (20, 7, 2.0), (7, 7, 0.3), (30, 10, 4.0)]


def slow_density(t: float, a: int, n: int, b: float) -> float:
    """The density of Y1/(Y1 + Y2) at t, by quadrature over s = Y1 + Y2 and by hand for one count clipped to n."""
    noise = lambda x: mpmath.exp(-abs(x) / b) / (2 * b)  # noqa: E731
    t, most = mpmath.mpf(t), n / mpmath.mpf(max(t, 1 - t))
    turns = sorted({mpmath.mpf(0), *(min(x, most) for x in (a / t, (n - a) / (1 - t))), most})
    inside = mpmath.quad(lambda s: s * noise(s * t - a) * noise(s * (1 - t) - n + a), turns)
    above = lambda c: mpmath.exp(-(n - c) / mpmath.mpf(b)) / 2  # noqa: E731
    if t > 0.5:
        return float(inside + above(a) * noise(n * (1 - t) / t - n + a) * n / t**2)
    return float(inside + above(n - a) * noise(n * t / (1 - t) - a) * n / (1 - t) ** 2)


@pytest.mark.parametrize(("n", "a", "b"), CASES)
def test_the_density_is_what_quadrature_finds(n, a, b):
    for t in (0.003, 0.2, 0.4999, 0.5001, 0.61, 0.95):
        assert math.exp(log_density(t, first=a, n=n, scale=b)) == pytest.approx(slow_density(t, a, n, b), rel=1e-10)


def atoms(a: int, n: int, b: float) -> tuple[float, float, float]:
    """The probabilities of the shares 0, 1/2 and 1: of one count clipped to 0, or of both clipped to the same end."""
    zero, whole = ([math.exp(-end / b) / 2 for end in ends] for ends in ((a, n - a), (n - a, a)))
    return zero[0] * (1 - zero[1]), zero[0] * zero[1] + whole[0] * whole[1], zero[1] * (1 - zero[0])


@pytest.mark.parametrize(("n", "a", "b"), CASES)
def test_density_and_atoms_add_up_to_one(n, a, b):
    marks = [0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99, 1]
    density = lambda t: math.exp(log_density(t, first=a, n=n, scale=b))  # noqa: E731
    total = sum(integrate.quad(density, low, high, limit=200)[0] for low, high in pairwise(marks))
    assert total + sum(atoms(a, n, b)) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize(("n", "a", "b"), [(1, 1, 2.0), (5, 1, 2.0), (20, 7, 2.0)])
def test_it_is_the_law_of_what_is_released(n, a, b):
    """400,000 releases: each atom, and the distribution in between, at a false alarm rate of 1e-9 each."""
    draws = 400_000
    mechanism = LaplaceCells(die=Die((1.0, 1.0), n), epsilon=2 / b)
    share = (mechanism.release([a, n - a], np.random.default_rng(3), (draws,)).alpha[:, 0] - 1) / n
    hits = [np.sum(np.abs(share - value) < 1e-12) for value in (0, 0.5, 1)]
    for hit, atom in zip(hits, atoms(a, n, b), strict=True):
        assert stats.binomtest(int(hit), draws, atom).pvalue > 1e-9
    density = lambda t: math.exp(log_density(t, first=a, n=n, scale=b))  # noqa: E731
    for low, high in ((0.01, 0.2), (0.2, 0.45), (0.55, 0.8), (0.8, 0.99)):
        mass = integrate.quad(density, low, high, limit=200)[0]
        assert stats.binomtest(int(np.sum((share > low) & (share <= high))), draws, mass).pvalue > 1e-9


@pytest.mark.parametrize(("n", "epsilon", "least"), [(5, 1, 0.987), (20, 1, 0.994), (100, 1, 0.997), (20, 5, 4.93)])
def test_rescaled_counts_lose_nearly_all_of_epsilon(n, epsilon, least):
    """Above what a quadrature on a coarse grid had found, below epsilon, and met at the share that is named."""
    loss, a, share = rescaled_loss(n=n, scale=2 / epsilon)
    assert least <= loss < epsilon
    ratio = slow_density(share, a, n, 2 / epsilon) / slow_density(share, a - 1, n, 2 / epsilon)
    assert math.log(ratio) == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 50, 3000, 100_000])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1000.0])
def test_no_setting_goes_beyond_epsilon(n, epsilon):
    loss, a, share = rescaled_loss(n=n, scale=2 / epsilon)
    assert 0.5 * epsilon < loss <= epsilon * (1 + 1e-9)
    assert 1 <= a <= n
    assert 0 < share < 1
