"""From columns of text to public domains (categories, groups, cut points) and to tables of codes."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.text import many, shortest
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, brief, distinct_names, finite_number, type_checked
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import MAX_STATES

MISSING_TEXTS = frozenset({"", "NA", "N/A", "NaN", "nan", "?", "null", "None"})
"""Texts that stand for a missing value, unless the column declares them as a state."""

MAX_LETTERS = 500
"""Most letters of a state: every picture and table of the page repeats it."""

MISSING = "missing"
"""The usual name of a state of missing values alone."""


def _domain(column: "Column") -> tuple[str, ...]:
    """The states of the encoded column, including the one of missing values alone if the column has one."""
    if column.missing is None or column.missing in column.states:
        return column.states
    return (*column.states, column.missing)


@type_checked
@dataclass(frozen=True)
class Categories:
    """A column whose values are its states, or are gathered in groups, its states.

    Args:
        name: The column.
        states: Its states, in order.
        values: The values of each state; none if every state is its own value.
        public: False if the states were read from the data, which leaks information.
        missing: The state of missing values: one of the states, or another name, which is then a state of their own,
            the last one; None for a column without missing values, where a value that is missing all the same counts
            as the first state. It depends on one record alone, so neighbouring tables stay neighbouring.

    Raises:
        InputError: States are repeated, empty or too many, or a value is in two groups.

    Example:
        >>> dp.Categories("rain", ("no", "yes"), public=True).domain
        ('no', 'yes')
    """

    name: str
    states: tuple[str, ...]
    _: KW_ONLY
    values: tuple[tuple[str, ...], ...] = ()
    public: bool = False
    missing: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(self.states))
        distinct_names("value", (v for own in self.values for v in own), of=self.name)
        if self.values and len(self.values) != len(self.states):
            raise InputError(
                f"Column {brief(self.name)} has {len(self.states)} states, but the values of {len(self.values)}."
            )
        _check(self)

    domain = cached_property(_domain)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The values of each state."""
        return self.values or tuple((state,) for state in self.states)

    def codes_of(self, values: "pd.Series") -> IntArray:
        """Return the code of each of these distinct values; -1 for values of no state."""
        codes = {value: code for code, own in enumerate(self.groups) for value in own}
        # As a value stands; without the space around it if that fails; and TRUE or true, as files have them, as True.
        spelled = str.capitalize if set(self.states) == {str(False), str(True)} else str
        return np.array([codes.get(v, codes.get(spelled(v.strip()), -1)) for v in values.tolist()], dtype=np.int64)


@dataclass(frozen=True)
class Cuts:
    """A column of numbers cut at k increasing points into k + 1 bins; a point belongs to the bin above it.

    `public` is False when the points were taken from the data: that leaks. `limits`, if declared, are the least and the
    largest number; other values count in the first and the last bin. The numbers `codes`, such as -1, and the texts
    `marks`, such as "n/a", stand for missing values, which are then a state of their own.
    """

    name: str
    points: tuple[float, ...]
    _: KW_ONLY
    public: bool = False
    missing: str | None = None
    limits: tuple[float, float] | None = None
    codes: tuple[float, ...] = ()
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        what, largest = f"A cut point or a code of {brief(self.name)}", sys.float_info.max
        points, limits, codes = (
            tuple(finite_number(what, point, low=-largest, high=largest) for point in given)
            for given in (self.points, self.limits or (), self.codes)
        )
        if not points:
            raise InputError(f"Column {brief(self.name)} needs at least one cut point.")
        for low, high in pairwise((limits[0], *points, limits[1]) if limits else points):
            if low >= high:
                steps = f"{shortest(high)} follows {shortest(low)}"
                raise InputError(f"The cut points of {brief(self.name)} must increase; {steps}.")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "limits", limits or None)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "missing", self.missing or (MISSING if codes or self.marks else None))
        if (self.missing or "").strip(" +-").replace(".", "", 1).isdigit():
            raise InputError(
                f'missing = "{self.missing}" of {brief(self.name)} is a text. Write a number without quotation marks: '
                f"missing = {self.missing}."
            )
        for state in self.states:
            if state != self.missing and state.replace(" ", "") == (self.missing or "").replace(" ", ""):
                raise InputError(f"missing = {brief(self.missing)} is not quite a bin. Write {brief(state)}.")
        _check(self)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The bins, for example "< 25", "25 to < 40", ">= 40"."""
        texts = [shortest(point) for point in self.points]
        between = [f"{low} to < {high}" for low, high in pairwise(texts)]
        return (f"< {texts[0]}", *between, f">= {texts[-1]}")

    domain = cached_property(_domain)

    def codes_of(self, values: "pd.Series") -> IntArray:
        """Return the bin of each of these distinct values; -1 for texts that are not finite numbers."""
        numbers = numbers_in(values)
        bins = np.searchsorted(np.array(self.points), numbers, side="right")
        is_mark = np.array([value.strip() in self.marks for value in values.tolist()], dtype=bool)
        bins[np.isin(numbers, self.codes) | is_mark] = code_of_missing(self)
        return np.where(np.isfinite(numbers) | is_mark, bins, -1).astype(np.int64)


Column = Categories | Cuts


def halves(column: Column) -> Column:
    """Return a column whose states are gathered in two groups, in their order; one of two states is not changed.

    A missing value goes to the group of its state, and to the second group if it had a state of its own. The groups
    depend on the domain alone.
    """
    if len(column.domain) <= 2:
        return column
    if isinstance(column, Cuts):
        low = len(column.points) // 2 + 1
        halved: Column = replace(column, points=(column.points[low - 1],))
    else:
        low, groups = len(column.states) // 2, column.groups
        labels = _joined(column.states[:low]), _joined(column.states[low:])
        values = tuple(tuple(chain.from_iterable(part)) for part in (groups[:low], groups[low:]))
        halved = Categories(column.name, labels, values=values, public=column.public)
    return halved if column.missing is None else replace(halved, missing=halved.states[code_of_missing(column) >= low])


def _joined(states: Sequence[str]) -> str:
    return " or ".join(states) if len(states) <= 2 else f"{states[0]} to {states[-1]}"


# Encoding


def encode(frame: "pd.DataFrame", columns: Sequence[Column]) -> Dataset:
    """Turn the named columns of a frame of text into a table of codes over their declared domains.

    The code of a record depends on this record and the declarations alone, and no record is left out: tables that
    differ in one record are encoded as tables that differ in at most one. Errors: InputError for a column that is not
    in the frame, and for a value outside its domain, with the first such record.
    """
    names = distinct_names("column", (column.name for column in columns))
    if not names:
        raise InputError('Choose at least one column, or declare it: {"smoker": ["no", "yes"]}.')
    codes = np.zeros((len(frame), len(names)), dtype=np.uint8, order="F")
    for j, column in enumerate(columns):
        if column.name not in frame.columns:
            present = brief(", ".join(frame.columns), 200)
            raise InputError(f"The file has no column {brief(column.name)}; its columns are {present}.")
        states = encoded(column, frame[column.name])
        if (records := np.flatnonzero(states == OUTSIDE)).size:
            value = str(frame[column.name].iloc[records[0]])
            rule = _rule(column, value)
            raise InputError(f"Column {brief(column.name)} has {brief(value)} in record {records[0] + 1}, {rule}.")
        codes[:, j] = states
    return Dataset(names, tuple(column.domain for column in columns), codes)


OUTSIDE = -1
"""In the place of a code: the value is none that was declared."""


def encoded(column: Column, values: "pd.Series") -> IntArray:
    """Return the codes (n,) of texts, OUTSIDE where a value has none."""
    index, distinct = pd.factorize(values, use_na_sentinel=True)
    texts, missing = pd.Series(distinct, dtype="str"), code_of_missing(column)
    codes = column.codes_of(texts)
    codes[codes < 0] = np.where(is_missing(texts), missing, OUTSIDE)[codes < 0]
    return np.append(codes, missing)[index]


def _rule(column: Column, value: str) -> str:
    if isinstance(column, Cuts):
        return f"which is not a number. If it stands for a missing value, declare marks = [{brief(value)}]"
    if column.values:
        return "which is in none of its groups"
    beside = f"it beside {brief(', '.join(column.states))}, or bins of numbers: dp.cuts(0, 30, 120)"
    return f"which is not a declared state. Declare {'[False, True]' if value in ('False', 'True') else beside}"


def code_of_missing(column: Column) -> int:
    """Return the code of a missing value."""
    return column.domain.index(column.missing) if column.missing is not None else 0


def missing_values(column: Column, values: "pd.Series") -> int:
    """Return the number of texts that stand for a missing value and are not declared as a state."""
    index, distinct = pd.factorize(values)
    texts = pd.Series(distinct, dtype="str")
    return int(((column.codes_of(texts) < 0) & is_missing(texts))[index].sum())


def remarks(frame: "pd.DataFrame", columns: Iterable[Column]) -> Iterator[str]:
    """Yield a sentence for each column with undeclared missing values, and for each with numbers outside its limits."""
    for column in columns:
        values = frame[column.name].fillna("")
        if column.missing is None and (number := missing_values(column, values)):
            counted = f"{brief(column.name)} has {many(number, 'missing value')}, counted as {brief(column.states[0])}"
            yield f"Column {counted}. For a state of their own, declare None, or missing = true in a file."
        if isinstance(column, Cuts) and column.limits is not None:
            (low, high), numbers = column.limits, numbers_in(values)
            outside = np.flatnonzero(((numbers < low) | (numbers > high)) & ~np.isin(numbers, column.codes))
            if outside.size:
                counted = f"{many(outside.size, 'number')} outside {shortest(low)} to {shortest(high)}"
                texts = map(shortest, numbers[outside].tolist())
                code = next((x for x in texts if not x.strip("-9") or x in ("-1", "0")), "")
                cure = f". If {code} is a code for missing values, declare missing={code}" if code else ""
                yield f"Column {brief(column.name)} has {counted}, counted in the first or the last bin{cure}."


def _check(column: Column) -> None:
    distinct_names("state", column.domain, of=column.name)
    if not 1 <= len(column.domain) <= MAX_STATES:
        count = len(column.domain)
        raise InputError(f"Column {brief(column.name)} has {count:,} states; it needs 1 to {MAX_STATES}.")
    longest = max(column.domain, key=len)
    if len(longest) > MAX_LETTERS:
        size = f"{len(longest):,} letters; the limit is {MAX_LETTERS}"
        raise InputError(f"Column {brief(column.name)} has the state {brief(longest)} of {size}.")


def is_missing(values: "pd.Series") -> BoolArray:
    """Return which of these texts stand for a missing value."""
    return np.array([value.strip() in MISSING_TEXTS for value in values.tolist()], dtype=bool)


def numbers_in(values: "pd.Series") -> FloatArray:
    """Return the values as numbers, NaN for texts that are none."""
    numbers = np.array(pd.to_numeric(values, errors="coerce"), dtype=np.float64)
    # pandas before 3.1 may miss the nearest double by one place, and so the bin of a value at a cut point.
    texts, finite = values.tolist(), np.flatnonzero(np.isfinite(numbers))
    numbers[finite] = [float(texts[k]) for k in finite.tolist()]
    return numbers
