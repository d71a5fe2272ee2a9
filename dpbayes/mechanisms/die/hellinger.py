"""Exponential mechanisms over the posteriors of one die, scored by Hellinger distance.

[Notes] Section 2. A release depends on the data only through the sampled posterior. The local and the smooth
sensitivity at the data are not private and are never part of a release.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.parameters import check_parameters, parameters_of
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.die.base import FiniteDieMechanism, ReleasedDie, count_throws, draw_candidates
from dpbayes.mechanisms.die.enumeration import MOST_ENUMERATED, enumerated_epsilon
from dpbayes.mechanisms.parameters import DELTA, EPSILON
from dpbayes.posteriors import hellinger
from dpbayes.posteriors.hellinger import Die


class _ScoredDie(FiniteDieMechanism, Protocol):
    """A mechanism that samples a candidate r with P[r] ~ exp(-e H(x, r) / (2 S)), where e is `inner_epsilon`.

    S is the `sensitivity` at x.
    """

    @property
    def inner_epsilon(self) -> float: ...

    def sensitivity(self, counts: ArrayLike) -> float: ...

    @property
    def sensitivities(self) -> FloatArray: ...


def _own_epsilon(self: Any) -> float:
    """Return the epsilon in the exponent, which equals that of the guarantee."""
    return float(self.epsilon)


def _smooth_sensitivity(self: Any, counts: ArrayLike) -> float:
    """Return what the score is divided by at these counts."""
    return hellinger.smooth_sensitivity(self.die, counts=counts, beta=self.beta)


def _smooth_sensitivities(self: Any) -> FloatArray:
    """Return the same for every candidate as data: (R,)."""
    return hellinger.smooth_sensitivities(self.die, beta=self.beta)


def _log_weights(self: _ScoredDie, counts: ArrayLike) -> FloatArray:
    """Return ln P[r | counts] up to a constant, over the candidates: (R,)."""
    distance = hellinger.distances(self.die, counts=counts)
    return hellinger.log_weights(distance, epsilon=self.inner_epsilon, sensitivity=self.sensitivity(counts))


def _log_weights_table(self: _ScoredDie) -> FloatArray:
    """Return ln P[r | x] up to a constant of x, for every candidate as data: (R, R)."""
    distance = hellinger.all_distances(self.die)
    return hellinger.log_weights(distance, epsilon=self.inner_epsilon, sensitivity=self.sensitivities)


def _log_pmf(self: FiniteDieMechanism, counts: ArrayLike) -> FloatArray:
    """Return ln P[r | counts] over the candidates: (R,)."""
    return special.log_softmax(self.log_weights(counts))


def _log_pmf_table(self: FiniteDieMechanism) -> FloatArray:
    """Return ln P[r | x] for every candidate as data: (R, R)."""
    return special.log_softmax(self.log_weights_table(), axis=1)


def _release(
    self: FiniteDieMechanism, counts: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()
) -> ReleasedDie:
    """Draw candidate posteriors (*size, m)."""
    alpha = self.die.posterior(draw_candidates(self, counts, rng, size))
    public = {"n": self.die.n} | {name: getattr(self, name) for name in parameters_of(type(self))}
    return ReleasedDie(alpha, self.certified, self.label, public)


@dataclass(frozen=True, kw_only=True)
class HellingerGlobal:
    """P[r] ~ exp(-epsilon H(x, r) / (2 GS)), GS the global sensitivity. [Notes] Section 2.1.

    The exact privacy loss is at least epsilon/2: the most distant pair of tables has this loss in one of its two
    orders. With the uniform prior, no audit found more than .68 epsilon. With a strong prior the loss is closer to
    epsilon, .883 epsilon at Die((100, 100), 10) and epsilon = 0.001. The median error tends to 1 as n grows.
    """

    label: ClassVar[str] = "Hellinger, global sensitivity"
    named: ClassVar[str] = "the Hellinger mechanism with global sensitivity"
    die: Die
    epsilon: Annotated[float, EPSILON]

    def __post_init__(self) -> None:
        check_parameters(self)
        self.die.require_listable()

    @property
    def formula(self) -> str:
        return _exponential(r"\Delta_g", "the largest Hellinger distance between neighbours' posteriors", self.epsilon)

    @property
    def claimed(self) -> Guarantee:
        """epsilon, as [Notes] Section 2.1 states."""
        return Guarantee(self.epsilon, reference=Reference("Notes", "Section 2.1"))

    @property
    def certified(self) -> Guarantee:
        """epsilon: the scaled score and the logarithm of the normaliser each change by at most epsilon/2."""
        return Guarantee(self.epsilon, reference=Reference("Notes", "Section 2.1"))

    def sensitivity(self, counts: ArrayLike) -> float:
        """What the score is divided by at these counts."""
        return hellinger.global_sensitivity(self.die)

    @property
    def sensitivities(self) -> FloatArray:
        """The same for every candidate as data: (R,)."""
        return np.full(self.die.size, hellinger.global_sensitivity(self.die))

    inner_epsilon = property(_own_epsilon)
    statistic = count_throws
    log_weights, log_weights_table = _log_weights, _log_weights_table
    log_pmf, log_pmf_table, release = _log_pmf, _log_pmf_table, _release


@dataclass(frozen=True, kw_only=True)
class HellingerLocal:
    """P[r] ~ exp(-epsilon H(x, r) / (2 LS(x))), LS the local sensitivity at the data. [Notes] Section 2.2.

    There is no guarantee, because the noise scale depends on the data. For one n and prior, an audit over all x
    computes the privacy loss. With the prior 1, no audit has found a loss above epsilon; with the prior 0.1 and n = 200
    the loss exceeds epsilon.
    """

    label: ClassVar[str] = "Hellinger, local sensitivity (not private)"
    named: ClassVar[str] = "the Hellinger mechanism with local sensitivity"
    die: Die
    epsilon: Annotated[float, EPSILON]

    def __post_init__(self) -> None:
        check_parameters(self)
        self.die.require_listable()

    @property
    def formula(self) -> str:
        return _exponential(r"\Delta_l(x)", "the largest Hellinger distance to a neighbour of the data", self.epsilon)

    @property
    def claimed(self) -> Guarantee:
        """No guarantee, as [Notes] Section 2.2 states."""
        return NON_PRIVATE

    @property
    def certified(self) -> Guarantee:
        return NON_PRIVATE

    def sensitivity(self, counts: ArrayLike) -> float:
        """What the score is divided by at these counts."""
        return hellinger.local_sensitivity(self.die, counts=counts)

    @property
    def sensitivities(self) -> FloatArray:
        """The same for every candidate as data: (R,)."""
        return self.die.local_sensitivities

    inner_epsilon = property(_own_epsilon)
    statistic = count_throws
    log_weights, log_weights_table = _log_weights, _log_weights_table
    log_pmf, log_pmf_table, release = _log_pmf, _log_pmf_table, _release


@dataclass(frozen=True, kw_only=True)
class HellingerSmooth:
    """P[r] ~ exp(-epsilon H(x, r) / (2 S_beta(x))), S_beta the smooth sensitivity. [Notes] Section 2.3.

    The lemmas that the claim uses are false as stated and would not imply it. The proved guarantee has a larger
    epsilon. No audit of this mechanism has found a loss above the claim.
    """

    label: ClassVar[str] = "Hellinger, smooth sensitivity"
    named: ClassVar[str] = "the Hellinger mechanism with smooth sensitivity"
    die: Die
    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float, DELTA]

    def __post_init__(self) -> None:
        check_parameters(self)
        self.die.require_listable()

    @property
    def formula(self) -> str:
        return _exponential(r"S_\beta(x)", rf"the smooth sensitivity at $\beta = {latex(self.beta)}$", self.epsilon)

    @property
    def beta(self) -> float:
        """The rate at which the influence of distant tables decreases, with the correct |R|."""
        return hellinger.smoothing_rate(self.die, epsilon=self.epsilon, delta=self.delta)

    @property
    def claimed(self) -> Guarantee:
        """(epsilon, delta), as [Notes] Section 2.3 states."""
        return Guarantee(self.epsilon, self.delta, reference=Reference("Notes", "Section 2.3"))

    @property
    def certified(self) -> Guarantee:
        """(epsilon', delta/2), epsilon' = 3/2 epsilon or slightly more: see `smooth_guarantee`."""
        proved = hellinger.smooth_guarantee(self.die, epsilon=self.epsilon, delta=self.delta)
        return Guarantee(proved, self.delta / 2, reference=Reference("dpbayes", "smooth Hellinger mechanism"))

    inner_epsilon = property(_own_epsilon)
    sensitivity, sensitivities = _smooth_sensitivity, property(_smooth_sensitivities)
    statistic = count_throws
    log_weights, log_weights_table = _log_weights, _log_weights_table
    log_pmf, log_pmf_table, release = _log_pmf, _log_pmf_table, _release


@dataclass(frozen=True, kw_only=True)
class HellingerEnumerated:
    """`HellingerSmooth` at the largest epsilon found at which it is (epsilon, delta)-private by enumeration.

    P[r] ~ exp(-epsilon_0 H(x, r) / (2 S_beta(x))), with beta for epsilon_0 and delta; `inner_epsilon` is epsilon_0. The
    enumeration is a proof: a guarantee concerns all pairs of neighbouring tables and all sets of outputs. Here both are
    finite lists that depend on n and the prior only. For each pair the worst set is known, so the comparison of all
    pairs decides whether the guarantee holds for this n, prior, epsilon and delta. It decides nothing for other values.
    epsilon_0 does not depend on the throws, so its choice has no privacy cost. Errors: InputError for more than
    MOST_ENUMERATED candidates.
    """

    label: ClassVar[str] = "Hellinger, smooth sensitivity by enumeration"
    named: ClassVar[str] = "the Hellinger mechanism with smooth sensitivity by enumeration"
    die: Die
    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float, DELTA]

    def __post_init__(self) -> None:
        check_parameters(self)
        self.die.require_listable(MOST_ENUMERATED)

    @property
    def formula(self) -> str:
        smooth = rf"the smooth sensitivity at $\beta = {latex(self.beta)}$"
        return _exponential(r"S_\beta(x)", smooth, self.inner_epsilon)

    @cached_property
    def inner_epsilon(self) -> float:
        """The epsilon in the exponent, which depends on public numbers only."""
        return enumerated_epsilon(self.die, epsilon=self.epsilon, delta=self.delta)

    @property
    def beta(self) -> float:
        """The rate at which the influence of distant tables decreases, at the internal epsilon."""
        return hellinger.smoothing_rate(self.die, epsilon=self.inner_epsilon, delta=self.delta)

    @property
    def claimed(self) -> Guarantee:
        """The proved guarantee; the [Notes] do not contain this mechanism."""
        return self.certified

    @property
    def certified(self) -> Guarantee:
        """(epsilon, delta): every pair of neighbours and every output were compared."""
        return Guarantee(self.epsilon, self.delta, reference=Reference("dpbayes", "smooth Hellinger by enumeration"))

    sensitivity, sensitivities = _smooth_sensitivity, property(_smooth_sensitivities)
    statistic = count_throws
    log_weights, log_weights_table = _log_weights, _log_weights_table
    log_pmf, log_pmf_table, release = _log_pmf, _log_pmf_table, _release


Hellinger = HellingerGlobal | HellingerLocal | HellingerSmooth | HellingerEnumerated

EXPONENTIAL = (HellingerGlobal, HellingerLocal, HellingerSmooth, HellingerEnumerated)
"""The mechanisms whose probabilities are exponential in the same distances."""


def _exponential(scale: str, what: str, epsilon: float) -> str:
    return (
        f"$P[r|x] \\propto \\exp(-\\varepsilon H(x, r)/2{scale})$ over all posteriors $r$ of the die, at "
        f"$\\varepsilon = {latex(epsilon)}$; $H$ is the Hellinger distance and ${scale}$ {what}."
    )
