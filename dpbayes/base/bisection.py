"""Where a condition stops holding, for whole arrays of intervals at once.

Halving keeps both ends, so a caller can take the one on the safe side: a certified number needs that, and a root
finder's best guess does not give it. On small arrays it is also ten times as fast as a general one.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import BoolArray, FloatArray


def turning_point(
    holds: Callable[[FloatArray], BoolArray], start: ArrayLike, end: ArrayLike, *, halvings: int = 60
) -> tuple[FloatArray, FloatArray]:
    """Return the last place known to hold and the first known not to, elementwise from `start` to `end`: (...) each.

    `holds` maps places (...) to truths (...), true from `start` up to one place and false beyond; `end` may lie below
    `start`. `start` itself, and `end` where all holds, are taken on trust.
    """
    inside, outside = np.broadcast_arrays(np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64))
    for _ in range(halvings):
        middle = (inside + outside) / 2
        on = holds(middle)
        inside, outside = np.where(on, middle, inside), np.where(on, outside, middle)
    return inside, outside
