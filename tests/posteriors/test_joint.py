"""The joint posterior against exact ones, in its limits, and by ranks of truths; and intervals of questions.

Exact posteriors list every table of a small network. False alarms: seeds are fixed, so that a test fails only if the
code changes. The ranks' chi-square test would fail one seed in a thousand if the posterior were exact.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import special, stats

from dpbayes import (
    Counts,
    Dirichlets,
    GaussianResiduals,
    GaussianUpdates,
    InputError,
    LaplaceFourier,
    LaplaceUpdates,
    Network,
    query,
)
from dpbayes.experiments.calibration import drawn_counts
from dpbayes.posteriors.joint import posterior as joint
from dpbayes.posteriors.joint.posterior import joint_noise_aware
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import NoiseModel
from tests.posteriors.enumerated import log_chance_of
from tests.strategies import DIAMOND, V_STRUCTURE, all_records, chain, counts_per_record

NAIVE = Network.from_edges("yab", ["ya", "yb"])
TERNARY = Network.from_edges("ab", ["ab"], {"a": "xyz", "b": "01"})
CASES = [(chain(3), 8), (NAIVE, 8), (TERNARY, 8), (V_STRUCTURE, 8)]


def releases_of(mechanism, n: int, number: int, seed: int = 1):
    rng, network = np.random.default_rng(seed), mechanism.prior.network
    theta = mechanism.prior.sample(rng, (number,))
    counts = Counts(network, drawn_counts(network, theta, n, rng), n)
    return theta, counts, mechanism.release(counts, rng)


def listed(prior: Dirichlets, log_chance, n: int) -> DirichletMixtures:
    """The posterior by listing every table of n records; `log_chance` maps tables (tables, K) to (tables,)."""
    network, kinds = prior.network, len(all_records(prior.network))
    joint_counts = np.array([np.bincount(c, minlength=kinds) for c in combinations_with_replacement(range(kinds), n)])
    tables = joint_counts @ counts_per_record(network)
    logs = special.gammaln(tables + prior.alpha).sum(axis=-1) - special.gammaln(joint_counts + 1).sum(axis=-1)
    logs -= special.gammaln(network.row_sums(tables) + network.row_sums(prior.alpha)).sum(axis=-1)
    logs += log_chance(tables)
    weights = np.exp(logs - special.logsumexp(logs))
    kept = weights > 1e-12
    return DirichletMixtures(
        prior, tables[kept], np.repeat(weights[kept, None] / weights[kept].sum(), network.row_count, axis=1)
    )


def errors(law: DirichletMixtures, exact: DirichletMixtures) -> tuple[float, float]:
    """The largest error of a mean in exact standard deviations, and the largest ln of a ratio of these."""
    return (
        float((np.abs(law.mean - exact.mean) / exact.sd).max()),
        float(np.abs(np.log(law.sd / exact.sd)).max()),
    )


@pytest.mark.parametrize(("network", "n"), CASES, ids=["chain", "naive Bayes", "ternary", "v-structure"])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_laplace_noise_agrees_with_listing_every_table(network, n, epsilon):
    mechanism = LaplaceUpdates(prior=network, epsilon=epsilon)
    _, _, release = releases_of(mechanism, n, 3)
    law = release.joint_noise_aware()
    for k, released in enumerate(release.numbers):
        chance = log_chance_of(mechanism, n)
        exact = listed(mechanism.prior, lambda tables, y=released, f=chance: f(y, tables), n)
        mean, ratio = errors(law.part(k), exact)
        assert mean < 0.2
        assert ratio < 0.12


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

        mean, ratio = errors(law.part(k), listed(mechanism.prior, chance, n))
        assert mean < 0.2
        assert ratio < 0.12


def test_questions_agree_with_listing_every_table_and_the_row_wise_posterior_does_not():
    """Rows' means may be right and a sum over them wrong: the sum is measured better than any row."""
    mechanism, n = LaplaceUpdates(prior=chain(3), epsilon=1.0), 8
    _, _, release = releases_of(mechanism, n, 6)
    together, alone = (
        release.joint_noise_aware().query("v2", interval=0.95),
        release.noise_aware().query("v2", interval=0.95),
    )
    off = np.empty((2, 6))
    for k, released in enumerate(release.numbers):
        exact = listed(mechanism.prior, lambda tables, y=released: log_chance_of(mechanism, n)(y, tables), n)
        rng = np.random.default_rng(1)
        tables = exact.counts[rng.choice(len(exact.counts), 2000, p=exact.weights[:, 0])]
        answers = query(mechanism.prior.network, mechanism.prior.updated(tables).sample(rng), "v2", {})[:, 0]
        for j, answer in enumerate((together, alone)):
            off[j, k] = abs(answer.mean[k, 0] - answers.mean()) / answers.std()
    assert off[0].max() < 0.15
    assert off[1].max() > 2 * off[0].max()


def test_ranks_of_truths_are_even():
    mechanism = LaplaceUpdates(prior=DIAMOND, epsilon=1.0)
    theta, _, release = releases_of(mechanism, 100, 200, seed=3)
    law = release.joint_noise_aware()
    for cell in (0, 4, 12):
        ranks = law.cumulative(theta[..., cell], cells=cell)
        assert stats.chisquare(np.histogram(ranks, 8, (0, 1))[0]).pvalue > 1e-3
    answer, truth = law.query("d", interval=0.95), query(DIAMOND, theta, "d", {})
    covered = ((answer.low <= truth) & (truth <= answer.high))[:, 0].sum()
    assert stats.binomtest(int(covered), 200, 0.95).pvalue > 1e-3


def test_no_noise_gives_the_posterior_of_the_counts():
    mechanism = LaplaceUpdates(prior=DIAMOND, epsilon=1e3)
    _, counts, release = releases_of(mechanism, 100, 2)
    expected, law = mechanism.prior.updated(counts), release.joint_noise_aware()
    assert np.abs(law.mean - expected.mean).max() < 1e-3
    assert np.allclose(law.sd, expected.sd, rtol=0.02)


def test_endless_noise_gives_the_prior():
    prior, rng = Dirichlets.symmetric(DIAMOND), np.random.default_rng(1)
    noise = NoiseModel.laplace_cells(DIAMOND, scale=1e7, sd=1e7 * 2**0.5)
    law = joint_noise_aware(prior, noise, rng.uniform(0, 50, DIAMOND.cell_count), 50)
    assert np.abs(law.mean - 0.5).max() < 0.02
    assert np.allclose(law.sd, 12**-0.5, rtol=0.05)
    assert law.query("d", interval=0.95).is_prior_decisive


def test_a_batch_is_the_same_as_one_release_at_a_time():
    _, _, release = releases_of(LaplaceUpdates(prior=DIAMOND, epsilon=1.0), 50, 3)
    law = release.joint_noise_aware()
    alone = release.part(1).joint_noise_aware()
    assert np.allclose(law.mean[1], alone.mean, atol=1e-9)
    assert np.allclose(law.query("d")[1], alone.query("d"), atol=1e-9)
    assert np.allclose(law.part(slice(1, 2)).query("d")[0], alone.query("d"), atol=1e-9)


def test_draws_have_the_marginals_of_the_rows():
    _, _, release = releases_of(LaplaceUpdates(prior=DIAMOND, epsilon=1.0), 100, 1)
    law = release.part(0).joint_noise_aware()
    draws = law.sample(np.random.default_rng(1), 4000)
    assert draws.shape == (4000, DIAMOND.cell_count)
    assert np.abs((draws.mean(axis=0) - law.mean) / law.sd).max() < 0.1
    assert np.allclose(draws.std(axis=0), law.sd, rtol=0.1)


def test_what_does_not_settle_is_read_row_by_row(monkeypatch):
    _, _, release = releases_of(LaplaceUpdates(prior=DIAMOND, epsilon=1.0), 100, 2)
    monkeypatch.setattr(joint, "_SETTLED", 0.0)
    law, quick = release.joint_noise_aware(), release.noise_aware(points=joint_points(release))
    assert not law.is_settled.any()
    assert np.allclose(law.mean, quick.mean)
    draws = law.sample(np.random.default_rng(1), 4000)
    assert np.abs((draws.mean(axis=0) - law.mean) / law.sd).max() < 0.1


def joint_points(release) -> int:
    return int(release.joint_noise_aware().weights.shape[-2])


def test_tables_of_another_network_are_refused():
    prior = Dirichlets.symmetric(DIAMOND)
    with pytest.raises(InputError, match="different networks"):
        joint_noise_aware(prior, NoiseModel.laplace_cells(chain(2), scale=1, sd=1), np.zeros(6), 10)
    with pytest.raises(InputError, match="not finite"):
        joint_noise_aware(
            prior, NoiseModel.laplace_cells(DIAMOND, scale=1, sd=1), np.full(DIAMOND.cell_count, np.nan), 10
        )


@pytest.mark.parametrize("interval", [-0.1, 1.1])
def test_a_level_out_of_range_is_refused(interval):
    with pytest.raises(InputError, match="level"):
        Dirichlets.symmetric(chain(2)).query("v1", interval=interval)


def test_the_interval_of_one_row_is_that_of_its_beta_law():
    prior = Dirichlets.symmetric(chain(2))
    posterior = prior.updated([70, 30, 60, 10, 10, 20])
    answer = posterior.query("v0", interval=0.95, prior=prior)
    low, high = posterior.interval(0.95, cells=0)
    assert abs(answer.low[0] - low) < 0.2 * posterior.sd[0]
    assert abs(answer.high[0] - high) < 0.2 * posterior.sd[0]
    assert answer.spread_ratio[0] == pytest.approx(posterior.sd[0] / prior.sd[0], rel=0.1)
    assert not answer.is_prior_decisive
