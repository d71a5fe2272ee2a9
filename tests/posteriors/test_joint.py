"""The joint posterior against listing every table, at its limits, its draws, and its intervals of questions.

Seeds are fixed, so that a test fails only if the code changes. Ranks of truths are tested by `test_joint_calibration`.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.ranks import drawn_counts
from dpbayes import (
    Counts,
    Dirichlets,
    GaussianResiduals,
    GaussianUpdates,
    InputError,
    LaplaceFourier,
    LaplaceUpdates,
    Network,
    count,
    load_named,
    query,
    sample_dataset,
)
from dpbayes.posteriors.joint import posterior as joint
from dpbayes.posteriors.joint.draws import RowDraws
from dpbayes.posteriors.joint.groups import groups_of_numbers
from dpbayes.posteriors.joint.posterior import joint_noise_aware
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import NoiseModel
from tests.posteriors.enumerated import exact_posterior, listed
from tests.posteriors.table_chains import exact_posterior as posterior_by_chains
from tests.strategies import ASIA, DIAMOND, V_STRUCTURE, chain

FAR = 1e-9
"""False-alarm probability of each statistical test."""

NAIVE = Network.from_edges("yab", ["ya", "yb"])
TERNARY = Network.from_edges("ab", ["ab"], {"a": "xyz", "b": "01"})
CASES = {
    "chain": (chain(3), 8),
    "naive Bayes": (NAIVE, 8),
    "ternary": (TERNARY, 8),
    "v-structure": (V_STRUCTURE, 8),
    "diamond": (DIAMOND, 4),
}


def releases_of(mechanism, n: int, number: int, seed: int = 1):
    rng, network = np.random.default_rng(seed), mechanism.prior.network
    theta = mechanism.prior.sample(rng, (number,))
    counts = Counts(network, drawn_counts(network, theta, n, rng), n)
    return theta, counts, mechanism.simulate(counts, rng)


def errors_of_means(law: DirichletMixtures, exact: DirichletMixtures) -> float:
    """The largest error of a mean in exact standard deviations."""
    return float((np.abs(law.mean - exact.mean) / exact.sd).max())


def errors(law: DirichletMixtures, exact: DirichletMixtures) -> tuple[float, float, float]:
    """The largest errors of means and of interval ends in exact standard deviations, and ln of a ratio of these."""
    ends = [np.abs(own - other) / exact.sd for own, other in zip(law.interval(), exact.interval(), strict=True)]
    return errors_of_means(law, exact), float(np.max(ends)), float(np.abs(np.log(law.sd / exact.sd)).max())


# Against exact posteriors


@pytest.mark.parametrize(("network", "n"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_laplace_noise_agrees_with_listing_every_table(network, n, epsilon):
    mechanism = LaplaceUpdates(prior=network, epsilon=epsilon)
    _, _, release = releases_of(mechanism, n, 4)
    together, alone = release.joint_noise_aware(), release.noise_aware()
    differences, row_by_row = [], []
    for k, released in enumerate(release.numbers):
        exact = exact_posterior(mechanism, released, n)
        differences.append(errors(together.part(k), exact))
        row_by_row.append(errors_of_means(alone.part(k), exact))
    means, ends, ratios = np.max(differences, axis=0)
    assert means < 0.1
    assert ends < 0.4
    assert ratios < 0.12
    assert np.mean(differences, axis=0)[0] < np.mean(row_by_row) / 2


@pytest.mark.parametrize("kind", [GaussianUpdates, GaussianResiduals, LaplaceFourier])
def test_noise_on_residuals_agrees_with_listing_every_table(kind):
    mechanism = kind(prior=chain(3), epsilon=3.0)
    network, n = mechanism.prior.network, 8
    _, _, release = releases_of(mechanism, n, 3)
    law = release.joint_noise_aware()
    residuals, variances = network.residuals, mechanism.noise_model.variances[1:]
    for k, released in enumerate(release.numbers):

        def chance(tables, y=released):
            away = residuals.of_tables(y)[1:] - residuals.of_tables(tables.astype(float))[:, 1:]
            return -(away**2 / variances / 2).sum(axis=-1)

        means, _, ratios = errors(law.part(k), listed(mechanism.prior, chance, n))
        assert means < 0.2
        assert ratios < 0.12


def test_questions_agree_with_listing_every_table_and_the_row_wise_posterior_does_not():
    """Rows' means may be right and a sum over them wrong: the sum is measured better than any row.

    A component of the listed posterior is a whole table, so that draws of all rows share one.
    """
    mechanism, n = LaplaceUpdates(prior=chain(3), epsilon=1.0), 8
    _, _, release = releases_of(mechanism, n, 6)
    laws = (release.joint_noise_aware(), release.noise_aware())
    together, alone = (law.query("v2", interval=0.95) for law in laws)
    off = np.empty((2, 6))
    for k, released in enumerate(release.numbers):
        exact, rng = exact_posterior(mechanism, released, n), np.random.default_rng(1)
        tables = exact.counts[rng.choice(len(exact.counts), 20_000, p=exact.weights[:, 0])]
        answers = query(mechanism.prior.network, mechanism.prior.updated(tables).sample(rng), "v2", {})[:, 0]
        off[:, k] = [abs(answer.mean[k, 0] - answers.mean()) / answers.std() for answer in (together, alone)]
        low, high = np.quantile(answers, (0.025, 0.975))
        assert abs(together.low[k, 0] - low) < 0.4 * answers.std()
        assert abs(together.high[k, 0] - high) < 0.4 * answers.std()
        assert together.sd[k, 0] == pytest.approx(answers.std(), rel=0.2)
    assert off[0].max() < 0.15
    assert off[1].max() > 2 * off[0].max()


# Limits


@pytest.mark.parametrize("network", [chain(3), V_STRUCTURE, ASIA])
@pytest.mark.parametrize("kind", [LaplaceUpdates, LaplaceFourier, GaussianUpdates, GaussianResiduals])
def test_almost_without_noise_it_is_the_exact_posterior(network, kind):
    mechanism = kind(prior=network, epsilon=1000)
    rng = np.random.default_rng(1)
    counts = count(network, sample_dataset(network, mechanism.prior.sample(rng), 300, rng))
    law, exact = mechanism.simulate(counts, rng).joint_noise_aware(), mechanism.prior.updated(counts)
    assert (np.abs(law.mean - exact.mean) < 0.2 * exact.sd).all()
    np.testing.assert_allclose(law.sd, exact.sd, atol=2e-3)


def test_a_step_to_no_distribution_is_not_taken(monkeypatch):
    """With full steps and almost no noise, the covariance of Asia's tables is not positive definite after a sweep."""
    monkeypatch.setattr(joint, "_SHARES", (1.0,) * len(joint._SHARES))
    test_almost_without_noise_it_is_the_exact_posterior(ASIA, LaplaceUpdates)


@pytest.mark.parametrize("network", [chain(3), V_STRUCTURE])
def test_almost_without_information_it_is_the_prior(network):
    mechanism = LaplaceUpdates(prior=network, epsilon=1e-3)
    law, prior = releases_of(mechanism, 50, 1)[2].part(0).joint_noise_aware(), mechanism.prior
    assert (np.abs(law.mean - prior.mean) < 0.1 * prior.sd).all()
    np.testing.assert_allclose(law.sd, prior.sd, rtol=0.1)
    answer = law.query(network.names[-1], interval=0.95)
    assert answer.prior is not None
    np.testing.assert_allclose([answer.low, answer.high], [answer.prior.low, answer.prior.high], atol=0.05)


# Batches and draws


def test_a_batch_is_the_same_as_one_release_at_a_time():
    _, _, release = releases_of(LaplaceUpdates(prior=DIAMOND, epsilon=1.0), 50, 3)
    law = release.joint_noise_aware()
    alone = release.part(1).joint_noise_aware()
    assert np.allclose(law.mean[1], alone.mean, atol=1e-9)
    assert np.allclose(law.query("d").mean[1], alone.query("d").mean, atol=1e-9)
    assert np.allclose(law.part(slice(1, 2)).query("d").mean[0], alone.query("d").mean, atol=1e-9)


def test_draws_have_the_marginals_of_the_rows():
    _, _, release = releases_of(LaplaceUpdates(prior=DIAMOND, epsilon=1.0), 100, 1)
    law = release.part(0).joint_noise_aware()
    draws = law.sample(np.random.default_rng(1), 4000)
    assert draws.shape == (4000, DIAMOND.cell_count)
    np.testing.assert_allclose(DIAMOND.row_sums(draws), 1)
    assert np.abs((draws.mean(axis=0) - law.mean) / law.sd).max() < 0.1
    assert np.allclose(draws.std(axis=0), law.sd, rtol=0.1)


@pytest.mark.parametrize("high", [0.5, 2.5, 7.5, 40.5])
@pytest.mark.parametrize("is_steep", [True, False])
def test_groups_up_to_half_a_number_have_the_same_sizes_from_both_ends(high, is_steep):
    """The largest count is half a number if a group has an even number of totals."""
    ends = np.zeros(1), np.full(1, high)
    middle, width = groups_of_numbers(ends[1] / 2, np.full(1, high), *ends, 16, is_steep=is_steep)
    own = width[0] > 0
    assert width.sum() == high + 1
    assert min(width[0][own][0], width[0][own][-1]) > 0.7
    np.testing.assert_allclose(width[0][own], width[0][own][::-1])
    np.testing.assert_allclose(middle[0][own], high - middle[0][own][::-1])


def test_groups_of_a_steep_distribution_are_small_at_the_end_in_reach_alone():
    """300 of 5,000 is near one end and 4,700 near the other. Groups for both ends would be as small at the far edge."""
    low, high, sd = np.zeros(2), np.full(2, 5000.0), np.full(2, 100.0)
    middle, width = groups_of_numbers(np.array([300.0, 4700.0]), sd, low, high, 64, is_steep=True)
    np.testing.assert_allclose(middle[1], 5000 - middle[0][::-1])
    np.testing.assert_allclose(width[1], width[0][::-1])
    assert (width[0][:4] == 1).all()
    assert width[0][-1] > 30


def test_without_information_rows_of_two_parents_have_the_totals_of_the_prior():
    """The parents' factor changes the rows only in the third sweep, however little the second one changes them."""
    prior = Dirichlets.symmetric(V_STRUCTURE, 2.0)
    law = releases_of(LaplaceUpdates(prior=prior, epsilon=1e-3), 50, 1)[2].part(0).joint_noise_aware()
    assert law.is_settled
    child = V_STRUCTURE.row_sums(law.counts * law.weights[:, V_STRUCTURE.row_of_cell]).sum(axis=0)[-4:]
    np.testing.assert_allclose(child, 50 / 4, rtol=0.2)


@pytest.mark.parametrize(("moved", "sweeps"), [(0.4, 4), (0.6, 5)])
def test_a_row_that_moved_by_more_than_half_a_deviation_gets_another_sweep(monkeypatch, moved, sweeps):
    _, _, release = releases_of(LaplaceUpdates(prior=DIAMOND, epsilon=1.0), 100, 1)
    sweep, numbers = joint._sweep, []

    def moving(batch, laws, number, share):
        numbers.append(number)
        last = sweep(batch, laws, number, share)
        return replace(last, moved=np.full(1, moved if number < 4 else 0.0))

    monkeypatch.setattr(joint, "_sweep", moving)
    assert release.joint_noise_aware().is_settled.all()
    assert numbers == list(range(sweeps))


def test_what_does_not_settle_is_read_row_by_row(monkeypatch):
    _, _, release = releases_of(LaplaceUpdates(prior=DIAMOND, epsilon=1.0), 100, 2)
    monkeypatch.setattr(joint, "_SETTLED", 0.0)
    law, quick = release.joint_noise_aware(), release.noise_aware(points=joint_points(release))
    assert not law.is_settled.any()
    assert repr(law) == f"<JointPosterior of {law.weights.shape[-1]} rows, 2 of 2 releases computed row by row>"
    assert np.allclose(law.mean, quick.mean)
    draws = law.sample(np.random.default_rng(1), 4000)
    assert np.abs((draws.mean(axis=0) - law.mean) / law.sd).max() < 0.1


def test_the_posterior_of_wide_nodes_converges_and_does_not_depend_on_the_batch():
    """Parameters below 1, and nodes of a hundred cells."""
    alarm, _ = load_named("alarm")
    release = releases_of(LaplaceUpdates(prior=alarm, epsilon=1.0), 5000, 2)[2]
    law = release.joint_noise_aware()
    assert law.is_settled.all()
    np.testing.assert_allclose(
        law.mean[1], release.part(1).joint_noise_aware().mean, atol=1e-4
    )  # rounding can move a group of counts


def joint_points(release) -> int:
    return int(release.joint_noise_aware().weights.shape[-2])


def test_an_integer_is_a_size_for_every_posterior():
    release = releases_of(LaplaceUpdates(prior=chain(2), epsilon=1.0), 20, 1)[2].part(0)
    laws = (release.posterior, release.noise_aware(), release.joint_noise_aware(), Dirichlets.symmetric(chain(2)))
    for law in laws:
        assert law.sample(np.random.default_rng(1), 200).shape == (200, chain(2).cell_count)


# Intervals


def test_intervals_of_cells_and_of_a_question_contain_the_truth_as_often_as_they_state():
    """100 networks of the prior: a count outside the binomial's central 1 - 1e-9 would be a false alarm."""
    network, n, times = chain(3), 100, 100
    mechanism = LaplaceUpdates(prior=network, epsilon=0.5)
    rng = np.random.default_rng(4)
    theta = mechanism.prior.sample(rng, times)
    counts = drawn_counts(network, theta, n, rng)
    law = mechanism.simulate(Counts(network, counts, n), rng).joint_noise_aware()
    answer, truth = law.query(network.names[2], interval=0.8), query(network, theta, network.names[2], {})
    cell, question = (ends[..., -1] for ends in law.interval(0.8)), (answer.low[..., 0], answer.high[..., 0])
    fewest, most = stats.binom.ppf((FAR / 2, 1 - FAR / 2), times, 0.8)
    assert fewest > times * 0.5, "an interval of half the width, which contains the truth in half of all cases, is seen"
    for (low, high), true in ((cell, theta[:, -1]), (question, truth[:, 0])):
        assert fewest <= np.count_nonzero((low <= true) & (true <= high)) <= most


def test_the_interval_of_one_row_is_that_of_its_beta_law():
    prior = Dirichlets.symmetric(chain(2))
    posterior = prior.updated([70, 30, 60, 10, 10, 20])
    answer = posterior.query("v0", interval=0.95, prior=prior)
    low, high = posterior.interval(0.95, cells=0)
    assert abs(answer.low[0] - low) < 0.2 * posterior.sd[0]
    assert abs(answer.high[0] - high) < 0.2 * posterior.sd[0]
    assert not answer.is_prior_decisive


def test_levels_of_a_rows_numbers_are_those_given_all_earlier_ones():
    rng = np.random.default_rng(5)
    root = np.tril(rng.normal(size=(2, 3, 4, 4))) + 4 * np.eye(4)
    scores = rng.standard_normal((7, 2, 3, 4))
    law = RowDraws(np.empty((3, 4)), np.empty((3, 4)), None, np.zeros((2, 3, 4)), root @ root.swapaxes(-1, -2), ())
    away = np.einsum("bmij,sbmj->sbmi", root, scores)
    np.testing.assert_allclose(law._shares(away), stats.norm.cdf(scores), atol=1e-6)


def error_of_question_ends(release) -> float:
    """The largest error of the interval of a question against 16,000 random samples, in standard deviations."""
    law = release.joint_noise_aware()
    network, errors = law.network, []
    draws = law.sample(np.random.default_rng(9), 16_000)
    for name in network.names[1:]:
        answer, answers = law.query(name, interval=0.95), query(network, draws, name, {})[..., 0]
        low, high = np.quantile(answers, (0.025, 0.975), axis=0)
        errors.append(np.array([answer.low[:, 0] - low, answer.high[:, 0] - high]) / answers.std(axis=0))
    return float(np.abs(errors).max())


def test_intervals_of_questions_on_small_networks_have_small_sampling_errors(monkeypatch):
    _, _, release = releases_of(LaplaceUpdates(prior=chain(4), epsilon=1.0), 200, 6, seed=3)
    assert error_of_question_ends(release) < 0.2
    monkeypatch.setattr(joint, "_MOST_DRAWS", 512)
    assert error_of_question_ends(release) > 0.2, "a smaller number of samples is seen"


# Refusals


def test_what_cannot_be_read_is_refused():
    prior = Dirichlets.symmetric(DIAMOND)
    with pytest.raises(InputError, match="different networks"):
        joint_noise_aware(prior, NoiseModel.laplace_cells(chain(2), scale=1, sd=1), np.zeros(6), 10)
    with pytest.raises(InputError, match="not finite"):
        joint_noise_aware(
            prior, NoiseModel.laplace_cells(DIAMOND, scale=1, sd=1), np.full(DIAMOND.cell_count, np.nan), 10
        )
    with pytest.raises(InputError, match="row-wise"):
        joint_noise_aware(prior, NoiseModel.laplace_cells(DIAMOND, scale=1, sd=1), np.zeros(DIAMOND.cell_count), 0)


@pytest.mark.parametrize(("states", "edges"), [({"a": "x", "b": "01"}, ["ab"]), ({"a": "01", "b": "x"}, ["ab"])])
def test_a_node_with_one_state_is_refused(states, edges):
    network = Network.from_edges("ab", edges, {name: tuple(own) for name, own in states.items()})
    _, _, release = releases_of(LaplaceUpdates(prior=network, epsilon=1.0), 20, 1)
    with pytest.raises(InputError, match="at least two states"):
        release.joint_noise_aware()


def test_ends_of_intervals_near_zero_have_enough_points():
    """With 512 points, a cell of a row with three states and 2/9 in every cell had an error of one deviation."""
    network = Network.from_edges("abc", [("a", "c"), ("b", "c")], {"a": "xyz", "b": "xy", "c": "xyz"})
    mechanism, rng = LaplaceUpdates(prior=Dirichlets.capped(network), epsilon=3.0), np.random.default_rng(8)
    counts = count(network, sample_dataset(network, mechanism.prior.sample(rng), 1000, rng))
    release = mechanism.simulate(counts, rng)
    numbers, chains_rng = release.outcome.numbers, np.random.default_rng(108)
    exact = posterior_by_chains(mechanism.prior, mechanism.noise_model, numbers, 1000, chains_rng, sweeps=1000).law
    _, ends, ratio = errors(release.joint_noise_aware(), exact)
    assert ends < 0.4
    assert ratio < 0.1
