"""Domains proposed from the data. They are convenient but leak information, so all are marked as not public."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.network import MAX_STATES
from dpbayes.sources.columns import MISSING, Categories, Cuts, is_missing, numbers_in

MOST_NUMBERS = 12
"""A column of numbers with more distinct values than this is proposed as cut points."""

MOST_VALUES = 5_000
"""The number of distinct values of a column that a proposal requests from an engine."""


@dataclass(frozen=True)
class Proposal:
    """A proposal for a column: a domain from the data, if there is one, or the reason not to use the column."""

    name: str
    domain: Categories | Cuts | None = None
    reason: str = ""


def missing_remark(proposals: Iterable[Proposal]) -> str:
    """Return the sentence on what was read as missing; none without missing values."""
    domains = [one.domain for one in proposals if one.domain is not None and one.domain.missing]
    marks = [f"{brief(mark)} in {brief(d.name)}" for d in domains if isinstance(d, Cuts) for mark in d.marks]
    more = f", and also {', '.join(marks[:4])}{' …' * (len(marks) > 4)}" if marks else ""
    return f" Blanks, NA and None were read as missing{more}." if domains else ""


def proposal(name: str, values: Iterable[str]) -> Proposal:
    """Return a default for a column, taken from the data and therefore marked `public=False`.

    Few distinct values are categories in natural order; more than MOST_NUMBERS numbers are cut at round numbers about
    their quartiles, and a few texts among them, such as "n/a", stand for missing values. Missing values, where there
    are any, become a state of their own. A column is not to be used where each record has another value, as identifiers
    have; nor is one without values, and text with more than MAX_STATES distinct values, which have no domain.
    """
    series = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype="str")
    return counted_proposal(name, series.value_counts(dropna=False))


def counted_proposal(name: str, counted: "pd.Series") -> Proposal:
    """Return the proposal for a column with counts of its distinct values (the index), as from an engine.

    A column with MOST_VALUES distinct texts or more is reported as having too many.
    """
    texts = pd.Series(counted.index, dtype="str").fillna("").str.strip()
    present = ~is_missing(texts)
    if not present.any():
        return Proposal(name, reason=f"Column {brief(name)} has no values. Leave it out.")
    records = pd.Series(counted.to_numpy(dtype=np.int64)[present]).groupby(texts[present].to_numpy()).sum()
    distinct = [str(text) for text in records.index]
    numbers = numbers_in(pd.Series(distinct, dtype="object"))
    missing = None if present.all() else MISSING
    is_number = np.isfinite(numbers)
    try:
        if is_number.sum() > MOST_NUMBERS and _are_marks(records[~is_number], int(records.sum())):
            points, marks = _quantiles(numbers[is_number], records.to_numpy()[is_number], 4), records.index[~is_number]
            domain: Categories | Cuts = Cuts(name, points, missing=missing, marks=tuple(marks))
        else:
            domain = _categories(name, distinct, numbers, missing)
    except InputError as error:
        return Proposal(name, reason=str(error))
    is_measured = isinstance(domain, Cuts) and (numbers != np.round(numbers))[is_number].any()
    if is_measured or len(distinct) <= MOST_NUMBERS or (records > 1).any():
        return Proposal(name, domain)
    return Proposal(name, domain, f"Column {brief(name)} has a different value in each record, like an identifier.")


def _are_marks(texts: "pd.Series", n: int) -> bool:
    """Return whether texts among numbers, with their records, are few, and those with digits rare, as "90+" may be."""
    digits = texts[texts.index.str.contains(r"\d")]
    return len(texts) <= MOST_NUMBERS and 2 * texts.sum() <= n and 100 * digits.sum() <= n


def _categories(name: str, distinct: list[str], numbers: FloatArray, missing: str | None) -> Categories:
    if len(distinct) + (missing is not None) > MAX_STATES:
        more = " or more" if len(distinct) >= MOST_VALUES else ""
        raise InputError(
            f"Column {brief(name)} has {len(distinct):,} distinct texts{more}; the limit is {MAX_STATES}. "
            "Leave it out, or group its values first."
        )
    keys = numbers.tolist() if np.isfinite(numbers).all() else [_natural(text) for text in distinct]
    return Categories(name, tuple(text for _, text in sorted(zip(keys, distinct, strict=True))), missing=missing)


def _quantiles(numbers: FloatArray, records: IntArray, bins: int) -> tuple[float, ...]:
    low = float(numbers.min())
    # Quantiles that are values of the column: no sums that could overflow.
    order = np.argsort(numbers)
    below = np.cumsum(records[order])
    quantiles = np.unique(numbers[order][np.searchsorted(below * bins, below[-1] * np.arange(1, bins))])
    quantiles = quantiles[quantiles > low]
    points = quantiles if quantiles.size else np.sort(numbers[numbers > low])[:1]
    return _rounded(points, low, float(numbers.max())) if points.size else ()


def _rounded(points: FloatArray, low: float, high: float) -> tuple[float, ...]:
    """Return multiples of 1, 2 or 5 times a power of ten about these points, in (low, high]; else the points."""
    first, last = float(points[0]), float(points[-1])
    third = (last / 3 - first / 3) or abs(first) / 3 or 0.5
    power = math.floor(math.log10(third))
    part = next(part for part in (1, 2, 5, 10) if float(f"{part}e{power}") >= third)
    step = float(f"{part}e{power}")
    rounded = {float(f"{k * part}e{power}") for k in range(round(first / step), round(last / step) + 1)}
    return tuple(sorted(point for point in rounded if low < point <= high)) or tuple(points.tolist())


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that orders "x9" before "x10": digits by their length, then by themselves."""
    parts = re.split(r"([0-9]+)", text.casefold())
    parts[1::2] = [digits.lstrip("0") for digits in parts[1::2]]
    return tuple((i % 2, len(part) if i % 2 else 0, part) for i, part in enumerate(parts))
