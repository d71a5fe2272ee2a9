"""Audits of the mechanisms for one die, and of the printed private MAP estimate of one binary node."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.continuous import (
    laplace_cells_delta,
    laplace_cells_epsilon,
    laplace_one_delta,
    laplace_one_epsilon,
)
from dpbayes.audit.die_steps import blocks_of_pairs, die_neighbours_up_to_symmetry, law_steps
from dpbayes.audit.finite import WorstLoss, exact_curve, exact_epsilon, exact_pure_epsilon
from dpbayes.audit.report_types import AuditReport, DeltaCurve, Laws, Promising, WorstCase, checked_grid, pure_report
from dpbayes.audit.rescaled import rescaled_loss
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.die import FiniteDieMechanism
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth, LaplaceCells, LaplaceOne
from dpbayes.mechanisms.known import require_known
from dpbayes.mechanisms.map import PrintedMap
from dpbayes.model.compositions import neighbour_pairs

_LAW_SHARE = 0.5
"""Share of an audit's time that goes into the laws."""


def audit_die(mechanism: FiniteDieMechanism, *, epsilons: ArrayLike) -> AuditReport:
    """Return the exact audit of a mechanism whose outputs are the die's candidates: every pair, every output.

    Errors: InputError for any but the three exponential mechanisms, for dice with too many candidates to pair them all,
    and bad epsilons.
    """
    grid = checked_grid(epsilons)
    *_, report = audit_die_steps(mechanism, epsilons=lambda exact: grid)
    assert isinstance(report, AuditReport)
    return report


def audit_die_steps(
    mechanism: FiniteDieMechanism, *, epsilons: Callable[[float], ArrayLike]
) -> Iterator[float | AuditReport]:
    """Do `audit_die` in steps of a few tenths of a second: yield the share that is done, at the end the report.

    `epsilons` is called with the exact pure epsilon as soon as that is known, and returns the curve's grid (E,).
    """
    die = mechanism.die
    pairs = die_neighbours_up_to_symmetry(die)
    table = np.empty((0, 0))
    for part in law_steps(mechanism):
        if isinstance(part, float):
            yield part * _LAW_SHARE
        else:
            table = part
    masses = special.logsumexp(table, axis=1)
    loss = exact_pure_epsilon(table, pairs=pairs, log_masses=masses)
    grid = checked_grid(epsilons(loss.epsilon))
    delta, needed = mechanism.claimed.delta, 0.0
    deltas = np.zeros(len(grid))
    for some in blocks_of_pairs(pairs, die.size):
        yield _LAW_SHARE + (1 - _LAW_SHARE) * some.start / len(pairs)
        deltas = np.maximum(deltas, exact_curve(table, pairs=pairs[some], epsilons=grid, log_masses=masses).deltas)
        if delta:
            needed = max(needed, exact_epsilon(table, pairs=pairs[some], delta=delta, log_masses=masses).epsilon)
    labels = tuple(map(_counts_text, die.candidates.tolist()))
    scope = f"All {len(labels):,} tables of {die.n:,} throws, all their neighbours and all {len(labels):,} outputs."
    report = pure_report(
        mechanism,
        exact=loss.epsilon,
        at_least=loss.epsilon,
        curve=DeltaCurve(grid, deltas, deltas),
        worst=_worst_case(table - masses[:, None], loss, labels, labels),
        scope=scope,
    )
    yield replace(report, needed=needed, needed_at_least=needed) if delta else report


def audit_printed_map(mechanism: PrintedMap, *, epsilons: ArrayLike) -> AuditReport:
    """Return the exact audit of [Zhang16] Algorithm 3 as printed, for one binary root node on its grid of outputs.

    Nothing is certified. Errors: InputError for bad epsilons.
    """
    require_known(mechanism, PrintedMap)
    table = mechanism.log_pmf_table()
    # k of n records in the first state, in the order in which `neighbour_pairs` lists (k, n - k).
    pairs = neighbour_pairs(mechanism.n, sides=2)
    inputs = tuple(_counts_text((k, mechanism.n - k)) for k in range(mechanism.n + 1))
    outputs = tuple(numeral(value, 4) for value in mechanism.theta)
    words = "record" if mechanism.n == 1 else "records"
    scope = f"All tables of {mechanism.n:,} {words}, all their neighbours and all {mechanism.points:,} outputs."
    grid, loss = checked_grid(epsilons), exact_pure_epsilon(table, pairs=pairs)
    deltas = exact_curve(table, pairs=pairs, epsilons=grid).deltas
    return pure_report(
        _Printed(mechanism.claimed),
        exact=loss.epsilon,
        at_least=loss.epsilon,
        curve=DeltaCurve(grid, deltas, deltas),
        worst=_worst_case(table, loss, inputs, outputs),
        scope=scope,
    )


def audit_laplace_one(mechanism: LaplaceOne, *, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of one noisy count, in closed form: exact, as clipping to [0, n] hides nothing."""
    require_known(mechanism, LaplaceOne)
    grid, die = checked_grid(epsilons), mechanism.die
    if die.n == 0:
        return nothing_to_lose(mechanism, grid)
    deltas = laplace_one_delta(grid, scale=mechanism.noise_scale) + 0.0  # no negative zeros
    worst = WorstCase(_counts_text((1, die.n - 1)), _counts_text((0, die.n)), "a first count of 1 or more")
    exact = 1 / mechanism.noise_scale
    scope = f"All tables of {die.n:,} throws and all their neighbours: every pair moves the count by one."
    return pure_report(
        mechanism, exact=exact, at_least=exact, curve=DeltaCurve(grid, deltas, deltas), worst=worst, scope=scope
    )


def audit_laplace_cells(mechanism: LaplaceCells, *, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of noise on every count: exact for the clipped counts, an upper value once they are rescaled.

    What they lose at least is found in the law of the ratio of two counts, which rescaling keeps; see `rescaled`.
    """
    require_known(mechanism, LaplaceCells)
    grid, die = checked_grid(epsilons), mechanism.die
    if die.n == 0:
        return nothing_to_lose(mechanism, grid)
    b = mechanism.noise_scale
    deltas = laplace_cells_delta(grid, scale=b) + 0.0  # no negative zeros
    scope = (
        f"All tables of {die.n:,} throws and all their neighbours, before the counts are rescaled; "
        "rescaling can only lower the loss."
    )
    least, first, share = rescaled_loss(n=die.n, scale=b)
    output = f"the first two counts as {numeral(share, 4)} to {numeral(1 - share, 4)}"
    # From (n, 0, ..) and (n - 1, 1, ..), all counts but the first one clipped to zero: an atom of the rescaled law too.
    atom = 1 / b + math.log1p(-math.exp(-die.n / b) / 2) - math.log1p(-math.exp(-(die.n - 1) / b) / 2)
    if atom > least:
        least, first, output = atom, die.n, "all throws on the first side"
    rest = (0,) * (die.sides - 2)
    worst = WorstCase(
        _counts_text((first, die.n - first, *rest)), _counts_text((first - 1, die.n - first + 1, *rest)), output
    )
    curve = DeltaCurve(grid, deltas, np.zeros(len(grid)))
    return pure_report(mechanism, exact=2 / b, at_least=min(least, 2 / b), curve=curve, worst=worst, scope=scope)


def die_epsilon(mechanism: FiniteDieMechanism, *, delta: float) -> float:
    """Return the exact epsilon at delta, over every pair and every output."""
    require_known(mechanism, HellingerGlobal, HellingerLocal, HellingerSmooth)
    table, pairs = mechanism.log_weights_table(), die_neighbours_up_to_symmetry(mechanism.die)
    masses = special.logsumexp(table, axis=1)
    if delta == 0:
        return exact_pure_epsilon(table, pairs=pairs, log_masses=masses).epsilon
    return exact_epsilon(table, pairs=pairs, delta=delta, log_masses=masses).epsilon


def die_keeps(mechanism: FiniteDieMechanism, table: FloatArray, *, target: float, delta: float) -> bool:
    """Return whether a mechanism with these weights (R, R) has delta(target) <= delta: it then loses no more."""
    pairs, masses = die_neighbours_up_to_symmetry(mechanism.die), special.logsumexp(table, axis=1)
    if exact_pure_epsilon(table, pairs=pairs, log_masses=masses).epsilon <= target:
        return True
    curve = exact_curve(table, pairs=pairs, epsilons=[target] if delta else [], log_masses=masses)
    return bool(delta) and bool(curve.deltas[0] <= delta)


def laplace_die_epsilon(mechanism: LaplaceOne | LaplaceCells, *, delta: float) -> float:
    """Return the epsilon at delta in closed form; for `LaplaceCells` that of the counts before they are rescaled."""
    require_known(mechanism, LaplaceOne, LaplaceCells)
    needed = laplace_one_epsilon if type(mechanism) is LaplaceOne else laplace_cells_epsilon
    return needed(delta, scale=mechanism.noise_scale) if mechanism.die.n else 0.0


def nothing_to_lose(mechanism: Promising, grid: FloatArray) -> AuditReport:
    """Return the report on tables without records: they have no neighbours."""
    flat = DeltaCurve(grid, np.zeros(len(grid)), np.zeros(len(grid)))
    scope = "A table without records has no neighbours."
    return pure_report(mechanism, exact=0.0, at_least=0.0, curve=flat, worst=None, scope=scope)


@dataclass(frozen=True)
class _Printed:
    """A claim that nothing is proved of."""

    claimed: Guarantee
    certified: Guarantee = NON_PRIVATE


def _worst_case(
    table: FloatArray, loss: WorstLoss, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> WorstCase | None:
    if loss.x < 0:
        return None
    laws = Laws(outputs, np.exp(table[loss.x]), np.exp(table[loss.y]))
    return WorstCase(inputs[loss.x], inputs[loss.y], outputs[loss.r], laws)


def _counts_text(counts: ArrayLike) -> str:
    return ", ".join(f"{int(c):,}" for c in np.asarray(counts).tolist())


def require_size(own: int, n: int) -> None:
    """Refuse to audit what was made for tables of its `own` size for another one. Errors: InputError."""
    if own != n:
        raise InputError(f"This mechanism is for tables of {own:,} records; audit it for that many, not for {n}.")
