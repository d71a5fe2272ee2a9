"""Numbers of a type and their texts: the number with a given text, and the least number whose text reaches a value."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpbayes.base.libraries import pa, pd
from dpbayes.base.types import AnyArray, FloatArray
from dpbayes.sources.columns import numbers_in


def whole_number_of(text: str) -> int | None:
    """Return the whole number with this text, or None: "7" is 7, but "07" and "+7" are not."""
    try:
        return int(text) if str(int(text)) == text else None
    except ValueError:
        return None


def parsed_number(text: str, dtype: np.dtype[Any]) -> Any:
    """Return the number of this type with this text; None if there is none, or several, as for NaN."""
    try:
        with np.errstate(over="ignore"):
            number = np.array([float(text)]).astype(dtype)
    except ValueError:
        return None
    return number[0] if not np.isnan(number[0]) and _written(number).iloc[0] == text else None


def least_at_or_above(points: Sequence[float], dtype: np.dtype[Any]) -> AnyArray:
    """Return for each of some increasing points the least finite number of a type whose text is at least the point.

    Points above all numbers are left out. The text of a number in single precision differs from its value: the nearest
    number to 0.7 is below 0.7.
    """
    goal = np.array(points)
    top = np.iinfo(dtype).max if dtype.kind in "iu" else int(np.finfo(dtype).max.view(f"u{dtype.itemsize}"))
    bottom = int(np.iinfo(dtype).min) if dtype.kind in "iu" else -top
    low, high = [bottom] * len(points), [int(top) + 1] * len(points)
    while any(a < b for a, b in zip(low, high, strict=True)):
        middle = [(a + b) // 2 if a < b else min(a, int(top)) for a, b in zip(low, high, strict=True)]
        reached = (_said(_ranked(middle, dtype)) >= goal).tolist()
        for k, (m, enough) in enumerate(zip(middle, reached, strict=True)):
            if low[k] < high[k]:
                low[k], high[k] = (low[k], m) if enough else (m + 1, high[k])
    return _ranked([rank for rank in low if rank <= top], dtype)


def _ranked(ranks: Sequence[int], dtype: np.dtype[Any]) -> AnyArray:
    """Return the numbers of a type by rank: whole numbers themselves, other numbers by their steps from zero."""
    if dtype.kind in "iu":
        return np.array(ranks, dtype=dtype)
    sizes = np.array([abs(rank) for rank in ranks], dtype=f"u{dtype.itemsize}").view(dtype)
    return np.copysign(sizes, np.sign(np.array(ranks, dtype=np.float64)).astype(dtype))


def _said(numbers: AnyArray) -> FloatArray:
    return numbers_in(_written(numbers))


def _written(numbers: AnyArray) -> "pd.Series":
    series: pd.Series = pa.array(numbers).cast(pa.string()).to_pandas()
    return series
