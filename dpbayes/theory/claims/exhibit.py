"""A claim for the Proofs page: its bound, its formula and axes, and the bounded quantity, exact or simulated."""

import enum
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.text import numeral
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.theory.claims.claim import Bound, Claim
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

DOUBT = 4.0
"""Standard errors by which a simulated share must exceed another: one false alarm in about 30,000 settings."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The measured values of a bounded quantity at every setting (E,).

    `exact` is its exact mean, quantile or value, named `exact_name`. `value`, `low` and `high` are a simulated value
    and its interval, named `name`. `exceeded` is the share of simulated releases above the printed bound. Unknown
    values are NaN. `violated` states where the printed bound fails. `releases` is the number of simulated releases, and
    `note` is a sentence on the reason if there are none.
    """

    exact: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    exceeded: FloatArray
    violated: BoolArray
    exact_name: str = ""
    name: str = ""
    releases: int = 0
    note: str = ""


def not_measured(size: int, note: str = "") -> Measured:
    """Return the result for `size` settings without an exact value and without a simulation."""
    none = np.full(size, np.nan)
    return Measured(none, none, none, none, none, np.zeros(size, dtype=bool), note=note)


def mean_alone(mean: FloatArray, note: str) -> Measured:
    """Return the result for a quantile if only the exact `mean` (E,) is known; it cannot violate a bound."""
    return replace(not_measured(len(mean), note), exact=mean, exact_name="exact mean")


def exactly(exact: FloatArray, *, printed: FloatArray, name: str) -> Measured:
    """Return an exact value or a lower bound of a quantity; where it exceeds the printed bound, the bound fails."""
    none = np.full(len(exact), np.nan)
    return Measured(exact, none, none, none, none, above(exact, printed), exact_name=name)


def above(value: FloatArray, printed: FloatArray) -> BoolArray:
    """Whether a value exceeds a bound by more than rounding errors; false for NaN."""
    return np.asarray(value > printed * (1 + 1e-9))


MOST_RELEASES = 1_000_000
"""The largest number of simulated releases at a setting."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated values of a bounded quantity at some settings, sorted: `values` (E, releases), in the bound's unit.

    If all settings use the same noise up to its scale, curves over them are smooth.
    """

    values: FloatArray

    @property
    def releases(self) -> int:
        """The number of simulated releases at every setting."""
        return self.values.shape[-1]

    def exceedance(self, bound: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the share of releases whose value is above `bound` (E,), for each setting, and its error: (E,) each.

        The standard error is that of a binomial share after adding half a success and half a failure, so that it is
        never zero.
        """
        above = (self.values > np.asarray(bound, dtype=np.float64)[..., None]).sum(axis=-1)
        share = (above + 0.5) / (self.releases + 1)
        return above / self.releases, np.sqrt(share * (1 - share) / self.releases)

    def quantile(self, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the quantile and the ends of its 95% interval (E,), order statistics, valid for every distribution.

        The number of releases below the true quantile is binomial, which determines the two ranks. An end is NaN if
        there are too few releases.
        """
        from scipy import stats  # late, because the import is slow

        first = int(stats.binom.ppf(0.025, self.releases, level)) - 1
        last = int(stats.binom.isf(0.025, self.releases, level))
        none = np.full(len(self.values), np.nan)
        rank = min(int(np.ceil(level * self.releases)), self.releases) - 1
        return (
            self.values[:, rank],
            self.values[:, first] if first >= 0 else none,
            self.values[:, last] if last < self.releases else none,
        )


def mean_beside(study: Simulation, expected: FloatArray, *, printed: FloatArray) -> Measured:
    """Return the mean: exact `expected` (E,), and simulated with two standard errors on either side."""
    mean, none = study.values.mean(axis=-1), np.full(len(expected), np.nan)
    doubt = 2 * study.values.std(axis=-1, ddof=1) / np.sqrt(study.releases)
    low, high = np.maximum(mean - doubt, 0.0), mean + doubt
    violated = above(expected, printed)
    return Measured(
        expected, mean, low, high, none, violated, "exact mean", "mean of simulated releases", study.releases
    )


def quantile_beside(study: Simulation, expected: FloatArray, *, printed: FloatArray, delta: float) -> Measured:
    """Return the 1 - delta quantile, the exact mean, and how often `printed` (E,) is exceeded."""
    quantile, (exceeded, doubt) = study.quantile(1 - delta), study.exceedance(printed)
    # Without an upper end, there are too few releases to estimate the quantile.
    finite = np.isfinite(quantile).all(axis=0)
    value, low, high = (np.where(finite, part, np.nan) for part in quantile)
    return Measured(
        expected,
        value,
        low,
        high,
        exceeded,
        exceeded - DOUBT * doubt > delta,
        "exact mean" if np.any(np.isfinite(expected)) else "",
        f"{numeral(1 - delta, 6)} quantile of simulated releases",
        study.releases,
    )


Evaluate = Callable[[Subject, EvaluationPoint], Bound]
Measure = Callable[[Subject, EvaluationPoint, Bound], Measured]
Fill = Callable[[Subject, EvaluationPoint, Bound], str]


def exact_value(name: str, value: Callable[[Subject, EvaluationPoint], ArrayLike]) -> Measure:
    """Return a measurement by an exact value, a single one or (E,), under this name."""

    def measure(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
        values = np.broadcast_to(np.asarray(value(subject, at), dtype=np.float64), bound.printed.shape)
        return exactly(values, printed=bound.printed, name=name)

    return measure


def certified_as_exact(name: str) -> Measure:
    """Return a measurement for bounds whose certified value is exact, under this name."""
    return lambda subject, at, bound: exactly(bound.certified, printed=bound.printed, name=name)


def unmeasured(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Return the result for a bound without a measurement."""
    return not_measured(bound.printed.size)


class BoundKind(enum.Enum):
    """The kind of statement of a bound."""

    QUANTILE = "a value that is exceeded with probability at most delta"
    MEAN = "a mean"
    CHANCE = "a probability"
    CERTAIN = "a largest value"
    ENOUGH = "a number that suffices"


class Uses(enum.Enum):
    """The part of the table that a claim needs."""

    PUBLIC = "nothing, or the public n"
    SIMULATION = "the counts, for the simulation alone"
    COUNTS = "the counts"

    @property
    def reads_counts(self) -> bool:
        """Whether something of the claim follows from the counts."""
        return self is not Uses.PUBLIC

    @property
    def is_for_all(self) -> bool:
        """Whether the recipient may see the claim, without simulations from the counts."""
        return self is not Uses.COUNTS

    def is_public_for(self, subject: Subject) -> bool:
        """Whether everything shown for a subject depends only on public values."""
        return self is Uses.PUBLIC or (self is Uses.SIMULATION and subject.counts is None)


@dataclass(frozen=True)
class Exhibit:
    """A claim on the page.

    `axes` are the possible horizontal axes, the default first. `amount` completes the sentence "it states ...", and
    `unit` is the title of the vertical axis. `also` are controls of parameters that have no axis, and `trials` is the
    name of the simulated trials. `defaults` are default values of knobs for this claim. `part` names the part of
    the network for which the claim is shown, if it is not the whole network. `least` is the number on its axes up to
    which the claim applies to nothing. `limit` is a fast check that raises an
    InputError for a setting that is too large. `variant` distinguishes two exhibits of one claim.
    """

    claim: Claim
    bound: Evaluate
    formula: Fill
    axes: tuple[Axis, ...]
    amount: str
    unit: str
    _: KW_ONLY
    also: tuple[str, ...] = ()
    says: BoundKind = BoundKind.CERTAIN
    measure: Measure = unmeasured
    uses: Uses = Uses.PUBLIC
    trials: str = "releases"
    defaults: tuple[tuple[str, float], ...] = ()
    least: float = 0.0
    part: Callable[[Subject], str] = lambda subject: ""
    limit: Callable[[Subject, EvaluationPoint], object] = lambda subject, at: None
    variant: str = ""

    @property
    def title(self) -> str:
        """Its name in a link and among several exhibits of a claim: the claim's place, and its variant."""
        return f"{self.claim.reference}{', ' if self.variant else ''}{self.variant}"

    @property
    def knobs(self) -> tuple[str, ...]:
        """The controls: those of the axes, the main one first, and then the others."""
        return tuple(dict.fromkeys((*(axis.control for axis in self.axes if axis.control), *self.also)))
