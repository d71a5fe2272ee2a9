"""The posterior given what was released: noisy counts are not taken for counts. It costs no privacy.

Every row is told from its own noisy cells and from what all other cells say of it:

1. The released tables are brought to the nearest consistent ones of the public total n: weighted means of residuals.
2. Their error has covariance a J/r^2 + c (I - J/r) in a row of r cells (`Residuals.row_variances`). It sums many noises
   and is taken as normal. Where the row's own cells were noised each by itself, their share, 1/(r sd^2) of 1/a and
   1/sd^2 of 1/c, is taken off, and the exact Laplace law stands in its place.
3. That, times Dirichlet-multinomial(k | T), times the prior law of the row's total T (`row_shares`), is the law of the
   row's counts k. Points of importance sampling stand for it, moved to where it lies in two passes, in up to five where
   few points carry the weight; the lucks they are made of are the same whatever was released: nothing flickers.

The posterior of theta is the mixture of Dirichlet(alpha + k) under that law. The idea is [Bernstein18]'s.
"""

import numpy as np

from dpbayes.base.quadrature import spread_points
from dpbayes.base.steps import slices
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures, DirichletMixtures
from dpbayes.posteriors.noise_model import NoiseModel
from dpbayes.posteriors.row_counts import rows_by_states

POINTS = 512
"""Points of a row's law of counts."""

FEW_POINTS = 50
"""Points' worth of weight below which an interval is rough, and said to be."""

MOST_NUMBERS, LEAST_POINTS = 1 << 23, 32
"""Points times cells that a whole network's posterior may have, a hundred megabytes and some seconds; a network of more
cells gets fewer points, down to so few."""

MOST_CELLS = MOST_NUMBERS // LEAST_POINTS
"""Cells beyond which there is none."""

_BLOCK = 1 << 17
"""Numbers that one step holds at once: few enough to stay near the processor."""

_OF_MANY = 16_000
"""Points of rows that one step holds where many releases are read for their means, in arrays below 128 KiB: memory of
larger ones goes back to the system after each step and comes anew, page by page, which takes as long as the work."""


def points_for(cells: int) -> int:
    """Return how many points every row of so many cells gets. Errors: InputError for more cells than can be read."""
    if cells > MOST_CELLS:
        raise InputError(
            f"The noise-aware posterior is computed for at most {MOST_CELLS:,} probabilities, but there are "
            f"{cells:,}. Use "
            "the naive posterior, or query fewer probabilities."
        )
    return min(POINTS, MOST_NUMBERS // max(cells, 1))


def roughness(law: DirichletMixtures | BetaMixtures) -> str:
    """Return the sentence about rows whose law rests on few points, which page and files say alike; "" without one.

    Of `BetaMixtures` every cell is taken for a row of its own.
    """
    worth, points = law.effective, law.weights.shape[-2]
    few = int((worth < FEW_POINTS).sum())
    if not few:
        return ""
    least = numeral(float(worth.min()), 2)
    if worth.size == 1:
        return f"The interval is rough: only about {least} of {points:,} possible counts of this row have weight."
    return (
        f"In {few:,} of {worth.size:,} rows, fewer than {FEW_POINTS} of {points:,} possible counts have weight "
        f"({least} in the worst row). The probabilities and intervals of these rows are rough."
    )


def noise_aware(
    prior: Dirichlets, noise: NoiseModel, released: FloatArray, n: int, *, points: int = POINTS
) -> DirichletMixtures:
    """Return the posterior of every row given released tables (..., K) of n records: mixtures of `points` components.

    Errors: InputError for tables or noise of another network, and for numbers that are not finite.
    """
    network = prior.network
    tables, fits, batch = _read(prior, noise, released, n)
    counts = np.empty((len(tables), points, network.cell_count))
    weights = np.empty((len(tables), points, network.row_count))
    for rows in rows_by_states(prior, noise, n, np.arange(network.row_count), cells=_BLOCK // points):
        lucks = spread_points(points, rows.prior.states)
        for part in slices(len(tables), _BLOCK // (points * rows.prior.cells.size)):
            k, w = rows.posterior(tables[part][:, rows.prior.cells], fits[part][:, rows.prior.cells], lucks)
            counts[part, :, rows.prior.cells] = k[1:].transpose(1, 3, 2, 0)
            weights[part, :, rows.prior.rows] = w.swapaxes(1, 2)
    shape = (*batch, points)
    return DirichletMixtures(prior, counts.reshape(*shape, -1), weights.reshape(*shape, -1))


def noise_aware_cells(
    prior: Dirichlets, noise: NoiseModel, released: FloatArray, n: int, *, cells: IntArray, points: int = POINTS
) -> BetaMixtures:
    """Return the marginals of some cells (C,) under `noise_aware`, without the rows of all others: (..., S, C).

    Errors: those of `noise_aware`.
    """
    network = prior.network
    tables, fits, batch = _read(prior, noise, released, n)
    own, totals, weights = (np.empty((len(tables), points, len(cells))) for _ in range(3))
    of_cell = network.row_of_cell[cells]
    at_once = _BLOCK // (points * len(tables))
    for rows in rows_by_states(prior, noise, n, np.unique(of_cell), cells=at_once):
        row_prior, lucks = rows.prior, spread_points(points, rows.prior.states)
        k, shares = rows.posterior(tables[:, row_prior.cells], fits[:, row_prior.cells], lucks)
        places = np.flatnonzero(np.isin(of_cell, row_prior.rows))
        row = np.searchsorted(row_prior.rows, of_cell[places])
        state = cells[places] - row_prior.cells[row, 0]
        own[..., places] = row_prior.alpha[row, state] + k[1 + state, :, row].transpose(1, 2, 0)
        totals[..., places] = (row_prior.concentration + k[0])[:, row].swapaxes(1, 2)
        weights[..., places] = shares[:, row].swapaxes(1, 2)
    shape = (*batch, points, len(cells))
    return BetaMixtures(own.reshape(shape), (totals - own).reshape(shape), weights.reshape(shape))


def noise_aware_means(
    prior: Dirichlets, noise: NoiseModel, released: FloatArray, n: int, *, cells: IntArray, points: int = POINTS
) -> FloatArray:
    """Return the means of some cells (C,) under `noise_aware`, and of the rows' points nothing else: (..., C).

    Errors: those of `noise_aware`.
    """
    network = prior.network
    tables, fits, batch = _read(prior, noise, released, n)
    means = np.empty((len(tables), network.cell_count))
    for rows in rows_by_states(prior, noise, n, np.unique(network.row_of_cell[cells]), cells=_BLOCK // points):
        row_prior, lucks = rows.prior, spread_points(points, rows.prior.states)
        for part in slices(len(tables), _OF_MANY // (points * len(row_prior.rows))):
            k, shares = rows.posterior(tables[part][:, row_prior.cells], fits[part][:, row_prior.cells], lucks)
            shares /= row_prior.concentration + k[0]
            sums = np.moveaxis(np.vecdot(shares, k[1:]), 0, -1)
            means[part, row_prior.cells] = sums + row_prior.alpha * shares.sum(axis=-1, keepdims=True)
    return means[:, cells].reshape(*batch, len(cells))


def _read(
    prior: Dirichlets, noise: NoiseModel, released: FloatArray, n: int
) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
    """Return released tables (B, K), the nearest consistent ones, and the shape of the batch. Errors: InputError."""
    tables = checked_tables(prior, noise, released)
    return tables, prior.network.residuals.consistent(tables, n), np.shape(released)[:-1]


def checked_tables(prior: Dirichlets, noise: NoiseModel, released: FloatArray) -> FloatArray:
    """Return released tables (..., K) as one batch (B, K).

    Errors: InputError for tables or noise of another network, and for numbers that are not finite.
    """
    network = prior.network
    released = np.asarray(released, dtype=np.float64)
    if noise.network != network or released.shape[-1:] != (network.cell_count,):
        raise InputError("The release and the prior have different networks. Use the network of the release.")
    if not np.isfinite(released).all():
        raise InputError("The release contains a number that is not finite.")
    return released.reshape(-1, network.cell_count)
