"""Whether the prior decides an answer: known answers for one row, and nodes of many rows."""

import numpy as np
import pytest
from scipy import stats

from dpbayes import Counts, Dirichlets, LaplaceUpdates, Network, count, query, sample_dataset
from dpbayes.posteriors.influence import vague_coverage
from tests.strategies import ASIA, chain

ONE = Network.from_edges("a", [])
WIDE = Network.from_edges("abcdey", [(parent, "y") for parent in "abcde"])


def draws_of(prior: Dirichlets, counts: object = 0.0, size: int = 4000) -> np.ndarray:
    return prior.updated(np.zeros(prior.network.cell_count) + counts).sample(np.random.default_rng(1), size)


@pytest.mark.parametrize("counts", [(0, 0), (7, 3), (700, 300)])
def test_a_uniform_row_has_the_vague_prior(counts):
    prior = Dirichlets.symmetric(ONE)
    coverage = vague_coverage(ONE, prior.alpha, draws_of(prior, np.array(counts)), "a", {})
    np.testing.assert_allclose(coverage, 0.95, atol=0.06)


def test_a_strong_prior_without_records_has_the_width_of_its_interval():
    """Without information, the vague posterior is uniform on [0, 1]."""
    prior = Dirichlets(ONE, np.array([40.0, 60.0]))
    low, high = stats.beta.ppf((0.025, 0.975), 40, 60)
    coverage = vague_coverage(ONE, prior.alpha, draws_of(prior), "a", {})
    np.testing.assert_allclose(coverage, high - low, atol=0.03)


def test_a_strong_prior_against_records_has_the_coverage_of_two_normal_distributions():
    """Beta(500, 500) and 1,000 records, of which 600 are in the first state: the release alone states about 0.6."""
    prior, counts = Dirichlets(ONE, np.array([500.0, 500.0])), np.array([600, 400])
    low, high = stats.beta.ppf((0.025, 0.975), 1100, 900)
    expected = np.diff(stats.beta.cdf((low, high), 601, 401))[0]
    coverage = vague_coverage(ONE, prior.alpha, draws_of(prior, counts, 40_000), "a", {})
    np.testing.assert_allclose(coverage, expected, atol=0.03)
    assert expected < 0.2


def release_of(cpts: np.ndarray, prior: Dirichlets, *, n: int, epsilon: float, seed: int):
    rng = np.random.default_rng(seed)
    counts = [count(prior.network, sample_dataset(prior.network, cpts, n, rng)).values for _ in range(6)]
    release = LaplaceUpdates(prior=prior, epsilon=epsilon).release(Counts(prior.network, np.stack(counts), n), rng)
    return np.stack(counts), release.joint_noise_aware()


@pytest.mark.parametrize(("prior", "epsilon"), [("symmetric", 3.0), ("symmetric", 1.0), ("capped", 1.0)])
def test_intervals_of_a_sum_over_many_rows_that_miss_are_marked(prior, epsilon):
    """The prior is certain that the sum is near 0.5. It is 0.72."""
    cpts = np.full(WIDE.cell_count, 0.5)
    cpts[WIDE.cell_offsets[-2] :] = np.tile([0.28, 0.72], 32)
    own = getattr(Dirichlets, prior)(WIDE)
    counts, law = release_of(cpts, own, n=228, epsilon=epsilon, seed=1)
    answer, exact = law.query("y", interval=0.95), own.updated(counts).query("y")
    missed = (exact < answer.low) | (exact > answer.high)
    assert missed.any()
    assert answer.is_of_prior[missed].all()


@pytest.mark.parametrize("network", [chain(2), ASIA], ids=["chain", "asia"])
def test_answers_that_the_release_determines_are_not_marked(network):
    prior = Dirichlets.symmetric(network)
    _, law = release_of(prior.sample(np.random.default_rng(5)), prior, n=10_000, epsilon=10.0, seed=2)
    for name in network.names:
        assert not law.query(name, interval=0.95).is_prior_decisive


def test_evidence_takes_part():
    """P(b | a) of a chain depends on one row of b, and the prior of the other row has no influence."""
    network = chain(2)
    prior = Dirichlets(network, np.array([1.0, 1, 1, 1, 300, 300]))
    draws = draws_of(prior, np.array([500, 500, 400, 100, 100, 400]))
    first, second = (vague_coverage(network, prior.alpha, draws, "v1", {"v0": state}) for state in network.states[0])
    assert first.min() > 0.9
    assert second.max() < 0.5
    assert query(network, draws, "v1", {}).shape == (4000, 2)
