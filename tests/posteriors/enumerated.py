"""The posterior of a small network and few records, by listing every table; slow and obvious."""

from collections.abc import Callable
from itertools import combinations_with_replacement
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


def multisets(network: Network, n: int) -> np.ndarray:
    """How often a table of n records has each possible record, for every table: (tables, records)."""
    kinds = len(all_records(network))
    return np.array([np.bincount(chosen, minlength=kinds) for chosen in combinations_with_replacement(range(kinds), n)])


def log_prior(prior: Dirichlets, records: np.ndarray) -> np.ndarray:
    """ln P(table) under the prior, of tables (tables, records) with the number of orders that each has."""
    network, alpha = prior.network, prior.alpha
    tables, total = records @ counts_per_record(network), network.row_sums(alpha)
    orders = special.gammaln(records.sum(axis=-1) + 1) - special.gammaln(records + 1).sum(axis=-1)
    rows = special.gammaln(total) - special.gammaln(network.row_sums(tables) + total)
    cells = special.gammaln(tables + alpha) - special.gammaln(alpha)
    return np.asarray(orders + rows.sum(axis=-1) + cells.sum(axis=-1))


def listed(prior: Dirichlets, log_chance: Callable[[np.ndarray], np.ndarray], n: int) -> DirichletMixtures:
    """The posterior: a mixture over all tables (tables, K), with one weight for a whole table."""
    records = multisets(prior.network, n)
    tables = records @ counts_per_record(prior.network)
    logs = log_prior(prior, records) + log_chance(tables)
    weights = np.exp(logs - special.logsumexp(logs))
    kept = weights > 1e-15
    return DirichletMixtures(
        prior, tables[kept], np.repeat(weights[kept, None] / weights[kept].sum(), prior.network.row_count, axis=1)
    )


def exact_posterior(mechanism, released: np.ndarray, n: int) -> DirichletMixtures:
    """The posterior of released numbers (K,) by listing every table."""
    chance = log_chance_of(mechanism, n)
    return listed(mechanism.prior, lambda tables: chance(released, tables), n)


def log_chance_of(mechanism, n: int) -> LogChance:
    """The law of what a mechanism releases."""
    if isinstance(mechanism, LaplaceFourier):
        return lambda released, tables: _fourier(mechanism, released, tables)
    assert isinstance(mechanism, LaplaceUpdates)
    cell = whole_cell if mechanism.noise is Noise.WHOLE else real_cell

    def chance(released: np.ndarray, tables: np.ndarray) -> np.ndarray:
        of_counts = np.array([[cell(y, k, n, mechanism.noise_scale) for k in range(n + 1)] for y in released])
        return np.asarray(of_counts[np.arange(len(released)), tables].sum(axis=-1))

    return chance


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
