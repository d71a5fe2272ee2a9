import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from dpbayes.base.validation import InputError
from dpbayes.model.dataset import count
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.strategies import ASIA, V_STRUCTURE, networks_with_data

ONE_ROW = Network.from_edges("a", [], {"a": "xyz"})
ALPHAS = [[0.5, 1.0, 2.5], [1.0, 1.0, 1.0], [40.0, 0.2, 7.0], [1e-3, 1e-3, 1e-3], [1e6, 3.0, 2e6]]


def dirichlet(*alpha: float) -> Dirichlets:
    return Dirichlets(ONE_ROW, np.array(alpha))


@given(networks_with_data(states=(1, 3)), st.integers(0, 12))
def test_updating_in_two_parts_in_either_order_is_updating_once(network_and_data, cut):
    network, data = network_and_data
    prior = Dirichlets.symmetric(network, 0.5)
    first, second = (count(network, data.take(part)) for part in (slice(cut), slice(cut, None)))
    at_once = prior.updated(count(network, data)).alpha
    assert np.array_equal(prior.updated(first).updated(second).alpha, at_once)
    assert np.array_equal(prior.updated(second).updated(first).alpha, at_once)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_mean_and_sd_are_those_of_scipys_dirichlet(alpha):
    assert dirichlet(*alpha).mean == pytest.approx(stats.dirichlet(alpha).mean(), rel=1e-12)
    assert dirichlet(*alpha).sd == pytest.approx(np.sqrt(stats.dirichlet(alpha).var()), rel=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS[:3] + ALPHAS[4:])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999, 1 - 2701 * 2.0**-53])
def test_intervals_leave_equal_tails_of_each_beta_marginal(alpha, level):
    low, high = dirichlet(*alpha).interval(level)
    marginals = [stats.beta(a, sum(alpha) - a) for a in alpha]
    tail = (1 - level) / 2
    assert [m.cdf(x) for m, x in zip(marginals, low, strict=True)] == pytest.approx([tail] * 3, rel=1e-6, abs=0)
    assert [m.sf(x) for m, x in zip(marginals, high, strict=True)] == pytest.approx([tail] * 3, rel=1e-6, abs=0)


def test_the_only_state_of_a_row_is_certain():
    certain = Dirichlets.symmetric(Network.from_edges("a", [], {"a": "x"}))
    assert [float(bound[0]) for bound in certain.interval()] == [1.0, 1.0]
    assert (certain.mean[0], certain.sd[0]) == (1.0, 0.0)
    assert certain.sample(np.random.default_rng(0), (3,)).tolist() == [[1.0]] * 3


@pytest.mark.parametrize("level", [-0.1, 1.1, "wide"])
def test_a_level_outside_zero_to_one_is_refused(level):
    with pytest.raises(InputError, match="interval must be"):
        dirichlet(1, 1, 1).interval(level)


@pytest.mark.parametrize("alpha", ALPHAS[:3])
def test_the_density_of_every_cell_integrates_to_one(alpha):
    # On the logit scale the density has no poles at the ends, and the trapezoid rule is exact to rounding.
    z = np.linspace(-300, 30, 100_001)
    theta, slope = special.expit(z), special.expit(z) * special.expit(-z)
    for cell in range(3):
        density = np.exp(dirichlet(*alpha).log_density(cell, theta)) * slope
        assert np.trapezoid(density, z) == pytest.approx(1, abs=1e-6)


def test_a_query_is_that_of_the_mean_with_and_without_evidence():
    posterior = Dirichlets.symmetric(ASIA).updated(np.arange(ASIA.cell_count))
    evidence = {"smoke": "yes"}
    assert np.array_equal(posterior.query("dysp", evidence).mean, query(ASIA, posterior.mean, "dysp", evidence))
    root = ASIA.index("smoke")
    assert posterior.query("smoke").mean == pytest.approx(posterior.mean[ASIA.cell_offsets[root] :][:2])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_draws_have_the_right_means_and_variances(alpha):
    # Six standard errors of the true variances, eighteen comparisons: a right sampler fails one run in 10^7.
    draws, wanted = 100_000, dirichlet(*alpha)
    sample = wanted.sample(np.random.default_rng(5), (draws,))
    assert np.all(np.abs(sample.mean(axis=0) - wanted.mean) < 6 * wanted.sd / np.sqrt(draws))
    squares = (sample - wanted.mean) ** 2
    kurtosis = np.array([stats.beta(a, sum(alpha) - a).stats("k") for a in alpha]) + 3
    spread = wanted.sd**2 * np.sqrt(kurtosis - 1)
    assert np.all(np.abs(squares.mean(axis=0) - wanted.sd**2) < 6 * spread / np.sqrt(draws))


@pytest.mark.parametrize("alpha", [[1e-3] * 3, [1e-9] * 3, [1e-3, 1e9, 1e-3]])
def test_tiny_parameters_give_probabilities_and_never_nan(alpha):
    sample = dirichlet(*alpha).sample(np.random.default_rng(1), (10_000,))
    assert np.all((sample >= 0) & (sample <= 1))
    assert sample.sum(axis=-1) == pytest.approx(np.ones(10_000), abs=1e-12)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_parameters_that_are_not_positive_and_finite_are_refused(bad):
    with pytest.raises(InputError, match="positive, finite"):
        dirichlet(1.0, bad, 1.0)


@pytest.mark.parametrize("concentration", [0, -1, 1e10, np.nan, "flat"])
def test_a_symmetric_prior_outside_its_range_is_refused(concentration):
    with pytest.raises(InputError, match=r"The prior must be|concentration must be a number"):
        Dirichlets.symmetric(ASIA, concentration)


def test_a_prior_of_the_wrong_length_is_refused():
    with pytest.raises(InputError, match="3 cells"):
        Dirichlets(ONE_ROW, np.ones(2))


def test_bdeu_spreads_one_sample_size_over_every_nodes_cells():
    prior = Dirichlets.bdeu(V_STRUCTURE, 3.0)
    network = prior.network
    for node in range(len(network.names)):
        own = prior.alpha[network.cell_offsets[node] : network.cell_offsets[node + 1]]
        assert own == pytest.approx(3.0 / own.size)
    assert (Dirichlets.bdeu(V_STRUCTURE).mean == Dirichlets.symmetric(V_STRUCTURE).mean).all()


def test_the_capped_prior_is_uniform_on_narrow_nodes_and_bdeu_on_wide_ones():
    prior, wide = Dirichlets.capped(V_STRUCTURE), V_STRUCTURE.cell_count - 8
    assert prior.alpha[:wide] == pytest.approx(1.0)
    assert prior.alpha[wide:] == pytest.approx(0.5)


def test_the_answer_before_a_release_is_computed_once_for_each_question():
    prior = Dirichlets.capped(V_STRUCTURE)
    first, second, *_, target = V_STRUCTURE.names

    def before(records: float, level: float = 0.9, **evidence: str) -> QueryAnswer:
        posterior = prior.updated(np.full(V_STRUCTURE.cell_count, records))
        return posterior.query(target, evidence, interval=level, prior=prior).prior

    states = V_STRUCTURE.states[0]
    answer = before(1.0, **{first: states[0], second: states[0]})
    assert before(2.0, **{second: states[0], first: states[0]}) is answer
    others = [before(1.0), before(1.0, **{first: states[1]}), before(1.0, 0.5)]
    assert all(not np.array_equal(answer.low, other.low) for other in others)
    assert not np.array_equal(others[0].low, others[2].low)


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, 1e12])
def test_a_sample_size_out_of_range_is_refused(size):
    with pytest.raises(InputError, match="sample size"):
        Dirichlets.bdeu(V_STRUCTURE, size)
