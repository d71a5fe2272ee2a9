"""How far simulated releases of one table are from its exact posterior: a route of its own to planned errors."""

from typing import Any

import numpy as np

from dpbayes.model.counts import Counts
from dpbayes.posteriors.noise_model import Reading


def concluded_and_exact(
    mechanism: Any, counts: Counts, rng: np.random.Generator, releases: int, reading: Reading = Reading.AS_REAL
) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities (releases, K) that a recipient concludes, who reads a quarter of the releases noise-aware."""
    release = mechanism.simulate(counts, rng, (releases,))
    private = release.outcome.probabilities
    if reading is Reading.NOISE_AWARE and release.tells_noise:
        private = release.part(slice(0, releases // 4)).noise_aware(points=128).mean
    return private, mechanism.prior.updated(counts).mean


def mean_shift(*setting: Any) -> float:
    """The mean of |private - exact| over all cells and releases, of the arguments of `concluded_and_exact`."""
    private, exact = concluded_and_exact(*setting)
    return float(np.abs(private - exact).mean())
