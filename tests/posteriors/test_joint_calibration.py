"""Ranks of truths from the prior under the joint posterior: cells and questions, every kind of noise that is stated.

False alarms: seeds are fixed, so that a test fails only if the code changes. If the posterior were exact, each of the
chi-square tests would fail one seed in a million, and the count of far ranks fewer than one in a million.
"""

import numpy as np
import pytest
from scipy import special, stats

from benchmarks.ranks import drawn_counts, free_cells
from dpbayes import (
    Counts,
    Dirichlets,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    Network,
    query,
)
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray
from dpbayes.posteriors.joint.posterior import JointPosterior
from tests.conftest import IS_THOROUGH
from tests.strategies import DIAMOND, V_STRUCTURE, chain

FAR = 1e-6
TERNARY = Network.from_edges("abcde", ["ab", "ac", "bd", "be"], dict.fromkeys("abcde", "xyz"))
STEEP = Dirichlets.symmetric(chain(4), 0.3)
SETTINGS = [
    (LaplaceUpdates, Dirichlets.symmetric(DIAMOND), 50, 0.5),
    (LaplaceUpdates, Dirichlets.symmetric(TERNARY), 10_000, 0.1),
    (LaplaceUpdates, STEEP, 1000, 0.1),
    (LaplaceUpdates, Dirichlets.bdeu(V_STRUCTURE, 2.0), 200, 1.0),
    (LaplaceFourier, Dirichlets.symmetric(chain(4)), 1000, 1.0),
    (GaussianUpdates, Dirichlets.symmetric(TERNARY), 200, 1.0),
    (GaussianResiduals, Dirichlets.symmetric(DIAMOND), 1000, 0.5),
]
RELEASES, DRAWS = 60 if IS_THOROUGH else 30, 99
PART = 30
"""Releases whose posteriors are in memory at the same time: those of 200 take 1 GB."""


def posteriors_of(kind, prior: Dirichlets, n: int, epsilon: float, *, rng: np.random.Generator):
    """Yield CPTs from the prior (part, K), and the joint posteriors given releases of their tables, part by part."""
    network = prior.network
    theta = prior.sample(rng, (RELEASES,))
    counts = Counts(network, drawn_counts(network, theta, n, rng), n)
    release = kind(prior=prior, epsilon=epsilon).simulate(counts, rng)
    for part in slices(RELEASES, PART):
        yield theta[part], release.part(part).joint_noise_aware()


def ranks_of_cells(theta: FloatArray, law: JointPosterior) -> FloatArray:
    """Ranks of all free cells: (part, C)."""
    cells = free_cells(law.network)
    return law.marginals(cells).cumulative(theta[..., cells])


def ranks_of_questions(theta: FloatArray, law: JointPosterior, rng: np.random.Generator) -> FloatArray:
    """Ranks of P(node) for a random node of each release: (part,)."""
    network, releases, draws = law.network, len(theta), law.sample(rng, DRAWS)
    below = np.array([(query(network, draws, x, {}) < query(network, theta, x, {}))[..., 0] for x in network.names[1:]])
    node = rng.integers(len(network.names) - 1, size=releases)
    return (below.sum(axis=1)[node, np.arange(releases)] + rng.random(releases)) / (DRAWS + 1)


@pytest.fixture(scope="module")
def ranks() -> list[tuple[FloatArray, FloatArray]]:
    """The ranks of all free cells (releases, C) and of a question (releases,), for each setting."""
    every = []
    for seed, setting in enumerate(SETTINGS):
        rng = np.random.default_rng(seed)
        laws = posteriors_of(*setting, rng=rng)
        parts = [(ranks_of_cells(theta, law), ranks_of_questions(theta, law, rng)) for theta, law in laws]
        cells, questions = map(np.concatenate, zip(*parts, strict=True))
        every.append((cells, questions))
    return every


def test_ranks_of_cells_and_of_questions_are_even(ranks):
    rng, place = np.random.default_rng(2), np.arange(RELEASES)
    cells = [of_cells[place, rng.integers(of_cells.shape[1], size=RELEASES)] for of_cells, _ in ranks]
    for own in (np.concatenate(cells), np.concatenate([questions for _, questions in ranks])):
        assert stats.chisquare(np.histogram(own, 10, (0, 1))[0]).pvalue > FAR
        covered = int((np.abs(own - 0.5) < 0.475).sum())
        assert stats.binomtest(covered, own.size, 0.95).pvalue > FAR


@pytest.mark.parametrize("place", [1, 2], ids=["ternary", "steep"])
def test_small_counts_in_large_tables_are_possible(ranks, place):
    """Groups of counts are wide in tables of thousands of records; a truth near 0 lies within the first group.

    Each of at most 26 cells would be that far in 6e-5 of all releases: more than a tenth are too many.
    """
    scores = special.ndtri(np.clip(ranks[place][0], 1e-12, 1 - 1e-12))
    assert int((np.abs(scores) > 4).any(axis=1).sum()) <= RELEASES // 10
