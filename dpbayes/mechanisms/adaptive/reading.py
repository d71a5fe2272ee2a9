"""The probabilities that a recipient reads from an adaptive release. They cost no privacy.

A row's probabilities are the expected shares of its records. The prior of a node's rows is estimated from the release:
it is even, or has its mean at the row of the graph with one parent fewer. The results are raked to the released
distribution of every column, which is more precise.
"""

from collections.abc import Sequence

import numpy as np
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals, MeasuredTables
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import family_marginals
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import LEAST_POINTS, MOST_NUMBERS, noise_aware
from dpbayes.posteriors.noise_model import NoiseModel

Measured = MeasuredResiduals | MeasuredTables
"""What was measured: with Gaussian noise under a rho, or with Laplace noise under an epsilon. Both are read alike."""

PRIOR = 0.5
"""Every Dirichlet parameter of the rows before it is estimated."""

LEAST_PRIOR, MOST_PRIOR = 0.1, 10.0
"""The range of the Dirichlet parameter of the columns."""

_EVEN, _CENTRED = (PRIOR, 0.02, 0.1, 2.0), (1.0, 4.0, 16.0, 64.0)
"""Candidates for a node's prior: the parameter of every cell, or the sum of a row's with a mean of fewer parents."""

_PREFERENCE, _SMOOTHED = 1.0, 0.01
"""The addition to the log evidence of the prior before it is estimated, and the share of a mean that is even."""

_ADDED = 0.05
"""The records that are added to every row, with the mean of its prior, because it may have none."""

_FEW, _POINTS = 32, 128
"""Points of a row's law for the evidence, and for the mean."""

_SWEEPS, _FITS = 6, 10
"""Sweeps over all columns, and fits of a column's rows in each."""

_CLOSE = 1e-4
"""The sweeps end when no probability of a column is further than this from the released one."""


def column_distributions(measured: Measured) -> FloatArray:
    """Return the distribution of every column, read from its own released counts: (R,), column after column."""
    network = measured.network
    alone = measured.within(Network(network.names, network.states, ((),) * len(network.names)))
    return _shares(alone, np.full(alone.network.cell_count, column_prior(alone)))


def column_prior(alone: Measured) -> float:
    """Return the Dirichlet parameter a of the columns' distributions, estimated from all released columns together.

    sum_k (p_k - 1/r)^2 has the mean (1 - 1/r)/(r a + 1) for r states. Its share of 1 - 1/r is estimated by the squared
    residuals less their noise, so loud noise shrinks columns to the uniform distribution.
    """
    residuals, n = alone.network.residuals, alone.n
    sizes = residuals.sizes[1:]
    squares = np.bincount(residuals.set_of_number, alone.numbers**2)[1:] - sizes * alone.variances[1:]
    share = squares[sizes > 0] / (n**2 * residuals.shares[1:][sizes > 0])
    states = float(np.mean(sizes[sizes > 0] + 1))
    parameter = (1 / max(float(share.mean()), 1e-9) - 1) / states
    return float(np.clip(parameter, LEAST_PRIOR, MOST_PRIOR))


def model_probabilities(measured: Measured) -> FloatArray:
    """Return the CPTs (K,) of the network of the measurements: expected shares, raked to the columns."""
    network = measured.network
    aim = np.split(column_distributions(measured), np.cumsum(network.cards)[:-1])
    probabilities = _from_few_parents(measured, aim)
    for _ in range(_SWEEPS):
        joint = family_marginals(network, probabilities)
        raked, worst = probabilities.copy(), 0.0
        for node, wanted in enumerate(aim):
            cells = slice(network.cell_offsets[node], network.cell_offsets[node + 1])
            shape = (-1, len(wanted))
            worst = max(worst, float(np.abs(joint[cells].reshape(shape).sum(axis=0) - wanted).max()))
            rows = joint[cells].reshape(shape).sum(axis=1)
            raked[cells] = _fitted(probabilities[cells].reshape(shape), rows, wanted).ravel()
        if worst < _CLOSE:
            break
        probabilities = raked
    return probabilities


def _fitted(table: FloatArray, rows: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return CPT rows (q, r) times factors of the states, at which rows of these shares have the wanted mean."""
    for _ in range(_FITS):
        now = rows @ table
        table = table * np.divide(wanted, now, out=np.ones_like(now), where=now > 0)
        table = table / table.sum(axis=1, keepdims=True)
    return table


def _from_few_parents(measured: Measured, columns: Sequence[FloatArray]) -> FloatArray:
    """Return the expected shares (K,) of all rows, estimated with one parent first, then with two, and so on."""
    network = measured.network
    tables = [column[None] for column in columns]
    for number in range(1, max(map(len, network.families))):
        parents = [own[:number] if len(own) >= number else () for own in network.parents]
        part = measured.within(Network(network.names, network.states, tuple(parents)))
        below = [table if own else table[:1] for table, own in zip(tables, parents, strict=True)]
        shares = np.split(_shares(part, _estimated_prior(part, below)), part.network.cell_offsets[1:-1])
        for node in (node for node, own in enumerate(parents) if own):
            tables[node] = shares[node].reshape(-1, len(columns[node]))
    return np.concatenate([table.ravel() for table in tables])


def _estimated_prior(measured: Measured, below: Sequence[FloatArray]) -> FloatArray:
    """Return the Dirichlet parameters (K,): the mean of the candidates, weighted by their evidence for each node.

    The tables (rows, r) of the nodes with one parent fewer are fitted to the same release, so their numbers count.
    """
    network = measured.network
    node_of_cell, sizes = network.node_of_row[network.row_of_cell], np.diff(network.cell_offsets)
    parts = [np.repeat(table, size // table.size, axis=0).ravel() for table, size in zip(below, sizes, strict=True)]
    mean = (1 - _SMOOTHED) * np.concatenate(parts) + _SMOOTHED / network.cards[node_of_cell]
    candidates = np.stack([*(np.full_like(mean, a) for a in _EVEN), *(total * mean for total in _CENTRED)])
    law = _posterior(measured, candidates[0], _FEW)
    chances = np.stack([_log_chance(network, law.counts, alpha) for alpha in candidates])
    of_rows = special.logsumexp(chances - chances[0] + np.log(np.maximum(law.weights, 1e-300)), axis=1)
    evidence = np.add.reduceat(of_rows, network.row_offsets[:-1], axis=1)
    evidence[0] += _PREFERENCE
    evidence[len(_EVEN) :] -= [table.size - len(table) for table in below]
    weights = special.softmax(evidence, axis=0)[:, node_of_cell]
    return np.asarray(np.exp((weights * np.log(candidates)).sum(axis=0)))


def _log_chance(network: Network, counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return ln P(a row's cells | its total) of counts (S, K), up to what does not depend on alpha (K,): (S, m)."""
    totals, of_rows = network.row_sums(counts), network.row_sums(alpha)
    cells = network.row_sums(special.gammaln(counts + alpha) - special.gammaln(alpha))
    return np.asarray(cells - special.gammaln(totals + of_rows) + special.gammaln(of_rows))


def _shares(measured: Measured, alpha: FloatArray) -> FloatArray:
    """Return the expected counts of the cells, as shares of their rows (K,)."""
    network, law = measured.network, _posterior(measured, alpha, _POINTS)
    counts = (network.over_cells(law.weights) * law.counts).sum(axis=0) + _ADDED * law.prior.mean
    return np.asarray(counts / network.over_cells(network.row_sums(counts)))


def _posterior(measured: Measured, alpha: FloatArray, points: int) -> DirichletMixtures:
    """Return the noise-aware posterior of the rows under these Dirichlet parameters (K,)."""
    prior, noise = Dirichlets(measured.network, alpha), NoiseModel(measured.network, measured.variances)
    points = max(LEAST_POINTS, min(points, MOST_NUMBERS // len(alpha)))
    return noise_aware(prior, noise, measured.tables, measured.n, points=points)
