"""Laplace noise on every count, then least squares: the consistent tables nearest to the noisy ones."""

from dataclasses import dataclass, replace
from typing import ClassVar

from dpbayes.base.looks import ROSE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import type_checked
from dpbayes.mechanisms.base import Prior
from dpbayes.mechanisms.exact_form import laplace_distance, nine_of_ten
from dpbayes.mechanisms.laplace import LAPLACE, LaplaceUpdates
from dpbayes.mechanisms.release import ReleasedPosterior


@type_checked
@dataclass(frozen=True, kw_only=True)
class ConsistentLaplace(LaplaceUpdates):
    """Counts + Lap(2|I|/epsilon) in every cell, then the nearest tables of n records that agree on shared nodes.

    The noise is that of [Zhang16] Algorithm 1, not clipped. The least-squares fit is post-processing and costs no
    privacy. It lowers the mean squared error of the cells by the factor K over the number of free values of consistent
    tables. The release also contains the noisy cells, so the recipient can use the distribution of each of them.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        noise: `Noise.REAL`, as in the papers, or `Noise.WHOLE`, discrete noise of the same scale, as a real release
            adds.

    Raises:
        InputError: A family is too large to be fitted, the prior is neither a network nor a single `Dirichlets`, or a
            number is outside its range.

    Example:
        >>> dp.ConsistentLaplace(prior=dp.chain(3), epsilon=2).noise_scale
        3.0
    """

    label: ClassVar[str] = "Consistent Laplace"
    named: ClassVar[str] = "consistent Laplace"
    colour: ClassVar[str] = ROSE
    summary: ClassVar[str] = "Adds noise to every count, then fits tables that agree."
    prior: Prior = Prior()  # mypy does not follow a descriptor into a derived dataclass

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.prior.network.closure  # refuses families that are too large

    @property
    def formula(self) -> str:
        """The noise and its scale, as a formula."""
        return (
            f"$Y = \\Delta + {self.noise.symbol}(2|I|/\\varepsilon)$ in every cell, here with scale "
            f"$2|I|/\\varepsilon = {latex(self.noise_scale)}$ counts; $Z = \\arg\\min \\|Z - Y\\|^2$ over tables of "
            f"$n$ records that agree on the nodes they share.{self.noise.meaning}"
        )

    @property
    def claimed(self) -> Guarantee:
        """The proved guarantee; no paper states it."""
        return self.certified

    @property
    def certified(self) -> Guarantee:
        """epsilon: at most 2|I| counts change by one, each with a loss of 1/b; the fit is post-processing."""
        return Guarantee(self.epsilon, reference=Reference("Zhang16", "Lemma 1"))

    def outcome_of(self, noisy: FloatArray, n: int) -> ReleasedPosterior:
        """Return the outcome for noisy counts (..., K): the tables that are fitted to them."""
        updates = self.prior.network.residuals.consistent(noisy, float(n))
        return ReleasedPosterior(self.prior, updates, self.noise_model, noisy)


# The exact form


CONSISTENT = replace(
    LAPLACE,
    kind=ConsistentLaplace,
    integers=(
        "a noisy count of every cell, in the order of the network's cells; whoever reads them fits tables of n records "
        "that agree on the nodes they share"
    ),
    require=lambda network: network.closure,  # refuses families that are too large to be fitted
    accuracy=lambda spec, scale: (
        nine_of_ten("noisy count", laplace_distance(scale)) + " The typical error of the fitted counts is less."
    ),
)
