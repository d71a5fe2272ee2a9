"""The audit of a large die in steps: its laws and its pairs of neighbours, some at a time and none twice.

The mechanisms for a die treat sides of equal prior alike. A permutation of such sides maps neighbours to neighbours and
leaves their loss as it is, so one pair of a giving and a taking side is enough for each pair of priors.
"""

import numpy as np

from dpbayes.base.steps import Work
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.die.base import FiniteDieMechanism
from dpbayes.mechanisms.die.hellinger import EXPONENTIAL, Hellinger
from dpbayes.mechanisms.known import require_known
from dpbayes.posteriors.hellinger import MOST_PAIRED, Die, neighbours_up_to_symmetry

AT_ONCE = 512
"""Dice with no more candidates have their laws computed at once."""

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
    """Return whether a die's laws and pairs are too many for a moment."""
    return die.size > AT_ONCE


def law_steps(mechanism: FiniteDieMechanism) -> Work[FloatArray]:
    """Compute ln P[r | x] up to a constant of x, for every candidate x: yield the share done, return them (R, R).

    Of two sides the table is filled row by row, and where their priors are equal half of it is the other one mirrored;
    with more sides its parts are few. Errors: InputError for a class that need not treat sides of equal prior alike.
    """
    require_known(mechanism, *EXPONENTIAL)
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


def law_at(mechanism: Hellinger, known: Hellinger, table: FloatArray) -> FloatArray:
    """Return ln P[r | x] (R, R), up to a constant of x, from the `table` of one that is known at another epsilon.

    Both are exponential in the same distances: a row's logarithm, times the ratio of the rates, is right but for a
    constant.
    """
    require_known(mechanism, type(known))
    require_known(known, *EXPONENTIAL)
    ratio = _rates(mechanism) / _rates(known)
    return np.asarray(table * ratio[:, None])


def _rates(mechanism: Hellinger) -> FloatArray:
    """What multiplies the distance in every row: (R,)."""
    scales = mechanism.sensitivities
    return mechanism.inner_epsilon / np.where(scales > 0, scales, 1.0)
