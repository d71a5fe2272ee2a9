"""The settings of the comparison on one die: mechanisms, hypothetical throws, and the guarantee.

A person chooses the counts, so they are not private data.
"""

import bisect
import enum
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from dpbayes.base.looks import BOUND, LEAF, STEEL, VIOLET, WINE, Look
from dpbayes.base.parameters import Choice, Parameter, check_parameters
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.quadrature import turning_point
from dpbayes.base.references import Reference
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.mechanisms.die.enumeration import MOST_ENUMERATED
from dpbayes.mechanisms.die.hellinger import HellingerEnumerated
from dpbayes.mechanisms.laplace import LaplaceUpdates
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.compositions import is_listable
from dpbayes.posteriors import hellinger
from dpbayes.posteriors.dirichlet import LEAST_PRIOR
from dpbayes.posteriors.hellinger import Die

MOST_SHOWN = 200_000
"""Most candidates for an immediate result: two sides up to n = 10^5, three up to 630."""


class SmoothRun(enum.Enum):
    """How the smooth mechanism is run; a run proved by enumeration is shown next to the run proved for every die."""

    ENUMERATED = "certified by enumeration"
    CERTIFIED = "certified"
    AS_PRINTED = "as printed"


class Balance(enum.Enum):
    """How the hypothetical throws are distributed over the sides."""

    BALANCED = "balanced"
    SKEWED = "skewed"
    SHARE = "by share"


SIDES = Parameter(
    "m", low=2, high=6, typical=2, whole=True, title="sides", description="The number of sides of the die."
)
THROWS = Parameter(
    "n",
    low=1,
    high=1e5,
    typical=100,
    log=True,
    whole=True,
    title="throws",
    description="The number of throws of the die, which are the records.",
)
SHARE = Parameter(
    "n_1/n", low=0, high=1, typical=0.7, title="share of side 1", description="The other sides share the rest equally."
)
PRIOR = Parameter(
    r"\alpha",
    low=LEAST_PRIOR,
    high=1e3,
    typical=1.0,
    log=True,
    title="prior",
    description="The pseudo-count of every side.",
)
DELTA = Parameter(
    r"\delta", low=1e-12, high=0.1, typical=1e-5, log=True, description="Used only by the smooth mechanism."
)
BALANCE = Choice(
    Balance, title="counts", description="Hypothetical counts. Skewed: every other side has n/20 throws, at least one."
)
CALIBRATION = Choice(
    SmoothRun,
    title="smooth mechanism",
    labels=("proved by enumeration", "proved", "as stated in the Notes"),
    description="Proved: the run for which (ε, δ) is proved for every die. Proved by enumeration: also the run at "
    "the largest internal ε at which all pairs of tables satisfy (ε, δ), for at most "
    f"{MOST_ENUMERATED} tables. As stated in the Notes: the run at (ε, δ), for which only (1.5 ε, δ/2) is proved.",
)


class DieMethod(enum.Enum):
    """The compared mechanisms by their displayed names: Laplace noise, or an exponential mechanism's sensitivity."""

    GLOBAL = "global sensitivity"
    SMOOTH = "smooth sensitivity"
    ENUMERATED = "enumerated smooth sensitivity"
    LOCAL = "local sensitivity"
    CELLS = "Laplace noise on every count"
    ONE = "Laplace noise on one count"

    @property
    def is_laplace(self) -> bool:
        """Whether it adds noise to counts; the other mechanisms are exponential mechanisms."""
        return self in (DieMethod.CELLS, DieMethod.ONE)

    @property
    def look(self) -> Look:
        """Its look in every picture."""
        return _LOOKS[self]


_LOOKS = {
    DieMethod.GLOBAL: Look(DieMethod.GLOBAL.value, STEEL, "solid", "square"),
    DieMethod.SMOOTH: Look(DieMethod.SMOOTH.value, VIOLET, "solid", "circle"),
    DieMethod.ENUMERATED: Look(DieMethod.ENUMERATED.value, LEAF, "solid", "star"),
    DieMethod.LOCAL: Look(DieMethod.LOCAL.value, BOUND, "dot", "circle-open"),
    DieMethod.CELLS: Look(DieMethod.CELLS.value, LaplaceUpdates.colour, "solid", "triangle-up"),
    DieMethod.ONE: Look(DieMethod.ONE.value, WINE, "dash", "diamond"),
}
SAID = {
    DieMethod.GLOBAL: "how far one throw can move any posterior",
    DieMethod.SMOOTH: "how far one throw can move posteriors near this one",
    DieMethod.ENUMERATED: "smooth sensitivity, less random: all tables are checked",
    DieMethod.LOCAL: "how far one throw can move this posterior, which gives it away",
    DieMethod.CELLS: "noise of scale 2/ε on the count of each side",
    DieMethod.ONE: "noise of scale 1/ε; the other count follows from it",
}
"""What each mechanism is, below its name."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A symmetric prior, hypothetical throws, and the guarantee. Errors: InputError for values out of range."""

    sides: Annotated[int, SIDES] = 2
    n: Annotated[int, THROWS] = 100
    balance: Annotated[Balance, BALANCE] = Balance.BALANCED
    share: Annotated[float, SHARE] = 0.7
    prior: Annotated[float, PRIOR] = 1.0
    epsilon: Annotated[float, EPSILON] = 1.0
    delta: Annotated[float, DELTA] = 1e-5
    calibration: Annotated[SmoothRun, CALIBRATION] = SmoothRun.ENUMERATED

    def __post_init__(self) -> None:
        check_parameters(self)

    @cached_property
    def die(self) -> Die:
        """The die. Errors: InputError if it has more than MOST_SHOWN candidates."""
        die = Die((self.prior,) * self.sides, self.n)
        die.require_listable(MOST_SHOWN)
        return die

    @property
    def listable(self) -> "Scenario":
        """This die, thrown at most as often as all results can be listed."""
        throws = range(1, self.n + 1)
        most = bisect.bisect(throws, 0, key=lambda n: 1 - is_listable(n, sides=self.sides, most=MOST_SHOWN))
        return replace(self, n=most)

    @cached_property
    def counts(self) -> IntArray:
        """The hypothetical counts: (m,)."""
        if self.balance is Balance.SKEWED:
            return _first_and_rest(self.n - min(max(1, self.n // 20) * (self.sides - 1), self.n), self.n, self.sides)
        share = 1 / self.sides if self.balance is Balance.BALANCED else self.share
        return _first_and_rest(int(np.ceil(self.n * share - 1e-9)), self.n, self.sides)

    def at(self, **changed: float) -> "Scenario":
        """Return the scenario with some of its fields changed."""
        return replace(self, **changed)  # type: ignore[arg-type]

    @property
    def methods(self) -> tuple[DieMethod, ...]:
        """The mechanisms for this die: one noisy count determines only two sides, and enumeration needs few tables."""
        missing = set()
        if self.sides > 2:
            missing.add(DieMethod.ONE)
        if not (self.is_enumerated and is_listable(self.n, sides=self.sides, most=MOST_ENUMERATED)):
            missing.add(DieMethod.ENUMERATED)
        return tuple(method for method in DieMethod if method not in missing)

    @property
    def is_enumerated(self) -> bool:
        """Whether the smooth mechanism is also run as certified by enumeration."""
        return self.calibration is SmoothRun.ENUMERATED

    @cached_property
    def smooth_run(self) -> tuple[float, float]:
        """The (epsilon, delta) parameters of the smooth mechanism that is not certified by enumeration."""
        if self.calibration is SmoothRun.AS_PRINTED:
            return self.epsilon, self.delta
        return proved_run(self.die, epsilon=self.epsilon, delta=self.delta)

    @cached_property
    def enumerated(self) -> HellingerEnumerated:
        """The smooth mechanism certified by enumeration. Errors: InputError for more than MOST_ENUMERATED tables."""
        return HellingerEnumerated(die=self.die, epsilon=self.epsilon, delta=self.delta)

    def spent(self, method: DieMethod) -> float:
        """Return the epsilon in a mechanism's exponent."""
        if method is DieMethod.ENUMERATED:
            return self.enumerated.inner_epsilon
        return self.smooth_run[0] if method is DieMethod.SMOOTH else self.epsilon

    def smoothing(self, method: DieMethod) -> float:
        """Return the smoothing rate of one of the two smooth mechanisms."""
        return self.enumerated.beta if method is DieMethod.ENUMERATED else self.beta

    @property
    def beta(self) -> float:
        """The smoothing rate of `smooth_run`."""
        epsilon, delta = self.smooth_run
        return hellinger.smoothing_rate(self.die, epsilon=epsilon, delta=delta)

    def claimed(self, method: DieMethod) -> Guarantee:
        """Return the guarantee that the source states."""
        if method is DieMethod.SMOOTH:
            return Guarantee(*self.smooth_run, reference=Reference("Notes", "Section 2.3"))
        return self.certified(method)

    def certified(self, method: DieMethod) -> Guarantee:
        """Return the guarantee that is proved."""
        if method is DieMethod.LOCAL:
            return NON_PRIVATE
        if method is DieMethod.ENUMERATED:
            return self.enumerated.certified
        if method is DieMethod.SMOOTH:
            epsilon, delta = self.smooth_run
            proved = hellinger.smooth_guarantee(self.die, epsilon=epsilon, delta=delta)
            return Guarantee(proved, delta / 2, reference=Reference("dpbayes", "smooth Hellinger mechanism"))
        place = ("Dwork06", "Laplace mechanism") if method.is_laplace else ("Notes", "Section 2.1")
        return Guarantee(self.epsilon, reference=Reference(*place))


def _first_and_rest(first: int, n: int, sides: int) -> IntArray:
    """Return `first` throws on side 1, and the rest shared as equally as possible."""
    share, over = divmod(n - first, sides - 1)
    return np.array([first, *(share + (k < over) for k in range(sides - 1))], dtype=np.int64)


def proved_run(die: Die, *, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the (epsilon, delta) parameters of the smooth mechanism for which (`epsilon`, `delta`) is proved.

    These are nearly always two thirds of epsilon and twice delta. The delta parameter is at most epsilon/10, because
    for a larger one the term ln(1 + delta/2) of `smooth_guarantee` alone can exceed a small epsilon.
    """
    run_delta = min(2 * delta, epsilon / 10)
    high = epsilon / 1.5

    def fits(run_at: FloatArray) -> BoolArray:
        proved = hellinger.smooth_guarantee(die, epsilon=float(run_at), delta=run_delta)
        return np.asarray(proved <= epsilon * (1 + 1e-12))

    if fits(np.asarray(high)):
        return high, run_delta
    return float(turning_point(fits, 0.0, high)[0]), run_delta
