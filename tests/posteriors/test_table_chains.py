"""Chains over whole tables against listing all of them, and against the quick posterior.

A mean is compared in standard errors that 128 chains show: beyond `FAR` of them, Student's law of 127 degrees of
freedom has 1e-9 for all cells together. That the scale of the noise is a quarter off is seen.
"""

import numpy as np
import pytest
from scipy import stats

from benchmarks.ranks import drawn_counts
from dpbayes import Counts, Dirichlets, Network
from dpbayes.mechanisms import LaplaceUpdates, Noise
from tests.conftest import thorough
from tests.posteriors.enumerated import exact_posterior as listed
from tests.posteriors.table_chains import CHAINS, ExactDraws, exact_posterior
from tests.strategies import DIAMOND, V_STRUCTURE, chain, empty

FAR = float(stats.t.isf(1e-9 / 2 / 40, CHAINS - 1))
TERNARY = Network.from_edges("ab", ["ab"], {"a": "xyz", "b": "01"})
CASES = [(chain(2), 6), (TERNARY, 4), (chain(3), 3), (V_STRUCTURE, 2), (DIAMOND, 2), (empty(2), 6)]


def one_release(mechanism, n: int, seed: int = 1) -> np.ndarray:
    rng, network = np.random.default_rng(seed), mechanism.prior.network
    counts = drawn_counts(network, mechanism.prior.sample(rng, (1,)), n, rng)[0]
    return mechanism.simulate(Counts(network, counts, n), rng).numbers


def drawn(mechanism, released: np.ndarray, n: int, *, sweeps: int = 100, noise=None) -> ExactDraws:
    noise = noise or mechanism.noise_model
    return exact_posterior(mechanism.prior, noise, released, n, np.random.default_rng(2), sweeps=sweeps)


def away(draws: ExactDraws, mean: np.ndarray) -> float:
    """The largest distance of a cell's mean, in standard errors of E[theta | counts]."""
    means = draws.law.prior.updated(draws.law.counts).mean
    return float((np.abs(draws.law.mean - mean) * np.sqrt(draws.effective) / means.std(axis=0)).max())


@pytest.mark.parametrize(("network", "n"), thorough(CASES, sample=[CASES[0], CASES[2], CASES[4]]))
@pytest.mark.parametrize("noise", thorough(list(Noise), sample=[Noise.WHOLE]))
def test_it_agrees_with_listing_every_table(network, n, noise):
    alpha = np.random.default_rng(1).uniform(0.3, 3, network.cell_count)
    mechanism = LaplaceUpdates(prior=Dirichlets(network, alpha), epsilon=2.0, noise=noise)
    released = one_release(mechanism, n)
    sweeps = 100 if len(network.names) < 4 else 40  # which have more moves each
    draws, expected = drawn(mechanism, released, n, sweeps=sweeps), listed(mechanism, released, n)
    assert away(draws, expected.mean) < FAR
    np.testing.assert_allclose(draws.law.sd, expected.sd, rtol=0.05)
    assert draws.rhat.max() < 1.3
    assert draws.effective.min() > 150
