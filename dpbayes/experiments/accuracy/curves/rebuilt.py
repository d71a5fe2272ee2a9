"""Curves of noise that is drawn for a whole network and rebuilt into the cells of its families: a linear map."""

from collections.abc import Callable, Iterator

import numpy as np

from dpbayes.base.steps import Work
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.releases import Releases


def log_cpts_of_scaled(releases: Releases, counts: FloatArray, noise: FloatArray, scales: FloatArray) -> FloatArray:
    """Return ln CPTs (R, E, K) of counts and unit noise of all cells, both (R, all), the noise times scales (E,)."""
    here, noise = releases.blanket.local_counts(counts), releases.blanket.local_counts(noise)
    updates = here[:, None] + scales[:, None] * noise[:, None]
    return releases.log_mean(np.maximum(updates, 0.0, out=updates))


def log_cpts_of_each(
    releases: Releases, counts: FloatArray, noise_at: Callable[[float], FloatArray], scales: FloatArray
) -> Work[FloatArray]:
    """Return the same of noise (R, all) that is made for every scale from the same draws, as whole numbers are."""
    here = releases.blanket.local_counts(counts)
    updates = np.empty((len(counts), len(scales), here.shape[-1]))
    for k, noise in _noise_of_each(noise_at, scales):
        updates[:, k] = here + releases.blanket.local_counts(noise)
        yield (k + 1) / len(scales)
    return releases.log_mean(np.maximum(updates, 0.0, out=updates))


def _noise_of_each(noise_at: Callable[[float], FloatArray], scales: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """The loop over epsilons is left: the noise of all cells at all of them would not fit in memory."""
    for k, scale in enumerate(scales):
        yield k, noise_at(float(scale))
