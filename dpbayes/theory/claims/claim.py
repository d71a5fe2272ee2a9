"""A claim of a paper: one verdict, and a bound that is evaluated at every setting."""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray


class Verdict(enum.Enum):
    """The result of checking a claim."""

    HOLDS = "holds"
    LOOSE = "holds and can be sharpened"
    AMENDED = "holds with a correction"
    FALSE = "fails"
    VACUOUS = "true but vacuous"
    UNCLEAR = "undecided"
    DEFINITION = "is a definition"

    @property
    def sign(self) -> str:
        """The mark of the verdict in a list."""
        return "✓✓△✗○?="[list(Verdict).index(self)]

    @property
    def marked(self) -> str:
        """The verdict with its sign, in the same words everywhere."""
        return f"{self.sign} {self.value}"


@dataclass(frozen=True)
class Claim:
    """One claim: its place in a paper, its statement in words and as a formula (LaTeX), the verdict, and the finding.

    `ours` names what this project uses where the paper leaves something open, such as a constant. `page` is the title
    of the dashboard's page about the claim, if the claim has no `Exhibit`.
    """

    reference: Reference
    title: str
    formula: str
    verdict: Verdict
    finding: str
    ours: str = ""
    page: str = ""


def number(value: float) -> str:
    """Return a number for a formula in four digits, with separators from a thousand up."""
    return r"\text{nothing}" if math.isnan(value) or value == -math.inf else latex(value)


@dataclass(frozen=True)
class Assumption:
    """One condition of a claim, and whether it holds at the current setting."""

    text: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Bound:
    """A claim evaluated at a setting, or at a batch of settings (...).

    `printed` (...) is the number that the paper states. `certified` (...) is the proved number, NaN if there is none.
    Both are upper bounds of a quantity in `unit`, with probability `confidence` (1 for certain bounds).
    """

    claim: Claim
    printed: FloatArray
    certified: FloatArray
    unit: str
    confidence: float = 1.0
    assumptions: tuple[Assumption, ...] = ()

    @property
    def applies(self) -> bool:
        """Whether all assumptions of the claim hold here."""
        return all(assumption.holds for assumption in self.assumptions)

    @property
    def stated(self) -> str:
        """The printed number at the first setting, for a formula."""
        return number(float(np.ravel(self.printed)[0]))

    @property
    def proved(self) -> str:
        """The certified number at the first setting, for a formula."""
        return number(float(np.ravel(self.certified)[0]))


def flat(bound: Bound) -> Bound:
    """Return a bound with its single numbers as arrays of length 1."""
    return replace(bound, printed=np.atleast_1d(bound.printed), certified=np.atleast_1d(bound.certified))


def joined(parts: Sequence[Bound]) -> Bound:
    """Return bounds at single settings as one bound along an axis."""
    printed, certified = (np.concatenate([getattr(part, name) for part in parts]) for name in ("printed", "certified"))
    return replace(parts[0], printed=printed, certified=certified)


@dataclass(frozen=True)
class Counterexample:
    """One setting, its true value, the `printed` bound below this value, and the `certified` bound (NaN if none).

    All three are in `unit`. `setting` is a sentence. `is_lower_limit`: the true value is at least `truth`.
    """

    claim: Claim
    setting: str
    truth: float
    printed: float
    certified: float
    unit: str
    is_lower_limit: bool = False

    @classmethod
    def of(cls, bound: Bound, setting: str, *, truth: float) -> "Counterexample":
        """Return the counterexample to a bound at a single setting."""
        return cls(bound.claim, setting, truth, float(bound.printed), float(bound.certified), bound.unit)

    @property
    def refutes(self) -> bool:
        return self.truth > self.printed


LOSS_TEXT = ("a privacy loss of at most {}", "true privacy loss ε")
"""The text of an exhibit about a privacy loss: the amount, and the title of its axis."""
