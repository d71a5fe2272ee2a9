"""The probabilities that a recipient reads from an adaptive release. They cost no privacy.

The noise-aware means of the rows are raked to the released distribution of every column, which is more precise.
"""

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals, MeasuredTables
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import family_marginals
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_aware import noise_aware_means
from dpbayes.posteriors.noise_model import NoiseModel

Measured = MeasuredResiduals | MeasuredTables
"""What was measured: with Gaussian noise under a rho, or with Laplace noise under an epsilon. Both are read alike."""

PRIOR = 0.5
"""Every Dirichlet parameter of the rows."""

LEAST_PRIOR, MOST_PRIOR = 0.5, 5.0
"""The range of the Dirichlet parameter of the columns."""

_POINTS = 128
"""Points of a row's law: enough for its mean."""

_SWEEPS, _FITS = 6, 10
"""Sweeps over all columns, and fits of a column's rows in each."""

_CLOSE = 1e-4
"""The sweeps end when no probability of a column is further than this from the released one."""


def column_distributions(measured: Measured) -> FloatArray:
    """Return the distribution of every column, read from its own released counts: (R,), column after column."""
    network = measured.network
    columns = Network(network.names, network.states, ((),) * len(network.names))
    alone = measured.within(columns)
    return _means(alone, column_prior(alone))


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
    """Return the CPTs (K,) of the network of the measurements: noise-aware means, raked to the columns."""
    network = measured.network
    aim = np.split(column_distributions(measured), np.cumsum(network.cards)[:-1])
    probabilities = _means(measured, PRIOR)
    probabilities = probabilities / network.over_cells(network.row_sums(probabilities))
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


def _means(measured: Measured, parameter: float) -> FloatArray:
    network = measured.network
    prior = Dirichlets(network, np.full(network.cell_count, parameter))
    noise = NoiseModel(network, measured.variances)
    cells = np.arange(network.cell_count)
    return noise_aware_means(prior, noise, measured.tables, measured.n, cells=cells, points=_POINTS)
