"""Domains proposed from the data. They are convenient but leak information, so all are marked as not public."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.text import shortest
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.network import MAX_STATES
from dpbayes.sources.columns import Categories, Cuts, Missing, OwnState, is_missing, numbers_in

MOST_NUMBERS = 12
"""A column of numbers with more distinct values than this is proposed as cut points."""


MOST_VALUES = 5_000
"""The number of distinct values of a column that a proposal requests from an engine."""

MOST_REPEATED = 100_000
"""The largest number of records from which the cut points of an engine's column are computed."""


@dataclass(frozen=True)
class Proposal:
    """A proposal for a column: a domain from the data, if there is one, or the reason not to use the column."""

    name: str
    domain: Categories | Cuts | None = None
    reason: str = ""


def proposal(name: str, values: Iterable[str]) -> Proposal:
    """Return a default for a column, taken from the data and therefore marked `public=False`.

    Few distinct values are categories in natural order; more than MOST_NUMBERS numbers are cut at their
    quartiles. Missing values, where there are any, become a state of their own. A column is not to be used where each
    record has another value, as identifiers have; nor is one without values, and text with more than MAX_STATES
    distinct values, which have no domain.
    """
    series = _as_series(values)
    try:
        index, texts = _present(name, series)
        return Proposal(name, _proposed(name, index, texts, n=len(series)), _identifies(name, index, texts))
    except InputError as error:
        return Proposal(name, reason=str(error))


def counted_proposal(name: str, counted: "pd.Series") -> Proposal:
    """Return the proposal for a column with counts of its distinct values (the index), as from an engine.

    For large tables, fewer records with the same shares are used. A column with MOST_VALUES distinct texts or more is
    reported as having too many.
    """
    texts, records = [str(value) for value in counted.index], counted.to_numpy(dtype=np.int64)
    if len(texts) >= MOST_VALUES and not np.isfinite(_numbers(texts)[~is_missing(pd.Series(texts, dtype="str"))]).all():
        return Proposal(
            name,
            reason=f"Column {brief(name)} has {MOST_VALUES:,} distinct texts or more; the limit is {MAX_STATES}. "
            "Leave it out, or group its values first.",
        )
    share = min(1.0, MOST_REPEATED / max(1, int(records.sum())))
    repeats = np.maximum(1, np.round(records * share)).astype(np.int64)
    proposed = proposal(name, pd.Series(np.repeat(np.array(texts, dtype=object), repeats), dtype="str"))
    if proposed.reason and len(texts) >= MOST_VALUES:
        return replace(
            proposed, reason=f"Column {brief(name)} has a different value in each record, like an identifier."
        )
    return proposed


def _identifies(name: str, index: IntArray, texts: list[str]) -> str:
    """Return the reason not to use a column whose values are all different; fractional numbers are measurements."""
    if len(set(texts)) < len(index) or len(index) <= MOST_NUMBERS:
        return ""
    numbers = _numbers(texts)
    if np.isfinite(numbers).all() and (numbers != np.round(numbers)).any():
        return ""
    return f"Column {brief(name)} has a different value in each of {len(index):,} records, like an identifier."


def _proposed(name: str, index: IntArray, texts: list[str], *, n: int) -> Categories | Cuts:
    distinct = list(dict.fromkeys(texts))
    missing: Missing = _own_state(distinct) if len(index) < n else None
    numbers = _numbers(texts)
    numeric = bool(np.isfinite(numbers).all())
    if numeric and len(distinct) > MOST_NUMBERS:
        return Cuts(name, _quantiles(name, numbers[index], 4), missing=missing)
    if len(distinct) + isinstance(missing, OwnState) > MAX_STATES:
        raise InputError(
            f"Column {brief(name)} has {len(distinct):,} distinct texts; the limit is {MAX_STATES}. "
            "Leave it out, or group its values first."
        )
    keys = _numbers(distinct).tolist() if numeric else [_natural(text) for text in distinct]
    return Categories(name, tuple(text for _, text in sorted(zip(keys, distinct, strict=True))), missing=missing)


def _own_state(distinct: list[str]) -> OwnState:
    label = OwnState().label
    while label in distinct:
        label += " value"
    return OwnState(label)


def _quantiles(name: str, numbers: FloatArray, bins: int) -> tuple[float, ...]:
    low = float(numbers.min())
    above = numbers[numbers > low]
    if not above.size:
        raise InputError(f"Column {brief(name)} has only one value, {shortest(low)}, and cannot be cut.")
    # Quantiles that are values of the column: no sums that could overflow.
    quantiles = np.unique(np.quantile(numbers, np.arange(1, bins) / bins, method="inverted_cdf"))
    quantiles = quantiles[quantiles > low]
    points = quantiles if quantiles.size else above.min(keepdims=True)
    return _rounded(points, low, float(numbers.max()))


def _rounded(points: FloatArray, low: float, high: float) -> tuple[float, ...]:
    """Round to the fewest significant digits (at least 2) that keep the points apart and in (low, high]."""
    for digits in range(2, 17):
        rounded = [low, *(float(f"{point:.{digits}g}") for point in points)]
        if all(a < b for a, b in pairwise(rounded)) and rounded[-1] <= high:
            return tuple(rounded[1:])
    return tuple(points.tolist())


def _as_series(values: Iterable[str]) -> "pd.Series":
    return values if isinstance(values, pd.Series) else pd.Series(list(values), dtype="str")


def _present(name: str, series: "pd.Series") -> tuple[IntArray, list[str]]:
    """Return the values that are not missing as places in a list of texts, without the space around them."""
    index, distinct = pd.factorize(series, use_na_sentinel=True)
    texts = pd.Series(distinct, dtype="str").str.strip()
    present = ~is_missing(texts)
    place = np.append(np.where(present, np.cumsum(present) - 1, -1), -1)[index]
    if not present.any():
        raise InputError(f"Column {brief(name)} has no values. Leave it out.")
    return place[place >= 0].astype(np.int64), texts[present].tolist()


def _numbers(texts: list[str]) -> FloatArray:
    return numbers_in(pd.Series(texts, dtype="object"))


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that orders "x9" before "x10": digits by their length, then by themselves."""
    parts = re.split(r"([0-9]+)", text.casefold())
    parts[1::2] = [digits.lstrip("0") for digits in parts[1::2]]
    return tuple((i % 2, len(part) if i % 2 else 0, part) for i, part in enumerate(parts))
