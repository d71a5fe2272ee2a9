"""The joint noise-aware posterior."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.base.quadrature import spread_points
from dpbayes.base.types import FloatArray
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.joint_design import JointDesign
from dpbayes.posteriors.joint_parents import parents_designs, parents_factors
from dpbayes.posteriors.joint_rows import Normals, TiltedRows, tilted_rows
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import NoiseModel

SWEEPS, DAMPING = 10, 0.7


@dataclass
class State:
    mean: FloatArray
    covariance: FloatArray
    root: FloatArray


def run(prior, noise, released, n, *, size=512, sweeps=SWEEPS, damping=DAMPING, sweep_size=256, parents=True, draws=64, trace=None):
    network = prior.network
    tables = np.asarray(released, dtype=np.float64).reshape(-1, network.cell_count)
    batch = len(tables)
    design = prior.readings.once(("design", n), JointDesign, network, n)
    fits = network.residuals.consistent(tables, n)
    groups = tilted_rows(prior, noise, n)
    base, base_shift = _base(design, noise, tables)
    places, sites = [], []
    for rows in groups:
        places.append(_first_place(rows, noise, tables, fits, n))
        sites.append(_first_site(rows, tables))
    where = np.empty((network.row_count, 2), dtype=int)
    for g, rows in enumerate(groups):
        where[rows.prior.rows, 0] = g
        where[rows.prior.rows, 1] = np.arange(len(rows.prior.rows))
    owns = parents_designs(design) if parents else ()
    factors = []
    normals = special.ndtri(spread_points(draws, design.size))
    result = None
    for sweep in range(sweeps + 1):
        if owns and sweep > 0:
            drawn = state.mean[:, None] + np.matmul(normals.T, state.root)
            tables_drawn = design.centre + drawn @ design.tables
            factors = parents_factors(owns, network, tables_drawn.swapaxes(0, 1), n)
        state = _combined(design, base, base_shift, sites, where, factors)
        marginals = _marginals(design, state, groups, where)
        last = sweep == sweeps
        result = []
        for g, rows in enumerate(groups):
            cavity = rows.cavity(*marginals[g], sites[g])
            tilted = rows.located(tables[:, rows.prior.cells], cavity, places[g], size if last else sweep_size)
            result.append(tilted)
            if last:
                continue
            places[g] = tilted.region
            new = rows.site(tilted, tilted.place, cavity)
            if trace is not None:
                trace.append((sweep, np.abs(new.precision - sites[g].precision).max() / np.abs(new.precision).max()))
            sites[g] = sites[g].towards(new, damping)
    points = max(tilted.weights[0, 0].size for tilted in result)
    counts = np.zeros((batch, points, network.cell_count))
    weights = np.zeros((batch, points, network.row_count))
    for rows, tilted in zip(groups, result, strict=True):
        r, m = rows.states, len(rows.prior.rows)
        own = tilted.weights[0, 0].size
        counts[:, :own, rows.prior.cells] = tilted.points[1:].reshape(r, batch, m, -1).transpose(1, 3, 2, 0)
        weights[:, :own, rows.prior.rows] = tilted.weights.reshape(batch, m, -1).swapaxes(1, 2)
    shape = (*np.asarray(released).shape[:-1], points)
    return DirichletMixtures(prior, counts.reshape(*shape, -1), weights.reshape(*shape, -1)), state


def _first_place(rows, noise, tables, fits, n):
    """Prior and noise as normal laws."""
    network = noise.network
    totals, contrasts = (v[network.node_of_row][rows.prior.rows] for v in network.residuals.row_variances(noise.variances))
    r = rows.states
    even = np.full((r, r), 1 / r)
    error = totals[:, None, None] / r * even + contrasts[:, None, None] * (np.eye(r) - even)
    centre, own = rows.prior.moments
    share = error @ np.linalg.pinv(error + own, rcond=1e-12, hermitian=True)
    fit = fits[:, rows.prior.cells]
    lift = np.concatenate((np.ones((1, r)), np.eye(r)[: r - 1]))
    covariance = share @ own
    covariance = lift @ (covariance + np.swapaxes(covariance, -1, -2)) @ lift.T / 2
    mean = (fit + np.matmul(share, (centre - fit)[..., None])[..., 0]) @ lift.T
    mean[..., 0] = np.clip(mean[..., 0], 0, n)
    mean[..., 1:] = np.clip(mean[..., 1:], 0, n)
    return mean, np.broadcast_to(covariance, (len(tables), *covariance.shape))


def _first_site(rows: TiltedRows, tables: FloatArray) -> Normals:
    r = rows.prior.states
    shape = (len(tables), len(rows.prior.rows))
    if not rows.scale:
        return Normals(np.zeros((*shape, r, r)), np.zeros((*shape, r)))
    back = np.linalg.inv(np.concatenate((np.ones((1, r)), np.eye(r)[: r - 1])))
    precision = back.T @ back / rows.sd**2
    shift = tables[:, rows.prior.cells] @ back / rows.sd**2
    precision = np.broadcast_to(precision, (*shape, r, r)).copy()
    if rows.is_fixed:
        shift -= precision[..., 0] * rows.prior.n
        precision[..., 0, :] = precision[..., :, 0] = shift[..., 0] = 0.0
    return Normals(precision, shift)


def _base(design, noise, tables):
    if noise.scale:
        return np.full(design.size, 1e-9 / (design.n + 1) ** 2), np.zeros((len(tables), design.size))
    variances = noise.variances[design.sets]
    precision = 1 / np.maximum(variances, 1e-6)
    seen = design.network.residuals.of_tables(tables)[:, 1:]
    return precision, seen * precision


def _combined(design, base, base_shift, sites, where, extra):
    batch = len(base_shift)
    precision = np.zeros((batch, design.size, design.size))
    shift = base_shift.copy()
    diagonal = np.arange(design.size)
    precision[:, diagonal, diagonal] = base
    for family in design.families:
        g, places = where[family.rows[0], 0], where[family.rows, 1]
        p, h = sites[g].precision[:, places], sites[g].shift[:, places]
        q, r, size = family.matrix.shape
        flat = family.matrix.reshape(q * r, size)
        by = np.matmul(p, family.matrix).reshape(batch, q * r, size)
        numbers = family.numbers
        precision[:, numbers[:, None], numbers] += flat.T @ by
        moved = h - np.matmul(p, family.centre[..., None])[..., 0]
        shift[:, numbers] += moved.reshape(batch, q * r) @ flat
    for own in extra:
        precision[:, own.numbers[:, None], own.numbers] += own.precision
        shift[:, own.numbers] += own.shift
    factor = np.linalg.cholesky(precision)
    inverse = np.linalg.inv(factor)
    covariance = np.swapaxes(inverse, -1, -2) @ inverse
    return State(np.matmul(covariance, shift[..., None])[..., 0], covariance, inverse)


def _marginals(design, state, groups, where):
    batch = len(state.mean)
    result = [(np.empty((batch, len(rows.prior.rows), rows.prior.states)), np.empty((batch, len(rows.prior.rows), rows.prior.states, rows.prior.states))) for rows in groups]
    for family in design.families:
        g, places = where[family.rows[0], 0], where[family.rows, 1]
        numbers = family.numbers
        own = state.covariance[:, numbers[:, None], numbers]
        by = np.matmul(family.matrix, own[:, None])
        result[g][1][:, places] = np.matmul(by, np.swapaxes(family.matrix, -1, -2))
        q, r, size = family.matrix.shape
        result[g][0][:, places] = family.centre + (state.mean[:, numbers] @ family.matrix.reshape(q * r, size).T).reshape(batch, q, r)
    return result
