"""Where a condition stops holding, and where levels are reached, for whole arrays at once.

Halving returns both ends, so a caller can take the end on the safe side, as certified numbers require. A root finder
returns only an estimate. On small arrays it is also ten times as fast as a general one.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import BoolArray, FloatArray, IntArray


def turning_point(
    holds: Callable[[FloatArray], BoolArray], start: ArrayLike, end: ArrayLike, *, halvings: int = 60
) -> tuple[FloatArray, FloatArray]:
    """Return the last place known to hold and the first known not to, elementwise from `start` to `end`: (...) each.

    `holds` maps places (...) to truths (...), true from `start` up to one place and false beyond; `end` may lie below
    `start`. The condition is not checked at `start`, nor at `end` if it holds everywhere else.
    """
    inside, outside = np.broadcast_arrays(np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64))
    for _ in range(halvings):
        middle = (inside + outside) / 2
        on = holds(middle)
        inside, outside = np.where(on, middle, inside), np.where(on, outside, middle)
    return inside, outside


def last_reached(starts: FloatArray, levels: FloatArray, rows: IntArray) -> IntArray:
    """Return the last place in `starts` (R, W) that each level reaches, in its own row: of the shape of `levels`.

    Starts rise along a row, and the first is taken as reached; `rows` are those of the levels, of a shape that
    broadcasts to theirs. Every level takes the same steps.
    """
    places = starts.shape[-1]
    width = 1 << (places - 1).bit_length()
    padded = np.full((len(starts), width), np.inf)
    padded[:, :places] = starts
    flat, first = padded.ravel(), rows * width
    place = np.broadcast_to(first, levels.shape).copy()
    step = width // 2
    while step:
        place += step * (flat[place + step] <= levels)
        step //= 2
    return place - first
