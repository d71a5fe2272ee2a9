"""The posterior of a network of two nodes and few records, by listing every table; slow and obvious."""

from collections.abc import Callable
from itertools import product
from math import exp, log, tanh

import numpy as np
from scipy import special

from dpbayes import Dirichlets, Network
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, Noise
from dpbayes.model.fourier import coefficients
from dpbayes.posteriors.mixtures import DirichletMixtures
from tests.strategies import all_records, counts_per_record

LogChance = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""ln of the chance, or density, of released numbers (K,) under every table (tables, K): (tables,)."""


def all_tables(network: Network, n: int) -> np.ndarray:
    """The counts of every table of n records that orders them in no way: (tables, K)."""
    kinds = len(all_records(network))
    multiplicities = [parts for parts in product(range(n + 1), repeat=kinds - 1) if sum(parts) <= n]
    joint = np.array([(*parts, n - sum(parts)) for parts in multiplicities])
    return np.unique(joint @ counts_per_record(network), axis=0)


def log_prior(prior: Dirichlets, tables: np.ndarray) -> np.ndarray:
    """ln P(table of n records) under the prior: multinomial in each row, integrated over its probabilities.

    So it is on two nodes: with an arrow counts determine how often every record is there, without one they are apart.
    """
    network, alpha = prior.network, prior.alpha
    records, total = network.row_sums(tables), network.row_sums(alpha)
    rows = special.gammaln(records + 1) + special.gammaln(total) - special.gammaln(records + total)
    cells = special.gammaln(tables + alpha) - special.gammaln(alpha) - special.gammaln(tables + 1)
    return np.asarray(rows.sum(axis=-1) + cells.sum(axis=-1))


def exact_posterior(mechanism, released: np.ndarray, n: int) -> DirichletMixtures:
    """The posterior: a mixture over all tables, with one weight for a whole table."""
    prior = mechanism.prior
    tables = all_tables(prior.network, n)
    logs = log_prior(prior, tables) + log_chance_of(mechanism, n)(released, tables)
    weights = np.exp(logs - special.logsumexp(logs))
    return DirichletMixtures(prior, tables, np.repeat(weights[:, None], prior.network.row_count, axis=1))


def log_chance_of(mechanism, n: int) -> LogChance:
    """The law of what a mechanism releases."""
    if isinstance(mechanism, LaplaceFourier):
        return lambda released, tables: _fourier(mechanism, released, tables)
    assert isinstance(mechanism, LaplaceUpdates)
    cell = whole_cell if mechanism.noise is Noise.WHOLE else real_cell
    return lambda released, tables: np.array(
        [sum(cell(y, int(k), n, mechanism.noise_scale) for y, k in zip(released, row, strict=True)) for row in tables]
    )


def real_cell(y: float, k: int, n: int, b: float) -> float:
    """Clipped Laplace noise: a density between 0 and n, and atoms at both."""
    if y <= 0:
        return log(exp(-k / b) / 2)
    if y >= n:
        return log(exp(-(n - k) / b) / 2)
    return -abs(y - k) / b - log(2 * b)


def whole_cell(y: float, k: int, n: int, b: float) -> float:
    """Clipped noise of whole numbers; an end has all that lies beyond it."""
    if y <= 0:
        return -k / b - log(1 + exp(-1 / b))
    if y >= n:
        return -(n - k) / b - log(1 + exp(-1 / b))
    return log(tanh(1 / (2 * b))) - abs(y - k) / b


def _fourier(mechanism: LaplaceFourier, released: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Independent Laplace noise on every coefficient but the first, which is n and a lift."""
    network = mechanism.prior.network
    away = coefficients(network, released) - coefficients(network, tables)
    return np.asarray(-np.abs(away[..., 1:]).sum(axis=-1) / mechanism.noise_scale)
