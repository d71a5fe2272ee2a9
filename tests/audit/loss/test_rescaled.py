"""What rescaled counts lose at least: against quadrature and simulation."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from dpbayes.audit.die import rescaled_loss
from dpbayes.mechanisms.die.laplace import LaplaceCells
from dpbayes.posteriors.hellinger import Die


def slow_density(t: float, a: int, n: int, b: float) -> float:
    """The density of Y1/(Y1 + Y2) at t, by quadrature over s = Y1 + Y2 and by hand for one count clipped to n."""
    noise = lambda x: math.exp(-abs(x) / b) / (2 * b)  # noqa: E731
    most = n / max(t, 1 - t)
    turns = sorted({0.0, *(min(x, most) for x in (a / t, (n - a) / (1 - t))), most})
    parts = [
        integrate.quad(lambda s: s * noise(s * t - a) * noise(s * (1 - t) - n + a), *part, epsabs=0, epsrel=1e-12)[0]
        for part in pairwise(turns)
    ]
    above = lambda c: math.exp(-(n - c) / b) / 2  # noqa: E731
    if t > 0.5:
        return math.fsum(parts) + above(a) * noise(n * (1 - t) / t - n + a) * n / t**2
    return math.fsum(parts) + above(n - a) * noise(n * t / (1 - t) - a) * n / (1 - t) ** 2


@pytest.mark.parametrize(("n", "a", "b"), [(1, 1, 2.0), (5, 1, 2.0), (20, 7, 2.0)])
def test_the_density_is_that_of_what_is_released(n, a, b):
    """400,000 releases at a false alarm rate of 1e-9 each."""
    draws = 400_000
    mechanism = LaplaceCells(die=Die((1.0, 1.0), n), epsilon=2 / b)
    share = (mechanism.simulate([a, n - a], np.random.default_rng(3), (draws,))[:, 0] - 1) / n
    for low, high in ((0.01, 0.2), (0.2, 0.45), (0.55, 0.8), (0.8, 0.99)):
        places = np.linspace(low, high, 65)
        mass = float(np.trapezoid([slow_density(float(t), a, n, b) for t in places], places))
        hits = int(np.sum((share > low) & (share <= high)))
        assert abs(hits - draws * mass) < 6.2 * math.sqrt(draws * mass) + 2e-3 * draws * mass
    assert (
        stats.binomtest(int(np.sum(share == 0)), draws, math.exp(-a / b) / 2 * (1 - math.exp((a - n) / b) / 2)).pvalue
        > 1e-9
    )


@pytest.mark.parametrize(
    ("n", "epsilon", "least"),
    [(1, 1, 0.9), (5, 1, 0.97), (20, 1, 0.97), (100, 1, 0.97), (20, 5, 4.8), (5, 0.01, 0.0099)],
)
def test_rescaled_counts_lose_nearly_all_of_epsilon(n, epsilon, least):
    """The loss is that of densities by quadrature next to the share that is named, and below epsilon."""
    loss, a, output = rescaled_loss(n=n, scale=2 / epsilon)
    assert least <= loss < epsilon
    share = 1 - 1e-9 if output.startswith("a second") else 0.5 + 1e-9
    ratio = slow_density(share, a, n, 2 / epsilon) / slow_density(share, a - 1, n, 2 / epsilon)
    assert math.log(ratio) == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 50, 3000, 100_000])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1000.0])
def test_no_setting_goes_beyond_epsilon(n, epsilon):
    loss, a, _ = rescaled_loss(n=n, scale=2 / epsilon)
    assert 0.5 * epsilon < loss <= epsilon * (1 + 1e-9)
    assert 1 <= a <= n
