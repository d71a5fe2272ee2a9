"""Laplace noise on Walsh coefficients, each with a scale of its own: one over its price."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpbayes.base.steps import finished
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms import WeightedFourier
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.fourier import coefficients, marginals, require_binary
from dpbayes.model.network import Network
from dpbayes.releases.noise import (
    own_laplace_scale,
    unequal_laplace_answer,
    unequal_laplace_scale,
    with_own_laplace,
)
from dpbayes.releases.prices import most_charged, whole_prices
from dpbayes.releases.releasable.entry import DISCRETE_LAPLACE, NINE_OF_TEN, PURE, Asked, Releasable, Sensitivity, reach


def _priced(network: Network, weights: FloatArray) -> tuple[int, ...]:
    design = finished(network.coefficient_design_steps(weights.tolist()))
    return whole_prices(1 / design.scales[1:])


def _charged(asked: Asked) -> Sensitivity:
    charge = most_charged(asked.network, asked.prices)
    return Sensitivity(
        charge.value,
        "all Walsh coefficients together, each times its price, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Corollary 2, with a price for each coefficient: a replaced record "
        "changes by two those that have an odd number of the nodes in which it differs; the largest sum of their "
        f"prices is {'found' if charge.exact else 'bounded'} in whole numbers",
    )


def own_scales(asked: Asked, scale: Fraction) -> Sequence[float]:
    """Return the scale of every coefficient's noise, of the common one."""
    by_price = {price: own_laplace_scale(scale, price) for price in set(asked.prices)}
    return [by_price[price] for price in asked.prices]


def _rebuilt(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    values = np.concatenate(([asked.n], integers)).astype(np.float64)
    return ReleasedPosterior(asked.dirichlets, marginals(asked.network, values), _weighted(asked).noise_model)


def _weighted(asked: Asked) -> WeightedFourier:
    return WeightedFourier(prior=asked.dirichlets, epsilon=float(asked.epsilon), noise=Noise.WHOLE, prices=asked.prices)


WEIGHTED = Releasable(
    label="Weighted Fourier",
    law=f"{DISCRETE_LAPLACE}, where a number has the scale over its price, rounded up to a double",
    integers="a noisy Walsh coefficient of every subset of a family but the empty one, whose coefficient is n",
    answered=f"{PURE}, of every number's own scale, the most per price times the sensitivity",
    require=require_binary,
    priced=_priced,
    sensitivity=_charged,
    length=lambda asked: len(asked.network.closure) - 1,
    span=reach,
    calibrated=lambda asked: unequal_laplace_scale(asked.prices, asked.sensitivity.value, asked.epsilon),
    loss=lambda sensitivity, scale: sensitivity / scale,
    answer=lambda asked, scale: unequal_laplace_answer(asked.prices, asked.sensitivity.value, scale),
    allowed=lambda epsilon: epsilon,
    draw=lambda asked, counts, calibration: with_own_laplace(
        coefficients(asked.network, counts)[1:], own_scales(asked, calibration.scale)
    ),
    outcome=_rebuilt,
    simulated=_weighted,
    accuracy=lambda asked, scale: (
        f"Nine of ten of the counts that are rebuilt are within {_within(asked)} records of the true ones, so small "
        "groups cannot be told from the noise."
    ),
)


def _within(asked: Asked) -> str:
    return numeral(NINE_OF_TEN * float(_weighted(asked).node_noise_sd.max()))
