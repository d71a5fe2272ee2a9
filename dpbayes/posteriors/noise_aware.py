"""The noise-aware posterior, row by row. It uses the public distribution of the noise and has no privacy cost.

The posterior of a row uses the row's own noisy cells and the information on the row in all other cells:

1. The released tables are replaced by the nearest consistent tables of the public total n, weighted means of residuals.
2. Their error has covariance a J/r^2 + c (I - J/r) in a row of r cells (`Residuals.row_variances`). The error is a sum
   of many noise terms and is approximated as normal. If noise was added to every cell, the share of the row's own
   cells, 1/(r sd^2) of 1/a and 1/sd^2 of 1/c, is replaced by the exact Laplace distribution.
3. The distribution of the row's counts k is this likelihood, times Dirichlet-multinomial(k | T), times the prior
   distribution of the row's total T (`row_shares`). It is represented by points of importance sampling. Two passes move
   the points to the distribution, and up to five if few points have the weight. The points use the same random numbers
   for every release, so that results change smoothly.

The posterior of theta is the mixture of Dirichlet(alpha + k) over this distribution. The idea is from [Bernstein18].
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpbayes.base.quadrature import spread_points
from dpbayes.base.steps import slices
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures, DirichletMixtures
from dpbayes.posteriors.noise_model import NoiseModel
from dpbayes.posteriors.row_counts import RowCounts
from dpbayes.posteriors.row_priors import RowPriors, row_priors

POINTS = 512
"""The number of points of a row's distribution of counts."""

FEW_POINTS = 50
"""The effective number of points below which an interval is reported as rough."""

MOST_NUMBERS, LEAST_POINTS = 1 << 23, 32
"""The largest product of points and cells of a network's posterior, about 100 megabytes and some seconds. Networks with
more cells get fewer points, at least the second number."""

MOST_CELLS = MOST_NUMBERS // LEAST_POINTS
"""The largest number of cells of a network's posterior."""

_BLOCK = 1 << 17
"""Numbers in one step, few enough for the processor's cache."""

_OF_MANY = 16_000
"""Points in one step for many releases, so that arrays stay below 128 KiB. Larger arrays are returned to
the system after each step and allocated again, page by page, which takes as long as the computation."""


def points_for(cells: int) -> int:
    """Return the number of points of every row for this number of cells. Errors: InputError for too many cells."""
    if cells > MOST_CELLS:
        raise InputError(
            f"The noise-aware posterior is computed for at most {MOST_CELLS:,} probabilities, but there are "
            f"{cells:,}. Use "
            "the naive posterior, or query fewer probabilities."
        )
    return min(POINTS, MOST_NUMBERS // max(cells, 1))


def roughness(law: DirichletMixtures | BetaMixtures) -> str:
    """Return a sentence about rows with a small effective number of points, for pages and files; "" if there is none.

    For `BetaMixtures`, every cell counts as a row.
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


@dataclass(frozen=True, eq=False)
class ShiftedPoints:
    """A `number` of points with a random shift for each release and row, so that errors of few points do not add up."""

    number: int
    rng: np.random.Generator


def noise_aware(
    prior: Dirichlets, noise: NoiseModel, released: FloatArray, n: int, *, points: int = POINTS
) -> DirichletMixtures:
    """Return the posterior of every row given released tables (..., K) of n records: mixtures of `points` components.

    Errors: InputError for tables or noise of another network, and for numbers that are not finite.
    """
    network, tables = prior.network, checked_tables(prior, noise, released)
    counts = np.empty((len(tables), points, network.cell_count))
    weights = np.empty((len(tables), points, network.row_count))
    for rows, part, k, shares in _solved(prior, noise, tables, n, np.arange(network.row_count), points):
        counts[part, :, rows.cells] = k[1:].transpose(1, 3, 2, 0)
        weights[part, :, rows.rows] = shares.swapaxes(1, 2)
    shape = (*np.shape(released)[:-1], points)
    chosen = (noise, released) if prior.is_graph_chosen else None
    return DirichletMixtures(prior, counts.reshape(*shape, -1), weights.reshape(*shape, -1), chosen=chosen)


def noise_aware_cells(
    prior: Dirichlets, noise: NoiseModel, released: FloatArray, n: int, *, cells: IntArray, points: int = POINTS
) -> BetaMixtures:
    """Return the marginals of some cells (C,) under `noise_aware`, without computing other rows: (..., S, C).

    Errors: those of `noise_aware`.
    """
    network, tables = prior.network, checked_tables(prior, noise, released)
    of_cell = network.row_of_cell[cells]
    own, totals, weights = (np.empty((len(tables), points, len(cells))) for _ in range(3))
    for rows, part, k, shares in _solved(prior, noise, tables, n, np.unique(of_cell), points):
        places = np.flatnonzero(np.isin(of_cell, rows.rows))
        row = np.searchsorted(rows.rows, of_cell[places])
        state = cells[places] - rows.cells[row, 0]
        own[part, :, places] = rows.alpha[row, state] + k[1 + state, :, row].transpose(1, 2, 0)
        totals[part, :, places] = (rows.concentration + k[0])[:, row].swapaxes(1, 2)
        weights[part, :, places] = shares[:, row].swapaxes(1, 2)
    shape = (*np.shape(released)[:-1], points, len(cells))
    return BetaMixtures(own.reshape(shape), (totals - own).reshape(shape), weights.reshape(shape))


def noise_aware_means(
    prior: Dirichlets,
    noise: NoiseModel,
    released: FloatArray,
    n: int,
    *,
    cells: IntArray,
    points: int | ShiftedPoints = POINTS,
) -> FloatArray:
    """Return the means of some cells (C,) under `noise_aware`, without storing points: (..., C).

    Errors: those of `noise_aware`.
    """
    network, tables = prior.network, checked_tables(prior, noise, released)
    means = np.empty((len(tables), network.cell_count))
    for rows, part, k, shares in _solved(prior, noise, tables, n, np.unique(network.row_of_cell[cells]), points):
        shares /= rows.concentration + k[0]
        sums = np.moveaxis(np.vecdot(shares, k[1:]), 0, -1)
        means[part, rows.cells] = sums + rows.alpha * shares.sum(axis=-1, keepdims=True)
    return means[:, cells].reshape(*np.shape(released)[:-1], len(cells))


def _solved(
    prior: Dirichlets,
    noise: NoiseModel,
    tables: FloatArray,
    n: int,
    chosen: IntArray,
    points: int | ShiftedPoints,
) -> Iterator[tuple[RowPriors, slice, FloatArray, FloatArray]]:
    """Yield some of the chosen rows, a part of the releases (B, K), and points and weights of the counts given them."""
    number, rng = (points, None) if isinstance(points, int) else (points.number, points.rng)
    network, most = prior.network, _BLOCK // number
    fits, node = network.residuals.consistent(tables, n), network.node_of_row
    totals, contrasts = network.residuals.row_variances(noise.variances)
    for rows in prior.readings.once((n, most, chosen.tobytes()), row_priors, prior, n, chosen, most):
        of_node, cells = node[rows.rows, None], rows.cells
        counts = RowCounts(rows, totals[of_node], contrasts[of_node], noise.scale, noise.sd)
        lucks = own = spread_points(number, rows.states)
        for part in slices(len(tables), _OF_MANY // (number * len(cells))):
            if rng is not None:
                shifts = rng.random((len(lucks), part.stop - part.start, len(cells), 1))
                own = (lucks[:, None, None] + shifts) % 1
            yield rows, part, *counts.posterior(tables[part][:, cells], fits[part][:, cells], own)


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
