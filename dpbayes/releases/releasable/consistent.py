"""Laplace noise on every count, to which whoever reads them fits tables."""

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.mechanisms import ConsistentLaplace
from dpbayes.mechanisms.base import Noise, ReleasedPosterior
from dpbayes.model.network import Network
from dpbayes.releases.noise import laplace_answer, laplace_scale, with_laplace
from dpbayes.releases.releasable.entry import DISCRETE_LAPLACE, PURE, Asked, Releasable, reach, within
from dpbayes.releases.releasable.laplace import moved_counts


def _consistent(asked: Asked) -> ConsistentLaplace:
    return ConsistentLaplace(prior=asked.dirichlets, epsilon=float(asked.epsilon), noise=Noise.WHOLE)


def _fitted(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    noisy = integers.astype(np.float64)
    updates = asked.network.residuals.consistent(noisy, float(asked.n))
    return ReleasedPosterior(asked.dirichlets, updates, _consistent(asked).noise_model, noisy)


def _require_closure(network: Network) -> None:
    _ = network.closure  # refuses families that are too large to be fitted


CONSISTENT = Releasable(
    label="Consistent Laplace",
    law=DISCRETE_LAPLACE,
    integers=(
        "a noisy count of every cell, in the order of the network's cells; whoever reads them fits tables of n records "
        "that agree on the nodes they share"
    ),
    answered=PURE,
    require=_require_closure,
    sensitivity=moved_counts,
    length=lambda asked: asked.network.cell_count,
    span=reach,
    calibrated=lambda asked: laplace_scale(asked.sensitivity.value, asked.epsilon),
    loss=lambda sensitivity, scale: sensitivity / scale,
    answer=lambda asked, scale: laplace_answer(asked.sensitivity.value, scale),
    allowed=lambda epsilon: epsilon,
    draw=lambda asked, counts, calibration: with_laplace(counts, calibration),
    outcome=_fitted,
    simulated=_consistent,
    accuracy=lambda asked, scale: (
        f"Nine of ten of the noisy counts are within {within(scale)} records of the true ones, and of those fitted to "
        "them the typical error is less; small groups cannot be told from the noise."
    ),
)
