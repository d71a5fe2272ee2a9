"""Why one mechanism adds less noise than another: how much each puts on the residuals of the sets of nodes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.experiments.best_noise.comparison import Comparison
from dpbayes.model.network import Network


@dataclass(frozen=True, eq=False)
class ResidualNoise:
    """The sets A of nodes within a family, smallest first, and the noise on their residuals.

    `sds` are standard deviations (sets,) of every number of a residual, by the mechanism's label, as its recipient
    knows them best: of noise in cells after least squares. `holders` (sets,) says how many families hold a set.
    """

    sets: tuple[tuple[str, ...], ...]
    holders: FloatArray
    sds: Mapping[str, FloatArray]


def residual_noise(comparison: Comparison, network: Network) -> ResidualNoise:
    """Return the noise on residuals of every mechanism that tells it, at the promise itself."""
    members, slots = network.closure.members, network.closure.slots
    holders = np.bincount(slots, minlength=len(members))
    kept = [k for k, mask in enumerate(members) if mask and network.residuals.shares[k] > 0]
    order = np.array(sorted(kept, key=lambda k: (members[k].bit_count(), -holders[k])), dtype=np.int64)
    sets = tuple(
        tuple(name for node, name in enumerate(network.names) if members[k] >> node & 1) for k in order.tolist()
    )
    sds = {
        noise.label: np.sqrt(noise.mechanism.noise_model.variances[order])
        for noise in comparison.noises
        if hasattr(noise.mechanism, "noise_model")
    }
    return ResidualNoise(sets, holders[order].astype(np.float64), sds)
