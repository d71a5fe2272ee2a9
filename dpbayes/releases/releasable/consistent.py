"""Laplace noise on every count, to which whoever reads them fits tables."""

from dataclasses import replace

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.mechanisms import ConsistentLaplace
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.network import Network
from dpbayes.releases.releasable.entry import Asked, within
from dpbayes.releases.releasable.laplace import LAPLACE


def _consistent(asked: Asked) -> ConsistentLaplace:
    return ConsistentLaplace(prior=asked.dirichlets, epsilon=float(asked.epsilon), noise=Noise.WHOLE)


def _fitted(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    noisy = integers.astype(np.float64)
    updates = asked.network.residuals.consistent(noisy, float(asked.n))
    return ReleasedPosterior(asked.dirichlets, updates, _consistent(asked).noise_model, noisy)


def _require_closure(network: Network) -> None:
    _ = network.closure  # refuses families that are too large to be fitted


CONSISTENT = replace(
    LAPLACE,
    label="Consistent Laplace",
    integers=(
        "a noisy count of every cell, in the order of the network's cells; whoever reads them fits tables of n records "
        "that agree on the nodes they share"
    ),
    require=_require_closure,
    outcome=_fitted,
    simulated=_consistent,
    accuracy=lambda asked, scale: (
        f"Nine of ten of the noisy counts are within {within(scale)} records of the true ones, and of those fitted to "
        "them the typical error is less; small groups cannot be told from the noise."
    ),
)
