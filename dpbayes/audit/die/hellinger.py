"""The audit of the exponential mechanisms for one die: every table, every neighbour, every output.

The laws and pairs of a large die are computed in steps. The mechanisms treat sides of equal prior alike, and a
permutation of such sides maps neighbours to neighbours and leaves their loss as it is, so that one pair of a giving and
a taking side is enough for each pair of priors.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.die.base import TABLES, die_of, throws
from dpbayes.audit.entry import Audit, Numbers, Stepwise
from dpbayes.audit.loss.finite import exact_curve, exact_epsilon, exact_pure_epsilon
from dpbayes.audit.pictures import TwoLaws, two_laws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    checked_grid,
    counts_text,
    pure_report,
    require_size,
    worst_case,
)
from dpbayes.base.steps import Work, finished, part_of
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.die.hellinger import (
    EXPONENTIAL,
    Hellinger,
    HellingerEnumerated,
    HellingerGlobal,
    HellingerLocal,
    HellingerSmooth,
)
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.posteriors.hellinger import MOST_PAIRED, Die, neighbours_up_to_symmetry

AT_ONCE = 512
"""The largest number of candidates of a die whose distributions are computed in one step."""

_ROWS = 32
_LOSSES = 1 << 18
"""Rows and losses of a step: a few tenths of a second."""


def die_neighbours_up_to_symmetry(die: Die) -> IntArray:
    """Return the places of ordered pairs that differ in one replaced throw, one of each kind: (N, 2).

    Errors: InputError for more than MOST_PAIRED candidates.
    """
    die.require_listable(MOST_PAIRED)
    return neighbours_up_to_symmetry(die)


def blocks_of_pairs(pairs: IntArray, outputs: int) -> list[slice]:
    """Return pairs cut into blocks of so many losses that one takes a few tenths of a second."""
    step = max(1, _LOSSES // outputs)
    return [slice(start, min(start + step, len(pairs))) for start in range(0, len(pairs), step)]


def is_large(die: Die) -> bool:
    """Return whether a die has so many candidates that its audit is slow."""
    return die.size > AT_ONCE


def law_steps(mechanism: Hellinger) -> Work[FloatArray]:
    """Compute ln P[r | x] up to a constant of x, for every candidate x: yield the share done, return them (R, R).

    Of two sides the table is filled row by row, and where their priors are equal half of it is the other one mirrored;
    with more sides its parts are few. Errors: InputError for a class that need not treat sides of equal prior alike.
    """
    require_exact_class(mechanism, *EXPONENTIAL)
    die = mechanism.die
    if die.sides > 2 or not is_large(die):
        return mechanism.log_weights_table()
    table, mirrored = np.empty((die.size, die.size)), die.prior[0] == die.prior[1]
    rows = (die.size + 1) // 2 if mirrored else die.size
    for start in range(0, rows, _ROWS):
        yield start / rows
        for place in range(start, min(start + _ROWS, rows)):
            table[place] = mechanism.log_weights(die.candidates[place])
            if mirrored:
                table[die.size - 1 - place] = table[place, ::-1]
    return table


_LAW_SHARE = 0.5
"""The share of an audit's time for the distributions."""


def audit_die(mechanism: Hellinger, *, epsilons: ArrayLike) -> AuditReport:
    """Return the exact audit of a mechanism whose outputs are the die's candidates: every pair, every output.

    Errors: InputError for any but the four exponential mechanisms, for dice with too many candidates to pair them all,
    and bad epsilons.
    """
    grid = checked_grid(epsilons)
    return finished(audit_die_steps(mechanism, epsilons=lambda exact: grid))


def audit_die_steps(mechanism: Hellinger, *, epsilons: Callable[[float], ArrayLike]) -> Work[AuditReport]:
    """Do `audit_die` in steps of a few tenths of a second: yield the share that is done, return the report.

    `epsilons` is called with the exact pure epsilon as soon as that is known, and returns the curve's grid (E,).
    """
    die = mechanism.die
    pairs = die_neighbours_up_to_symmetry(die)
    table = yield from part_of(law_steps(mechanism), 0.0, _LAW_SHARE)
    masses = special.logsumexp(table, axis=1)
    loss = exact_pure_epsilon(table, pairs=pairs, log_masses=masses)
    grid = checked_grid(epsilons(loss.epsilon))
    delta, needed = mechanism.claimed.delta, 0.0
    deltas = np.zeros(len(grid))
    for block in blocks_of_pairs(pairs, die.size):
        yield _LAW_SHARE + (1 - _LAW_SHARE) * block.start / len(pairs)
        deltas = np.maximum(deltas, exact_curve(table, pairs=pairs[block], epsilons=grid, log_masses=masses).deltas)
        if delta:
            needed = max(needed, exact_epsilon(table, pairs=pairs[block], delta=delta, log_masses=masses).epsilon)
    labels = tuple(map(counts_text, die.candidates.tolist()))
    throws = many(die.n, "throw")
    scope = f"The maximum is over all {len(labels):,} tables of {throws}, all their neighbours and all outputs."
    report = pure_report(
        mechanism,
        exact=loss.epsilon,
        at_least=loss.epsilon,
        curve=DeltaCurve(grid, deltas, deltas),
        worst=worst_case(table - masses[:, None], loss, labels, labels),
        scope=scope,
    )
    return replace(report, needed=needed, needed_at_least=needed) if delta else report


def _report(mechanism: Hellinger, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_die(mechanism, epsilons=epsilons)


def _picture(mechanism: Hellinger, worst: WorstCase, *, n: int) -> TwoLaws | None:
    return two_laws(worst, x="released counts", ordered=mechanism.die.sides == 2)


def _mechanism_at(kind: type[Hellinger], *more: str) -> Callable[[Numbers], Hellinger]:
    def mechanism_at(numbers: Numbers) -> Hellinger:
        die = die_of(numbers)
        die.require_listable(MOST_PAIRED)  # what an audit needs; a release would do with more
        return kind(die=die, **{name: numbers[name] for name in ("epsilon", *more)})

    return mechanism_at


def _audit(kind: type[Hellinger], *more: str) -> Audit:
    return Audit(
        kind=kind,
        report=_report,
        picture=_picture,
        tables=TABLES,
        steps=Stepwise(
            are_needed=lambda mechanism: is_large(mechanism.die),
            steps=audit_die_steps,
            message=lambda mechanism: (
                f"Auditing {mechanism.die.size:,} tables, all their neighbours and all {mechanism.die.size:,} outputs."
            ),
        ),
        hypothetical=throws(kind.label.removesuffix(" (not private)"), _mechanism_at(kind, *more), *more),
    )


AUDITS = (
    _audit(HellingerGlobal),
    replace(
        _audit(HellingerLocal),
        doubts=(
            "The noise scale is independent of the data. Here the scale depends on the data and reveals information.",
        ),
        cases={"Local sensitivity, prior 0.1, n = 200": {"epsilon": 1.0, "n": 200, "sides": 2, "prior": 0.1}},
    ),
    _audit(HellingerSmooth, "delta"),
    replace(
        _audit(HellingerEnumerated, "delta"),
    ),
)
