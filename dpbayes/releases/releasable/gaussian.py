"""Gaussian noise on every count."""

import numpy as np

from dpbayes.base.text import numeral
from dpbayes.base.types import IntArray
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.mechanisms import GaussianUpdates
from dpbayes.mechanisms.noise.sensitivity import squared_count_sensitivity
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.releases.amounts import PrivacyMeasure
from dpbayes.releases.noise import gaussian_answer, gaussian_scale, with_gaussian
from dpbayes.releases.releasable.entry import NINE_OF_TEN, SHOWN_DELTA, Asked, Releasable, Sensitivity, reach


def _gaussian(asked: Asked) -> GaussianUpdates:
    rho = float(asked.rho)
    epsilon = zcdp_epsilon(rho, delta=SHOWN_DELTA)
    return GaussianUpdates(prior=asked.dirichlets, epsilon=epsilon, delta=SHOWN_DELTA, noise=Noise.WHOLE)


def _squared_sensitivity(asked: Asked) -> Sensitivity:
    return Sensitivity(
        squared_count_sensitivity(asked.network),
        "the square of all counts together, in L2",
        "Zhang, Rubinstein and Dimitrakakis 2016, Lemma 1: a replaced record changes two counts of every node by one, "
        "so that their squares add up to as many",
    )


def _noisy_counts(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    return ReleasedPosterior(asked.dirichlets, integers.astype(np.float64), _gaussian(asked).noise_model)


GAUSSIAN = Releasable(
    label="Gaussian",
    law="discrete Gaussian: P[z] proportional to exp(-z^2 / (2 scale^2)) over the whole numbers",
    integers="a noisy count of every cell, in the order of the network's cells",
    answered="rho of zero-concentrated privacy",
    measure=PrivacyMeasure.RHO,
    sensitivity=_squared_sensitivity,
    length=lambda asked: asked.network.cell_count,
    span=reach,
    calibrated=lambda asked: gaussian_scale(asked.sensitivity.value, asked.rho),
    loss=lambda squared, scale: squared / (2 * scale**2),
    answer=lambda asked, scale: gaussian_answer(asked.sensitivity.value, scale),
    allowed=lambda rho: rho,
    draw=lambda asked, counts, calibration: with_gaussian(counts, calibration),
    outcome=_noisy_counts,
    simulated=_gaussian,
    accuracy=lambda asked, scale: (
        f"Nine of ten of the counts are within {numeral(NINE_OF_TEN * float(scale))} records of the true ones, so "
        "small groups cannot be told from the noise."
    ),
)
