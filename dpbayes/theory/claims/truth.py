"""The truth beside a bound: exact where it is known, else simulated, with how far the simulation can be trusted."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import EvaluationPoint, Subject

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


def nothing_known(size: int, note: str = "") -> Measured:
    """Return what is known where neither an exact value nor a simulation is at hand, for `size` settings."""
    none = np.full(size, np.nan)
    return Measured(none, none, none, none, none, np.zeros(size, dtype=bool), note=note)


def mean_alone(mean: FloatArray, note: str) -> Measured:
    """Return what is known of a quantile where only the exact `mean` (E,) is: nothing that could violate a bound."""
    return replace(nothing_known(len(mean), note), exact=mean, exact_name="exact mean")


def exactly(exact: FloatArray, *, printed: FloatArray, name: str) -> Measured:
    """Return a quantity that is known exactly, or from below: the printed bound is violated where it is above it."""
    none = np.full(len(exact), np.nan)
    return Measured(exact, none, none, none, none, above(exact, printed), exact_name=name)


def known_as(name: str) -> Callable[[Subject, EvaluationPoint, Bound], Measured]:
    """Take what is certified for the truth, which it is, under this name."""
    return lambda subject, at, bound: exactly(bound.certified, printed=bound.printed, name=name)


def unmeasured(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Return what is known beside a bound that nothing is measured for."""
    return nothing_known(bound.printed.size)


def above(value: FloatArray, printed: FloatArray) -> BoolArray:
    """Whether a value is above a bound by more than rounding; NaN is not."""
    return np.asarray(value > printed * (1 + 1e-9))
