"""The truth beside a bound: exact where it is known, else simulated, with how far the simulation can be trusted.

Whether a printed bound is violated is decided here: by an exact value, or by a simulation that is DOUBT standard errors
beyond it. What is simulated from counts is for the curator only; noise alone is public.
"""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.stealth import Needed
from dpbayes.model.closure import walsh
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.theory.claims.truth import DOUBT, Measured, above
from dpbayes.theory.zhang16.counts import noise_scale
from dpbayes.theory.zhang16.kl_study import Estimate, KlStudy, QuantileEstimate

_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """A table on `nodes` binary nodes, with noise of `scale` (E,) on each of its 2^nodes coefficients.

    The empty set's is lifted by `lift` noise scales.     [Zhang16] Section 3.2.
    """

    nodes: int
    lift: float
    scale: FloatArray


def kl_mean(study: KlStudy, expected: FloatArray, *, printed: FloatArray) -> Measured:
    """Return the mean KL divergence: exact `expected` (E,), and simulated with two standard errors on either side."""
    mean = study.mean
    none = np.full(len(expected), np.nan)
    low, high = np.maximum(mean.value - 2 * mean.error, 0.0), mean.value + 2 * mean.error
    violated = above(expected, printed)
    return Measured(
        expected, mean.value, low, high, none, violated, "exact mean", "mean of simulated releases", study.releases
    )


def kl_quantile(study: KlStudy, expected: FloatArray, *, printed: FloatArray, delta: float) -> Measured:
    """Return the 1 - delta quantile of the KL divergence, its exact mean, and how often `printed` (E,) is exceeded."""
    return _by_quantile(
        study.quantile(1 - delta), study.exceedance(printed), delta=delta, exact=expected, releases=study.releases
    )


def largest_noise(
    network: Network, rng: np.random.Generator, *, epsilon: FloatArray, printed: FloatArray, delta: float, releases: int
) -> Measured:
    """Simulate the largest of K Laplace draws at every epsilon (E,), in counts. [Zhang16] Proposition 1.

    The same draws serve all epsilons. The exact mean is b (1 + 1/2 + ... + 1/K): maxima of exponentials.
    """
    size = max(1, _BLOCK // network.cell_count)
    parts = [
        np.abs(rng.laplace(size=(min(size, releases - start), network.cell_count))).max(axis=-1)
        for start in range(0, releases, size)
    ]
    scale, mean = noise_scale(network, epsilon), mean_of_largest(network, epsilon)
    return _scaled(np.concatenate(parts), scale, mean, printed=printed, delta=delta)


def mean_of_largest(network: Network, epsilon: FloatArray) -> FloatArray:
    """Return the exact mean of the largest of K Laplace draws at every epsilon, in counts: (E,)."""
    mean: FloatArray = noise_scale(network, epsilon) * (1 / np.arange(1, network.cell_count + 1)).sum()
    return mean


def largest_change(
    counts: Counts, rng: np.random.Generator, *, epsilon: FloatArray, printed: FloatArray, delta: float, releases: int
) -> Measured:
    """Simulate how far the worst released count is off after clipping to [0, n], at every epsilon (E,).

    It depends on the counts. [Zhang16] Proposition 1, for the clipped updates.
    """
    network = counts.network
    scale = noise_scale(network, epsilon)
    found, size = np.empty((len(scale), releases)), max(1, _BLOCK // (len(scale) * network.cell_count))
    for start in range(0, releases, size):
        noise = rng.laplace(size=(min(size, releases - start), network.cell_count))
        moved = np.clip(counts.values + scale[:, None, None] * noise, 0.0, float(counts.n)) - counts.values
        found[:, start : start + size] = np.abs(moved).max(axis=-1)
    study = KlStudy(epsilon, np.sort(found, axis=-1))
    none = np.full(len(scale), np.nan)
    return _by_quantile(
        study.quantile(1 - delta), study.exceedance(printed), delta=delta, exact=none, releases=releases
    )


def table_error(
    rng: np.random.Generator,
    *,
    table: NoisyTable,
    printed: FloatArray,
    delta: float,
    releases: int,
) -> Measured:
    """Simulate the L1 error of a table that is rebuilt from noisy coefficients, in records (E,).

    It does not depend on the counts. [Zhang16] Theorem 3.
    """
    cells, parts = 2**table.nodes, []
    size = max(1, _BLOCK // cells)
    for start in range(0, releases, size):
        drawn = rng.laplace(size=(min(size, releases - start), *(2,) * table.nodes))
        parts.append(np.abs(walsh(drawn, table.nodes).reshape(len(drawn), cells) + table.lift).mean(axis=-1))
    scale = table.scale
    return _scaled(np.concatenate(parts), scale, np.full(len(scale), np.nan), printed=printed, delta=delta)


def negative_share(needed: Needed, t: FloatArray, *, printed: FloatArray) -> Measured:
    """Return how often simulated releases of no records have a negative cell at t (T,). [Zhang16] Corollary 3."""
    share, error = 1 - needed.probability(t), needed.standard_error(t)
    none = np.full(len(t), np.nan)
    low, high = np.maximum(share - 2 * error, 0.0), np.minimum(share + 2 * error, 1.0)
    violated = above(share - DOUBT * error, printed)
    draws = len(needed.increments)
    return Measured(none, share, low, high, none, violated, "", "share of simulated releases", draws)


def _scaled(unit: FloatArray, scale: FloatArray, mean: FloatArray, *, printed: FloatArray, delta: float) -> Measured:
    """Return what draws (draws,) of a quantity in units of the noise scale say at every scale (E,)."""
    study = KlStudy(np.ones(1), np.sort(unit)[None])
    one = study.quantile(1 - delta)
    quantile = QuantileEstimate(one.value * scale, one.low * scale, one.high * scale)
    # Without noise, where all columns are constant, nothing exceeds anything.
    units = np.divide(printed, scale, out=np.full(len(scale), np.inf), where=scale > 0)
    exceeded = study.exceedance(units[:, None])
    flat = Estimate(exceeded.value[:, 0], exceeded.error[:, 0])
    return _by_quantile(quantile, flat, delta=delta, exact=mean, releases=len(unit))


def _by_quantile(
    quantile: QuantileEstimate, exceeded: Estimate, *, delta: float, exact: FloatArray, releases: int
) -> Measured:
    # Without an upper end there are too few releases to tell where the quantile is.
    known = np.isfinite(quantile.high) & np.isfinite(quantile.low)
    value, low, high = (np.where(known, each, np.nan) for each in (quantile.value, quantile.low, quantile.high))
    return Measured(
        exact,
        value,
        low,
        high,
        exceeded.value,
        exceeded.value - DOUBT * exceeded.error > delta,
        "exact mean" if np.any(np.isfinite(exact)) else "",
        f"{numeral(1 - delta, 6)} quantile of simulated releases",
        releases,
    )
