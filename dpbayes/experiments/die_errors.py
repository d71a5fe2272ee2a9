"""Errors on one die: the exponential mechanisms of [Notes], compared with Laplace noise on counts.

The counts are hypothetical, so they are not private data. Errors are Hellinger distances H(exact, released). Their
distribution is exact for the exponential mechanisms. For the Laplace mechanisms it is simulated, with the same noise,
scaled, at every epsilon and n, so that curves are smooth.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray
from dpbayes.experiments.die import DieMethod, Scenario
from dpbayes.posteriors import hellinger

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of an error that are reported."""

MEDIAN = LEVELS.index(0.5)

DRAWS = 10_000
"""Simulated releases of each Laplace mechanism at one setting."""


# The laws of the errors


def sensitivities(scenarios: Sequence[Scenario], method: DieMethod) -> FloatArray:
    """Return the sensitivity that scales the score in each of these scenarios (E,) of one die and one data set: (E,).

    Smooth: max_k e^(-beta k) max_{y : d(x, y) = k} LS(y), the inner maximum found once for all beta.
    """
    die, counts = scenarios[0].die, scenarios[0].counts
    if method is DieMethod.GLOBAL:
        return np.full(len(scenarios), hellinger.global_sensitivity(die))
    if method is DieMethod.LOCAL:
        return np.full(len(scenarios), hellinger.local_sensitivity(die, counts=counts))
    replaced = sum(np.maximum(die.candidates[:, k] - c, 0) for k, c in enumerate(counts))
    reach = np.zeros(die.n + 1)
    np.maximum.at(reach, replaced, die.local_sensitivities)
    beta = np.array([scenario.smoothing(method) for scenario in scenarios])
    return (reach * np.exp(-beta[:, None] * np.arange(die.n + 1))).max(axis=1)


def noise_here(scenario: Scenario, *, seed: int) -> FloatArray:
    """Return standard Laplace noise for the releases simulated at the setting: (draws, m)."""
    return stream(seed, "hellinger").laplace(size=(DRAWS, scenario.sides))


def noisy_counts(scenarios: Sequence[Scenario], method: DieMethod, noise: FloatArray) -> FloatArray:
    """Return the counts that a Laplace mechanism releases in each scenario of one data set: (E, draws, m).

    A die of fewer sides takes the first columns of the noise. The results are the same as those of `LaplaceCells` and
    `LaplaceOne`, for many epsilons at once.
    """
    counts, n = scenarios[0].counts, scenarios[0].n
    epsilons = np.array([scenario.epsilon for scenario in scenarios])[:, None]
    if method is DieMethod.ONE:
        first = np.clip(counts[0] + noise[:, 0] / epsilons, 0.0, n)
        return np.stack([first, n - first], axis=-1)
    noisy = np.clip(counts + noise[:, : len(counts)] * (2 / epsilons)[..., None], 0.0, n)
    noisy = np.where(noisy.any(axis=-1, keepdims=True), noisy, 1.0)
    return n * noisy / noisy.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class ErrorLaw:
    """Distributions of an error in E scenarios: ascending `values` (E or 1, K), and cumulative `shares` (E, K)."""

    values: FloatArray
    shares: FloatArray

    def quantiles(self, levels: ArrayLike = LEVELS) -> FloatArray:
        """Return the quantiles at these levels: (E, levels)."""
        rows = np.arange(len(self.shares))[:, None]
        # One search for all rows: 2 i is added to the shares of row i. The tolerance is for rounding of the sums.
        lifted = (self.shares + 2.0 * rows).ravel()
        places = np.searchsorted(lifted, np.asarray(levels) + 2.0 * rows - 1e-9) - rows * self.shares.shape[1]
        values = np.broadcast_to(self.values, self.shares.shape)
        return values[rows, np.minimum(places, self.shares.shape[1] - 1)]


def error_laws(scenarios: Sequence[Scenario], noise: FloatArray) -> dict[DieMethod, ErrorLaw]:
    """Return the distributions of all mechanisms' errors; scenarios may differ only in epsilon, delta, calibration."""
    die, counts = scenarios[0].die, scenarios[0].counts
    distance = np.abs(hellinger.distances(die, counts=counts))  # no -0 in pictures
    order = np.argsort(distance)
    distance = distance[order]
    laws = {}
    for method in scenarios[0].methods:
        if method.is_laplace:
            released = noisy_counts(scenarios, method, noise)
            values = np.sort(np.abs(hellinger.hellinger_between(die, first=counts, second=released)), axis=-1)
            shares = np.broadcast_to((np.arange(values.shape[1]) + 1) / values.shape[1], values.shape)
            laws[method] = ErrorLaw(values, shares)
        else:
            scale = sensitivities(scenarios, method) / np.array([scenario.spent(method) for scenario in scenarios])
            log_p = hellinger.log_pmf(distance, epsilon=1.0, sensitivity=scale)
            laws[method] = ErrorLaw(distance[None], np.cumsum(np.exp(log_p), axis=-1))
    return laws


Quantiles = Mapping[DieMethod, FloatArray]
"""Quantiles of errors, by method: (scenarios, epsilons, levels), or (levels,); NaN if a die has no such mechanism."""


def swept_errors(scenarios: Sequence[Scenario], epsilons: Sequence[float], noise: FloatArray) -> Quantiles:
    """Return the errors of all mechanisms in some scenarios, each at some epsilons.

    Args:
        scenarios: The scenarios, whose epsilons are not used.
        epsilons: The epsilons.
        noise: Standard noise with a column for each side of the largest die.

    Returns:
        The quantiles by method.
    """
    laws = [error_laws([scenario.at(epsilon=epsilon) for epsilon in epsilons], noise) for scenario in scenarios]
    none = np.full((len(epsilons), len(LEVELS)), np.nan)
    return {
        method: np.stack([here[method].quantiles() if method in here else none for here in laws])
        for method in DieMethod
        if any(method in here for here in laws)
    }


def misread_distances(scenario: Scenario) -> FloatArray:
    """Return how far 0, 1, ... throws of the commonest side, read as another one, move the posterior, up to 1: (k,)."""
    counts, common = scenario.counts, int(scenario.counts.argmax())
    step = np.eye(scenario.sides, dtype=np.int64)
    step = step[(common + 1) % scenario.sides] - step[common]
    moved = counts + np.arange(counts[common] + 1)[:, None] * step
    return np.unique(np.abs(hellinger.hellinger_between(scenario.die, first=counts, second=moved)))


def misread_throws(scenario: Scenario, distances: ArrayLike) -> FloatArray:
    """Return how many throws must be misread to move the posterior by distances, with fractions of a throw."""
    moved = misread_distances(scenario)
    return np.asarray(np.interp(np.asarray(distances), moved, np.arange(len(moved))))


def least_epsilons(errors: Quantiles, epsilons: Sequence[float], bound: float) -> dict[DieMethod, float]:
    """Return the epsilon from which on each mechanism with a guarantee has medians up to a bound; NaN if none has.

    The errors are those of one die at these epsilons: (1, epsilons, levels).
    """
    near = {method: of[0, :, MEDIAN] <= bound + 1e-9 for method, of in errors.items() if method is not DieMethod.LOCAL}
    starts = {method: int(np.append(False, is_near)[::-1].argmin()) for method, is_near in near.items()}
    return {method: epsilons[-start] if start else math.nan for method, start in starts.items()}
