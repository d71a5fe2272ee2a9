import math
from functools import cache

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy import special, stats

from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.posteriors import trimmed
from dpbayes.posteriors.decisions import sample_trimmed
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import expm1_excess
from dpbayes.posteriors.trimmed import LEAST_OMEGA, _DensityDrop, log_mass, log_odds_bound, log_odds_quantile
from tests.conftest import crossed, thorough
from tests.strategies import rng

ALARM = 1e-9
DRAWS = 50_000
EXTREMES = [
    # a, b, omega
    (1, 1, 0.1),
    (0.5, 200, 0.1),
    (2, 5, 0.5 - 1e-9),
    (40, 1, 1e-12),
    (80, 0.01, 1e-12),
    (0.001, 0.001, 1e-12),
    (0.001, 1e9, 1e-12),
    (1e9, 1, 1e-12),
    (1, 1e9, 1e-12),
    (5e8, 5e8, 1e-12),
    (1e9, 1, 0.3),  # all of the mass above the region
    (1, 1e9, 0.49999),  # all of it below
    (3e8, 7e8, 0.3),  # the mode on the edge
    (3e8, 7e8, 0.300001),  # just outside
    (1e-8, 1, 1e-217),
    (1, 30, 1e-217),
]
ALIKE = [(0.5, 200, 0.1), (40, 1, 1e-12), (1e9, 1, 1e-12)]
"""Of those, what is nearly another one, or its mirror image, and takes long at fifty digits."""


class Reference:
    """The trimmed Beta in 50 digits by adaptive quadrature on log-odds, cut at its mode and where it fades."""

    def __init__(self, a: float, b: float, omega: float) -> None:
        with mp.workdps(50):
            self.a, self.b = mp.mpf(a), mp.mpf(b)
            end = mp.log1p(-mp.mpf(omega)) - mp.log(mp.mpf(omega))
            self.mode = min(max(mp.log(self.a / self.b), -end), end)
            self.top = self.log_density(self.mode)
            low, high = self.fading(-end), self.fading(end)
            steps = [mp.mpf(k) / 24 for k in range(25)]
            points = {low + (self.mode - low) * k for k in steps} | {self.mode + (high - self.mode) * k for k in steps}
            self.points = sorted(points)
            self.masses = [self.integral(*pair) for pair in zip(self.points, self.points[1:], strict=False)]
            self.log_mass = self.top + mp.log(mp.fsum(self.masses))

    def log_density(self, z):
        return -self.a * mp.log1p(mp.exp(-z)) - self.b * mp.log1p(mp.exp(z))

    def fading(self, end):
        near, far = self.mode, end
        if self.top - self.log_density(end) < 150:
            return end
        for _ in range(120):
            middle = (near + far) / 2
            if self.top - self.log_density(middle) < 150:
                near = middle
            else:
                far = middle
        return far

    def integral(self, low, high):
        return mp.quad(lambda z: mp.exp(self.log_density(z) - self.top), [low, high], method="gauss-legendre")

    def cdf_and_density(self, z: float) -> tuple[mpmath.mpf, mpmath.mpf]:
        with mp.workdps(50):
            z, below = mp.mpf(z), mp.mpf(0)
            for low, high, mass in zip(self.points, self.points[1:], self.masses, strict=False):
                if high <= z:
                    below += mass
                elif low < z:
                    below += self.integral(low, z)
            total = mp.fsum(self.masses)
            return below / total, mp.exp(self.log_density(z) - self.top) / total


@cache
def reference(a: float, b: float, omega: float) -> Reference:
    return Reference(a, b, omega)


# Mass


@pytest.mark.parametrize(
    ("a", "b", "omega"), thorough(EXTREMES, sample=[case for case in EXTREMES if case not in ALIKE])
)
def test_log_mass_agrees_with_fifty_digits_wherever_the_mass_lies(a, b, omega):
    truth = reference(a, b, omega).log_mass
    assert abs(float((mp.mpf(float(log_mass(a, b, omega))) - truth) / (1 + abs(truth)))) < 2e-15


# The inverse distribution function


@pytest.mark.parametrize(("a", "b", "omega"), EXTREMES)
def test_quantiles_have_their_probability_to_fourteen_digits(a, b, omega):
    levels = np.concatenate([rng().random(6), [1e-12, 1e-3, 0.5, 1 - 1e-9]])
    exact = reference(a, b, omega)
    for u, z in zip(levels, log_odds_quantile(levels, a, b, log_odds_bound(omega)), strict=True):
        below, density = exact.cdf_and_density(float(z))
        rounding = float(density) * np.spacing(abs(z))
        assert abs(float(below - mp.mpf(float(u)))) < 1e-14 + 2 * rounding


@pytest.mark.parametrize("omega", [LEAST_OMEGA, 1e-9, 0.2, 0.26, 0.4, 0.48, 0.499999, 0.5 - 2.0**-50])
def test_the_bound_of_the_log_odds_has_every_digit(omega):
    with mp.workdps(40):
        assert log_odds_bound(omega) == pytest.approx(float(mpmath.log((1 - mp.mpf(omega)) / omega)), rel=4e-16, abs=0)


def test_a_quantile_that_rounding_takes_over_an_end_is_taken_back(monkeypatch):
    """An outcome outside would be possible under some data only."""
    bound = log_odds_bound(0.1)

    class Overstepping:
        def inverse(self, levels, own):
            return np.where(levels < 0.5, -1, 1) * np.nextafter(bound, np.inf)

    monkeypatch.setattr(trimmed, "panels_of", lambda *_: Overstepping())
    assert log_odds_quantile(np.array([[0.0], [1.0]]), [2.0], [3.0], bound).ravel().tolist() == [-bound, bound]


def test_quantiles_rise_stay_inside_and_reach_both_ends():
    u = np.linspace(0, 1, 2_001)[:-1]
    for a, b, omega in EXTREMES:
        bound = log_odds_bound(omega)
        z = log_odds_quantile(u, a, b, bound)
        assert np.all(np.diff(z) >= 0)
        assert np.all(np.abs(z) <= bound)
    wide = log_odds_quantile(np.array([0.0, 1 - 2**-53]), 1.0, 1.0, 2.0)
    assert wide == pytest.approx([-2, 2], abs=1e-12)


def test_exchanging_the_states_mirrors_the_quantiles_exactly():
    u = np.arange(1, 64) / 64
    for a, b, omega in EXTREMES:
        bound = log_odds_bound(omega)
        if a == b:
            z = log_odds_quantile(u, a, b, bound)
            assert z == pytest.approx(-z[::-1], rel=1e-12, abs=1e-12 * bound)
            continue
        assert np.array_equal(log_odds_quantile(u, a, b, bound), -log_odds_quantile(1 - u, b, a, bound))


@pytest.mark.parametrize(("a", "b", "omega", "wrong"), [(3, 2, 0.1, 0.12), (21, 1, 0.3, 0.31), (1, 1, 0.02, 0.04)])
def test_draws_follow_the_law_of_their_omega_and_of_no_other(a, b, omega, wrong):
    network = Network.from_edges("x", [])
    theta = sample_trimmed(Dirichlets(network, np.array([a, b], float)), log_odds_bound(omega), rng(), (DRAWS,))[:, 0]

    def law(trim: float):
        low, high = special.betainc(a, b, [trim, 1 - trim])
        return lambda x: np.clip((special.betainc(a, b, x) - low) / (high - low), 0, 1)

    assert stats.kstest(theta, law(omega)).pvalue > ALARM
    assert stats.kstest(theta, law(wrong)).pvalue < ALARM
    assert theta.min() >= omega * (1 - 1e-12)
    assert theta.max() <= 1 - omega * (1 - 1e-12)


# The trap: a sampler that breaks down near omega = 1/2 must not let the data's sign show


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1_001, 1), (1, 1_001), (60, 40), (1e9, 1)])
@pytest.mark.parametrize("bound", [1e-10, 1e-8, 1e-6, 1e-4, 1e-3])
def test_nothing_of_the_data_shows_as_the_trim_closes_in_on_one_half(a, b, bound):
    # Between +-t the density tends to exp(c z/t), c = (a - b) t/2, whose mean is t (coth c - 1/c): about (a - b) t^2/6.
    u = (np.arange(20_000) + 0.5) / 20_000
    z = log_odds_quantile(u, a, b, bound) / bound
    c = mp.mpf(a - b) * mp.mpf(bound) / 2
    mean = 0 if c == 0 else float(mp.coth(c) - 1 / c)
    assert z.mean() == pytest.approx(mean, abs=1e-6 + (a + b) * bound**2 / 8)
    assert abs((z > 0).mean() - 1 / (1 + math.exp(-min(float(c), 700)))) < 1e-3 + (a + b) * bound**2 / 8


def test_the_work_is_the_same_for_every_count(monkeypatch):
    evaluated = []
    drop = _DensityDrop.drop
    monkeypatch.setattr(_DensityDrop, "drop", lambda self, d: evaluated.append(d.shape) or drop(self, d))
    seen = set()
    for a, b in [(1, 1), (1e9, 1), (1, 1e9), (5e8, 5e8), (0.001, 3)]:
        evaluated.clear()
        log_odds_quantile(np.array([0.3]), a, b, 2.0)
        seen.add(tuple(evaluated))
    assert len(seen) == 1


# Small functions and refusals


def test_expm1_excess_keeps_every_digit():
    for d in (1e-300, 1e-9, -1e-9, 0.3, -0.49, 0.51, -5.0, 30.0):
        with mp.workdps(400):
            truth = float(mp.expm1(mp.mpf(d)) - mp.mpf(d))
        assert float(expm1_excess(d)) == pytest.approx(truth, rel=2e-15)


@pytest.mark.parametrize("omega", [0, -0.1, 0.5, 0.6, math.nan, math.inf, "small", None, LEAST_OMEGA / 10])
def test_an_omega_that_leaves_nothing_or_trims_nothing_is_refused(omega):
    with pytest.raises(InputError, match="omega must be"):
        log_mass(1, 1, omega)


@pytest.mark.parametrize("a", [0, -1, math.nan, math.inf])
def test_parameters_that_are_not_positive_and_finite_are_refused(a):
    with pytest.raises(InputError, match="positive, finite"):
        log_mass([1, a], 1, 0.1)


def test_levels_that_do_not_fit_the_parameters_are_a_programming_error():
    with pytest.raises(ValueError, match="do not end with"):
        log_odds_quantile(np.zeros(3), np.ones(2), 1.0, 1.0)


@pytest.mark.parametrize(("size", "rows"), crossed([(), (1,), (40,), (2, 3)], [(), (1,), (900,), (30, 40)], times=2))
def test_rows_with_equal_parameters_have_the_quantiles_of_every_row_by_itself(size, rows):
    a, b = rng().integers(1, 5, (2, *rows)) + np.array(0.5)
    u = rng().random((*size, *rows))
    together = log_odds_quantile(u, a, b, 3.0)
    places = list(np.ndindex(*rows))
    for place in places[:: max(1, len(places) // 40)]:
        own = log_odds_quantile(u[(..., *place)], a[place], b[place], 3.0)
        assert np.array_equal(together[(..., *place)], own)
