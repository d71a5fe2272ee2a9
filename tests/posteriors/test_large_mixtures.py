"""Mixtures of many cells and many points: no more work, and no more at once, than they need."""

import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import LEAST_POINTS, MOST_CELLS, POINTS, points_for
from tests.strategies import V_STRUCTURE


def mixtures(points: int, shape: tuple[int, ...] = ()) -> DirichletMixtures:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 50, (*shape, points, V_STRUCTURE.cell_count)).astype(float)
    weights = rng.dirichlet(np.full(points, 0.5), size=(*shape, V_STRUCTURE.row_count)).swapaxes(-1, -2)
    return DirichletMixtures(Dirichlets.symmetric(V_STRUCTURE), counts, weights)


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
