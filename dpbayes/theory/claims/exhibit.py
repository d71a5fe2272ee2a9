"""A claim with all that is shown of it: its bound, the truth beside it, its formula, axes and counterexamples."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.theory.claims.claim import Bound, Claim, Counterexample
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

DOUBT = 4.0
"""Standard errors beyond which a simulated share counts as above another: a false alarm in about 30,000 settings."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What is known of a bounded quantity at every setting (E,), beside its bounds.

    `exact` is its exact mean, quantile or value; `value`, `low`, `high` are simulated with an interval. `name` and
    `exact_name` say what these are. `exceeded` is how often simulated releases are above the printed bound. Whatever
    is not known is NaN. `violated` says where the printed bound is wrong, `releases` how many were simulated, `note` in
    a sentence why none were.
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

    @property
    def exceeded_error(self) -> FloatArray:
        """The standard error of `exceeded` (E,), as `Simulation.exceedance` has it: never zero."""
        share = (self.exceeded * self.releases + 0.5) / (self.releases + 1)
        return np.sqrt(share * (1 - share) / max(self.releases, 1))


def not_measured(size: int, note: str = "") -> Measured:
    """Return what is known where neither an exact value nor a simulation is at hand, for `size` settings."""
    none = np.full(size, np.nan)
    return Measured(none, none, none, none, none, np.zeros(size, dtype=bool), note=note)


def mean_alone(mean: FloatArray, note: str) -> Measured:
    """Return what is known of a quantile where only the exact `mean` (E,) is: nothing that could violate a bound."""
    return replace(not_measured(len(mean), note), exact=mean, exact_name="exact mean")


def exactly(exact: FloatArray, *, printed: FloatArray, name: str) -> Measured:
    """Return a quantity that is known exactly, or from below: the printed bound is violated where it is above it."""
    none = np.full(len(exact), np.nan)
    return Measured(exact, none, none, none, none, above(exact, printed), exact_name=name)


def certified_as_exact(name: str) -> Callable[[Subject, EvaluationPoint, Bound], Measured]:
    """Take what is certified for the truth, which it is, under this name."""
    return lambda subject, at, bound: exactly(bound.certified, printed=bound.printed, name=name)


def unmeasured(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Return what is known beside a bound that nothing is measured for."""
    return not_measured(bound.printed.size)


def above(value: FloatArray, printed: FloatArray) -> BoolArray:
    """Whether a value is above a bound by more than rounding; NaN is not."""
    return np.asarray(value > printed * (1 + 1e-9))


Evaluate = Callable[[Subject, EvaluationPoint], Bound]
Fill = Callable[[Subject, EvaluationPoint, Bound], str]


class BoundKind(enum.Enum):
    """What kind of statement a bound is."""

    QUANTILE = "a value that is exceeded with probability at most delta"
    MEAN = "a mean"
    CHANCE = "a probability"
    CERTAIN = "a largest value"
    ENOUGH = "a number that suffices"


class Uses(enum.Enum):
    """What of the table a claim needs."""

    PUBLIC = "nothing, or the public n"
    SIMULATION = "the counts, for the simulation alone"
    COUNTS = "the counts"

    @property
    def is_for_all(self) -> bool:
        """Whether the recipient may see it, without what is simulated from the counts."""
        return self is not Uses.COUNTS

    def is_public_for(self, subject: Subject) -> bool:
        """Whether all that is shown for a subject depends on public things only."""
        return self is Uses.PUBLIC or (self is Uses.SIMULATION and subject.counts is None)


@dataclass(frozen=True)
class Exhibit:
    """A claim as it is shown: under its `title`, which also is its name in a link.

    `axes` are what it may be drawn against, the usual one first. `amount` says what the bound states, behind "it
    states", and `unit` is the title of its axis. `knobs` are the controls of what else it depends on,
    `fails` its counterexamples. `trials` says what is simulated. `defaults` are values of knobs that suit it better
    than the usual ones. `part` names the part of the network that the claim is shown for, where it is not all of it.
    `limit` raises an InputError, at little cost, for a setting that is too much; of the knobs, `gives` then give way.
    """

    title: str
    claim: Claim
    says: BoundKind
    bound: Evaluate
    measure: Callable[[Subject, EvaluationPoint, Bound], Measured]
    formula: Fill
    axes: tuple[Axis, ...]
    amount: str
    unit: str
    knobs: tuple[str, ...]
    fails: tuple[Callable[[], Counterexample], ...] = ()
    uses: Uses = Uses.PUBLIC
    trials: str = "releases"
    defaults: tuple[tuple[str, float], ...] = ()
    part: Callable[[Subject], str] = lambda subject: ""
    limit: Callable[[Subject, EvaluationPoint], object] = lambda subject, at: None
    gives: tuple[str, ...] = ()
