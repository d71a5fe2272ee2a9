"""Exponential mechanisms over the posteriors of one die, scored by Hellinger distance.

[Notes] Section 2. A release depends on the data only through the sampled posterior. The local and the smooth
sensitivity at the data are not private and are never part of a release.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.die.base import DieMechanism
from dpbayes.mechanisms.die.enumeration import MOST_ENUMERATED, enumerated_epsilon
from dpbayes.mechanisms.parameters import DELTA
from dpbayes.model.compositions import MOST_CANDIDATES
from dpbayes.posteriors import hellinger


@dataclass(frozen=True, kw_only=True)
class Hellinger(DieMechanism):
    """A mechanism that samples a candidate r with P[r] ~ exp(-e H(x, r) / (2 S)), where e is `inner_epsilon`.

    S is the `sensitivity` at the data x. A subclass defines S and the guarantees.
    Errors: InputError for a die with more candidates than `most_candidates`.
    """

    most_candidates: ClassVar[int] = MOST_CANDIDATES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.die.require_listable(self.most_candidates)

    @property
    def inner_epsilon(self) -> float:
        """The epsilon in the exponent, by default that of the guarantee."""
        return self.epsilon

    @abstractmethod
    def sensitivity(self, counts: ArrayLike) -> float:
        """Return what the score is divided by at these counts."""

    @property
    @abstractmethod
    def sensitivities(self) -> FloatArray:
        """The same for every candidate as data: (R,)."""

    def log_weights(self, counts: ArrayLike) -> FloatArray:
        """Return ln P[r | counts] up to a constant, over the candidates: (R,)."""
        distance = hellinger.distances(self.die, counts=counts)
        return hellinger.log_weights(distance, epsilon=self.inner_epsilon, sensitivity=self.sensitivity(counts))

    def log_weights_table(self) -> FloatArray:
        """Return ln P[r | x] up to a constant of x, for every candidate as data: (R, R)."""
        distance = hellinger.all_distances(self.die)
        return hellinger.log_weights(distance, epsilon=self.inner_epsilon, sensitivity=self.sensitivities)

    def log_pmf(self, counts: ArrayLike) -> FloatArray:
        """Return ln P[r | counts] over the candidates: (R,)."""
        return special.log_softmax(self.log_weights(counts))

    def log_pmf_table(self) -> FloatArray:
        """Return ln P[r | x] for every candidate as data: (R, R)."""
        return special.log_softmax(self.log_weights_table(), axis=1)

    def simulate(self, counts: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()) -> FloatArray:
        """Draw candidate posteriors (*size, m) by their inverse distribution function."""
        cumulative = np.cumsum(np.exp(self.log_pmf(counts)))
        places = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        return self.die.posterior(self.die.candidates[np.minimum(places, len(cumulative) - 1)])


@dataclass(frozen=True, kw_only=True)
class HellingerGlobal(Hellinger):
    """P[r] ~ exp(-epsilon H(x, r) / (2 GS)), GS the global sensitivity. [Notes] Section 2.1.

    The exact privacy loss is at least epsilon/2. With the uniform prior, no audit found more than .68 epsilon; with a
    strong prior it is .883 epsilon at Die((100, 100), 10) and epsilon = 0.001. The median error tends to 1 as n grows.
    """

    label: ClassVar[str] = "Hellinger, global sensitivity"
    summary: ClassVar[str] = "Draws likely counts, with one scale for all tables."
    named: ClassVar[str] = "the Hellinger mechanism with global sensitivity"

    @property
    def formula(self) -> str:
        return _exponential(r"\Delta_g", "the largest Hellinger distance between neighbours' posteriors", self.epsilon)

    @property
    def certified(self) -> Guarantee:
        """epsilon: the scaled score and the logarithm of the normaliser each change by at most epsilon/2."""
        return Guarantee(self.epsilon, reference=Reference("Notes", "Section 2.1"))

    def sensitivity(self, counts: ArrayLike) -> float:
        """The global sensitivity, for all counts."""
        return hellinger.global_sensitivity(self.die)

    @property
    def sensitivities(self) -> FloatArray:
        return np.full(self.die.size, hellinger.global_sensitivity(self.die))


@dataclass(frozen=True, kw_only=True)
class HellingerLocal(Hellinger):
    """P[r] ~ exp(-epsilon H(x, r) / (2 LS(x))), LS the local sensitivity at the data. [Notes] Section 2.2.

    There is no guarantee, because the noise scale depends on the data. With the prior 1, no audit has found a loss
    above epsilon; with the prior 0.1 and n = 200 the loss exceeds epsilon.
    """

    label: ClassVar[str] = "Hellinger, local sensitivity (not private)"
    summary: ClassVar[str] = "Draws likely counts; the scale depends on the table."
    named: ClassVar[str] = "the Hellinger mechanism with local sensitivity"

    @property
    def formula(self) -> str:
        return _exponential(r"\Delta_l(x)", "the largest Hellinger distance to a neighbour of the data", self.epsilon)

    @property
    def certified(self) -> Guarantee:
        """No guarantee, as [Notes] Section 2.2 states."""
        return NON_PRIVATE

    def sensitivity(self, counts: ArrayLike) -> float:
        """The local sensitivity at these counts."""
        return hellinger.local_sensitivity(self.die, counts=counts)

    @property
    def sensitivities(self) -> FloatArray:
        return self.die.local_sensitivities


@dataclass(frozen=True, kw_only=True)
class HellingerSmooth(Hellinger):
    """P[r] ~ exp(-epsilon H(x, r) / (2 S_beta(x))), S_beta the smooth sensitivity. [Notes] Section 2.3.

    The lemmas that the claim uses are false as stated and would not imply it. The proved guarantee has a larger
    epsilon. No audit of this mechanism has found a loss above the claim.
    """

    label: ClassVar[str] = "Hellinger, smooth sensitivity"
    summary: ClassVar[str] = "Draws likely counts; the scale hides the table, δ > 0."
    named: ClassVar[str] = "the Hellinger mechanism with smooth sensitivity"
    delta: Annotated[float, DELTA]

    @property
    def formula(self) -> str:
        smooth = rf"the smooth sensitivity at $\beta = {latex(self.beta)}$"
        return _exponential(r"S_\beta(x)", smooth, self.inner_epsilon)

    @property
    def beta(self) -> float:
        """The rate at which the influence of distant tables decreases, with the correct |R|."""
        return hellinger.smoothing_rate(self.die, epsilon=self.inner_epsilon, delta=self.delta)

    @property
    def claimed(self) -> Guarantee:
        """(epsilon, delta), as [Notes] Section 2.3 states."""
        return Guarantee(self.epsilon, self.delta, reference=Reference("Notes", "Section 2.3"))

    @property
    def certified(self) -> Guarantee:
        """(epsilon', delta/2), epsilon' = 3/2 epsilon or slightly more: see `smooth_guarantee`."""
        proved = hellinger.smooth_guarantee(self.die, epsilon=self.epsilon, delta=self.delta)
        return Guarantee(proved, self.delta / 2, reference=Reference("dpbayes", "smooth Hellinger mechanism"))

    def sensitivity(self, counts: ArrayLike) -> float:
        """The smooth sensitivity at these counts."""
        return hellinger.smooth_sensitivity(self.die, counts=counts, beta=self.beta)

    @property
    def sensitivities(self) -> FloatArray:
        return hellinger.smooth_sensitivities(self.die, beta=self.beta)


@dataclass(frozen=True, kw_only=True)
class HellingerEnumerated(HellingerSmooth):
    """`HellingerSmooth` at the largest epsilon found at which it is (epsilon, delta)-private by enumeration.

    P[r] ~ exp(-epsilon_0 H(x, r) / (2 S_beta(x))) with `inner_epsilon` epsilon_0. All pairs of neighbours and the worst
    set of outputs of each are compared, which proves the guarantee for this n and prior only. The throws are not used.
    Errors: InputError for more than MOST_ENUMERATED candidates.
    """

    label: ClassVar[str] = "Hellinger, smooth sensitivity by enumeration"
    named: ClassVar[str] = "the Hellinger mechanism with smooth sensitivity by enumeration"
    most_candidates: ClassVar[int] = MOST_ENUMERATED

    @cached_property
    def inner_epsilon(self) -> float:
        """The epsilon in the exponent, which depends on public numbers only."""
        return enumerated_epsilon(self.die, epsilon=self.epsilon, delta=self.delta)

    @property
    def claimed(self) -> Guarantee:
        """The proved guarantee; the [Notes] do not contain this mechanism."""
        return self.certified

    @property
    def certified(self) -> Guarantee:
        """(epsilon, delta): every pair of neighbours and every output were compared."""
        return Guarantee(self.epsilon, self.delta, reference=Reference("dpbayes", "smooth Hellinger by enumeration"))


def _exponential(scale: str, what: str, epsilon: float) -> str:
    return (
        f"$P[r|x] \\propto \\exp(-\\varepsilon H(x, r)/2{scale})$ over all posteriors $r$ of the die, at "
        f"$\\varepsilon = {latex(epsilon)}$; $H$ is the Hellinger distance and ${scale}$ {what}."
    )
