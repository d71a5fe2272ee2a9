"""The internal epsilon at which a mechanism loses no more than a target, as its audit allows."""

import math
from typing import Any, TypeVar

from dpbayes.audit.entry import Keeps, Recalibration
from dpbayes.audit.registry import audit_of
from dpbayes.base.steps import Work, finished
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.exact_class import described

_LEAST, _MOST = 1e-3, 1e3
_CLOSE = 1e-4
"""Relative width at which bisection stops."""

_TRIES = 18
"""About how many settings are tried."""

MechanismT = TypeVar("MechanismT")


def needed_epsilon(mechanism: Any, *, n: int, delta: float) -> float:
    """Return the smallest epsilon that suffices at `delta` for tables of n records: exact, or an upper value of it.

    Errors: InputError where there is no audit for such a mechanism, and for bad numbers.
    """
    return _recalibration(mechanism).needed(mechanism, n=n, delta=delta)


def _recalibration(mechanism: Any) -> Recalibration:
    how = audit_of(mechanism).recalibration
    if how is None:
        raise InputError(f"No epsilon is known to suffice for {described(mechanism)}, so it cannot be recalibrated.")
    return how


def recalibrated(mechanism: MechanismT, *, n: int, target: float, delta: float = 0.0) -> MechanismT:
    """Return the mechanism with an internal epsilon at which its audited privacy loss is at most a target.

    For a regression sampler, which has no epsilon, the function chooses the norm bound. The search is a bisection
    between audited settings. The returned setting satisfies the target, but a larger one may do so too. The result
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
    """Do `recalibrated` in steps: yield roughly what share is done, return the mechanism."""
    wanted = finite_number("The target epsilon", target, low=1e-6, high=1e6)
    delta = finite_number("delta", delta, low=0, high=1)
    how = _recalibration(mechanism)
    low, high = min(max(wanted, _LEAST), _MOST), math.inf
    tried, low_meets_target = 0, False

    def suffices(turned: Any) -> bool:
        return needed_epsilon(turned, n=n, delta=delta) <= wanted

    keeps: Keeps = suffices
    if how.keeping is not None:
        keeps = yield from how.keeping(mechanism, n=n, target=wanted, delta=delta)
    while not (low_meets_target and (low >= _MOST or high - low <= _CLOSE * min(high, _MOST))):
        # Until one is known that keeps to the target it is halved, then doubled until one does not, then bisected.
        middle = low if not low_meets_target else min(2 * low, _MOST) if math.isinf(high) else (low + high) / 2
        is_kept = keeps(how.knob.turned(mechanism, middle))
        tried += 1
        yield min(tried / _TRIES, 0.99)
        if is_kept:
            low, low_meets_target = middle, True
        elif low_meets_target:
            high = middle
        elif low <= _LEAST:
            raise InputError("Even the smallest internal epsilon exceeds the target; choose a larger target.")
        else:
            low, high = max(low / 2, _LEAST), low
    turned: MechanismT = how.knob.turned(mechanism, low)
    return turned
