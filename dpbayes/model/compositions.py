"""The ways to share n records among the m sides of a die: listed, ranked, and which of them are neighbours."""

import bisect
import math
from collections.abc import Iterable
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.text import many, power_of_ten
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError

MOST_CANDIDATES = 2_000_000
"""More ways than this are not listed."""


def composition_count(n: int, *, sides: int) -> int:
    """Return C(n + m - 1, m - 1), the number of ways."""
    return math.comb(n + sides - 1, sides - 1)


def is_listable(n: int, *, sides: int, most: int = MOST_CANDIDATES) -> bool:
    """Return whether there are at most `most` ways."""
    return composition_count(n, sides=sides) <= most


def require_listable(n: int, *, sides: int, most: int = MOST_CANDIDATES) -> None:
    """Refuse lists that are too long. Errors: InputError that says how long and what to change."""
    if is_listable(n, sides=sides, most=most):
        return
    # The largest number of throws that fits.
    low = bisect.bisect(range(1, n), 0, key=lambda throws: 1 - is_listable(throws, sides=sides, most=most))
    count = composition_count(n, sides=sides)
    posteriors = f"{count:,}" if count < 10**12 else f"about {power_of_ten(round(math.log10(count)))}"
    raise InputError(
        f"A die of {sides} sides thrown {many(n, 'time')} has {posteriors} possible posteriors, and at most {most:,} "
        f"can be listed here. Use at most {many(low, 'throw')}, or fewer sides."
    )


def compositions(n: int, *, sides: int) -> IntArray:
    """Return all ways (R, m), in lexicographic order; every column is contiguous. Errors: those of require_listable."""
    require_listable(n, sides=sides)
    columns: list[IntArray] = []
    left = np.array([n], dtype=np.int64)
    for _ in range(sides - 1):
        repeats = left + 1
        starts = np.cumsum(repeats) - repeats
        value = np.arange(int(repeats.sum())) - np.repeat(starts, repeats)
        columns = [np.repeat(column, repeats) for column in columns] + [value]
        left = np.repeat(left, repeats) - value
    return np.stack([*columns, left]).T


def composition_indices(counts: ArrayLike) -> IntArray:
    """Return the places of `counts` (..., m), all of one total n, in the list of `compositions`: (...)."""
    counts = np.asarray(counts, dtype=np.int64)
    left = counts.sum(axis=-1)
    place = np.zeros(left.shape, dtype=np.int64)
    ways = _ways(int(left.max(initial=0)), sides=counts.shape[-1])
    for k in range(counts.shape[-1] - 1):
        # Those that agree before side k and have fewer there.
        rest = left - counts[..., k]
        place += ways[k][left] - ways[k][rest]
        left = rest
    return place


def _ways(n: int, *, sides: int) -> list[IntArray]:
    """C(t + p, p) for t = 0 .. n and p = m - 1, .., 1: the ways to share t among the sides from k on."""
    ways = [np.ones(n + 1, dtype=np.int64)]
    for _ in range(sides - 1):
        ways.append(np.cumsum(ways[-1]))
    return ways[:0:-1]


def moves(listed: IntArray, *, giver: int, taker: int) -> tuple[IntArray, IntArray]:
    """Return the places (before, after) of all moves of one record from side `giver` to side `taker`."""
    before = np.flatnonzero(listed[:, giver])
    after = listed[before]
    after[:, giver] -= 1
    after[:, taker] += 1
    return before, composition_indices(after)


def neighbour_pairs(n: int, *, sides: int, kinds: Iterable[tuple[int, int]] | None = None) -> IntArray:
    """Return the places of ordered pairs that differ in one replaced record: (pairs, 2).

    `kinds` are the sides that give and take the record, by default all.
    """
    listed, kinds = compositions(n, sides=sides), permutations(range(sides), 2) if kinds is None else kinds
    both = [np.stack(moves(listed, giver=giver, taker=taker), axis=-1) for giver, taker in kinds]
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *both])
