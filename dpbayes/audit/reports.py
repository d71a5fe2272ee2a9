"""One audit for every mechanism, and the internal epsilon that an audit allows.

The parts are in `report_types`, `report_die`, `report_network` and `report_regression` of this package.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.die_steps import law_at, law_steps
from dpbayes.audit.report_die import (
    audit_die,
    audit_laplace_cells,
    audit_laplace_one,
    audit_printed_map,
    die_epsilon,
    die_keeps,
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
from dpbayes.audit.report_regression import audit_regression, regression_epsilon
from dpbayes.audit.report_types import AuditReport, DeltaCurve, Exactness, Laws, Verdict, WorstCase
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms import Exact, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.die import FiniteDieMechanism
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth, LaplaceCells, LaplaceOne
from dpbayes.mechanisms.known import ByClass, described, no_audit
from dpbayes.mechanisms.map import PrintedMap
from dpbayes.mechanisms.regression import RegressionSampler, norm_bound_for

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
    "recalibration_steps",
]

_LEAST, _MOST = 1e-3, 1e3
_CLOSE = 1e-4
"""Relative width at which bisection stops."""

_TRIES = 18
"""About how many settings are tried."""

MechanismT = TypeVar("MechanismT")


# Audits by class


@ByClass
def audit(mechanism: Any, *, n: int, epsilons: ArrayLike, features: int | None = None) -> AuditReport:
    """Return what is known about a mechanism's privacy for tables of n records, its curve at `epsilons` (E,).

    `features` is the number of features of a regression's records, on which the printed epsilon depends; nothing else
    takes it. Where there is no exact audit, `statistical.audit_by_draws` bounds the loss from below.

    An audit is of the law that a class's own `release` draws from: a subclass has none, nor has a mechanism with a
    part of another class than declared; see `dpbayes.mechanisms.known`.

    Errors: InputError where there is no audit for such a mechanism, for bad numbers, for a regression without its
    number of features, and for a die or a printed MAP estimate of another number of records than n.
    """
    raise no_audit(mechanism)


audit.of(Exact)(audit_exact)
audit.of(LaplaceUpdates)(audit_laplace)
audit.of(LaplaceFourier)(audit_fourier)
audit.of(PosteriorSampler)(audit_sampler)
audit.of(MapExponential)(audit_map)


@audit.of(HellingerGlobal, HellingerLocal, HellingerSmooth)
def _audit_finite(mechanism: FiniteDieMechanism, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_die(mechanism, epsilons=epsilons)


@audit.of(LaplaceOne)
def _audit_one(mechanism: LaplaceOne, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_laplace_one(mechanism, epsilons=epsilons)


@audit.of(LaplaceCells)
def _audit_cells(mechanism: LaplaceCells, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_laplace_cells(mechanism, epsilons=epsilons)


@audit.of(RegressionSampler)
def _audit_regression(
    mechanism: RegressionSampler, *, n: int, epsilons: ArrayLike, features: int | None = None
) -> AuditReport:
    if features is None:
        raise InputError("Say how many features the records have: the printed epsilon depends on it.")
    return audit_regression(mechanism, n=n, features=features, epsilons=epsilons)


@audit.of(PrintedMap)
def _audit_printed(mechanism: PrintedMap, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.n, n)
    return audit_printed_map(mechanism, epsilons=epsilons)


# The epsilon that is needed


@ByClass
def needed_epsilon(mechanism: Any, *, n: int, delta: float) -> float:
    """Return the smallest epsilon that suffices at `delta` for tables of n records: exact, or an upper value of it.

    Errors: InputError where there is no audit for such a mechanism, and for bad numbers.
    """
    raise _no_recalibration(mechanism)


needed_epsilon.of(PosteriorSampler)(sampler_epsilon)
needed_epsilon.of(MapExponential)(map_epsilon)


@needed_epsilon.of(LaplaceUpdates)
def _needed_laplace(mechanism: LaplaceUpdates, *, n: int, delta: float) -> float:
    return laplace_noise(mechanism, n=n).upper_epsilon(delta)


@needed_epsilon.of(LaplaceFourier)
def _needed_fourier(mechanism: LaplaceFourier, *, n: int, delta: float) -> float:
    return fourier_noise(mechanism, n=n).upper_epsilon(delta)


@needed_epsilon.of(HellingerGlobal, HellingerLocal, HellingerSmooth)
def _needed_finite(mechanism: FiniteDieMechanism, *, n: int, delta: float) -> float:
    require_size(mechanism.die.n, n)
    return die_epsilon(mechanism, delta=delta)


@needed_epsilon.of(LaplaceOne, LaplaceCells)
def _needed_die(mechanism: LaplaceOne | LaplaceCells, *, n: int, delta: float) -> float:
    require_size(mechanism.die.n, n)
    return laplace_die_epsilon(mechanism, delta=delta)


@needed_epsilon.of(RegressionSampler)
def _needed_regression(mechanism: RegressionSampler, *, n: int, delta: float) -> float:
    return regression_epsilon(mechanism, n=n, delta=delta)


def _no_recalibration(mechanism: object) -> InputError:
    return InputError(f"No epsilon is known to be enough for {described(mechanism)}, so it cannot be recalibrated.")


# Recalibration


def recalibrated(mechanism: MechanismT, *, n: int, target: float, delta: float = 0.0) -> MechanismT:
    """Return the mechanism with its internal epsilon so chosen that at `delta` it loses no more than `target`.

    Of a regression sampler, which has none, it is the norm bound that is chosen. It is a bisection between settings
    that were audited, and the one returned was found to keep to the target; that no larger setting does is not proved.
    n, the parameters and the target decide, never the data. Errors: those of `needed_epsilon`; InputError where no
    internal epsilon in range keeps to the target.
    """
    *_, found = recalibration_steps(mechanism, n=n, target=target, delta=delta)
    assert not isinstance(found, float)
    return found


def recalibration_steps(
    mechanism: MechanismT, *, n: int, target: float, delta: float = 0.0
) -> Iterator[float | MechanismT]:
    """Do `recalibrated` in steps: yield roughly what share is done, at the end the mechanism."""
    wanted = finite_number("The target epsilon", target, low=1e-6, high=1e6)
    delta = finite_number("delta", delta, low=0, high=1)
    if not needed_epsilon.knows(mechanism):
        raise _no_recalibration(mechanism)
    low, high = min(max(wanted, _LEAST), _MOST), math.inf
    tried, known = 0, False
    table = np.empty((0, 0))
    if isinstance(mechanism, HellingerGlobal | HellingerLocal | HellingerSmooth):
        require_size(mechanism.die.n, n)
        for part in law_steps(mechanism):
            yield 0.0
            table = part if isinstance(part, np.ndarray) else table
    while not (known and (low >= _MOST or high - low <= _CLOSE * min(high, _MOST))):
        # Until one is known that keeps to the target it is halved, then doubled until one does not, then bisected.
        middle = low if not known else min(2 * low, _MOST) if math.isinf(high) else (low + high) / 2
        made = _with(mechanism, middle)
        if isinstance(made, HellingerGlobal | HellingerLocal | HellingerSmooth):
            known_one = cast("HellingerGlobal | HellingerLocal | HellingerSmooth", mechanism)
            keeps = die_keeps(made, law_at(made, known_one, table), target=wanted, delta=delta)
        else:
            keeps = needed_epsilon(made, n=n, delta=delta) <= wanted
        tried += 1
        yield min(tried / _TRIES, 0.99)
        if keeps:
            low, known = middle, True
        elif known:
            high = middle
        elif low <= _LEAST:
            raise InputError("Even the smallest internal epsilon loses more than the target; choose a larger target.")
        else:
            low, high = max(low / 2, _LEAST), low
    yield _with(mechanism, low)


def _with(mechanism: MechanismT, epsilon: float) -> MechanismT:
    if isinstance(mechanism, RegressionSampler):
        bound = norm_bound_for(epsilon, noise_variance=mechanism.noise_variance, draws=mechanism.draws)
        return replace(mechanism, norm_bound=bound)
    return replace(mechanism, epsilon=epsilon)  # type: ignore[type-var]
