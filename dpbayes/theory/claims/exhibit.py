"""A claim with all that is shown of it: its bound, the truth beside it, its formula, axes and counterexamples."""

import enum
from collections.abc import Callable
from dataclasses import dataclass

from dpbayes.theory.claims.claim import Bound, Claim
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.claims.truth import Measured

Evaluate = Callable[[Subject, EvaluationPoint], Bound]
Fill = Callable[[Subject, EvaluationPoint, Bound], str]


def _all_of_it(subject: Subject) -> str:
    return ""


def _everything(subject: Subject, at: EvaluationPoint) -> None:
    return None


class BoundKind(enum.Enum):
    """What kind of statement a bound is."""

    QUANTILE = "what is exceeded with probability delta at most"
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
    part: Callable[[Subject], str] = _all_of_it
    limit: Callable[[Subject, EvaluationPoint], object] = _everything
    gives: tuple[str, ...] = ()
