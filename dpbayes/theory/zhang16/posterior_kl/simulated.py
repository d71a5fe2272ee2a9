"""The KL divergence of simulated Laplace releases from the exact posterior. Curator only."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl
from dpbayes.theory.claims.simulation import MOST_RELEASES, Simulation
from dpbayes.theory.zhang16.counts import checked_epsilons, noise_scale
from dpbayes.theory.zhang16.posterior_kl.exact import distinct_rows, expected_kl

MOST_NUMBERS = 100_000_000
"""Most KL values that are kept: releases times epsilons."""

_BLOCK = 1 << 18
"""Numbers per pass, so that they stay near the processor."""

_ROUNDING = 1e-6
"""Largest error, as a part of the mean, at which the quick formula may stand for the stable one."""


def simulate_kl(
    prior: Dirichlets, counts: Counts, *, epsilon: ArrayLike, releases: int, rng: np.random.Generator
) -> Simulation:
    """Simulate releases of `LaplaceUpdates` at every epsilon (E,) and return their KL from the exact posterior.

    Errors: InputError for counts of another network, batches, epsilon out of range, and more than MOST_RELEASES
    releases or MOST_NUMBERS values.
    """
    releases = whole_number("The number of releases", releases, low=1, high=MOST_RELEASES)
    epsilons = np.atleast_1d(checked_epsilons(epsilon))
    groups = distinct_rows(prior, counts)
    if releases * len(epsilons) > MOST_NUMBERS:
        raise InputError(f"That is more than {MOST_NUMBERS:,} simulated values; ask for fewer releases.")
    scale = noise_scale(prior.network, epsilons)
    is_quick = _rounding(prior, counts) <= _ROUNDING * float(expected_kl(groups, scale).min())
    divergences = np.empty((len(scale), releases))
    block = max(1, _BLOCK // (len(scale) * prior.network.cell_count))
    for start in range(0, releases, block):
        size = min(block, releases - start)
        noise = rng.laplace(size=(size, prior.network.cell_count))
        updates = np.clip(counts.values + scale[:, None, None] * noise, 0.0, float(counts.n))
        divergences[:, start : start + size] = (_quick_kl if is_quick else _stable_kl)(prior, counts, updates)
    divergences.sort(axis=-1)
    return Simulation(divergences)


def _rounding(prior: Dirichlets, counts: Counts) -> float:
    """A bound on the rounding error of `_quick_kl`: all terms are below the size of y ln y at the largest y."""
    network = prior.network
    largest = network.row_sums(prior.alpha) + counts.n * network.cards[network.node_of_row]
    return float(8 * np.finfo(float).eps * (largest * np.log(largest + 3)).sum())


def _quick_kl(prior: Dirichlets, counts: Counts, updates: FloatArray) -> FloatArray:
    """ln B(b) - ln B(a) + (a - b) . (psi(a) - psi(a_0)), summed over rows; it loses digits for large counts."""
    network = prior.network
    a, released = prior.alpha + counts.values, prior.alpha + updates
    slope = special.digamma(a) - special.digamma(network.row_sums(a))[network.row_of_cell]
    constant = _log_beta(network, a) - a @ slope
    divergence: FloatArray = _log_beta(network, released) - released @ slope - constant
    return np.maximum(divergence, 0.0)


def _log_beta(network: Network, alpha: FloatArray) -> FloatArray:
    cells: FloatArray = special.gammaln(alpha).sum(axis=-1)
    return cells - special.gammaln(network.row_sums(alpha)).sum(axis=-1)


def _stable_kl(prior: Dirichlets, counts: Counts, updates: FloatArray) -> FloatArray:
    return kl(prior.updated(counts), prior.updated(updates))
