import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import integrate, special, stats

from dpbayes.base.validation import InputError
from dpbayes.model.regression import Moments, ScaledRegression, moments
from dpbayes.posteriors.gaussian import (
    Gaussian,
    log_ball_mass,
    log_interval_mass,
    sample_in_ball,
    tilt,
    weights_posterior,
)
from tests.conftest import crossed
from tests.strategies import rng

ALARM = 1e-9
DRAWS = 50_000
PRECISIONS = [1e-3, 30.0, 300.0, 3e3, 1e6]
"""Prior precisions b; with the norm bound 10/sqrt(b) the ball holds all, little or again all of the posterior."""


@cache
def simulated(d: int, n: int = 2_000) -> Moments:
    """Records with correlated features whose weights are far outside the smaller balls."""
    draw = rng()
    x = draw.uniform(-1, 1, (n, d)) @ (np.eye(d) + 0.5 * np.eye(d, k=1))
    x /= 1.5 * math.sqrt(d)
    y = np.clip(x @ np.linspace(0.3, 1.2, d) + 0.2 * draw.standard_normal(n), -1, 1)
    return moments(ScaledRegression(x, y, tuple(f"c{j}" for j in range(d + 1))))


def posterior(d: int, b: float, variance: float = 1.0) -> Gaussian:
    return weights_posterior(simulated(d), prior_precision=b, noise_variance=variance)


def isotropic(d: int, precision: float, shift: list[float]) -> Gaussian:
    return Gaussian(np.eye(d), np.full(d, precision), np.array(shift, dtype=float))


# The posterior


def test_the_posterior_is_that_of_the_lemma():
    part, b, variance = simulated(3), 7.0, 0.4
    gaussian = weights_posterior(part, prior_precision=b, noise_variance=variance)
    inner = part.gram + variance * b * np.eye(3)
    assert gaussian.mean == pytest.approx(np.linalg.solve(inner, part.cross))
    assert gaussian.precision == pytest.approx(inner / variance)
    assert gaussian.precision @ gaussian.mean == pytest.approx(part.cross / variance)


def test_a_tiny_prior_precision_keeps_its_digits_where_the_records_say_nothing():
    repeated = Moments(np.full((2, 2), 1e8), np.full(2, 1e8), np.asarray(1e8), 10**8)
    gaussian = weights_posterior(repeated, prior_precision=1e-3, noise_variance=1e-4)
    assert gaussian.precisions == pytest.approx([1e-3, 2e12], rel=1e-12)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_precisions_variances_and_radii_must_be_positive(bad):
    with pytest.raises(InputError, match="prior precision must be a positive"):
        weights_posterior(simulated(1), prior_precision=bad, noise_variance=1.0)
    with pytest.raises(InputError, match="noise variance must be a positive"):
        weights_posterior(simulated(1), prior_precision=1.0, noise_variance=bad)
    with pytest.raises(InputError, match="radius must be a positive"):
        sample_in_ball(posterior(1, 1.0), bad, rng())
    with pytest.raises(InputError, match="precisions of a Gaussian must be positive"):
        isotropic(2, bad, [0, 0])


def test_parts_of_a_gaussian_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="one axis for each"):
        Gaussian(np.eye(3), np.ones(2), np.zeros(2))


# Exact draws, against quadrature


def log_normal_between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """ln(Phi(high) - Phi(low)), from the tail that is smaller."""
    low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
    top = special.log_ndtr(high)
    return top + np.log(-np.expm1(special.log_ndtr(low) - top))


def projected_cdf(gaussian: Gaussian, radius: float, direction: np.ndarray):
    """The distribution function of direction'w under the cut Gaussian in 1-D or 2-D: the trapezoid rule in sin.

    The points are close together around the mean, where the uncut law may be far narrower than the ball.
    """
    turn = np.array([direction, [-direction[1], direction[0]]]) if gaussian.d == 2 else np.array([direction])
    p, m = turn @ gaussian.precision @ turn.T, turn @ gaussian.mean
    marginal = p[0, 0] - (p[0, 1] ** 2 / p[1, 1] if gaussian.d == 2 else 0.0)
    around = np.clip((m[0] + np.linspace(-12, 12, 20_001) / math.sqrt(marginal)) / radius, -1, 1)
    along = np.union1d(np.linspace(-math.pi / 2, math.pi / 2, 40_003), np.arcsin(around))[1:-1]
    s, chord = radius * np.sin(along), radius * np.cos(along)
    log_density = -marginal * (s - m[0]) ** 2 / 2
    if gaussian.d == 2:
        sd = 1 / math.sqrt(p[1, 1])
        middle = m[1] - p[0, 1] / p[1, 1] * (s - m[0])
        log_density = log_density + log_normal_between((-chord - middle) / sd, (chord - middle) / sd)
    density = np.exp(log_density - log_density.max()) * np.cos(along)
    cumulative = integrate.cumulative_trapezoid(density, along, initial=0)
    return lambda w: np.interp(w, s, cumulative / cumulative[-1])


def least_p_value(gaussian: Gaussian, radius: float, drawn: np.ndarray) -> float:
    towards = gaussian.mean / np.linalg.norm(gaussian.mean)
    directions = [np.eye(gaussian.d)[0], towards] + ([np.array([-towards[1], towards[0]])] if gaussian.d == 2 else [])
    return min(stats.kstest(drawn @ v, projected_cdf(gaussian, radius, v)).pvalue for v in directions)


@pytest.mark.parametrize(
    ("law", "variance"), crossed(list(itertools.product([1, 2], PRECISIONS)), [1.0, 0.1, 0.01], times=1)
)
def test_draws_follow_the_cut_gaussian(law, variance):
    d, b = law
    gaussian, radius = posterior(d, b, variance), 10 / math.sqrt(b)
    drawn = sample_in_ball(gaussian, radius, rng(), (DRAWS,))
    assert np.linalg.norm(drawn, axis=-1).max() <= radius * (1 + 1e-14)
    assert least_p_value(gaussian, radius, drawn) > ALARM


def test_many_weights_follow_what_plain_rejection_keeps():
    gaussian, radius = posterior(6, 30.0, 0.1), 1.82
    assert tilt(gaussian, radius) > 0
    plain = gaussian.sample(rng(), (400_000,))
    plain = plain[np.linalg.norm(plain, axis=-1) <= radius]
    assert len(plain) > 20_000
    drawn = sample_in_ball(gaussian, radius, np.random.default_rng(7), (DRAWS,))
    views = [np.eye(6)[0], gaussian.mean, gaussian.axes[:, 0], gaussian.axes[:, -1]]
    for one, other in [(plain @ v, drawn @ v) for v in views] + [
        (np.linalg.norm(plain, axis=-1), np.linalg.norm(drawn, axis=-1))
    ]:
        assert stats.ks_2samp(one, other).pvalue > ALARM


@pytest.mark.parametrize("d", [1, 2, 14])
def test_a_flat_density_fills_the_ball_evenly(d):
    drawn = sample_in_ball(isotropic(d, 1e-9, [0] * d), 2.0, rng(), (DRAWS,))
    shares = (np.linalg.norm(drawn, axis=-1) / 2) ** d
    assert stats.kstest(shares, stats.uniform.cdf).pvalue > ALARM
    assert np.abs(drawn.mean(axis=0)).max() < 6 * 2 / math.sqrt(DRAWS)


# Limits, batches and pace


@pytest.mark.parametrize("size", [(), (0,), (4,), (2, 3)])
@pytest.mark.parametrize("batch", [(), (3,), (2, 1, 3)])
def test_draws_come_before_the_batch(size, batch):
    b = np.broadcast_to([1.0, 100.0, 1e4], (*batch[:-1], 3)) if batch else np.asarray(100.0)
    gaussian = weights_posterior(simulated(2), prior_precision=b, noise_variance=1.0)
    radius = 10 / np.sqrt(b)
    drawn = sample_in_ball(gaussian, radius, rng(), size)
    assert drawn.shape == (*size, *batch, 2)
    assert np.all(np.linalg.norm(drawn, axis=-1) <= radius * (1 + 1e-14))
    assert tilt(gaussian, radius).shape == batch


def test_the_tilt_brings_the_proposals_mean_square_to_the_edge():
    gaussian, radius = posterior(4, 1.0), np.array([1e-6, 0.1, 0.5])
    precisions = gaussian.precisions + tilt(gaussian, radius)[:, None]
    squares = (1 / precisions + (gaussian.shifts / precisions) ** 2).sum(axis=-1)
    assert squares == pytest.approx(radius**2, rel=1e-9)


# Mass inside the ball


@pytest.mark.parametrize("radius", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(("precision", "shift"), [(1, 0), (4, 3), (1e-6, 2), (1e6, 5e5), (1e4, -3e3), (2.0, 50.0)])
def test_the_mass_of_an_interval_is_that_of_a_cut_normal(precision, shift, radius):
    mean, sd = shift / precision, precision**-0.5
    expected = log_normal_between(*(np.array((end - mean) / sd) for end in (-radius, radius)))
    expected += shift * mean / 2 + math.log(sd * math.sqrt(2 * math.pi))
    # Where the mean is far away the closed form cancels, so its rounding is allowed for.
    rounding = 1e-14 * abs(shift * mean)
    assert log_interval_mass(precision, shift, radius) == pytest.approx(
        float(expected), rel=1e-11, abs=1e-11 + rounding
    )


@pytest.mark.parametrize(
    ("precision", "mean", "radius"), [(1, 0, 1), (1, 2, 1), (100, 0.5, 1), (1e4, 0.99, 1), (1e4, 1.01, 1), (50, 0.1, 5)]
)
def test_the_mass_of_a_disc_is_a_noncentral_chi_square(precision, mean, radius):
    gaussian = isotropic(2, precision, [precision * mean * 0.6, precision * mean * 0.8])
    share = stats.ncx2.logcdf(precision * radius**2, 2, precision * mean**2) if mean else None
    share = math.log(-math.expm1(-precision * radius**2 / 2)) if share is None else share
    expected = share + math.log(2 * math.pi / precision) + precision * mean**2 / 2
    assert log_ball_mass(gaussian, radius) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(
    ("precisions", "shifts"),
    crossed([(1.0, 1.0), (0.1, 20.0), (20.0, 0.1), (200.0, 3.0)], [(0.0, 0.0), (5.0, -1.0), (-30.0, 40.0)], times=1),
)
def test_the_mass_of_a_disc_agrees_with_plain_quadrature(precisions, shifts):
    p, h = np.array(precisions), np.array(shifts)
    gaussian = Gaussian(np.array([[0.6, -0.8], [0.8, 0.6]]), p, h)
    theta = np.arange(2_000) * (math.pi / 1_000)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    r, weights = (nodes + 1) * 0.75, weights * 0.75
    w = r[:, None, None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    inner = np.exp(w @ h - (w**2) @ p / 2).sum(axis=-1) * (math.pi / 1_000)
    assert log_ball_mass(gaussian, 1.5) == pytest.approx(math.log(weights @ (r * inner)), rel=1e-11)


def test_masses_come_in_batches():
    radii = np.array([0.5, 1.0, 2.0])
    for d in (1, 2):
        gaussian = weights_posterior(simulated(d), prior_precision=np.array([[1.0], [50.0]]), noise_variance=1.0)
        masses = log_ball_mass(gaussian, radii)
        assert masses.shape == (2, 3)
        assert masses[1, 2] == pytest.approx(float(log_ball_mass(posterior(d, 50.0), 2.0)), rel=1e-12)


def test_three_dimensions_are_too_many_for_the_mass():
    with pytest.raises(InputError, match="one or two weights"):
        log_ball_mass(posterior(3, 1.0), 1.0)
