"""Laplace noise on the posterior's updates. [Zhang16] Algorithm 1."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import PRIVATE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import type_checked
from dpbayes.mechanisms.base import AdditiveNoise, Prior
from dpbayes.mechanisms.exact_form import DISCRETE_LAPLACE, Releasable, laplace_distance, nine_of_ten
from dpbayes.mechanisms.noise.law import NoiseLaw
from dpbayes.mechanisms.parameters import EPSILON, NOISE, Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.posteriors.noise_model import NoiseModel


@type_checked
@dataclass(frozen=True, kw_only=True)
class LaplaceUpdates(AdditiveNoise):
    """Z = clip(counts + Lap(2|I|/epsilon), 0, n) in every cell. [Zhang16] Algorithm 1, Lemma 1, Corollary 1.

    Step 4 of the algorithm states the indicator of [0, n]. This class clips instead, which gives the distribution with
    atoms at 0 and n in the paper's appendix. Nodes may have any number of states, because one replaced record changes
    two cells of each node. Noise of whole numbers has the same scale.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        noise: `Noise.REAL`, as in the papers, or `Noise.WHOLE`, discrete noise of the same scale, as a real release
            adds.

    Raises:
        InputError: The prior is neither a network nor a single `Dirichlets`, or a number is outside its range.

    Example:
        >>> mechanism = dp.LaplaceUpdates(prior=dp.chain(3), epsilon=1)
        >>> mechanism.noise_scale
        6.0
    """

    label: ClassVar[str] = "Laplace"
    named: ClassVar[str] = "Laplace"
    colour: ClassVar[str] = PRIVATE
    summary: ClassVar[str] = "Adds noise to every count."
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    noise: Annotated[Noise, NOISE] = Noise.REAL

    @property
    def formula(self) -> str:
        """The noise and its scale, as a formula."""
        return (
            f"$Z = \\Delta + {self.noise.symbol}(2|I|/\\varepsilon)$ in every cell, here with scale $2|I|/\\varepsilon "
            f"= {latex(self.noise_scale)}$ counts.{self.noise.meaning} A release contains Z. A reader that ignores the "
            "noise clips Z to $[0, n]$."
        )

    @property
    def noise_scale(self) -> float:
        """b = 2|I|/epsilon, in counts; noise of real numbers has standard deviation sqrt(2) b."""
        return self.prior.network.count_sensitivity / self.epsilon

    @property
    def noise_law(self) -> NoiseLaw:
        """The distribution of the noise on each number."""
        return NoiseLaw(self.noise, self.noise_scale)

    @property
    def noise_model(self) -> NoiseModel | None:
        """The public distribution of the noise; None if a family is too wide for its residuals."""
        if not self.prior.network.has_residuals:
            return None
        return NoiseModel.laplace_cells(self.prior.network, scale=self.noise_law.scale, sd=self.noise_law.sd)

    @property
    def claimed(self) -> Guarantee:
        """epsilon, as [Zhang16] Corollary 1 states; noise of whole numbers has the same loss."""
        return Guarantee(self.epsilon, reference=Reference("Zhang16", "Corollary 1"))

    @property
    def certified(self) -> Guarantee:
        """epsilon: Lemma 1 holds with equality for every DAG; integer noise of scale b has the same loss, 2|I|/b."""
        return Guarantee(self.epsilon, reference=Reference("Zhang16", "Lemma 1"))

    def outcome_of(self, noisy: FloatArray, n: int) -> ReleasedPosterior:
        """Return the outcome for noisy counts (..., K)."""
        return ReleasedPosterior(self.prior, np.clip(noisy, 0.0, float(n)), self.noise_model)


# The exact form


LAPLACE = Releasable(
    kind=LaplaceUpdates,
    integers="a noisy count of every cell, in the order of the network's cells",
    noise=DISCRETE_LAPLACE,
    accuracy=lambda spec, scale: nine_of_ten("count", laplace_distance(scale)),
)
