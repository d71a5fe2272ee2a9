"""Whether the prior decides an answer: known answers for one row, and nodes of many rows."""

import numpy as np
import pytest
from scipy import stats

from dpbayes import Counts, Dirichlets, LaplaceUpdates, Network, count, sample_dataset
from dpbayes.posteriors.influence import exact_cells, vague_coverage
from tests.strategies import ASIA, chain

ONE = Network.from_edges("a", [])
WIDE = Network.from_edges("abcdey", [(parent, "y") for parent in "abcde"])
RECORDS = 1000


def coverage_of(prior: tuple[float, float], first: np.ndarray) -> float:
    """The coverage of the answer P(a) of one row with 1,000 records and sampled counts of the first state."""
    own, rng = Dirichlets(ONE, np.array(prior)), np.random.default_rng(1)
    given = own.updated(np.column_stack((first, RECORDS - first)))
    exact = exact_cells(ONE, own.alpha, given.alpha)
    return vague_coverage(ONE, own.alpha, exact, given.sample(rng), "a", {})[0]


def read(prior: tuple[float, float], noisy: float, sd: float) -> tuple[np.ndarray, float]:
    """Samples of the first count given a normal release, and the coverage of their interval by enumeration."""
    counts, rng = np.arange(RECORDS + 1), np.random.default_rng(2)
    likelihood = stats.norm.pdf(counts, noisy, sd)
    weights = likelihood * stats.betabinom.pmf(counts, RECORDS, *prior)
    drawn = rng.choice(counts, 40_000, p=weights / weights.sum())
    theta = rng.beta(prior[0] + drawn, prior[1] + RECORDS - drawn)
    low, high = np.quantile(theta, (0.025, 0.975))
    exact = (prior[0] + counts) / (sum(prior) + RECORDS)
    inside = (low <= exact) & (exact <= high)
    return drawn, float(likelihood[inside].sum() / likelihood.sum())


@pytest.mark.parametrize(
    ("prior", "noisy", "sd"),
    [((1, 1), 600, 50), ((40, 60), 600, 50), ((400, 600), 600, 20), ((400, 600), 600, 60), ((40, 60), 420, 300)],
)
def test_the_coverage_of_one_row_is_that_of_enumerated_counts_with_equal_weights(prior, noisy, sd):
    drawn, expected = read(prior, noisy, sd)
    np.testing.assert_allclose(coverage_of(prior, drawn), expected, atol=0.08)


@pytest.mark.parametrize("prior", [(1, 1), (0.1, 0.1), (4000, 6000)])
def test_the_prior_decides_nothing_if_the_counts_are_public(prior):
    """The exact answer is the same, however strong its prior is."""
    assert coverage_of(prior, np.full(4000, 700)) == 1


def test_a_uniform_row_without_information_has_the_vague_prior():
    every = np.random.default_rng(3).integers(0, RECORDS + 1, 4000)
    np.testing.assert_allclose(coverage_of((1, 1), every), 0.95, atol=0.02)


def release_of(cpts: np.ndarray, prior: Dirichlets, *, n: int, epsilon: float, seed: int):
    rng = np.random.default_rng(seed)
    counts = [count(prior.network, sample_dataset(prior.network, cpts, n, rng)).values for _ in range(6)]
    release = LaplaceUpdates(prior=prior, epsilon=epsilon).simulate(Counts(prior.network, np.stack(counts), n), rng)
    return np.stack(counts), release.joint_noise_aware()


@pytest.mark.parametrize(
    ("prior", "epsilon", "missed", "marked"),
    [
        ("symmetric", 1, 6, 6),
        ("symmetric", 3, 1, 6),
        ("capped", 1, 1, 6),
        ("symmetric", 40, 0, 0),
        ("capped", 40, 0, 0),
    ],
)
def test_a_sum_over_many_rows_is_marked_if_the_noise_hides_it(prior, epsilon, missed, marked):
    """The prior is nearly certain that the sum over 32 rows is near 0.5. It is 0.72."""
    cpts = np.full(WIDE.cell_count, 0.5)
    cpts[WIDE.cell_offsets[-2] :] = np.tile([0.28, 0.72], 32)
    own = getattr(Dirichlets, prior)(WIDE)
    counts, law = release_of(cpts, own, n=228, epsilon=epsilon, seed=1)
    answer, exact = law.query("y", interval=0.95), own.updated(counts).query("y").mean
    misses = ((exact < answer.low) | (exact > answer.high))[:, 1]
    assert misses.sum() >= missed
    assert answer.is_of_prior[:, 1].sum() == marked
    assert not (misses & ~answer.is_of_prior[:, 1]).any()


@pytest.mark.parametrize("network", [chain(2), ASIA], ids=["chain", "asia"])
def test_answers_that_the_release_determines_are_not_marked(network):
    prior = Dirichlets.symmetric(network)
    _, law = release_of(prior.sample(np.random.default_rng(5)), prior, n=10_000, epsilon=10.0, seed=2)
    for name in network.names:
        assert not law.query(name, interval=0.95).is_prior_decisive


def test_evidence_takes_part():
    """P(b | a) of a chain depends on one row of b, and the uncertain counts of the other row have no influence."""
    network, rng = chain(2), np.random.default_rng(4)
    prior = Dirichlets(network, np.array([1.0, 1, 1, 1, 400, 600]))
    first, second = rng.normal(800, 20, 40_000), read((400, 600), 600, 60)[0]
    even = np.full(40_000, 1000)
    given = prior.updated(np.column_stack((even, even, first, RECORDS - first, second, RECORDS - second)))
    exact = exact_cells(network, prior.alpha, given.alpha)
    own, other = (
        vague_coverage(network, prior.alpha, exact, given.sample(rng), "v1", {"v0": state})
        for state in network.states[0]
    )
    assert own.min() > 0.9
    assert other.max() < 0.5
