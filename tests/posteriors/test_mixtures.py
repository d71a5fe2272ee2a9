"""Mixtures of Dirichlet rows against one Dirichlet, against themselves, and against draws."""

import numpy as np
import pytest

from dpbayes import Dirichlets, InputError, Network
from dpbayes.model.query import query
from dpbayes.posteriors.mixtures import BetaMixtures, DirichletMixtures
from dpbayes.posteriors.noise_aware import LEAST_POINTS, MOST_CELLS, POINTS, points_for
from tests.strategies import ASIA, V_STRUCTURE, chain

STATES = {"a": "xyz", "b": ("only",), "c": "01"}
MIXED = Network.from_edges("abc", ["ab", "ac", "bc"], STATES)
CERTAIN = MIXED.cards[MIXED.node_of_row][MIXED.row_of_cell] == 1


def mixtures(
    network: Network, components: int, *, batch: tuple[int, ...] = (), alpha: float = 0.7
) -> DirichletMixtures:
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 12, (*batch, components, network.cell_count)).astype(float)
    weights = rng.random((*batch, components, network.row_count))
    prior = Dirichlets(network, np.full(network.cell_count, alpha))
    return DirichletMixtures(prior, counts, weights / weights.sum(axis=-2, keepdims=True))


@pytest.mark.parametrize("network", [ASIA, MIXED], ids=["asia", "mixed"])
def test_one_component_is_one_dirichlet(network):
    one = mixtures(network, 1)
    same = one.prior.updated(one.counts[0])
    np.testing.assert_allclose(one.mean, same.mean)
    np.testing.assert_allclose(one.sd, same.sd, atol=1e-7)
    np.testing.assert_allclose(one.interval(0.9), same.interval(0.9), atol=1e-8)
    theta = np.array([0.01, 0.3, 0.98])
    for cell in range(network.cell_count):
        np.testing.assert_allclose(
            one.marginals(cell).log_density(theta[:, None])[:, 0], same.log_density(cell, theta), rtol=1e-9
        )
    np.testing.assert_allclose(one.effective, 1)


def test_moments_distribution_quantiles_and_density_agree():
    posterior = mixtures(MIXED, 5, batch=(2,), alpha=1.5)
    theta = np.linspace(0, 1, 20_001)
    for cell in np.flatnonzero(~CERTAIN):
        density = np.exp(posterior.marginals(int(cell)).log_density(theta[1:-1, None])[..., 0])
        density = np.pad(density, ((0, 0), (1, 1)))
        np.testing.assert_allclose(np.trapezoid(density, theta), 1, atol=1e-4)
        mean = np.trapezoid(density * theta, theta)
        np.testing.assert_allclose(mean, posterior.mean[:, cell], atol=1e-4)
        variance = np.trapezoid(density * (theta - mean[:, None]) ** 2, theta)
        np.testing.assert_allclose(np.sqrt(variance), posterior.sd[:, cell], atol=1e-4)
        below = np.concatenate([posterior.marginals(int(cell)).cumulative(np.array([[t], [t]])) for t in (0.2, 0.6)], 1)
        for k, end in enumerate((4000, 12_000)):
            np.testing.assert_allclose(np.trapezoid(density[:, : end + 1], dx=5e-5), below[:, k], atol=1e-4)
    low, high = posterior.interval(0.8)
    np.testing.assert_allclose(posterior.marginals().cumulative(low)[:, ~CERTAIN], 0.1, atol=1e-7)
    np.testing.assert_allclose(posterior.marginals().cumulative(high)[:, ~CERTAIN], 0.9, atol=1e-7)


def test_one_cell_is_that_of_all():
    posterior = mixtures(MIXED, 5, batch=(2,))
    for cell in range(MIXED.cell_count):
        low, high = posterior.interval(cells=cell)
        assert low.shape == high.shape == (2,)
        np.testing.assert_allclose((low, high), np.array(posterior.interval())[..., cell], atol=1e-8)
        at = posterior.mean[:, cell]
        np.testing.assert_allclose(
            posterior.marginals(cell).cumulative(at[:, None])[:, 0],
            posterior.marginals().cumulative(posterior.mean)[:, cell],
        )
    np.testing.assert_array_equal(posterior.part(1).mean, posterior.mean[1])


def test_a_cell_that_is_its_rows_only_state_is_certain():
    posterior = mixtures(MIXED, 4)
    np.testing.assert_allclose(posterior.mean[CERTAIN], 1, rtol=1e-12)
    np.testing.assert_allclose(posterior.sd[CERTAIN], 0, atol=1e-12)
    np.testing.assert_array_equal(np.array(posterior.interval())[:, CERTAIN], 1)
    np.testing.assert_array_equal(posterior.marginals().cumulative(np.full(MIXED.cell_count, 0.999))[CERTAIN], 0)
    np.testing.assert_allclose(posterior.marginals().cumulative(np.ones(MIXED.cell_count))[CERTAIN], 1)
    certain = int(np.flatnonzero(CERTAIN)[0])
    np.testing.assert_array_equal(np.exp(posterior.marginals(certain).log_density(np.array([[0.2], [0.9]]))), 0)


def test_draws_have_the_moments_and_the_quantiles():
    """40,000 draws: means within 6 standard errors (one in 1e9 falls beyond), shares of quantiles likewise."""
    posterior, draws = mixtures(MIXED, 3, batch=(2,)), 40_000
    theta = posterior.sample(np.random.default_rng(1), (draws,))
    assert theta.shape == (draws, 2, MIXED.cell_count)
    np.testing.assert_allclose(MIXED.row_sums(theta), 1)
    assert (np.abs(theta.mean(axis=0) - posterior.mean) <= 6 * posterior.sd / draws**0.5 + 1e-12).all()
    low, high = posterior.interval(0.5)
    inside = ((theta >= low) & (theta <= high)).mean(axis=0)[:, ~CERTAIN]
    assert (np.abs(inside - 0.5) < 6 * 0.5 / draws**0.5).all()
    drawn = posterior.drawn(np.random.default_rng(1), (7,))
    assert drawn.alpha.shape == (7, 2, MIXED.cell_count)


def test_a_query_is_that_of_the_mean():
    posterior = mixtures(ASIA, 3)
    expected = query(ASIA, posterior.mean, "dysp", {"smoke": "yes"})
    np.testing.assert_allclose(posterior.query("dysp", {"smoke": "yes"}).mean, expected)


def test_an_answer_is_compared_with_the_prior_that_is_stated():
    posterior, other = mixtures(ASIA, 3), Dirichlets.symmetric(ASIA, 4.0)
    own, stated = posterior.query("dysp", interval=0.9), posterior.query("dysp", interval=0.9, prior=other)
    np.testing.assert_array_equal(own.prior.high, posterior.prior.query("dysp", interval=0.9).high)
    np.testing.assert_array_equal(stated.prior.high, other.query("dysp", interval=0.9).high)
    assert stated.prior.high[0] < own.prior.high[0]


def test_an_interval_of_a_law_that_nearly_is_one_point_has_its_ends_in_order(monkeypatch):
    """Each end is exact to a billionth, either way."""
    monkeypatch.setattr(BetaMixtures, "quantile", lambda self, share: np.full(10, 1.0 - 1e-9 * share))
    low, high = mixtures(chain(3), 2).interval()
    assert (low <= high).all()


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("level", [0.02, 0.95, 0.9999])
def test_quantiles_are_within_a_billionth_under_any_prior(alpha, level):
    posterior, tail = mixtures(MIXED, 6, batch=(2,), alpha=alpha), (1 - level) / 2
    for end, share in zip(posterior.interval(level), (tail, 1 - tail), strict=True):
        below, above = (
            posterior.marginals().cumulative(np.clip(end + step, 0, 1))[:, ~CERTAIN] for step in (-3e-9, 3e-9)
        )
        assert (below <= share + 1e-12).all()
        assert (above >= share - 1e-12).all()


def test_a_quantile_at_either_end_of_a_law_without_weight_there_is_found():
    """Counts that pile up at an end, under a small alpha: a density may be infinite there, and a weight nothing."""
    prior = Dirichlets.symmetric(chain(1), 1e-3)
    counts = np.array([[0.0, 1e4], [1e4, 0.0], [3.0, 5.0]])
    law = DirichletMixtures(prior, counts, np.array([[1.0], [0.0], [0.0]]))
    low, high = law.interval()
    assert (low <= high).all()
    assert high[0] < 1e-6
    assert low[1] > 1 - 1e-6


def test_components_are_drawn_by_their_weights():
    # Shares of 20,000 draws within five standard errors; false alarms below 1e-4 over all 120 of them.
    batch = mixtures(V_STRUCTURE, 4, batch=(2,))
    drawn = batch.drawn(np.random.default_rng(4), (20_000,)).alpha
    first = np.rint(drawn[..., batch.network.row_starts] - 0.7)
    for draw in range(2):
        for row, cell in enumerate(batch.network.row_starts):
            counts = batch.counts[draw, :, cell]
            for count in counts:
                share = batch.weights[draw, counts == count, row].sum()
                error = 5 * np.sqrt(share * (1 - share) / 20_000) + 1e-9
                assert abs((first[:, draw, row] == count).mean() - share) < error


def test_points_become_fewer_where_cells_are_many_and_end_in_a_sentence():
    assert points_for(36) == POINTS
    assert points_for(16_384) == POINTS
    assert LEAST_POINTS <= points_for(131_104) < POINTS / 4
    assert points_for(MOST_CELLS) == LEAST_POINTS
    with pytest.raises(InputError, match="the naive posterior"):
        points_for(MOST_CELLS + 1)
