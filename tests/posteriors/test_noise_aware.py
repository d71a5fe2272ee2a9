"""The posterior that knows of the noise at its limits and edges; that it is calibrated is tested elsewhere."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpbayes import Counts, Dirichlets, Network, count, load_named, sample_dataset
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.plan import typical
from dpbayes.mechanisms import MECHANISMS, LaplaceFourier, LaplaceUpdates, Noise
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import noise_aware, noise_aware_means
from dpbayes.posteriors.noise_model import NoiseModel
from dpbayes.posteriors.prior_rules import prior_rule
from tests.conftest import thorough
from tests.strategies import ASIA, V_STRUCTURE, chain, random_table

STATES = {"a": ("only",), "b": "xyz", "c": [f"s{k}" for k in range(12)], "d": "01"}
MIXED = Network.from_edges("abcd", ["ab", "ac", "bd"], STATES)
"""A node with one state that is a parent, and one with twelve."""

STEP = 0.002
"""How much a number that a person sees may bend."""


KINDS = [kind for kind in MECHANISMS if hasattr(kind, "noise_model")]
NAMES = [kind.__name__ for kind in KINDS]
BINARY_ALONE = (LaplaceFourier,)

ENDS = list(product((1e-3, 1.0, 1e3), (1e-3, 1.0, 1e6)))
FEW_ENDS = [(1e-3, 1.0), (1.0, 1e-3), (1.0, 1e6), (1e3, 1.0)]
BY_TURNS = [(kind, list(Noise)[(i + j) % 2], *end) for i, kind in enumerate(KINDS) for j, end in enumerate(FEW_ENDS)]
"""Every kind at every end, and with either noise, which is the other one at the next end."""

every_kind = pytest.mark.parametrize("kind", KINDS, ids=NAMES)
every_noise = pytest.mark.parametrize("noise", list(Noise), ids=[noise.name.lower() for noise in Noise])


def posterior(mechanism, released, n: int, points: int = 128) -> DirichletMixtures:
    return noise_aware(mechanism.prior, mechanism.noise_model, np.asarray(released, dtype=float), n, points=points)


def counted(network: Network, n: int, seed: int = 1) -> Counts:
    return count(network, random_table(network, np.random.default_rng(seed), n))


def released(mechanism, counts: Counts, seed: int = 1, size: tuple[int, ...] = ()) -> np.ndarray:
    return mechanism.simulate(counts, np.random.default_rng(seed), size).numbers


def require_sound(law: DirichletMixtures) -> None:
    low, high = law.interval()
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    assert np.isfinite(law.sd).all()
    np.testing.assert_allclose(law.network.row_sums(law.mean), 1)
    np.testing.assert_allclose(law.weights.sum(axis=-2), 1)
    assert (law.counts >= 0).all()
    assert not np.isnan(law.marginals(0).log_density(np.array([[0.25]]))).any()


# Limits


@pytest.mark.parametrize("network", [ASIA, MIXED], ids=["asia", "mixed"])
@pytest.mark.parametrize("prior", ["1", "0.3", "capped", "bdeu"])
@pytest.mark.parametrize("noise", list(Noise))
def test_almost_without_noise_it_is_the_exact_posterior(network, prior, noise):
    """At epsilon 1000 noise has scale .016: the counts that are near enough to count are the right ones."""
    mechanism = LaplaceUpdates(prior=prior_rule(prior).on(network), epsilon=1000, noise=noise)
    counts = counted(network, 300)
    law = posterior(mechanism, released(mechanism, counts), 300)
    exact = mechanism.prior.updated(counts)
    np.testing.assert_allclose(law.mean, exact.mean, atol=1e-6)
    np.testing.assert_allclose(law.interval(), exact.interval(), atol=1e-6)


@pytest.mark.parametrize(("alpha", "n"), [(1.0, 50), (100.0, 50), (1e6, 50), (1e6, 100_000)])
def test_almost_without_information_it_is_the_prior(alpha, n):
    """At epsilon 0.001 noise has scale 16,000; a strong prior knows the cells of 100,000 records within 100."""
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(ASIA, alpha), epsilon=1e-3)
    # Counts as the prior has them, so that release and prior do not quarrel.
    counts = Counts(ASIA, np.full(ASIA.cell_count, n // 4), n)
    law, prior = posterior(mechanism, released(mechanism, counts), n), mechanism.prior
    assert (np.abs(law.mean - prior.mean) < 0.05 * prior.sd).all()
    np.testing.assert_allclose(law.sd, prior.sd, rtol=0.05)
    roots = [ASIA.row_offsets[node] for node, parents in enumerate(ASIA.parents) if not parents]
    assert (ASIA.row_sums(law.counts)[..., roots] == n).all()


# Edges


def test_either_end_may_be_the_right_one():
    """A parameter of 1e-3 wants one state alone; all zeros released do not tell which of two it is."""
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(chain(3), 1e-3), epsilon=1)
    law = posterior(mechanism, np.zeros(10), 50, points=512)
    assert law.mean == pytest.approx(np.full(10, 0.5), abs=0.03)
    assert law.effective.min() > 50


@pytest.mark.parametrize(("alpha", "least"), [(0.1, 25), (0.2, 60), (0.3, 45), (0.5, 60)])
def test_points_lie_where_a_small_prior_wants_them(alpha, least):
    """Noise of 16,000 records says nothing of 100,000, and k of them are as likely as k^(alpha - 1)."""
    mechanism, n = LaplaceUpdates(prior=Dirichlets.symmetric(ASIA, alpha), epsilon=1e-3), 100_000
    law = posterior(mechanism, released(mechanism, counted(ASIA, n), size=(3,)), n, points=512)
    assert law.effective.min() > least


def test_rows_that_the_prior_did_not_expect_get_points_once_more():
    """Of Alarm's rows with hundreds of records where the prior has dozens, one in twenty rested on a few points."""
    network, cpts = load_named("alarm")
    counts = count(network, sample_dataset(network, cpts, 1000, np.random.default_rng(1)))
    mechanism = LaplaceUpdates(prior=network, epsilon=10)
    law = posterior(mechanism, released(mechanism, counts), 1000, points=512)
    assert (law.effective < 30).mean() < 0.01
    assert law.effective.min() > 10


def test_a_lift_and_numbers_beyond_the_table_are_read():
    """Fourier's tables are lifted by invented records and may be negative; n is public and the rest is the same."""
    mechanism = LaplaceFourier(prior=ASIA, epsilon=1.0, t=0.0)
    table = released(mechanism, counted(ASIA, 100))
    lifted = released(LaplaceFourier(prior=ASIA, epsilon=1.0, t=3.0), counted(ASIA, 100))
    assert (table < 0).any()
    np.testing.assert_allclose(posterior(mechanism, table, 100).mean, posterior(mechanism, lifted, 100).mean, atol=1e-9)


def test_numbers_that_are_not_finite_and_too_few_of_them_are_refused():
    mechanism = LaplaceUpdates(prior=ASIA, epsilon=1.0)
    with pytest.raises(InputError, match="different networks"):
        posterior(mechanism, np.zeros(5), 10)
    for number in (np.nan, np.inf):
        with pytest.raises(InputError, match="not finite"):
            posterior(mechanism, np.full(ASIA.cell_count, number), 10)


# The same for the same


def test_a_release_has_one_posterior_alone_or_in_a_batch_of_any_shape():
    mechanism = LaplaceUpdates(prior=MIXED, epsilon=0.5)
    tables = released(mechanism, counted(MIXED, 60), size=(2, 3))
    together, k = posterior(mechanism, tables, 60), MIXED.cell_count
    assert together.counts.shape == (2, 3, 128, k)
    assert together.weights.shape == (2, 3, 128, MIXED.row_count)
    assert together.mean.shape == together.interval()[0].shape == (2, 3, k)
    assert together.effective.shape == (2, 3, MIXED.row_count)
    alone = posterior(mechanism, tables[1, 2], 60)
    np.testing.assert_allclose(alone.mean, together.mean[1, 2], rtol=1e-12)
    np.testing.assert_array_equal(posterior(mechanism, tables[1, 2], 60).counts, alone.counts)


def test_means_of_some_cells_are_those_of_the_whole_posterior():
    mechanism = LaplaceUpdates(prior=MIXED, epsilon=0.5)
    tables, cells = released(mechanism, counted(MIXED, 60), size=(2, 3)), np.array([5, 0, 17])
    arguments = mechanism.prior, mechanism.noise_model, tables, 60
    means = noise_aware_means(*arguments, cells=cells, points=128)
    np.testing.assert_allclose(means, posterior(mechanism, tables, 60).mean[..., cells], rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.7, 2.0])
def test_what_is_looked_up_is_the_law_of_each_row(alpha):
    """Of rows of two kinds: a batch, whose laws are looked up, says the same as each of its releases."""
    parameters = np.full(MIXED.cell_count, alpha)
    parameters[::5] *= 3
    mechanism = LaplaceUpdates(prior=Dirichlets(MIXED, parameters), epsilon=0.5)
    tables = released(mechanism, counted(MIXED, 60), size=(50,))
    together = posterior(mechanism, tables, 60, points=32)
    for k in (0, 31):
        fresh = replace(mechanism, prior=Dirichlets(MIXED, parameters))
        np.testing.assert_allclose(posterior(fresh, tables[k], 60, points=32).mean, together.mean[k], rtol=1e-10)


# Every mechanism that states its noise


def mechanism_of(kind: type[Any], network: Network, *, alpha: float = 1.0, epsilon: float = 1.0, **more: Any) -> Any:
    mechanism: Any = typical(kind, prior=Dirichlets.symmetric(network, alpha), epsilon=epsilon)
    return replace(mechanism, **more)


def networks_for(kind: type[Any]) -> list[Network]:
    return [V_STRUCTURE] if kind in BINARY_ALONE else [V_STRUCTURE, MIXED]


@pytest.mark.parametrize(
    ("kind", "noise", "epsilon", "alpha"),
    thorough([(kind, noise, *end) for kind, noise, end in product(KINDS, Noise, ENDS)], sample=BY_TURNS),
)
def test_any_release_of_any_table_has_a_posterior(kind, noise, epsilon, alpha) -> None:
    """Of no record, one and two, of a node with one state, and of numbers all 0 or all n, as no table would have it."""
    for network in networks_for(kind):
        mechanism = mechanism_of(kind, network, alpha=alpha, epsilon=epsilon, noise=noise)
        for n in (0, 1, 2, 40):
            cells = network.cell_count
            tables = [released(mechanism, counted(network, n)), np.zeros(cells), np.full(cells, float(n))]
            law = posterior(mechanism, tables, n, points=32)
            require_sound(law)
            if n == 0:
                np.testing.assert_allclose(law.mean, np.broadcast_to(mechanism.prior.mean, law.mean.shape))


@every_kind
@every_noise
def test_almost_without_noise_of_any_kind_it_is_the_exact_posterior(kind, noise) -> None:
    """At epsilon 1000 the noise of every cell is below a tenth of a count, or a few of them are off by one."""
    for network in networks_for(kind):
        mechanism, counts = mechanism_of(kind, network, epsilon=1e3, noise=noise), counted(network, 300)
        law, exact = posterior(mechanism, released(mechanism, counts), 300), mechanism.prior.updated(counts)
        np.testing.assert_allclose(law.mean, exact.mean, atol=0.01)
        np.testing.assert_allclose(law.sd, exact.sd, rtol=0.05)


def test_an_interval_by_noise_alone_ends_where_the_released_numbers_are_z_standard_deviations_off():
    """P(c | b) sums over a; each count is a sum of cells, whose noise is a sum over the residuals of unit tables."""
    states = ("x", "y"), ("x", "y", "z"), ("x", "y", "z")
    network, rng = Network(("a", "b", "c"), states, ((), (), ("a", "b"))), np.random.default_rng(1)
    variances = np.append(0.0, rng.uniform(1, 9, len(network.closure) - 1))
    tables = network.residuals.consistent(rng.uniform(20, 60, network.cell_count), 700)
    units = network.residuals.tables(np.eye(len(network.residuals.set_of_number)))
    counted = np.zeros((3, network.cell_count))
    counted[np.arange(3), network.table(np.arange(network.cell_count), 2)[:, 1]] = 1
    for share in NoiseModel(network, variances).answer_interval(tables, "c", {"b": "y"}, 0.9):
        away = counted - share[:, None] * counted.sum(axis=0)
        variance = (away @ units.T) ** 2 @ variances[network.residuals.set_of_number]
        np.testing.assert_allclose(np.abs(away @ tables), stats.norm.ppf(0.95) * np.sqrt(variance))
