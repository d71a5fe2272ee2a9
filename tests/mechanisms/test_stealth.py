import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpbayes.mechanisms import Calibration, LaplaceFourier, Noise
from dpbayes.mechanisms.stealth import needed_increments
from dpbayes.model.dataset import count
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import empty, full, naive_bayes
from tests.strategies import ASIA, NAIVE_BAYES, chain, random_table

ALARM = 1e-9
PRINTED, CERTIFIED = Calibration.AS_PRINTED, Calibration.CERTIFIED


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def simulated(network: Network, calibration: Calibration = PRINTED, draws: int = 40_000) -> np.ndarray:
    """The increments at an epsilon of 1."""
    law = LaplaceFourier(prior=network, epsilon=1.0, calibration=calibration).noise_law
    return needed_increments(network, calibration, rng(), draws=draws, law=law)


def share(needed: np.ndarray, t: float) -> float:
    return float(np.mean(needed <= t))


def agrees(needed: np.ndarray, t: float, probability: float) -> bool:
    """Whether the share at t is one that this probability gives."""
    draws, kept = len(needed), int(np.sum(needed <= t))
    return min(stats.binom.cdf(kept, draws, probability), stats.binom.sf(kept - 1, draws, probability)) > ALARM


# Probabilities

INCREMENTS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 1, 2.303]
MARGINALS = [0.118, 0.713, 0.965, 0.997, 1, 1, 1, 1, 1, 1]


def test_naive_bayes_has_its_known_probabilities():
    # From 10^6 draws, printed to three digits: the rounding is added to six standard errors of the two simulations.
    needed, draws = simulated(NAIVE_BAYES, draws=100_000), 100_000
    shares = np.array([share(needed, t) for t in INCREMENTS])
    near = (shares * draws + 1) / (draws + 2)
    error = 6 * np.sqrt(near * (1 - near) / draws * 1.1) + 5e-4
    assert np.all(np.abs(shares - MARGINALS) < error)


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        (empty(1), 0.788),
        (chain(2), 0.680),
        (empty(3), 0.515),
        (empty(6), 0.342),
        (chain(5), 0.354),
        (full(3), 0.557),
        (full(4), 0.440),
        (naive_bayes(6), 0.268),
    ],
)
def test_small_graphs_have_their_known_increments_for_ninety_percent(network, expected):
    needed = simulated(network)
    assert 0.87 < share(needed, expected - 0.012) < 0.9 < share(needed, expected + 0.012) < 0.93


@pytest.mark.parametrize("t", [0.0, 0.1, 0.5])
def test_one_binary_node_is_exact_by_hand(t):
    # Certified: cells are t-lift +- X_1, so P = 1 - exp(-4t). Printed: X_0 + 4t >= |X_1|.
    assert agrees(simulated(empty(1), CERTIFIED), t, -math.expm1(-4 * t))
    kept = mpmath.quad(lambda x: mpmath.exp(-abs(x)) / 2 * -mpmath.expm1(-(x + 4 * t)), [-4 * t, 0, mpmath.inf])
    assert agrees(simulated(empty(1)), t, float(kept))


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize(("n", "epsilon"), [(0, 1.0), (60, 0.3), (500, 5.0)])
def test_releases_are_non_negative_exactly_as_often_as_said(calibration, n, epsilon, noise):
    counts = count(ASIA, random_table(ASIA, rng(5), n))
    mechanism = LaplaceFourier(prior=ASIA, epsilon=epsilon, calibration=calibration, t=0.15, noise=noise)
    draws = 2_000
    updates = mechanism.simulate(counts, rng(), (draws,)).outcome.updates  # the same noise, as nothing else is drawn
    options = {"draws": draws, "law": mechanism.noise_law}
    tables = needed_increments(ASIA, calibration, rng(), counts=counts.values, **options)
    assert share(tables, 0.15) == pytest.approx((updates >= -1e-9).all(axis=-1).mean(), abs=1e-12)
    assert np.all(tables <= needed_increments(ASIA, calibration, rng(), **options))
