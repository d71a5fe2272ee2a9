"""Gaussian noise on the residuals of the tables, each set of nodes with the variance that serves the cells best."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import SLATE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import latex, numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, type_checked
from dpbayes.mechanisms.base import AdditiveNoise, Prior
from dpbayes.mechanisms.exact_form import (
    DISCRETE_GAUSSIAN,
    NINE_OF_TEN,
    Releasable,
    ReleaseSpec,
    Sensitivity,
    count_range,
    nine_of_ten,
)
from dpbayes.mechanisms.noise.law import gaussian_guarantee, gaussian_noise, gaussian_shift_of, inverse
from dpbayes.mechanisms.noise.sensitivity import most_charged, whole_prices
from dpbayes.mechanisms.parameters import DELTA, EPSILON, NOISE, Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.model.residual_design import NoiseDesign, gaussian_at
from dpbayes.posteriors.noise_model import NoiseModel


@type_checked
@dataclass(frozen=True, kw_only=True)
class GaussianResiduals(AdditiveNoise):
    """Add N(0, s_A) to the residual t_A of every set A of nodes within a family, then rebuild the tables. [Xiao23].

    The number of records n gets no noise. One record that differs in the nodes d changes t_A by c_A(d) in squared
    length. The squared distance of all residuals is therefore sum_A c_A(d)/s_A, in squared standard deviations. The
    s_A are scaled so that the largest distance, computed exactly by eliminating nodes, is mu^2. Among such s_A, they
    minimise the sum of the cells' variances, up to a share `design.gap`. Whole-number noise is
    added to t_A in units in which t_A is whole. Networks that are too dense for the exact search use an upper bound
    of the distance, and get more noise.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        delta: The delta of the guarantee, below 1.
        noise: `Noise.REAL`, as in the papers, or `Noise.WHOLE`, discrete noise of the same scale, as a real release
            adds.
        prices: Relative prices of the sets, as whole numbers; a higher price means less noise. Empty: optimal noise.

    Raises:
        InputError: The prior is neither a network nor a single `Dirichlets`, or a number is outside its range.

    Example:
        >>> mechanism = dp.GaussianResiduals(prior=dp.chain(3), epsilon=1, delta=1e-6)
        >>> mechanism.node_noise_sd.round(2)
        array([7.31, 6.46, 7.2 ])
    """

    label: ClassVar[str] = "Gaussian residuals"
    named: ClassVar[str] = "Gaussian residuals"
    colour: ClassVar[str] = SLATE
    summary: ClassVar[str] = "Adds normal noise to what larger tables add, with δ > 0."
    facts: ClassVar[tuple[str, ...]] = ("epsilon", "delta", "noise")
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float, DELTA] = DELTA.typical
    noise: Annotated[Noise, NOISE] = Noise.REAL
    prices: tuple[int, ...] = ()
    """What 1/(s_A prod_{i in A} r_i) is in proportion to, one whole number for each set but the empty one; none: the
    best."""

    def __post_init__(self) -> None:
        super().__post_init__()
        sets = len(self.prior.network.closure) - 1  # refuses families that are too large
        if self.prices and len(self.prices) != sets:
            raise InputError(
                f"There are {len(self.prices)} prices for {sets} sets of nodes. Give one price per set, or none."
            )

    @property
    def formula(self) -> str:
        """The noise and its scale, as a formula."""
        design = self.design
        most = "the largest change" if design.exact else "an upper bound of the change"
        gap = ""
        if math.isfinite(design.gap):
            gap = f" No other values of $s_A$ reduce the error by more than {numeral(100 * design.gap, 2)}%."
        return (
            f"$t_A + {self.noise.gaussian_symbol}(0, s_A)$ for each of ${np.count_nonzero(design.scales)}$ sets $A$ of "
            f"nodes within a family, with $\\max_d \\sum_A c_A(d)/s_A = \\mu^2$, {most} by one record, "
            f"$\\mu = {latex(self.shift)}$ at $\\delta = {latex(self.delta)}$.{gap}{self.noise.gaussian_meaning}"
        )

    @cached_property
    def design(self) -> NoiseDesign:
        """The variances at mu = 1. Optimal variances are computed once for each network."""
        network = self.prior.network
        if self.prices:
            return gaussian_at(network.residuals, network.residuals.cells * np.array((0, *self.prices)))
        return network.gaussian_design

    @cached_property
    def shift(self) -> float:
        """mu: the largest distance of the residuals of neighbours, in standard deviations."""
        return gaussian_shift_of(self.noise, self.epsilon, delta=self.delta)

    @property
    def variances(self) -> FloatArray:
        """s_A of every set, in squared counts, 0 for the empty one: (M,). Whole noise has nearly this variance."""
        return self.design.scales / self.shift**2

    @property
    def node_noise_sd(self) -> FloatArray:
        """Standard deviation of the noise in the cells of every node's rebuilt table, in counts: (|I|,)."""
        return np.sqrt(self.prior.network.residuals.cell_variances(self.variances))

    @property
    def noise_model(self) -> NoiseModel:
        """The variances of the noise on the residuals."""
        return NoiseModel(self.prior.network, self.variances)

    @property
    def certified(self) -> Guarantee:
        """(epsilon, delta), by the exact curve of real noise or the rho of whole noise; rho = mu^2/2 for both.

        In standard deviations, two neighbours have the distance sqrt(sum_A c_A(d)/s_A), at most mu. Whole noise of
        parameter s L is added to numbers times L, which change by whole numbers.
        """
        return gaussian_guarantee(self.noise, self.epsilon, delta=self.delta, shift=self.shift)

    def noisy(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Return residuals plus noise: (*size, ..., R). The empty set's residual, n, gets no noise.

        Whole noise is added to whole numbers before the division by their units, because the last digits of a sum of
        fractions could reveal the noise.
        """
        residuals = self.prior.network.residuals
        exact = residuals.of_tables(statistic.values.astype(np.float64))
        scales = np.sqrt(self.variances)[residuals.set_of_number]
        if self.noise is Noise.REAL:
            return exact + gaussian_noise(self.noise, scales, rng, (*size, *exact.shape))
        whole = np.round(exact * residuals.lengths)
        noise = gaussian_noise(self.noise, scales * residuals.lengths, rng, (*size, *exact.shape))
        return np.asarray((whole + noise) / residuals.lengths)

    def outcome_of(self, noisy: FloatArray, n: int) -> ReleasedPosterior:
        """Return the consistent tables of noisy residuals (..., R); cells may be negative."""
        return ReleasedPosterior(self.prior, self.prior.network.residuals.tables(noisy), self.noise_model)


# The exact form: on residuals in the units in which they are whole


def _priced(network: Network) -> tuple[int, ...]:
    return whole_prices(inverse(network.gaussian_design.scales * network.residuals.cells)[1:])


def _charged(spec: ReleaseSpec) -> Sensitivity:
    charge = most_charged(spec.network, spec.prices)
    return Sensitivity(
        2 * charge.value,
        "the squares of all residuals together, in L2, each times its price and the cells of its set",
        "Xiao, He, Zhang and Kifer 2023, of a replaced record: it moves the residual of a set by 2 (N - N(d)) over the "
        "set's cells in squares, N the set's free cells, and N(d) the same with -1 for each node in which it differs; "
        f"the largest sum of 2 (N - N(d)) times the price is {'found' if charge.exact else 'bounded'} in whole numbers",
    )


def _number_prices(spec: ReleaseSpec) -> Sequence[Fraction]:
    """What the square of every whole number costs: p_A prod_{i in A} r_i over its squared length, both integers."""
    residuals = spec.network.residuals
    cells, squares = np.rint(residuals.cells).astype(np.int64), np.rint(residuals.lengths**2).astype(np.int64)
    prices = (0, *spec.prices)
    sets = residuals.set_of_number[1:].tolist()
    return [Fraction(prices[a] * int(cells[a]), square) for a, square in zip(sets, squares[1:].tolist(), strict=True)]


def _span(spec: ReleaseSpec, scale: Fraction) -> tuple[int, int]:
    """A record adds the product of some k to a number, at most that of all states but one, the set's free cells."""
    low, high = count_range(spec, Fraction(max(RESIDUALS.own_scales(spec, scale))))
    most = spec.n * (int(spec.network.residuals.sizes.max()) - 1)
    return low - most, high + most


def _rebuilt(mechanism: GaussianResiduals, integers: IntArray, n: int) -> ReleasedPosterior:
    lengths = mechanism.prior.network.residuals.lengths
    return mechanism.outcome_of(np.concatenate(([n], integers / lengths[1:])), n)


def _accuracy(spec: ReleaseSpec, scale: Fraction) -> str:
    noise = RESIDUALS.simulated(spec).node_noise_sd.max()
    return nine_of_ten("rebuilt count", math.ceil(NINE_OF_TEN * float(noise)))


RESIDUALS = Releasable(
    kind=GaussianResiduals,
    integers=(
        "the noisy residuals of every set of nodes within a family but the empty one, whose residual is n: sums over "
        "the records of products of contrasts, state k against those before it being (1, .., 1, -k, 0, .., 0), whose "
        "squared length is a product of k (k + 1)"
    ),
    noise=DISCRETE_GAUSSIAN,
    require=lambda network: network.closure,  # refuses families that are too large
    sensitivity=_charged,
    statistic=lambda network, counts: network.residuals.whole(counts)[1:],
    length=lambda spec: int(spec.network.residuals.sizes[1:].sum()),
    span=_span,
    own_scale="the scale over the root of its price times the cells of its set over its squared length",
    prices=_number_prices,
    priced=_priced,
    read=_rebuilt,
    accuracy=_accuracy,
)
