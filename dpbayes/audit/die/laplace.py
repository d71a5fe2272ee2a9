"""The audits of Laplace noise on the counts of one die, in closed form; clipping and rounding can only lower the loss.

With scale b, replacing a record moves two counts by one (every side released), or one (the first of two sides). In
each the loss is 1/b at most, reached with an atom, and exponentially distributed below.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.die.base import TABLES, throws
from dpbayes.audit.entry import Audit
from dpbayes.audit.pictures import noisy_number
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    checked_grid,
    counts_text,
    nothing_to_lose,
    pure_report,
    require_size,
)
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms import Noise
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.noise.law import NoiseLaw

_PAIRS = 64
"""The number of compared tables."""


def audit_laplace_one(mechanism: LaplaceOne, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of one noisy count, in closed form: exact, as clipping to [0, n] hides nothing."""
    require_exact_class(mechanism, LaplaceOne)
    require_size(mechanism.die.n, n)
    grid, b = checked_grid(epsilons), mechanism.noise_scale
    if n == 0:
        return nothing_to_lose(mechanism, grid)
    deltas = laplace_one_delta(grid, scale=b) + 0.0  # no negative zeros
    worst = WorstCase(counts_text((1, n - 1)), counts_text((0, n)), "a first count of 1 or more")
    return pure_report(
        mechanism, exact=1 / b, curve=DeltaCurve(grid, deltas, deltas), worst=worst, scope=f"{_scope(n)}."
    )


def audit_laplace_cells(mechanism: LaplaceCells, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of noise on every count: exact for the clipped counts, an upper value once they are rescaled.

    What they lose at least is in the law of the ratio of two counts, which rescaling keeps; see `rescaled_loss`.
    """
    require_exact_class(mechanism, LaplaceCells)
    require_size(mechanism.die.n, n)
    grid, b = checked_grid(epsilons), mechanism.noise_scale
    if n == 0:
        return nothing_to_lose(mechanism, grid)
    least, first, output = rescaled_loss(n=n, scale=b)
    rest = (0,) * (mechanism.die.sides - 2)
    worst = WorstCase(
        counts_text((first, n - first, *rest)),
        counts_text((first - 1, n - first + 1, *rest)),
        output,
    )
    return pure_report(
        mechanism,
        exact=2 / b,
        at_least=min(least, 2 / b),
        curve=DeltaCurve(grid, laplace_cells_delta(grid, scale=b) + 0.0, np.zeros(len(grid))),  # no negative zeros
        worst=worst,
        scope=f"{_scope(n)}, before the counts are rescaled. Rescaling can only lower the loss.",
    )


def rescaled_loss(*, n: int, scale: float) -> tuple[float, int, str]:
    """Return a loss of rescaled counts: of (a, n - a) against (a - 1, n - a + 1), with this a and where it is met.

    Rescaling keeps the share t of the first of two counts. Its density f is known in closed form next to t = 1, where f
    is proportional to e^(a/b) (2a + b (e^(-a/b) - e^(-(n - a)/b))), and next to t = 1/2 for 2a <= n, where f is
    proportional to (n - 2a + b) e^(2a/b) + b. More than two sides show the share of the first two as well.
    """
    at_end = 1 / scale + math.log(2 + scale * (math.exp(-1 / scale) - math.exp((1 - n) / scale)))
    at_end -= math.log(-scale * math.expm1(-n / scale))
    best = (at_end, 1, "a second count next to 0")
    if n >= 2:
        a = np.unique(np.geomspace(1, n // 2, _PAIRS).astype(np.int64))
        logs = [np.logaddexp(np.log(n - 2 * k + scale) + 2 * k / scale, math.log(scale)) for k in (a, a - 1)]
        place = int(np.argmax(logs[0] - logs[1]))
        even = float((logs[0] - logs[1])[place])
        best = max(best, (even, int(a[place]), "first two counts that are nearly equal"))
    return best


def _scope(n: int) -> str:
    return f"The maximum is over all tables of {many(n, 'throw')} and all their neighbours"


def laplace_one_delta(epsilon: ArrayLike, *, scale: float) -> FloatArray:
    """Return delta(epsilon) = 1 - e^(-x/2), x = 1/b - epsilon, and 0 from epsilon = 1/b on: one noisy count."""
    return -np.expm1(-_short_of(epsilon, 1, scale) / 2)


def laplace_cells_delta(epsilon: ArrayLike, *, scale: float) -> FloatArray:
    """Return delta(epsilon) = 1 - e^(-x/2) (1 + x/4), x = 2/b - epsilon, 0 from epsilon = 2/b on: m noisy counts."""
    missing = _short_of(epsilon, 2, scale)
    return -np.expm1(np.log1p(missing / 4) - missing / 2)


def _short_of(epsilon: ArrayLike, moved: int, scale: float) -> FloatArray:
    value = np.asarray(epsilon, dtype=np.float64)
    if not np.all(value >= 0):
        raise InputError("epsilon must not be negative.")
    return np.maximum(moved / _checked(scale) - value, 0.0)


def _checked(scale: float) -> float:
    return finite_number("The noise scale", scale, low=1e-9, high=1e9)


def _audit(kind: type[LaplaceOne | LaplaceCells], report: Callable[..., AuditReport]) -> Audit:
    return Audit(
        kind=kind,
        report=report,
        picture=lambda mechanism, worst, n: noisy_number(
            NoiseLaw(Noise.REAL, mechanism.noise_scale), step=1.0, what="counts"
        ),
        tables=TABLES,
        hypothetical=throws(kind, are_listed=False),
    )


AUDITS = (_audit(LaplaceCells, audit_laplace_cells), _audit(LaplaceOne, audit_laplace_one))
