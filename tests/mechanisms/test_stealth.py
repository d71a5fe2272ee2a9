import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration, LaplaceFourier
from dpbayes.mechanisms.fourier import coefficient_noise
from dpbayes.mechanisms.stealth import Sense, increments_for_counts, least_cells
from dpbayes.model.closure import walsh
from dpbayes.model.counts import count
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import empty, full, naive_bayes
from tests.strategies import ASIA, NAIVE_BAYES, chain, networks, random_table

ALARM = 1e-9
PRINTED, CERTIFIED = Calibration.AS_PRINTED, Calibration.CERTIFIED


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def fourier(network: Network, calibration: Calibration = PRINTED, **more: float) -> LaplaceFourier:
    prior = Dirichlets.symmetric(network, more.pop("prior", 1.0))
    return LaplaceFourier(prior=prior, calibration=calibration, **({"epsilon": 1.0} | more))


def simulated(sense: Sense, network: Network, calibration: Calibration = PRINTED, draws: int = 40_000) -> np.ndarray:
    return increments_for_counts(sense, fourier(network, calibration), rng(), draws=draws)


def share(needed: np.ndarray, t: float) -> float:
    return float(np.mean(needed <= t))


def agrees(needed: np.ndarray, t: float, probability: float) -> bool:
    """Whether the share at t is one that this probability gives."""
    draws, kept = len(needed), int(np.sum(needed <= t))
    return min(stats.binom.cdf(kept, draws, probability), stats.binom.sf(kept - 1, draws, probability)) > ALARM


# The least cell of the whole table


def all_cells(network: Network, values: np.ndarray) -> np.ndarray:
    """Every signed sum, over a table on all of I: (draws, 2^|I|)."""
    k = len(network.names)
    table = np.zeros((len(values), 2**k))
    table[:, [sum(1 << (k - 1 - i) for i in range(k) if g >> i & 1) for g in network.closure.members]] = values
    return walsh(table.reshape(-1, *(2,) * k), k).reshape(len(values), -1)


@given(networks(most_nodes=6), st.integers(0, 10**6))
def test_the_least_cell_found_by_elimination_is_that_of_the_whole_table(network, seed):
    values = np.random.default_rng(seed).laplace(size=(5, len(network.closure)))
    assert least_cells(network, values) == pytest.approx(all_cells(network, values).min(axis=-1), abs=1e-9)


def test_graphs_beyond_reach_are_said_to_be():
    roots = [f"a{i}" for i in range(19)]
    pairs = list(itertools.combinations(roots, 2))
    wide = Network.from_edges(
        [*roots, *("".join(pair) for pair in pairs)], [(parent, "".join(pair)) for pair in pairs for parent in pair]
    )
    with pytest.raises(InputError, match="is too large"):
        least_cells(wide, np.zeros((1, len(wide.closure))))


# Probabilities

INCREMENTS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 1, 2.303]
TABLE = [0, 0, 0.0001, 0.0021, 0.116, 0.579, 0.916, 0.992, 1, 1]
MARGINALS = [0.118, 0.713, 0.965, 0.997, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(("sense", "expected"), [(Sense.TABLE, TABLE), (Sense.MARGINALS, MARGINALS)])
def test_naive_bayes_has_its_known_probabilities(sense, expected):
    # From 10^6 draws, printed to three digits: the rounding is added to six standard errors of the two simulations.
    needed, draws = simulated(sense, NAIVE_BAYES, draws=100_000), 100_000
    shares = np.array([share(needed, t) for t in INCREMENTS])
    near = (shares * draws + 1) / (draws + 2)
    error = 6 * np.sqrt(near * (1 - near) / draws * 1.1) + 5e-4
    assert np.all(np.abs(shares - expected) < error)


@pytest.mark.parametrize(
    ("network", "table", "marginal"),
    [
        (empty(1), 0.788, 0.788),
        (chain(2), 0.680, 0.680),
        (empty(3), 0.735, 0.515),
        (empty(6), 0.692, 0.342),
        (chain(5), 0.583, 0.354),
        (full(3), 0.557, 0.557),
        (full(4), 0.440, 0.440),
        (naive_bayes(6), 0.551, 0.268),
    ],
)
def test_small_graphs_have_their_known_increments_for_ninety_percent(network, table, marginal):
    for sense, expected in [(Sense.TABLE, table), (Sense.MARGINALS, marginal)]:
        needed = simulated(sense, network)
        assert 0.87 < share(needed, expected - 0.012) < 0.9 < share(needed, expected + 0.012) < 0.93


@pytest.mark.parametrize("t", [0.0, 0.1, 0.5])
def test_one_binary_node_is_exact_by_hand(t):
    # Certified: cells are t-lift +- X_1, so P = 1 - exp(-4t). Printed: X_0 + 4t >= |X_1|.
    assert agrees(simulated(Sense.MARGINALS, empty(1), CERTIFIED), t, -math.expm1(-4 * t))
    kept = mpmath.quad(lambda x: mpmath.exp(-abs(x)) / 2 * -mpmath.expm1(-(x + 4 * t)), [-4 * t, 0, mpmath.inf])
    assert agrees(simulated(Sense.MARGINALS, empty(1)), t, float(kept))


@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize(("n", "epsilon", "prior"), [(0, 1.0, 1.0), (60, 0.3, 5.0), (500, 5.0, 0.5)])
def test_real_releases_are_non_negative_exactly_as_often_as_said(calibration, n, epsilon, prior):
    counts = count(ASIA, random_table(ASIA, rng(5), n))
    mechanism = fourier(ASIA, calibration, epsilon=epsilon, prior=prior, t=0.15)
    draws = 2_000
    updates = mechanism.simulate(counts, rng(), (draws,)).outcome.updates  # the same noise, as nothing else is drawn
    tables, positive, table = (
        increments_for_counts(sense, mechanism, rng(), draws=draws, counts=counts.values)
        for sense in (Sense.MARGINALS, Sense.PARAMETERS, Sense.TABLE)
    )
    assert share(tables, 0.15) == (updates >= 0).all(axis=-1).mean()
    assert share(positive, 0.15) == (updates + prior > 0).all(axis=-1).mean()
    noise = coefficient_noise(ASIA, calibration, rng(), (draws,), law=mechanism.noise_law)
    whole = all_cells(ASIA, coefficients(ASIA, counts.values) + noise)
    assert share(table, 0.15) == (whole.min(axis=-1) + mechanism.lift >= 0).mean()


def test_real_counts_help_the_tables_and_may_ruin_the_whole_table():
    mechanism, counts = fourier(empty(2), epsilon=10.0), np.array([1000, 0, 1000, 0])
    worst, real = (
        increments_for_counts(Sense.MARGINALS, mechanism, rng(), draws=2_000, counts=values) for values in (0, counts)
    )
    assert np.all(real <= worst)
    whole = [increments_for_counts(Sense.TABLE, mechanism, rng(), draws=2_000, counts=values) for values in (0, counts)]
    assert share(whole[0], 3.0) > 0.99
    assert share(whole[1], 3.0) == 0
