"""Rows that share a mean: the prior, and its joint posterior against listing every table, at limits and by ranks.

Seeds are fixed, so that a test fails only if the code changes. If the posterior were exact, the tests of ranks would
fail one seed in a million.
"""

import numpy as np
import pytest
from scipy import special, stats

from dpbayes import Counts, Dirichlets, GaussianResiduals, InputError, LaplaceUpdates, Network, SharedMeans, query
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray
from dpbayes.experiments.calibration import drawn_counts, free_cells
from dpbayes.posteriors.joint.posterior import joint_noise_aware, tilted_rows
from dpbayes.posteriors.joint.shared import SharedRows
from dpbayes.posteriors.shared_means import log_ratio_covariance, shared_means
from tests.posteriors.enumerated import log_chance_of, log_prior, multisets
from tests.strategies import V_STRUCTURE, chain, counts_per_record

FAR = 1e-6
PLACES = 21
"""Places of the log ratio of a listed posterior."""

FOUR = Network.from_edges("abcdy", [*(x + "y" for x in "abcd"), "ab", "cd"])
TERNARY = Network.from_edges("abc", ["ac", "bc"], {"a": "xy", "b": "xy", "c": "xyz"})
NARROW = 3
"""With more cells than these, a node is wide: a binary node with one parent is."""


def released(prior: Dirichlets, n: int, epsilon: float, number: int, *, seed: int = 1, kind=LaplaceUpdates):
    """CPTs from the prior, and releases of their tables."""
    rng, network = np.random.default_rng(seed), prior.network
    theta = prior.sample(rng, (number,))
    counts = Counts(network, drawn_counts(network, theta, n, rng), n)
    mechanism = kind(prior=prior, epsilon=epsilon)
    return theta, mechanism, mechanism.release(counts, rng)


# The prior


def test_a_row_has_the_moments_of_its_independent_parameters():
    for network, node in ((FOUR, 4), (TERNARY, 2)):
        prior = SharedMeans.wide(network, 3.0)
        theta = prior.sample(np.random.default_rng(1), 40_000)
        cells = slice(network.cell_offsets[node], network.cell_offsets[node + 1])
        np.testing.assert_allclose(theta.mean(axis=0)[cells], prior.mean[cells], atol=0.01)
        np.testing.assert_allclose(theta.std(axis=0)[cells], prior.sd[cells], rtol=0.06)
        np.testing.assert_allclose(network.row_sums(theta), 1)


def test_rows_of_a_node_have_the_same_expectation_given_their_mean():
    prior = SharedMeans.wide(FOUR, 3.0)
    theta = prior.sample(np.random.default_rng(1), 20_000)[:, FOUR.cell_offsets[4] :: 2]
    together = np.corrcoef(theta.T)
    # Var(mu) / Var(theta) with mu nearly uniform: (1/12) / (1/12 + 1/24)
    assert np.abs(together[np.triu_indices(16, 1)] - 2 / 3).max() < 0.05
    alike = SharedMeans.wide(FOUR, 1e8).sample(np.random.default_rng(1), 50)[:, FOUR.cell_offsets[4] :: 2]
    assert np.ptp(alike, axis=1).max() < 1e-2
    assert np.ptp(alike) > 0.5


def test_a_sum_over_many_rows_remains_open():
    """The prior's own 95% interval of P(y = 1): nearly that of mu."""
    open_, uniform = (
        SharedMeans.wide(FOUR).query("y", interval=0.95),
        Dirichlets.symmetric(FOUR).query("y", interval=0.95),
    )
    assert (open_.high - open_.low).min() > 0.85
    assert (uniform.high - uniform.low).max() < 0.6


def test_without_wide_nodes_it_is_the_uniform_prior():
    network = chain(3)
    prior, uniform = SharedMeans.wide(network), Dirichlets.symmetric(network)
    assert not prior.ratios
    np.testing.assert_array_equal(prior.alpha, uniform.alpha)
    _, mechanism, release = released(prior, 50, 1.0, 2)
    law = joint_noise_aware(uniform, mechanism.noise_model, release.numbers, 50)
    np.testing.assert_array_equal(release.joint_noise_aware().mean, law.mean)


@pytest.mark.parametrize("values", [[0, 1], [1.0, 0, 0], [0, -1.0, 0], [0, np.inf, 0]])
def test_what_cannot_share_a_mean_is_refused(values):
    with pytest.raises(InputError, match="mean"):
        SharedMeans(chain(3), np.ones(10), np.array(values))
    with pytest.raises(InputError, match="concentration"):
        SharedMeans.wide(chain(3), 0.0)


# The joint posterior


def listed(prior: SharedMeans, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All tables (N, K), parameters at places of the log ratios (G, K), and ln P of both together (G, N)."""
    network = prior.network
    records = multisets(network, n)
    line = np.linspace(-5, 5, PLACES)
    grid = np.stack(np.meshgrid(*[line] * prior.ratio_count), axis=-1).reshape(-1, prior.ratio_count)
    alpha = prior.parameters(grid * np.sqrt(log_ratio_covariance(2)[0, 0]))
    logs = np.array([log_prior(Dirichlets(network, own), records) for own in alpha])
    logs -= (grid**2).sum(axis=-1, keepdims=True) / 2
    return records @ counts_per_record(network), alpha, logs


def samples(prior: SharedMeans, law: tuple[FloatArray, FloatArray, FloatArray], chance: FloatArray) -> FloatArray:
    """Samples (40000, K) of the posterior, given ln of the chance of a release under every table (N,)."""
    tables, alpha, logs = law
    rng, weights = np.random.default_rng(1), special.softmax(logs + chance)
    place, table = np.unravel_index(rng.choice(weights.size, 40_000, p=weights.ravel()), weights.shape)
    return Dirichlets(prior.network, alpha[place] + tables[table]).sample(rng)


@pytest.mark.parametrize(("network", "n"), [(chain(3), 7), (V_STRUCTURE, 5)], ids=["chain", "v-structure"])
def test_it_agrees_with_listing_every_table_at_every_mean(network, n):
    prior, target = SharedMeans.wide(network, 4.0, cells=NARROW), network.names[-1]
    everything = listed(prior, n)
    for epsilon in (0.5, 3.0):
        _, mechanism, release = released(prior, n, epsilon, 3)
        law, chance = release.joint_noise_aware(), log_chance_of(mechanism, n)
        answers = law.query(target, interval=0.95)
        assert law.is_settled.all()
        for k, numbers in enumerate(release.numbers):
            theta = samples(prior, everything, chance(numbers, everything[0]))
            exact = query(network, theta, target, {})[:, 0]
            assert (np.abs(law.mean[k] - theta.mean(axis=0)) < 0.3 * theta.std(axis=0)).all()
            np.testing.assert_allclose(law.sd[k], theta.std(axis=0), rtol=0.25)
            assert abs(answers.mean[k, 0] - exact.mean()) < 0.15 * exact.std()
            assert answers.sd[k, 0] == pytest.approx(exact.std(), rel=0.15)


def test_almost_without_noise_it_is_the_posterior_of_the_counts():
    """Given the counts, mu is integrated over places; rows with few records move towards the others' shares."""
    prior, n = SharedMeans.wide(FOUR), 300
    rng = np.random.default_rng(3)
    theta = prior.sample(rng)
    counts = Counts(FOUR, drawn_counts(FOUR, theta[None], n, rng)[0], n)
    law = LaplaceUpdates(prior=prior, epsilon=1000).release(counts, rng).joint_noise_aware()
    rows = counts.values[FOUR.cell_offsets[4] :].reshape(-1, 2)
    places = np.linspace(-6, 6, 400)
    alpha = 4.0 * shared_means(places[:, None] * np.sqrt(log_ratio_covariance(2)[0, 0]))
    factors = special.gammaln(rows + alpha[:, None]) - special.gammaln(alpha[:, None])
    weights = special.softmax(factors.sum(axis=(1, 2)) - places**2 / 2)
    exact = (weights[:, None, None] * (rows + alpha[:, None]) / (rows.sum(axis=1)[:, None] + 4)).sum(axis=0)
    np.testing.assert_allclose(law.mean[FOUR.cell_offsets[4] :], exact.ravel(), atol=0.02)


def test_almost_without_information_it_is_the_prior():
    prior = SharedMeans.wide(FOUR)
    law = released(prior, 50, 1e-3, 1)[2].part(0).joint_noise_aware()
    theta = prior.sample(np.random.default_rng(1), 20_000)
    assert (np.abs(law.mean - theta.mean(axis=0)) < 0.15 * theta.std(axis=0)).all()
    np.testing.assert_allclose(law.sd, theta.std(axis=0), rtol=0.1)
    answer = law.query("y", interval=0.95)
    assert answer.is_prior_decisive
    assert answer.sd[0] == pytest.approx(query(FOUR, theta, "y", {})[:, 0].std(), rel=0.15)


def test_with_a_large_concentration_rows_are_alike():
    law = released(SharedMeans.wide(FOUR, 1000.0), 500, 3.0, 1)[2].part(0).joint_noise_aware()
    assert law.is_settled
    assert np.ptp(law.mean[FOUR.cell_offsets[4] :: 2]) < 0.05


def test_a_batch_is_the_same_as_one_release_at_a_time():
    _, _, release = released(SharedMeans.wide(TERNARY), 100, 1.0, 3)
    law, alone = release.joint_noise_aware(), release.part(1).joint_noise_aware()
    assert np.allclose(law.mean[1], alone.mean, atol=1e-9)
    assert np.allclose(law.query("c")[1], alone.query("c"), atol=1e-9)


def test_draws_have_the_marginals_of_the_rows():
    law = released(SharedMeans.wide(FOUR), 200, 1.0, 1)[2].part(0).joint_noise_aware()
    draws = law.sample(np.random.default_rng(1), 4000)
    assert np.abs((draws.mean(axis=0) - law.mean) / law.sd).max() < 0.15
    np.testing.assert_allclose(draws.std(axis=0), law.sd, rtol=0.15)


def test_ranks_of_cells_and_of_questions_are_even():
    cells, questions, rng = [], [], np.random.default_rng(2)
    settings = [
        (FOUR, 228, 0.5, LaplaceUpdates),
        (TERNARY, 228, 3.0, LaplaceUpdates),
        (FOUR, 1000, 1.0, GaussianResiduals),
    ]
    for seed, (network, n, epsilon, kind) in enumerate(settings):
        theta, _, release = released(SharedMeans.wide(network), n, epsilon, 50, seed=seed, kind=kind)
        free, last = free_cells(network), network.names[-1]
        for part in slices(50, 10):  # the posteriors of 50 releases take 1 GB
            law, own = release.part(part).joint_noise_aware(), theta[part]
            of_cells = law.cumulative(own[:, free], cells=free)
            cells.append(of_cells[np.arange(len(own)), rng.integers(len(free), size=len(own))])
            draws = law.sample(rng, 99)
            below = (query(network, draws, last, {}) < query(network, own, last, {}))[..., 0].sum(axis=0)
            questions.append((below + rng.random(len(own))) / 100)
    for ranks in (np.concatenate(cells), np.concatenate(questions)):
        assert stats.chisquare(np.histogram(ranks, 10, (0, 1))[0]).pvalue > FAR
        covered = int((np.abs(ranks - 0.5) < 0.475).sum())
        assert stats.binomtest(covered, ranks.size, 0.95).pvalue > FAR


def test_questions_on_a_wide_node_have_intervals_that_contain_the_truth():
    """A node whose rows are all alike, as no prior of independent rows expects: 20 tables at a small epsilon."""
    rng = np.random.default_rng(5)
    truth = Dirichlets.symmetric(FOUR).sample(rng)
    truth[FOUR.cell_offsets[4] :] = np.tile([0.2, 0.8], 16)
    counts = Counts(FOUR, drawn_counts(FOUR, np.tile(truth, (20, 1)), 228, rng), 228)
    inside, errors = [], []
    for prior in (SharedMeans.wide(FOUR), Dirichlets.capped(FOUR)):
        law = LaplaceUpdates(prior=prior, epsilon=1.0).release(counts, np.random.default_rng(1)).joint_noise_aware()
        answer = law.query("y", interval=0.95)
        inside.append(int(((answer.low <= truth[-2:]) & (truth[-2:] <= answer.high))[:, 0].sum()))
        errors.append(np.abs(law.mean - truth)[:, FOUR.cell_offsets[4] :].mean())
    assert inside[0] >= 16, "0.8 of the tables; with coverage 0.95, fewer have a chance of 3e-4"
    assert errors[0] < errors[1]


# Points


def test_groups_of_counts_have_the_mean_weight_of_their_counts():
    """Under small parameters, most of the weight is at a few counts, which a group's middle does not represent."""
    n = 150
    prior = SharedMeans.wide(chain(2), 0.3, cells=NARROW)
    _, _, release = released(prior, n, 1.0, 1, kind=GaussianResiduals)
    rows = next(
        rows for rows in tilted_rows(prior, release.part(0).outcome.noise_model, n) if isinstance(rows, SharedRows)
    )
    precision = np.diag([1e-3, 1e-4, 1 / float(np.squeeze(log_ratio_covariance(2)))])
    cavity = np.tile([140.0, 2.0, -3.0], (1, 2, 1)), np.tile(precision, (1, 2, 1, 1))
    place = cavity[0], np.linalg.inv(cavity[1])
    observed = np.zeros((1, 2, 2))
    (exact, spread), (grouped, _) = (rows.tilted(observed, cavity, place, size).place for size in ((n + 1) ** 2, 64))
    sd = np.sqrt(np.diagonal(spread, axis1=-2, axis2=-1))
    assert (np.abs(grouped - exact) / sd).max() < 0.1
