"""Laplace noise on Fourier coefficients: consistent and, with high probability, non-negative ("stealth")."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import GREEN
from dpbayes.base.parameters import Parameter
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import type_checked
from dpbayes.mechanisms.base import AdditiveNoise, Prior
from dpbayes.mechanisms.exact_form import (
    DISCRETE_LAPLACE,
    Releasable,
    ReleaseSpec,
    Sensitivity,
    laplace_distance,
    nine_of_ten,
)
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.noise.sensitivity import printed_walsh_sensitivity, walsh_sensitivity
from dpbayes.mechanisms.parameters import CALIBRATION, EPSILON, NOISE, Calibration, Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.dataset import Counts
from dpbayes.model.fourier import coefficients, marginals, require_binary
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import NoiseModel

INCREMENT = Parameter(
    "t",
    low=0.0,
    high=50.0,
    typical=0.5,
    title="Added to every count",
    description="In units of the noise. The larger it is, the fewer releases have a negative count.",
)


@type_checked
@dataclass(frozen=True, kw_only=True)
class LaplaceFourier(AdditiveNoise):
    """Add Laplace noise to the Walsh coefficients of N_I, lift the first one, rebuild every family's table.

    The noise scale b of the integer coefficients is 2|N_I|/epsilon as stated in the paper, or 2 O/epsilon as proved,
    with O from `Network.odd_overlap`. With the proved scale, the coefficient of the empty set, which is n and public,
    gets no noise. The lift of that coefficient is 2 t |N_I| b. At the paper's scale, this equals the paper's lift,
    4 t |N_I|^2/epsilon. Noise of whole numbers has the same scale; tables rebuilt from whole coefficients may have
    fractional cells. [Zhang16] Algorithm 2, Corollary 2, Corollary 3.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        t: The lift, in units of 2 |N_I| b; larger values make negative counts rarer.
        calibration: The sensitivity in use: proved, or as stated in the paper.
        noise: `Noise.REAL`, as in the papers, or `Noise.WHOLE`, discrete noise of the same scale, as a real release
            adds.

    Raises:
        InputError: A node is not binary, the prior is neither a network nor a single `Dirichlets`, or a number is
            outside its range.

    Example:
        >>> dp.LaplaceFourier(prior=dp.chain(3), epsilon=1).certified.epsilon
        1.0
    """

    label: ClassVar[str] = "Fourier"
    named: ClassVar[str] = "Fourier"
    increment: ClassVar[str] = "t"
    colour: ClassVar[str] = GREEN
    summary: ClassVar[str] = "Adds noise to Fourier coefficients; counts are rarely negative."
    facts: ClassVar[tuple[str, ...]] = ("epsilon", "t", "noise", "noise_scale")
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    t: Annotated[float, INCREMENT] = 0.5
    calibration: Annotated[Calibration, CALIBRATION] = Calibration.CERTIFIED
    noise: Annotated[Noise, NOISE] = Noise.REAL

    def __post_init__(self) -> None:
        super().__post_init__()
        require_binary(self.prior.network)

    @property
    def formula(self) -> str:
        """The noise and its scale, as a formula."""
        network = self.prior.network
        return (
            f"$s_\\gamma + {self.noise.symbol}(b)$ for each of $|N_I| = {len(network.closure)}$ coefficients, here "
            f"with $b = {latex(self.noise_scale)}$; one record changes at most $O = {network.odd_overlap.value}$ of "
            f"them.{self.noise.meaning} The increment $t$ adds $2t|N_I|b = {latex(self.lift)}$ records to every table."
        )

    @property
    def noise_scale(self) -> float:
        """b, in units of the integer coefficients."""
        network = self.prior.network
        if self.calibration is Calibration.AS_PRINTED:
            return printed_walsh_sensitivity(network) / self.epsilon
        return walsh_sensitivity(network) / self.epsilon

    @property
    def noise_law(self) -> NoiseLaw:
        """The distribution of the noise on each number."""
        return NoiseLaw(self.noise, self.noise_scale)

    @property
    def lift(self) -> float:
        """2 t |N_I| b: the number of records that the lift adds to every released table."""
        return 2 * self.t * len(self.prior.network.closure) * self.noise_scale

    @property
    def noise_model(self) -> NoiseModel:
        """The public distribution of the noise. Noise on the public n and the lift are removed."""
        network = self.prior.network
        return NoiseModel.coefficients(network, variances=np.full(len(network.closure), self.noise_law.sd**2))

    @property
    def claimed(self) -> Guarantee:
        """2|N_I|/b: the epsilon of [Zhang16] Corollary 2 at this noise scale."""
        sensitivity = printed_walsh_sensitivity(self.prior.network)
        return Guarantee(sensitivity / self.noise_scale, reference=Reference("Zhang16", "Corollary 2"))

    @property
    def certified(self) -> Guarantee:
        """2 O/b: never more than claimed, since at most O < |N_I| integers change by two, for both kinds of noise."""
        sensitivity = walsh_sensitivity(self.prior.network)
        return Guarantee(sensitivity / self.noise_scale, reference=Reference("dpbayes", "Corollary 2, sharpened"))

    def noisy(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Return the integer coefficients with noise: (*size, ..., |N_I|)."""
        network = self.prior.network
        exact = coefficients(network, statistic.values)
        shape = (*size, *exact.shape[:-1])
        return exact + coefficient_noise(network, self.calibration, rng, shape, law=self.noise_law)

    def outcome_of(self, noisy: FloatArray, n: int) -> ReleasedPosterior:
        """Return the outcome for noisy integer coefficients (..., |N_I|): tables with the lift."""
        lifted = noisy.copy()
        lifted[..., 0] += self.lift
        return ReleasedPosterior(self.prior, marginals(self.prior.network, lifted), self.noise_model)


def coefficient_noise(
    network: Network,
    calibration: Calibration,
    rng: np.random.Generator,
    size: tuple[int, ...],
    *,
    law: NoiseLaw = UNIT,
) -> FloatArray:
    """Sample noise for every integer coefficient (*size, |N_I|); none on the empty set if certified."""
    noise = law.drawn(rng, (*size, len(network.closure)))
    if calibration is Calibration.CERTIFIED:
        noise[..., 0] = 0.0
    return noise


# The exact form


def _walsh_sensitivity(spec: ReleaseSpec) -> Sensitivity:
    exact = spec.network.odd_overlap.exact
    return Sensitivity(
        walsh_sensitivity(spec.network),
        "all Walsh coefficients together, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Corollary 2, sharpened: a replaced record changes "
        f"{'at most' if exact else 'no more than'} O coefficients, each by two, where O is "
        f"{'the largest number' if exact else 'a proved upper bound of the number'} of coefficients that two records "
        "give opposite signs",
    )


FOURIER = Releasable(
    kind=LaplaceFourier,
    integers="a noisy Walsh coefficient of every subset of a family but the empty one, whose coefficient is n",
    noise=DISCRETE_LAPLACE,
    require=require_binary,
    sensitivity=_walsh_sensitivity,
    statistic=lambda network, counts: coefficients(network, counts)[1:],
    length=lambda spec: len(spec.network.closure) - 1,
    read=lambda mechanism, integers, n: mechanism.outcome_of(np.array((n, *integers), dtype=np.float64), n),
    accuracy=lambda spec, scale: nine_of_ten("coefficient", laplace_distance(scale), ""),
)
