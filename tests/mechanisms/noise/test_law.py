import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates, Noise
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw, whole_noise
from dpbayes.model.dataset import Counts, count
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from tests.strategies import V_STRUCTURE, random_table, sd_of_cells

ALARM = 1e-9
"""How improbable a false alarm of one statistical check is."""


def rng() -> np.random.Generator:
    return np.random.default_rng(20261122)


def whole(scale: float) -> NoiseLaw:
    return NoiseLaw(Noise.WHOLE, scale)


def pmf(k: np.ndarray | int, scale: float) -> np.ndarray:
    """P[k] = (1 - q)/(1 + q) q^|k|, q = exp(-1/b)."""
    return -np.expm1(-1 / scale) / (1 + np.exp(-1 / scale)) * np.exp(-np.abs(k) / scale)


# The law


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 16.0, 34.5])
def test_the_standard_deviation_is_that_of_the_sum_over_all_whole_numbers(scale):
    with mpmath.workdps(40):
        q = mpmath.exp(-1 / mpmath.mpf(scale))
        mass = mpmath.nsum(lambda k: q ** abs(k), [-mpmath.inf, mpmath.inf])
        variance = 2 * mpmath.nsum(lambda k: k**2 * q**k, [1, mpmath.inf]) / mass
        assert mass == pytest.approx(float(1 / mpmath.tanh(1 / (2 * mpmath.mpf(scale)))))
        assert whole(scale).sd == pytest.approx(float(mpmath.sqrt(variance)), rel=1e-13)


def pvalue(draws: np.ndarray, scale: float) -> float:
    """Chi-squared of draws against the law of this scale, the tails joined where fewer than 30 are expected."""
    reach = max(0, math.floor(scale * math.log(len(draws) * pmf(0, scale) / 30)))
    width = max(1, reach // 100)
    edges = np.arange(-reach, reach + 1, width)  # left ends of the cells; what lies outside is one cell at each side
    cells = np.clip(np.searchsorted(edges, draws, side="right"), 0, len(edges))
    q = np.exp(-1 / scale)

    def below(k: np.ndarray) -> np.ndarray:
        """P[D < k]."""
        tail = np.exp(-np.abs(np.where(k <= 0, 1 - k, k)) / scale) / (1 + q)
        return np.where(k <= 0, tail, 1 - tail)

    cumulative = np.concatenate([[0.0], below(edges), [1.0]])
    expected = np.diff(cumulative) * len(draws)
    kept = expected > 5
    seen = np.bincount(cells, minlength=len(expected))
    rest = [seen[~kept].sum()], [expected[~kept].sum()]
    pairs = [(o, e) for o, e in zip([*seen[kept], *rest[0]], [*expected[kept], *rest[1]], strict=True) if e > 0]
    statistic = sum((o - e) ** 2 / e for o, e in pairs)
    return float(stats.chi2.sf(statistic, len(pairs) - 1))


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 16.0, 34.5, 2e3])
def test_draws_follow_the_law_of_their_scale_and_of_none_ten_percent_off(scale):
    """A false alarm has probability 1e-9 in each; the seed is fixed."""
    draws = whole(scale).drawn(rng(), (200_000,))
    assert np.array_equal(draws, np.round(draws))
    assert pvalue(draws, scale) > ALARM
    for wrong in (1.1, 1 / 1.1):
        assert pvalue(draws, wrong * scale) < ALARM
    # Real noise whose fraction is cut off is another law, and is told from it where steps are not small.
    if scale < 5:
        cut = np.trunc(rng().laplace(scale=scale, size=200_000))
        assert pvalue(cut, scale) < ALARM


def test_noise_of_many_scales_from_the_same_draws_has_each_scales_law():
    pairs, scales = rng().standard_exponential((100_000, 2)), np.array([0.5, 3.0, 40.0])
    for scale, drawn in zip(scales, whole_noise(pairs, scales[:, None]), strict=True):
        assert pvalue(drawn, scale) > ALARM
        assert pvalue(drawn, 1.1 * scale) < ALARM


def test_no_scale_means_no_noise():
    for noise in Noise:
        assert not NoiseLaw(noise, 0.0).drawn(rng(), (5,)).any()


def test_only_real_noise_is_drawn_once_for_all_scales():
    assert whole(3.0).drawn_once == whole(3.0)
    assert NoiseLaw(Noise.REAL, 3.0).drawn_once == UNIT


# The mechanisms


def mechanisms(network: Network, epsilon: float = 1.0, noise: Noise = Noise.WHOLE) -> list:
    fourier = [
        LaplaceFourier(prior=network, epsilon=epsilon, calibration=calibration, noise=noise)
        for calibration in Calibration
    ]
    return [LaplaceUpdates(prior=network, epsilon=epsilon, noise=noise), *fourier]


def middle(network: Network) -> Counts:
    """Counts so far inside [0, n] that nothing is clipped."""
    return Counts(network, np.full(network.cell_count, 10**6), 2 * 10**6)


@pytest.mark.parametrize("mechanism", mechanisms(V_STRUCTURE), ids=lambda m: m.named)
@pytest.mark.parametrize("epsilon", [0.3, 4.0, 30.0])
def test_the_stated_standard_deviation_is_that_of_real_releases(mechanism, epsilon):
    draws = 40_000
    mechanism = type(mechanism)(**{**vars(mechanism), "epsilon": epsilon})
    updates = mechanism.simulate(middle(V_STRUCTURE), rng(), (draws,)).outcome.updates
    kurtosis = 6 + 2 / mechanism.noise_law.sd**2  # of one number; that of a sum is nearer to 3
    assert updates.std(axis=0) == pytest.approx(sd_of_cells(mechanism), rel=6.2 * math.sqrt(kurtosis / (4 * draws)))


def test_noisy_counts_are_whole_numbers_of_their_law():
    mechanism = mechanisms(V_STRUCTURE, 2.0)[0]
    exact = middle(V_STRUCTURE)
    noise = mechanism.simulate(exact, rng(), (50_000,)).outcome.updates - exact.values
    assert pvalue(noise.ravel(), 6 / 2.0) > ALARM
    assert pvalue(noise.ravel(), 1.1 * 6 / 2.0) < ALARM
    small = count(V_STRUCTURE, random_table(V_STRUCTURE, rng(), 7))
    updates = mechanism.simulate(small, rng(), (500,)).outcome.updates
    assert set(np.unique(updates)) == set(range(8)), "clipped to [0, n]"


@pytest.mark.parametrize("calibration", Calibration)
def test_noisy_coefficients_are_whole_numbers_of_their_law(calibration):
    mechanism = LaplaceFourier(prior=V_STRUCTURE, epsilon=2.0, calibration=calibration, noise=Noise.WHOLE)
    exact = count(V_STRUCTURE, random_table(V_STRUCTURE, rng(), 40))
    updates = mechanism.simulate(exact, rng(), (50_000,)).outcome.updates
    noise = coefficients(V_STRUCTURE, updates) - coefficients(V_STRUCTURE, exact.values)
    noise[:, 0] -= mechanism.lift
    assert (np.abs(noise - np.round(noise)) <= 1e-9).all()
    if calibration is Calibration.CERTIFIED:
        assert not np.round(noise[:, 0]).any(), "n is public and gets no noise"
    for gamma in range(calibration is Calibration.CERTIFIED, noise.shape[1]):
        assert pvalue(np.round(noise[:, gamma]), mechanism.noise_scale) > ALARM
        assert pvalue(np.round(noise[:, gamma]), 1.1 * mechanism.noise_scale) < ALARM
