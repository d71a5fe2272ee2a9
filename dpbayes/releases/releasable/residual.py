"""Gaussian noise on the residuals of the tables in the units in which they are whole, each with a scale of its own."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpbayes.base.steps import finished
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.mechanisms import GaussianResiduals
from dpbayes.mechanisms.noise.law import inverse
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.network import Network
from dpbayes.releases.amounts import PrivacyMeasure
from dpbayes.releases.noise import (
    own_gaussian_scale,
    unequal_gaussian_answer,
    unequal_gaussian_scale,
    with_own_gaussian,
)
from dpbayes.releases.prices import most_charged, whole_prices
from dpbayes.releases.releasable.entry import NINE_OF_TEN, SHOWN_DELTA, Asked, Releasable, Sensitivity, reach


def _priced(network: Network, weights: FloatArray) -> tuple[int, ...]:
    design = finished(network.gaussian_design_steps(weights.tolist()))
    return whole_prices(inverse(design.scales * network.residuals.cells)[1:])


def _charged(asked: Asked) -> Sensitivity:
    charge = most_charged(asked.network, asked.prices)
    return Sensitivity(
        2 * charge.value,
        "the squares of all residuals together, in L2, each times its price and the cells of its set",
        "Xiao, He, Zhang and Kifer 2023, of a replaced record: it moves the residual of a set by 2 (N - N(d)) over the "
        "set's cells in squares, N the set's free cells, and N(d) the same with -1 for each node in which it differs; "
        f"the largest sum of 2 (N - N(d)) times the price is {'found' if charge.exact else 'bounded'} in whole numbers",
    )


def _number_prices(asked: Asked) -> Sequence[Fraction]:
    """What the square of every whole number costs: p_A prod_{i in A} r_i over its squared length.

    A network has a million cells at most, so that both are whole numbers below 10^12, and are rounded to themselves.
    """
    residuals = asked.network.residuals
    cells, squares = np.rint(residuals.cells).astype(np.int64), np.rint(residuals.lengths**2).astype(np.int64)
    prices = (0, *asked.prices)
    sets = residuals.set_of_number[1:].tolist()
    return [Fraction(prices[a] * int(cells[a]), square) for a, square in zip(sets, squares[1:].tolist(), strict=True)]


def own_scales(asked: Asked, scale: Fraction) -> Sequence[float]:
    """Return the scale of every number's noise, of the common one."""
    prices = _number_prices(asked)
    by_price = {price: own_gaussian_scale(scale, price) for price in set(prices)}
    return [by_price[price] for price in prices]


def _rebuilt(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    residuals = asked.network.residuals
    values = np.concatenate(([asked.n], integers / residuals.lengths[1:]))
    return ReleasedPosterior(asked.dirichlets, residuals.tables(values), _residuals(asked).noise_model)


def _residuals(asked: Asked) -> GaussianResiduals:
    epsilon = zcdp_epsilon(float(asked.rho), delta=SHOWN_DELTA)
    return GaussianResiduals(
        prior=asked.dirichlets, epsilon=epsilon, delta=SHOWN_DELTA, noise=Noise.WHOLE, prices=asked.prices
    )


def _require_closure(network: Network) -> None:
    _ = network.closure  # refuses families that are too large


RESIDUALS = Releasable(
    label="Gaussian residuals",
    law=(
        "discrete Gaussian: P[z] proportional to exp(-z^2 / (2 scale^2)) over the whole numbers, where a number has "
        "the scale over the root of its price times the cells of its set over its squared length, rounded up to a "
        "double"
    ),
    integers=(
        "the noisy residuals of every set of nodes within a family but the empty one, whose residual is n: sums over "
        "the records of products of contrasts, state k against those before it being (1, .., 1, -k, 0, .., 0), whose "
        "squared length is a product of k (k + 1)"
    ),
    answered="rho of zero-concentrated privacy, of every number's own scale, the most per price times the sensitivity",
    measure=PrivacyMeasure.RHO,
    require=_require_closure,
    priced=_priced,
    sensitivity=_charged,
    length=lambda asked: int(asked.network.residuals.sizes[1:].sum()),
    span=lambda asked, scale: _span(asked, scale),
    calibrated=lambda asked: unequal_gaussian_scale(_number_prices(asked), asked.sensitivity.value, asked.rho),
    loss=lambda squared, scale: squared / (2 * scale**2),
    answer=lambda asked, scale: unequal_gaussian_answer(_number_prices(asked), asked.sensitivity.value, scale),
    allowed=lambda rho: rho,
    draw=lambda asked, counts, calibration: with_own_gaussian(
        asked.network.residuals.whole(counts)[1:], own_scales(asked, calibration.scale)
    ),
    outcome=_rebuilt,
    simulated=_residuals,
    accuracy=lambda asked, scale: (
        f"Nine of ten of the counts that are rebuilt are within {_within(asked)} records of the true ones, so small "
        "groups cannot be told from the noise."
    ),
)


def _span(asked: Asked, scale: Fraction) -> tuple[int, int]:
    """A record adds the product of some k to a number, at most that of all states but one, the set's free cells."""
    low, high = reach(asked, Fraction(max(own_scales(asked, scale))))
    most = asked.n * (int(asked.network.residuals.sizes.max()) - 1)
    return low - most, high + most


def _within(asked: Asked) -> str:
    return numeral(NINE_OF_TEN * float(_residuals(asked).node_noise_sd.max()))
