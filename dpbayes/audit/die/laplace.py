"""The audits of Laplace noise on the counts of one die, in closed form; clipping and rounding can only lower the loss.

With scale b, replacing a record moves two counts by one (every side released), or one (the first of two sides). In
each the loss is 1/b at most, reached with an atom, and exponentially distributed below.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.die.base import TABLES, die_of, sides, throws
from dpbayes.audit.entry import Audit, Recalibration
from dpbayes.audit.loss.rescaled import log_law, rescaled_loss
from dpbayes.audit.report.pictures import TwoLaws, one_noisy_number
from dpbayes.audit.report.types import AuditReport, DeltaCurve, WorstCase, checked_grid, pure_report
from dpbayes.audit.report.words import counts_text, nothing_to_lose, require_size
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.die.base import ReleasedDie
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.exact_class import require_exact_class

_EVEN = 1e-12
"""Shares so close to 1/2 are 1/2, but for the prior that was added and taken off."""


def audit_laplace_one(mechanism: LaplaceOne, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of one noisy count, in closed form: exact, as clipping to [0, n] hides nothing."""
    require_exact_class(mechanism, LaplaceOne)
    require_size(mechanism.die.n, n)
    grid, die = checked_grid(epsilons), mechanism.die
    if die.n == 0:
        return nothing_to_lose(mechanism, grid)
    deltas = laplace_one_delta(grid, scale=mechanism.noise_scale) + 0.0  # no negative zeros
    worst = WorstCase(counts_text((1, die.n - 1)), counts_text((0, die.n)), "a first count of 1 or more")
    exact = 1 / mechanism.noise_scale
    scope = f"The maximum is over all tables of {many(die.n, 'throw')} and all their neighbours."
    return pure_report(
        mechanism, exact=exact, at_least=exact, curve=DeltaCurve(grid, deltas, deltas), worst=worst, scope=scope
    )


def audit_laplace_cells(mechanism: LaplaceCells, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of noise on every count: exact for the clipped counts, an upper value once they are rescaled.

    What they lose at least is found in the law of the ratio of two counts, which rescaling keeps; see `rescaled`.
    """
    require_exact_class(mechanism, LaplaceCells)
    require_size(mechanism.die.n, n)
    grid, die = checked_grid(epsilons), mechanism.die
    if die.n == 0:
        return nothing_to_lose(mechanism, grid)
    b = mechanism.noise_scale
    deltas = laplace_cells_delta(grid, scale=b) + 0.0  # no negative zeros
    scope = (
        f"The maximum is over all tables of {many(die.n, 'throw')} and all their neighbours, before the counts are "
        "rescaled. Rescaling can only lower the loss."
    )
    least, first, share = rescaled_loss(n=die.n, scale=b)
    output = f"the first two counts as {numeral(share, 4)} to {numeral(1 - share, 4)}"
    rest = (0,) * (die.sides - 2)
    worst = WorstCase(
        counts_text((first, die.n - first, *rest)), counts_text((first - 1, die.n - first + 1, *rest)), output
    )
    curve = DeltaCurve(grid, deltas, np.zeros(len(grid)))
    return pure_report(mechanism, exact=2 / b, at_least=min(least, 2 / b), curve=curve, worst=worst, scope=scope)


def laplace_die_epsilon(mechanism: LaplaceOne | LaplaceCells, *, n: int, delta: float) -> float:
    """Return the epsilon at delta in closed form; for `LaplaceCells` that of the counts before they are rescaled."""
    require_exact_class(mechanism, LaplaceOne, LaplaceCells)
    require_size(mechanism.die.n, n)
    needed = laplace_one_epsilon if type(mechanism) is LaplaceOne else laplace_cells_epsilon
    return needed(delta, scale=mechanism.noise_scale) if mechanism.die.n else 0.0


def _log_ratios_one(mechanism: LaplaceOne, released: ReleasedDie, *, first: IntArray, second: IntArray) -> FloatArray:
    seen = released.alpha[..., 0] - mechanism.die.prior[0]
    return (np.abs(seen - second[0]) - np.abs(seen - first[0])) / mechanism.noise_scale


def _log_ratios_cells(
    mechanism: LaplaceCells, released: ReleasedDie, *, first: IntArray, second: IntArray
) -> FloatArray:
    die = mechanism.die
    if die.sides > 2:
        raise InputError(
            f"The distribution of rescaled counts is not known for {die.sides} sides; choose a die with two sides."
        )
    updates = released.alpha - np.asarray(die.prior)
    # Shares of n: both numbers are exact where one count is zero, and equal where both were clipped to the same end.
    share = np.where(updates[..., 1] == 0, 1.0, np.where(updates[..., 0] == 0, 0.0, updates[..., 0] / die.n))
    share = np.where(np.abs(share - 0.5) < _EVEN, 0.5, share)
    laws = [log_law(share, first=int(counts[0]), n=die.n, scale=mechanism.noise_scale) for counts in (first, second)]
    return laws[0] - laws[1]


def _picture(mechanism: LaplaceOne | LaplaceCells, worst: WorstCase, *, n: int) -> TwoLaws:
    return one_noisy_number(mechanism.noise_scale, step=1.0, what="counts")


def _not_attacked(mechanism: LaplaceCells) -> str:
    if mechanism.die.sides == 2:
        return ""
    return "No attack is simulated, because the distribution of rescaled counts is known for two sides only."


def laplace_one_delta(epsilon: ArrayLike, *, scale: float) -> FloatArray:
    """Return delta(epsilon) = 1 - e^(-x/2), x = 1/b - epsilon, and 0 from epsilon = 1/b on: one noisy count."""
    return -np.expm1(-_short_of(epsilon, 1, scale) / 2)


def laplace_cells_delta(epsilon: ArrayLike, *, scale: float) -> FloatArray:
    """Return delta(epsilon) = 1 - e^(-x/2) (1 + x/4), x = 2/b - epsilon, 0 from epsilon = 2/b on: m noisy counts."""
    missing = _short_of(epsilon, 2, scale)
    return -np.expm1(np.log1p(missing / 4) - missing / 2)


def laplace_one_epsilon(delta: float, *, scale: float) -> float:
    """Return the smallest epsilon >= 0 with `laplace_one_delta` <= delta: 1/b + 2 ln(1 - delta)."""
    delta = finite_number("delta", delta, low=0, high=1)
    return max(0.0, 1 / _checked(scale) + 2 * math.log1p(-delta)) if delta < 1 else 0.0


def laplace_cells_epsilon(delta: float, *, scale: float) -> float:
    """Return the smallest epsilon >= 0 with `laplace_cells_delta` <= delta.

    It is 2/b - x with (1 + x/4) e^(-x/2) = 1 - delta, that is x = -4 - 2 W(-2 (1 - delta) e^-2), W the lower branch
    of Lambert's function.
    """
    delta = finite_number("delta", delta, low=0, high=1)
    if delta == 1:
        return 0.0
    missing = -4 - 2 * float(special.lambertw(-2 * (1 - delta) * math.exp(-2), -1).real)
    return max(0.0, 2 / _checked(scale) - max(missing, 0.0))


def _short_of(epsilon: ArrayLike, moved: int, scale: float) -> FloatArray:
    value = np.asarray(epsilon, dtype=np.float64)
    if not np.all(value >= 0):
        raise InputError("epsilon must not be negative.")
    return np.maximum(moved / _checked(scale) - value, 0.0)


def _checked(scale: float) -> float:
    return finite_number("The noise scale", scale, low=1e-9, high=1e9)


CELLS = Audit(
    kind=LaplaceCells,
    report=audit_laplace_cells,
    log_ratios=_log_ratios_cells,
    picture=_picture,
    tables=TABLES,
    numbers=sides,
    not_attacked=_not_attacked,
    recalibration=Recalibration(needed=laplace_die_epsilon),
    hypothetical=throws(
        LaplaceCells.label, lambda numbers: LaplaceCells(die=die_of(numbers), epsilon=numbers["epsilon"])
    ),
)
ONE = Audit(
    kind=LaplaceOne,
    report=audit_laplace_one,
    log_ratios=_log_ratios_one,
    picture=_picture,
    tables=TABLES,
    numbers=sides,
    recalibration=Recalibration(needed=laplace_die_epsilon),
    hypothetical=throws(LaplaceOne.label, lambda numbers: LaplaceOne(die=die_of(numbers), epsilon=numbers["epsilon"])),
)
