"""Mixtures of many cells and many points: no more work, and no more at once, than they need."""

import tracemalloc

import numpy as np
import pytest
from scipy import special

from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures, DirichletMixtures
from dpbayes.posteriors.noise_aware import LEAST_POINTS, MOST_CELLS, POINTS, points_for
from dpbayes.posteriors.row_counts import RowCounts
from tests.strategies import V_STRUCTURE


def betas(cells: int) -> BetaMixtures:
    rng = np.random.default_rng(1)
    a, b = rng.gamma(20, size=(2, 8, cells))
    a[:, 0], b[:, 0] = 0.002, 0.002  # nearly all of it is at the two ends, and steps lead out of the bracket
    return BetaMixtures(a, b, np.full((8, cells), 1 / 8))


def test_a_cell_whose_quantile_has_converged_is_evaluated_no_more(monkeypatch):
    sizes: list[int] = []
    real = special.betainc
    monkeypatch.setattr(special, "betainc", lambda a, b, x: sizes.append(np.size(a)) or real(a, b, x))
    mixtures = betas(50)
    quantiles = mixtures.quantile(0.975)
    steps = len(sizes)
    assert sum(sizes) < 0.5 * steps * sizes[0], "most cells are there long before the last"
    np.testing.assert_allclose(mixtures.cumulative(quantiles)[1:], 0.975, atol=1e-6)


def test_quantiles_of_a_batch_are_those_of_its_parts():
    rng = np.random.default_rng(2)
    a, b = rng.gamma(5, size=(2, 3, 8, 4))
    weights = rng.dirichlet(np.ones(8), size=(3, 4)).swapaxes(1, 2)
    batch = BetaMixtures(a, b, weights)
    for draw in range(3):
        np.testing.assert_allclose(batch.quantile(0.3)[draw], batch.part(draw).quantile(0.3), atol=1e-9)


def mixtures(points: int, shape: tuple[int, ...] = ()) -> DirichletMixtures:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 50, (*shape, points, V_STRUCTURE.cell_count)).astype(float)
    weights = rng.dirichlet(np.full(points, 0.5), size=(*shape, V_STRUCTURE.row_count)).swapaxes(-1, -2)
    return DirichletMixtures(Dirichlets.symmetric(V_STRUCTURE), counts, weights)


def test_drawing_compares_no_draw_with_every_point():
    many = mixtures(4096)
    tracemalloc.start()
    many.drawn(np.random.default_rng(1), (2000,))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2000 * 4096 * V_STRUCTURE.row_count / 4, "bytes, where there is one for each draw, point and row"


def test_components_are_drawn_by_their_weights():
    # Shares of 20,000 draws within five standard errors; false alarms below 1e-4 over all 120 of them.
    batch = mixtures(4, shape=(2,))
    first = batch.drawn(np.random.default_rng(4), (20_000,)).alpha[..., batch.network.row_starts] - 1
    for draw in range(2):
        for row, cell in enumerate(batch.network.row_starts):
            counts = batch.counts[draw, :, cell]
            for count in counts:
                share = batch.weights[draw, counts == count, row].sum()
                error = 5 * np.sqrt(share * (1 - share) / 20_000) + 1e-9
                assert abs((first[:, draw, row] == count).mean() - share) < error


# The rule of points


def test_points_become_fewer_where_cells_are_many_and_end_in_a_sentence():
    assert points_for(36) == POINTS
    assert points_for(16_384) == POINTS
    assert LEAST_POINTS <= points_for(131_104) < POINTS / 4
    assert points_for(MOST_CELLS) == LEAST_POINTS
    with pytest.raises(InputError, match="the naive posterior"):
        points_for(MOST_CELLS + 1)


def test_a_wide_table_is_worked_out_in_parts(monkeypatch):
    names = [f"p{k}" for k in range(6)]
    network = Network.from_edges([*names, "x"], [(name, "x") for name in names])
    counts = np.zeros(network.cell_count, dtype=np.int64)
    counts[network.cell_offsets[:-1]] = 60
    mechanism = LaplaceUpdates(prior=network, epsilon=1.0)
    release = mechanism.release(Counts(network, counts, 60), np.random.default_rng(1))
    whole = release.noise_aware(points=32)
    sizes: list[int] = []
    real = RowCounts.posterior

    def watched(rows, released, fit, lucks):
        sizes.append(released.size * lucks.shape[-1])
        return real(rows, released, fit, lucks)

    monkeypatch.setattr("dpbayes.posteriors.noise_aware._BLOCK", 512)
    monkeypatch.setattr(RowCounts, "posterior", watched)
    parts = release.noise_aware(points=32)
    assert max(sizes) <= 512
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-12)
    cells = np.array([0, 20, 40, 139])
    np.testing.assert_allclose(release.noise_aware_cells(cells, points=32).mean, whole.mean[cells], rtol=1e-12)
    assert max(sizes) <= 512
