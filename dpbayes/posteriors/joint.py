"""The joint noise-aware posterior."""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.quadrature import spread_points
from dpbayes.base.types import FloatArray
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.joint_design import JointDesign
from dpbayes.posteriors.joint_rows import Normals, TiltedRows, tilted_rows
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import NoiseModel
from dpbayes.posteriors.row_counts import rows_by_states

SWEEPS, DAMPING = 10, 0.7
LOOK = 128
SWEEP_POINTS = 256


@dataclass
class State:
    mean: FloatArray
    covariance: FloatArray


def run(prior, noise, released, n, *, points=512, sweeps=SWEEPS, damping=DAMPING, sweep_points=SWEEP_POINTS, extra=None, trace=None):
    network = prior.network
    tables = np.asarray(released, dtype=np.float64).reshape(-1, network.cell_count)
    batch = len(tables)
    design = prior.readings.once(("design", n), JointDesign, network, n)
    fits = network.residuals.consistent(tables, n)
    groups = tilted_rows(prior, noise, n)
    base, base_shift = _base(design, noise, tables)
    places, sites = [], []
    for rows in groups:
        cells = rows.prior.cells
        k, w = rows.posterior(tables[:, cells], fits[:, cells], spread_points(LOOK, rows.prior.states))
        places.append(rows.place(k, w))
        sites.append(_first_site(rows, tables))
    where = np.empty((network.row_count, 2), dtype=int)
    for g, rows in enumerate(groups):
        where[rows.prior.rows, 0] = g
        where[rows.prior.rows, 1] = np.arange(len(rows.prior.rows))
    result = None
    for sweep in range(sweeps + 1):
        state = _combined(design, base, base_shift, sites, where, extra)
        if extra is not None:
            for factor in extra:
                factor.refresh(design, state, sweep)
            state = _combined(design, base, base_shift, sites, where, extra)
        marginals = _marginals(design, state, groups, where)
        last = sweep == sweeps
        result = []
        for g, rows in enumerate(groups):
            cavity = rows.cavity(*marginals[g], sites[g])
            lucks = spread_points(points if last else sweep_points, rows.prior.states)
            k, w = rows.tilted(tables[:, rows.prior.cells], cavity, lucks, places[g])
            if last:
                result.append((k, w))
                continue
            places[g] = rows.place(k, w)
            new = rows.site(places[g], cavity)
            if trace is not None:
                trace.append(np.abs(new.precision - sites[g].precision).max())
            sites[g] = sites[g].towards(new, damping)
    counts = np.empty((batch, points, network.cell_count))
    weights = np.empty((batch, points, network.row_count))
    for rows, (k, w) in zip(groups, result, strict=True):
        counts[:, :, rows.prior.cells] = k[1:].transpose(1, 3, 2, 0)
        weights[:, :, rows.prior.rows] = w.swapaxes(1, 2)
    shape = (*np.asarray(released).shape[:-1], points)
    return DirichletMixtures(prior, counts.reshape(*shape, -1), weights.reshape(*shape, -1)), state


def _first_site(rows: TiltedRows, tables: FloatArray) -> Normals:
    r = rows.prior.states
    shape = (len(tables), len(rows.prior.rows))
    if not rows.scale:
        return Normals(np.zeros((*shape, r, r)), np.zeros((*shape, r)))
    back = np.linalg.inv(rows._lift)
    precision = back.T @ back / rows.sd**2
    shift = tables[:, rows.prior.cells] @ back / rows.sd**2
    precision = np.broadcast_to(precision, (*shape, r, r)).copy()
    f = rows.fixed
    if f.size:
        own, moved = precision[:, f], shift[:, f]
        moved -= own[..., 0] * rows.prior.n
        own[..., 0, :] = own[..., :, 0] = moved[..., 0] = 0.0
        precision[:, f], shift[:, f] = own, moved
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
    if extra is not None:
        for factor in extra:
            factor.add(precision, shift)
    factor = np.linalg.cholesky(precision)
    inverse = np.linalg.inv(factor)
    covariance = np.swapaxes(inverse, -1, -2) @ inverse
    return State(np.matmul(covariance, shift[..., None])[..., 0], covariance)


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
