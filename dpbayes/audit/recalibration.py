"""The internal epsilon at which the audited loss of a mechanism is at most a target."""

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dpbayes.audit.entry import Recalibration, Slack
from dpbayes.audit.registry import audit_of
from dpbayes.base.steps import Work, finished
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.exact_class import described

_LEAST, _MOST = 1e-3, 1e3
_CLOSE = 1e-5
"""The relative width at which the search stops."""

_FIRST_STEP = 0.025
"""Half of the first step up, relative to the setting that meets the target; each step is twice the one before."""

_TRIES = 12
"""The approximate number of tried settings."""

MechanismT = TypeVar("MechanismT")


def needed_epsilon(mechanism: Any, *, n: int, delta: float) -> float:
    """Return the smallest epsilon that suffices at `delta` for tables of n records: exact, or an upper value of it.

    Errors: InputError if there is no audit for such a mechanism, and for invalid numbers.
    """
    return _recalibration(mechanism).needed(mechanism, n=n, delta=delta)


def _recalibration(mechanism: Any) -> Recalibration:
    how = audit_of(mechanism).recalibration
    if how is None:
        raise InputError(f"No epsilon is known to suffice for {described(mechanism)}, so it cannot be recalibrated.")
    return how


def recalibrated(mechanism: MechanismT, *, n: int, target: float, delta: float = 0.0) -> MechanismT:
    """Return the mechanism with an internal epsilon at which its audited privacy loss is at most a target.

    For a regression sampler, which has no epsilon, the function chooses the norm bound. The search ends
    between two audited settings. The returned setting satisfies the target, but a larger one may do so too. The result
    depends only on n, the parameters and the target, and not on the data.

    Args:
        mechanism: The mechanism, with its other parameters.
        n: The public number of records.
        target: The largest allowed epsilon.
        delta: The delta of the target.

    Returns:
        A mechanism of the same class.

    Raises:
        InputError: There is no audit for such a mechanism, or no internal epsilon in range satisfies the target.

    Example:
        >>> mechanism = dp.LaplaceFourier(prior=dp.chain(2), epsilon=1, calibration=dp.Calibration.AS_PRINTED)
        >>> round(dp.recalibrated(mechanism, n=100, target=1).epsilon, 2)
        2.0
    """
    return finished(recalibration_steps(mechanism, n=n, target=target, delta=delta))


def recalibration_steps(mechanism: MechanismT, *, n: int, target: float, delta: float = 0.0) -> Work[MechanismT]:
    """Do `recalibrated` in steps: yield the approximate completed share, return the mechanism."""
    wanted = finite_number("The target epsilon", target, low=1e-6, high=1e6)
    delta = finite_number("delta", delta, low=0, high=1)
    how = _recalibration(mechanism)

    def slack_of_needed(turned: Any) -> float:
        return wanted - needed_epsilon(turned, n=n, delta=delta)

    slack: Slack = slack_of_needed
    if how.slack is not None:
        slack = yield from how.slack(mechanism, n=n, target=wanted, delta=delta)
    search = _KnobSearch(min(max(wanted, _LEAST), _MOST))
    while not search.is_close:
        setting = search.next_setting()
        search = search.with_slack(setting, slack(how.knob.turned(mechanism, setting)))
        yield min(search.tried / _TRIES, 0.99)
    turned: MechanismT = how.knob.turned(mechanism, search.low)
    return turned


@dataclass(frozen=True)
class _KnobSearch:
    """Two settings: a smaller one that meets the target, and a larger one that does not; their slacks.

    An end without a slack (NaN) was not tried. `end_moved` is the end that moved last: 1 for `low`, -1 for `high`.
    """

    low: float
    high: float = math.inf
    slack_of_low: float = math.nan
    slack_of_high: float = math.nan
    tried: int = 0
    end_moved: int = 0

    @property
    def is_close(self) -> bool:
        if math.isnan(self.slack_of_low):
            return False
        return self.low >= _MOST or self.high - self.low <= _CLOSE * min(self.high, _MOST)

    def next_setting(self) -> float:
        """Return larger settings until one misses the target, then settings between the ends.

        These are where the slack would be zero if it were linear, and a little beyond, so that the other end moves too.
        Every third one is in the middle, which bounds the number of steps.
        """
        if math.isnan(self.slack_of_low):
            return self.low
        if math.isinf(self.high):
            return min(self.low * (1 + _FIRST_STEP * 2**self.tried), _MOST)
        middle = (self.low + self.high) / 2
        share = self.slack_of_low / (self.slack_of_low - self.slack_of_high)
        if not math.isfinite(share) or not self.tried % 3:
            return middle
        beyond = _CLOSE / 3 * self.high
        setting = self.low + share * (self.high - self.low) + self.end_moved * beyond
        return min(max(setting, self.low + beyond), self.high - beyond)

    def with_slack(self, setting: float, slack: float) -> "_KnobSearch":
        """Return the search with one more slack. Errors: InputError if no setting in range meets the target."""
        tried = self.tried + 1
        if slack >= 0:
            return replace(self, low=setting, slack_of_low=slack, tried=tried, end_moved=1)
        if not math.isnan(self.slack_of_low):
            return replace(self, high=setting, slack_of_high=slack, tried=tried, end_moved=-1)
        if setting <= _LEAST:
            raise InputError("Even the smallest internal epsilon exceeds the target; choose a larger target.")
        return replace(self, low=max(setting / 2, _LEAST), high=setting, slack_of_high=slack, tried=tried)
