"""Laplace noise on every count."""

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.mechanisms.noise.sensitivity import count_sensitivity
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.releases.noise import laplace_answer, laplace_scale, with_laplace
from dpbayes.releases.releasable.entry import DISCRETE_LAPLACE, PURE, Asked, Releasable, Sensitivity, reach, within


def moved_counts(asked: Asked) -> Sensitivity:
    """Return how far one record moves all counts."""
    return Sensitivity(
        count_sensitivity(asked.network),
        "all counts together, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Lemma 1: a replaced record changes two counts of every node by one",
    )


def _clipped(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    return ReleasedPosterior(asked.dirichlets, np.clip(integers, 0, asked.n).astype(np.float64))


LAPLACE = Releasable(
    label="Laplace",
    law=DISCRETE_LAPLACE,
    integers="a noisy count of every cell, in the order of the network's cells",
    answered=PURE,
    sensitivity=moved_counts,
    length=lambda asked: asked.network.cell_count,
    span=reach,
    calibrated=lambda asked: laplace_scale(asked.sensitivity.value, asked.epsilon),
    loss=lambda sensitivity, scale: sensitivity / scale,
    answer=lambda asked, scale: laplace_answer(asked.sensitivity.value, scale),
    allowed=lambda epsilon: epsilon,
    draw=lambda asked, counts, calibration: with_laplace(counts, calibration),
    outcome=_clipped,
    simulated=lambda asked: LaplaceUpdates(prior=asked.dirichlets, epsilon=float(asked.epsilon), noise=Noise.WHOLE),
    accuracy=lambda asked, scale: (
        f"Nine of ten of the counts are within {within(scale)} records of the true ones, so small groups cannot be "
        "told from the noise."
    ),
)
