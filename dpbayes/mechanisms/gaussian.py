"""Gaussian noise on the posterior's updates: a smaller error than Laplace noise for a small delta."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

from dpbayes.base.looks import CYAN
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import latex
from dpbayes.base.validation import type_checked
from dpbayes.mechanisms.base import AdditiveNoise, Prior
from dpbayes.mechanisms.exact_form import (
    DISCRETE_GAUSSIAN,
    NINE_OF_TEN,
    Releasable,
    ReleaseSpec,
    Sensitivity,
    nine_of_ten,
)
from dpbayes.mechanisms.noise.law import GaussianLaw, gaussian_guarantee, gaussian_shift_of
from dpbayes.mechanisms.parameters import DELTA, EPSILON, NOISE, Noise
from dpbayes.posteriors.noise_model import NoiseModel


@type_checked
@dataclass(frozen=True, kw_only=True)
class GaussianUpdates(AdditiveNoise):
    """Z = counts + N(0, s^2) in every cell, s = sqrt(2|I|)/mu. [Balle18] Theorem 8, [Canonne20] for whole numbers.

    One replaced record changes two counts of every node by one. The counts therefore change by a vector of length at
    most sqrt(2|I|), which records that differ in every column attain. mu is the largest shift of N(0, 1) that is
    (epsilon, delta)-private. For whole-number noise, mu is sqrt(2 rho) for the largest rho that implies
    (epsilon, delta). The counts are not clipped to [0, n], so the privacy curve is exactly Gaussian. The recipient may
    clip them.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        delta: The delta of the guarantee, below 1.
        noise: `Noise.REAL`, as in the papers, or `Noise.WHOLE`, discrete noise of the same scale, as a real release
            adds.

    Raises:
        InputError: The prior is neither a network nor a single `Dirichlets`, or a number is outside its range.

    Example:
        >>> round(dp.GaussianUpdates(prior=dp.chain(3), epsilon=1, delta=1e-6).noise_scale, 2)
        10.35
    """

    label: ClassVar[str] = "Gaussian"
    named: ClassVar[str] = "Gaussian"
    colour: ClassVar[str] = CYAN
    summary: ClassVar[str] = "Adds normal noise to every count, with δ > 0."
    facts: ClassVar[tuple[str, ...]] = ("epsilon", "delta", "noise", "noise_scale")
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float, DELTA] = DELTA.typical
    noise: Annotated[Noise, NOISE] = Noise.REAL

    @property
    def formula(self) -> str:
        """The noise and its scale, as a formula."""
        return (
            f"$Z = \\Delta + {self.noise.gaussian_symbol}(0, s^2)$ in every cell, with $s = \\sqrt{{2|I|}}/\\mu = "
            f"{latex(self.noise_scale)}$ counts; $\\mu = {latex(self.shift)}$ is the largest shift that is "
            f"$(\\varepsilon, \\delta)$-private, here at $\\delta = {latex(self.delta)}$.{self.noise.gaussian_meaning}"
        )

    @cached_property
    def shift(self) -> float:
        """mu: the largest distance of the counts of neighbours, in units of s."""
        return gaussian_shift_of(self.noise, self.epsilon, delta=self.delta)

    @property
    def noise_scale(self) -> float:
        """s = sqrt(2|I|)/mu, in counts: the standard deviation of real-valued noise, nearly that of integer noise."""
        return math.sqrt(self.prior.network.count_sensitivity) / self.shift

    @property
    def noise_law(self) -> GaussianLaw:
        """The distribution of the noise on each number."""
        return GaussianLaw(self.noise, self.noise_scale)

    @property
    def noise_model(self) -> NoiseModel | None:
        """The public distribution of the noise; None if a family is too wide for its residuals."""
        if not self.prior.network.has_residuals:
            return None
        return NoiseModel.gaussian_cells(self.prior.network, sd=self.noise_law.sd)

    @property
    def certified(self) -> Guarantee:
        """(epsilon, delta), from the exact curve (real-valued noise) or rho (integer noise); rho = 2|I|/(2 s^2).

        The density ratio of two neighbours depends on the projection of the release onto the difference of their
        counts, which is normal. For whole noise, every coordinate has at most the Renyi divergence of real noise of the
        same s.
        """
        return gaussian_guarantee(self.noise, self.epsilon, delta=self.delta, shift=self.shift)


# The exact form


def _squared_sensitivity(spec: ReleaseSpec) -> Sensitivity:
    return Sensitivity(
        spec.network.count_sensitivity,
        "the square of all counts together, in L2",
        "Zhang, Rubinstein and Dimitrakakis 2016, Lemma 1: a replaced record changes two counts of every node by one, "
        "so that their squares add up to as many",
    )


GAUSSIAN = Releasable(
    kind=GaussianUpdates,
    integers="a noisy count of every cell, in the order of the network's cells",
    noise=DISCRETE_GAUSSIAN,
    sensitivity=_squared_sensitivity,
    accuracy=lambda spec, scale: nine_of_ten("count", math.ceil(NINE_OF_TEN * float(scale) - 0.5)),
)
