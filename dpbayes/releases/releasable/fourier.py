"""Laplace noise on every Walsh coefficient of a binary network."""

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.mechanisms import LaplaceFourier
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.mechanisms.noise.sensitivity import walsh_sensitivity
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.fourier import coefficients, marginals, require_binary
from dpbayes.releases.noise import laplace_answer, laplace_scale, with_laplace
from dpbayes.releases.releasable.entry import DISCRETE_LAPLACE, PURE, Asked, Releasable, Sensitivity, reach, within


def _walsh_sensitivity(asked: Asked) -> Sensitivity:
    exact = asked.network.closure.odd_overlap.exact
    return Sensitivity(
        walsh_sensitivity(asked.network),
        "all Walsh coefficients together, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Corollary 2, sharpened: a replaced record changes "
        f"{'at most' if exact else 'no more than'} O coefficients, each by two, where O is "
        f"{'the largest number' if exact else 'a proved upper bound of the number'} of coefficients that two records "
        "give opposite signs",
    )


def _rebuilt(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    size, t = len(asked.network.closure), float(asked.settings["t"])
    lift = 2 * t * size * float(_walsh_sensitivity(asked).value / asked.epsilon)
    values = np.concatenate(([asked.n + lift], integers.astype(np.float64)))
    return ReleasedPosterior(asked.dirichlets, marginals(asked.network, values))


FOURIER = Releasable(
    label="Fourier",
    law=DISCRETE_LAPLACE,
    integers="a noisy Walsh coefficient of every subset of a family but the empty one, whose coefficient is n",
    answered=PURE,
    settings={"t": INCREMENT},
    require=require_binary,
    sensitivity=_walsh_sensitivity,
    length=lambda asked: len(asked.network.closure) - 1,
    span=reach,
    calibrated=lambda asked: laplace_scale(asked.sensitivity.value, asked.epsilon),
    loss=lambda sensitivity, scale: sensitivity / scale,
    answer=lambda asked, scale: laplace_answer(asked.sensitivity.value, scale),
    allowed=lambda epsilon: epsilon,
    draw=lambda asked, counts, calibration: with_laplace(coefficients(asked.network, counts)[1:], calibration),
    outcome=_rebuilt,
    simulated=lambda asked: LaplaceFourier(
        prior=asked.dirichlets, epsilon=float(asked.epsilon), t=float(asked.settings["t"]), noise=Noise.WHOLE
    ),
    accuracy=lambda asked, scale: (
        f"Nine of ten of the coefficients are within {within(scale)} of the true ones, so small groups cannot be "
        "told from the noise."
    ),
)
