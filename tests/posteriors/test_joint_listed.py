"""The joint noise-aware posterior against listing every table, at its limits, and its intervals of questions."""

import numpy as np
import pytest
from scipy import stats

from dpbayes import Counts, Dirichlets, Network, count, sample_dataset
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.experiments.calibration import drawn_counts
from dpbayes.mechanisms import GaussianResiduals, GaussianUpdates, LaplaceFourier, LaplaceUpdates
from dpbayes.model.query import query
from dpbayes.posteriors.exact import exact_posterior
from dpbayes.posteriors.joint.posterior import JointPosterior, joint_noise_aware
from dpbayes.posteriors.mixtures import DirichletMixtures
from tests.posteriors.test_exact import listed
from tests.strategies import ASIA, DIAMOND, V_STRUCTURE, chain

FAR = 1e-9
"""False-alarm probability of each statistical test."""


def released(mechanism, n: int, seed: int = 1):
    """A release of a table that the prior has drawn."""
    rng, network = np.random.default_rng(seed), mechanism.prior.network
    counts = drawn_counts(network, mechanism.prior.sample(rng, (1,)), n, rng)[0]
    return mechanism.release(Counts(network, counts, n), rng)


def errors(law: DirichletMixtures, exact: DirichletMixtures) -> tuple[float, float]:
    """The largest errors of means and of interval ends, in exact standard deviations, over cells that may vary."""
    varies = exact.sd > 1e-6
    sd = exact.sd[varies]
    ends = [np.abs(own - other)[varies] / sd for own, other in zip(law.interval(), exact.interval(), strict=True)]
    return float((np.abs(law.mean - exact.mean)[varies] / sd).max()), float(np.max(ends))


# Against exact posteriors


@pytest.mark.parametrize(("network", "n"), [(chain(3), 8), (V_STRUCTURE, 7), (DIAMOND, 4)])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_it_is_near_the_posterior_that_lists_every_table(network, n, epsilon):
    joint, row = [], []
    for seed in range(4):
        mechanism = LaplaceUpdates(prior=network, epsilon=epsilon)
        release = released(mechanism, n, seed)
        exact = listed(mechanism, release.numbers, n)
        joint.append(errors(release.joint_noise_aware(), exact))
        row.append(errors(release.noise_aware(), exact))
    mean, ends = np.max(joint, axis=0)
    assert mean < 0.25
    assert ends < 0.6
    assert np.mean(joint, axis=0)[0] < np.mean(row, axis=0)[0]


def test_questions_are_near_those_of_the_posterior_that_lists_every_table():
    """A component of the listed posterior is a whole table, so that draws of all rows share one."""
    n, network = 8, chain(3)
    for seed in range(4):
        mechanism = LaplaceUpdates(prior=network, epsilon=1.0)
        release = released(mechanism, n, seed)
        exact, rng = listed(mechanism, release.numbers, n), np.random.default_rng(5)
        tables = rng.choice(len(exact.counts), 20_000, p=exact.weights[:, 0])
        answers = query(network, mechanism.prior.updated(exact.counts[tables]).sample(rng), network.names[2], {})[:, 0]
        answer = release.joint_noise_aware().query(network.names[2], interval=0.95)
        low, high = np.quantile(answers, (0.025, 0.975))
        assert abs(answer.mean[0] - answers.mean()) < 0.15 * answers.std()
        assert abs(answer.low[0] - low) < 0.4 * answers.std()
        assert abs(answer.high[0] - high) < 0.4 * answers.std()
        assert answer.sd[0] == pytest.approx(answers.std(), rel=0.2)


def test_it_is_nearer_to_sampled_tables_than_the_rowwise_posterior():
    """On a chain of four with loud noise, the row-wise posterior is the worst that was seen among small networks."""
    network, n = chain(4), 50
    mechanism = LaplaceUpdates(prior=network, epsilon=0.5)
    release = released(mechanism, n, 3)
    steps = exact_posterior(
        mechanism.prior, mechanism.noise_model, release.numbers, n, np.random.default_rng(2), sweeps=400
    )
    exact = finished(steps).law
    joint, row = errors(release.joint_noise_aware(), exact), errors(release.noise_aware(), exact)
    assert joint[0] < 0.2
    assert joint[0] < row[0]


# Limits


@pytest.mark.parametrize("network", [chain(3), V_STRUCTURE, ASIA])
@pytest.mark.parametrize("kind", [LaplaceUpdates, LaplaceFourier, GaussianUpdates, GaussianResiduals])
def test_almost_without_noise_it_is_the_exact_posterior(network, kind):
    mechanism = kind(prior=network, epsilon=1000)
    rng = np.random.default_rng(1)
    counts = count(network, sample_dataset(network, mechanism.prior.sample(rng), 300, rng))
    law, exact = mechanism.release(counts, rng).joint_noise_aware(), mechanism.prior.updated(counts)
    assert (np.abs(law.mean - exact.mean) < 0.2 * exact.sd).all()
    np.testing.assert_allclose(law.sd, exact.sd, atol=2e-3)


@pytest.mark.parametrize("network", [chain(3), V_STRUCTURE])
def test_almost_without_information_it_is_the_prior(network):
    mechanism = LaplaceUpdates(prior=network, epsilon=1e-3)
    law, prior = released(mechanism, 50).joint_noise_aware(), mechanism.prior
    assert (np.abs(law.mean - prior.mean) < 0.1 * prior.sd).all()
    np.testing.assert_allclose(law.sd, prior.sd, rtol=0.1)
    answer = law.query(network.names[-1], interval=0.95)
    assert answer.is_prior_decisive


# Draws


def test_draws_of_all_rows_have_the_marginals_of_the_rows():
    law = released(LaplaceUpdates(prior=V_STRUCTURE, epsilon=1.0), 200).joint_noise_aware()
    draws = law.sample(np.random.default_rng(3), 20_000)
    assert draws.shape == (20_000, V_STRUCTURE.cell_count)
    np.testing.assert_allclose(V_STRUCTURE.row_sums(draws), 1)
    np.testing.assert_allclose(draws.mean(axis=0), law.mean, atol=0.03)
    np.testing.assert_allclose(draws.std(axis=0), law.sd, rtol=0.12)


def test_intervals_of_cells_and_of_a_question_contain_the_truth_as_often_as_they_state():
    """150 networks of the prior: a count outside the binomial's central 1 - 1e-9 would be a false alarm."""
    network, n, times = chain(3), 100, 150
    mechanism = LaplaceUpdates(prior=network, epsilon=0.5)
    rng = np.random.default_rng(4)
    theta = mechanism.prior.sample(rng, times)
    counts = drawn_counts(network, theta, n, rng)
    hits = {"cell": 0, "question": 0}
    for truth, table in zip(theta, counts, strict=True):
        law = mechanism.release(Counts(network, table, n), rng).joint_noise_aware()
        low, high = law.interval(0.8)
        answer = law.query(network.names[2], interval=0.8)
        hits["cell"] += bool(low[-1] <= truth[-1] <= high[-1])
        hits["question"] += bool(answer.low[0] <= query(network, truth, network.names[2], {})[0] <= answer.high[0])
    low, high = stats.binom.ppf((FAR / 2, 1 - FAR / 2), times, 0.8)
    assert all(low <= number <= high for number in hits.values()), hits


def test_intervals_of_half_the_width_would_be_noticed():
    """An interval that contains the truth in half of the cases is outside the limits of the test above."""
    low, _ = stats.binom.ppf((FAR / 2, 1 - FAR / 2), 150, 0.8)
    assert low > 150 * 0.5


# Batches and refusals


def test_a_batch_is_read_as_each_release_alone():
    network = V_STRUCTURE
    mechanism = LaplaceUpdates(prior=network, epsilon=1.0)
    rng = np.random.default_rng(6)
    counts = count(network, sample_dataset(network, mechanism.prior.sample(rng), 100, rng))
    release = mechanism.release(counts, rng, (3,))
    together = release.joint_noise_aware()
    assert together.mean.shape == (3, network.cell_count)
    answer = together.query(network.names[0], interval=0.9)
    for k in range(3):
        alone = release.part(k).joint_noise_aware()
        np.testing.assert_allclose(together.mean[k], alone.mean, atol=5e-3)
        np.testing.assert_allclose(answer.mean[k], alone.query(network.names[0]), atol=5e-3)
        np.testing.assert_allclose(together.part(k).mean, together.mean[k])


def test_the_same_release_is_read_the_same_way_again():
    release = released(LaplaceUpdates(prior=ASIA, epsilon=1.0), 1000)
    first, again = release.joint_noise_aware(), release.joint_noise_aware()
    assert isinstance(first, JointPosterior)
    np.testing.assert_array_equal(first.mean, again.mean)
    np.testing.assert_array_equal(first.query("dysp"), again.query("dysp"))


def test_what_cannot_be_read_is_refused():
    release = released(LaplaceUpdates(prior=chain(3), epsilon=1.0), 20)
    prior, noise, numbers, n = release._noise_parts()
    with pytest.raises(InputError, match="not finite"):
        joint_noise_aware(prior, noise, np.full_like(numbers, np.nan), n)
    with pytest.raises(InputError, match="row-wise"):
        joint_noise_aware(prior, noise, numbers, 0)


@pytest.mark.parametrize(("states", "edges"), [({"a": "x", "b": "01"}, ["ab"]), ({"a": "01", "b": "x"}, ["ab"])])
def test_a_node_with_one_state_is_refused(states, edges):
    network = Network.from_edges("ab", edges, {name: tuple(own) for name, own in states.items()})
    release = released(LaplaceUpdates(prior=network, epsilon=1.0), 20)
    with pytest.raises(InputError, match="at least two states"):
        release.joint_noise_aware()


def test_an_integer_is_a_size_for_every_posterior():
    release = released(LaplaceUpdates(prior=chain(2), epsilon=1.0), 20)
    for posterior in (
        release.posterior,
        release.noise_aware(),
        release.joint_noise_aware(),
        Dirichlets.symmetric(chain(2)),
    ):
        assert posterior.sample(np.random.default_rng(1), 200).shape == (200, chain(2).cell_count)
