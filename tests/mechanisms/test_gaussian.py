"""Gaussian noise on counts: its law, its size and what it hands over."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.mechanisms import GaussianUpdates, LaplaceUpdates, Noise
from dpbayes.mechanisms.noise.law import GaussianLaw, gaussian_noise
from dpbayes.model.dataset import Counts
from tests.strategies import ASIA, V_STRUCTURE, sd_of_cells

ALARM = 1e-9


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def pvalue(drawn: np.ndarray, scale: float) -> float:
    """Of whole draws against exp(-k^2/(2 s^2)), values that are rare put together."""
    reach = math.ceil(4 * scale)
    k = np.arange(-reach, reach + 1)
    mass = np.exp(-((k / scale) ** 2) / 2)
    counts = np.array([np.sum(drawn == at) for at in k])
    expected = mass / mass.sum() * counts.sum()
    common = expected > 10
    pooled = [np.append(values[common], values[~common].sum()) for values in (counts, expected)]
    return float(stats.chisquare(*pooled, sum_check=False).pvalue)


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.3, 20.0])
def test_whole_draws_have_their_law_and_a_tenth_more_would_be_seen(scale):
    drawn = GaussianLaw(Noise.WHOLE, scale).drawn(rng(), (60_000,))
    assert np.array_equal(drawn, np.round(drawn))
    assert pvalue(drawn, scale) > ALARM
    assert pvalue(drawn, 1.1 * scale) < ALARM


def test_each_number_may_have_a_scale_of_its_own_and_none_means_no_noise():
    scales = np.array([0.0, 1.0, 30.0])
    for noise in Noise:
        drawn = gaussian_noise(noise, scales, rng(), (40_000, 3))
        assert not drawn[:, 0].any()
        spread = 6.2 * math.sqrt(2 / (4 * 40_000))
        assert drawn[:, 1:].std(axis=0) == pytest.approx(
            [GaussianLaw(noise, scale).sd for scale in (1.0, 30.0)], rel=spread
        )


@pytest.mark.parametrize("scale", [0.2, 0.7, 2.0, 2.999, 3.0])
def test_the_standard_deviation_of_whole_noise_is_that_of_its_law(scale):
    k = np.arange(-60, 61)
    mass = np.exp(-((k / scale) ** 2) / 2)
    sd = math.sqrt(float(mass @ k**2 / mass.sum()))
    assert GaussianLaw(Noise.WHOLE, scale).sd == pytest.approx(sd, rel=1e-12)
    assert GaussianLaw(Noise.REAL, scale).sd == scale


@pytest.mark.parametrize("noise", Noise)
def test_releases_are_the_counts_and_noise_of_the_stated_size_not_clipped(noise):
    mechanism = GaussianUpdates(prior=V_STRUCTURE, epsilon=1.0, delta=1e-6, noise=noise)
    table = Counts(V_STRUCTURE, np.array([3, 0, 3, 0, 3, 0, 0, 0, 0, 0, 0, 0]), 3)
    updates = mechanism.simulate(table, rng(), (40_000,)).outcome.updates
    assert updates.mean(axis=0) == pytest.approx(table.values, abs=6.2 * mechanism.noise_scale / 200)
    assert updates.std(axis=0) == pytest.approx(sd_of_cells(mechanism), rel=6.2 * math.sqrt(2 / 160_000))
    assert updates.min() < 0
    assert updates.max() > 3


def test_the_noise_on_asia_is_that_of_the_analytic_calibration():
    """sqrt(16) counts at a shift of 1/4.2247; Laplace noise has a standard deviation of 16 sqrt 2."""
    mechanism = GaussianUpdates(prior=ASIA, epsilon=1.0, delta=1e-6)
    assert sd_of_cells(mechanism) == pytest.approx(np.full(36, 4 * 4.2247), abs=1e-3)
    assert mechanism.certified.rho == pytest.approx(16 / (2 * mechanism.noise_scale**2))
    assert mechanism.noise_model.variances[1:] == pytest.approx(
        mechanism.noise_scale**2 * ASIA.residuals.of_unit_cells[1:]
    )
    laplace = LaplaceUpdates(prior=ASIA, epsilon=1.0)
    assert sd_of_cells(laplace) == pytest.approx(np.full(36, 16 * math.sqrt(2)))
