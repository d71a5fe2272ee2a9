"""One audit for every mechanism, and the internal epsilon that an audit allows.

The parts are in `report_types`, `report_die`, `report_network` and `report_regression` of this package.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from dpbayes.audit.report_die import (
    audit_die,
    audit_laplace_cells,
    audit_laplace_one,
    audit_printed_map,
    die_epsilon,
    laplace_die_epsilon,
    require_size,
)
from dpbayes.audit.report_network import (
    audit_exact,
    audit_fourier,
    audit_laplace,
    audit_map,
    audit_sampler,
    fourier_noise,
    laplace_noise,
    map_epsilon,
    sampler_epsilon,
)
from dpbayes.audit.report_regression import audit_regression
from dpbayes.audit.report_types import AuditReport, DeltaCurve, Exactness, Laws, Verdict, WorstCase
from dpbayes.mechanisms import Exact, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.die import FiniteDieMechanism
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth, LaplaceCells, LaplaceOne
from dpbayes.mechanisms.map_exponential import PrintedMap
from dpbayes.mechanisms.regression_sampler import RegressionSampler
from dpbayes.validation import InputError, finite_number

__all__ = [
    "AuditReport",
    "DeltaCurve",
    "Exactness",
    "Laws",
    "Verdict",
    "WorstCase",
    "audit",
    "needed_epsilon",
    "recalibrated",
]

_LEAST, _MOST = 1e-3, 1e3
_HALVINGS = 40
_CLOSE = 1e-4
"""Relative width at which bisection stops."""

MechanismT = TypeVar("MechanismT")


# Audits by type


@singledispatch
def audit(mechanism: Any, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return what is known about a mechanism's privacy for tables of n records, its curve at `epsilons` (E,).

    Errors: InputError where there is no audit for such a mechanism, for bad numbers, and for a die or a printed MAP
    estimate of another number of records than n.
    """
    raise InputError(f"There is no exact audit of {_named(mechanism)}.")


audit.register(Exact)(audit_exact)
audit.register(LaplaceUpdates)(audit_laplace)
audit.register(LaplaceFourier)(audit_fourier)
audit.register(PosteriorSampler)(audit_sampler)
audit.register(MapExponential)(audit_map)


@audit.register(HellingerGlobal | HellingerLocal | HellingerSmooth)
def _audit_finite(mechanism: FiniteDieMechanism, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_die(mechanism, epsilons=epsilons)


@audit.register
def _audit_one(mechanism: LaplaceOne, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_laplace_one(mechanism, epsilons=epsilons)


@audit.register
def _audit_cells(mechanism: LaplaceCells, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_laplace_cells(mechanism, epsilons=epsilons)


@audit.register
def _audit_regression(mechanism: RegressionSampler, *, n: int, epsilons: ArrayLike) -> AuditReport:
    # Two features are the most for which exact losses are known, and enough for the worst case.
    return audit_regression(mechanism, n=n, features=2, epsilons=epsilons)


@audit.register
def _audit_printed(mechanism: PrintedMap, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.n, n)
    return audit_printed_map(mechanism, epsilons=epsilons)


# The epsilon that is needed


@singledispatch
def needed_epsilon(mechanism: Any, *, n: int, delta: float) -> float:
    """Return the smallest epsilon that suffices at `delta` for tables of n records: exact, or an upper value of it.

    Errors: InputError where there is no audit for such a mechanism, and for bad numbers.
    """
    raise InputError(f"There is no exact audit of {_named(mechanism)}, so it cannot be recalibrated.")


needed_epsilon.register(PosteriorSampler)(sampler_epsilon)
needed_epsilon.register(MapExponential)(map_epsilon)


@needed_epsilon.register
def _needed_laplace(mechanism: LaplaceUpdates, *, n: int, delta: float) -> float:
    return laplace_noise(mechanism, n=n).upper_epsilon(delta)


@needed_epsilon.register
def _needed_fourier(mechanism: LaplaceFourier, *, n: int, delta: float) -> float:
    return fourier_noise(mechanism, n=n).upper_epsilon(delta)


@needed_epsilon.register(HellingerGlobal | HellingerLocal | HellingerSmooth)
def _needed_finite(mechanism: FiniteDieMechanism, *, n: int, delta: float) -> float:
    require_size(mechanism.die.n, n)
    return die_epsilon(mechanism, delta=delta)


@needed_epsilon.register(LaplaceOne | LaplaceCells)
def _needed_die(mechanism: LaplaceOne | LaplaceCells, *, n: int, delta: float) -> float:
    require_size(mechanism.die.n, n)
    return laplace_die_epsilon(mechanism, delta=delta)


def _named(mechanism: Any) -> str:
    return f'the mechanism "{mechanism.label}"' if hasattr(mechanism, "label") else "mechanisms of this kind"


# Recalibration


def recalibrated(mechanism: MechanismT, *, n: int, target: float, delta: float = 0.0) -> MechanismT:
    """Return the mechanism with its internal epsilon so chosen that at `delta` it loses no more than `target`.

    It is a bisection between settings that were audited, and the one returned was found to keep to the target; that no
    larger setting does is not proved. n, the parameters and the target decide, never the data. Errors: those of
    `needed_epsilon`; InputError where no internal epsilon in range keeps to the target.
    """
    wanted = finite_number("The target epsilon", target, low=1e-6, high=1e6)
    delta = finite_number("delta", delta, low=0, high=1)

    def keeps(epsilon: float) -> bool:
        return needed_epsilon(_with(mechanism, epsilon), n=n, delta=delta) <= wanted

    return _with(mechanism, _largest(keeps, start=min(max(wanted, _LEAST), _MOST)))


def _with(mechanism: MechanismT, epsilon: float) -> MechanismT:
    if not hasattr(mechanism, "epsilon"):
        raise InputError(f"There is no exact audit of {_named(mechanism)}, so it cannot be recalibrated.")
    return replace(mechanism, epsilon=epsilon)  # type: ignore[type-var]


def _largest(keeps: Callable[[float], bool], *, start: float) -> float:
    """The largest epsilon in range that is found to keep to the target: doubled until none does, then bisected."""
    low = start
    while not keeps(low):
        if low <= _LEAST:
            raise InputError("Even the smallest internal epsilon loses more than the target; choose a larger target.")
        low = max(low / 2, _LEAST)
    high = low
    while high < _MOST:
        high = min(high * 2, _MOST)
        if not keeps(high):
            break
        low = high
    for _ in range(_HALVINGS):
        if high - low <= _CLOSE * high:
            break
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
