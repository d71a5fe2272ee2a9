"""Records for regression: a synthetic census of any size, and columns of a person's table with public bounds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.model.regression import MOST_BOUND, NumericColumn, PublicBounds, RegressionData

MOST_RECORDS = 1_000_000
MOST_FEATURES = 100
TARGET = "income"

_NUMBERS = {"schooling": (0.0, 20.0), "age": (18.0, 98.0), "hours": (0.0, 80.0), "household": (1.0, 9.0)}
_FLAGS = {
    "employed": (0.6, 0.3, -0.3),
    "married": (0.0, 0.2, 0.6),
    "woman": (0.0, 0.0, 0.0),
    "migrant": (-1.8, -0.2, -0.2),
    "disability": (-1.6, -0.3, 0.6),
    "children": (-0.6, 0.0, -0.5),
    "owner": (0.4, 0.5, 0.8),
    "urban": (0.9, 0.3, -0.1),
    "veteran": (-2.0, 0.0, 0.6),
    "divorced": (-2.0, -0.1, 0.3),
}
"""For each flag: intercept, and slopes on schooling and age, of its log-odds."""

CENSUS_FEATURES = (*_NUMBERS, *_FLAGS)
CENSUS_BOUNDS = PublicBounds(
    dict(_NUMBERS) | dict.fromkeys(_FLAGS, (0.0, 1.0)) | {TARGET: (0.0, 100_000.0)},
)


def census_like(n: int, *, features: int = len(CENSUS_FEATURES), rng: np.random.Generator) -> RegressionData:
    """Return n synthetic adults: the first `features` of CENSUS_FEATURES, and annual income, within CENSUS_BOUNDS.

    The records replace the census extract of [Zhang16] Section 5.2 and have its size. Most columns depend on schooling
    and age; income is log-normal around them, and less unequal than real incomes. The rows do not depend on `features`.
    Errors: InputError.
    """
    n = whole_number("The number of records", n, low=2, high=MOST_RECORDS)
    d = whole_number("The number of features", features, low=1, high=len(CENSUS_FEATURES))
    school, age = rng.standard_normal((2, n))
    flags = {
        name: (rng.random(n) < 1 / (1 + np.exp(-(at + by_school * school + by_age * age)))).astype(float)
        for name, (at, by_school, by_age) in _FLAGS.items()
    }
    hours = 38 * flags["employed"] + 9 * np.abs(rng.standard_normal(n))
    household = 1 + rng.poisson(0.8 + flags["married"] + flags["children"], n)
    columns = {"schooling": 12 + 3 * school, "age": 46 + 16 * age, "hours": hours, "household": household} | flags
    gain = 0.33 * school + 0.12 * age + 0.022 * (hours - 30) + 0.15 * flags["married"] - 0.25 * flags["woman"]
    gain += 0.15 * flags["owner"] - 0.15 * flags["migrant"] - 0.2 * flags["disability"]
    log_income = 10.77 + 0.32 * gain + 0.148 * rng.standard_normal(n)
    values = np.column_stack([columns[name] for name in CENSUS_FEATURES[:d]])
    return RegressionData(values, np.exp(log_income), (*CENSUS_FEATURES[:d], TARGET))


def stated_column(name: str, low: object, high: object, if_missing: object = None) -> NumericColumn:
    """Return a column as a person states it. Errors: InputError for texts, and for bounds in the wrong order."""
    lowest, highest = (
        finite_number(f"The {word} value of {brief(name)}", value, low=-MOST_BOUND, high=MOST_BOUND)
        for word, value in (("lowest", low), ("highest", high))
    )
    if lowest >= highest:
        raise InputError(
            f"The lowest value of {brief(name)} must be below the highest; {numeral(lowest, 6)} is not below "
            f"{numeral(highest, 6)}."
        )
    if if_missing is None:
        return NumericColumn(name, lowest, highest)
    stand_in = finite_number(f"The replacement value of {brief(name)}", if_missing, low=lowest, high=highest)
    return NumericColumn(name, lowest, highest, stand_in)


@dataclass(frozen=True)
class OwnColumns:
    """The used columns of a person's own table, with the stated bounds.

    Errors: InputError for more than MOST_FEATURES features.
    """

    features: tuple[NumericColumn, ...]
    target: NumericColumn

    def __post_init__(self) -> None:
        if len(self.features) > MOST_FEATURES:
            raise InputError(f"{len(self.features):,} features are too many; use at most {MOST_FEATURES}.")

    @property
    def text(self) -> str:
        """The columns as JSON, the target last: name to [lowest, highest] or [lowest, highest, if missing]."""
        stated = {
            column.name: [column.low, column.high] + ([] if column.if_missing is None else [column.if_missing])
            for column in (*self.features, self.target)
        }
        return json.dumps(stated, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "OwnColumns":
        """Read back `text`. Errors: InputError."""
        try:
            stated = json.loads(text)
        except (ValueError, RecursionError):
            stated = None
        lists = list(stated.values()) if isinstance(stated, dict) else []
        if not lists or any(not isinstance(values, list) or len(values) not in (2, 3) for values in lists):
            raise InputError(
                'The columns must be JSON such as {"age": [18, 90], "pay": [0, 500]}. Each column needs its lowest and '
                "highest value. A third number replaces missing values. The last column is the target."
            )
        *features, target = (stated_column(name, *values) for name, values in stated.items())
        return cls(tuple(features), target)


def numeric_table(
    frame: "pd.DataFrame", features: Sequence[NumericColumn], target: NumericColumn
) -> tuple[RegressionData, PublicBounds]:
    """Read columns of text as numbers; the person states public bounds and replacement values.

    Errors: InputError for no feature, a repeated column, text that is not a number, and missing values without a
    replacement.
    """
    if not features:
        raise InputError("A regression needs at least one feature. Tick one.")
    columns = [*features, target]
    values = [_numbers(frame, column) for column in columns]
    names = tuple(column.name for column in columns)
    data = RegressionData(np.column_stack(values[:-1]), values[-1], names)
    return data, PublicBounds({column.name: (column.low, column.high) for column in columns})


def is_numeric(column: "pd.Series") -> bool:
    """Whether every present value is a number, and there is at least one."""
    numbers = pd.to_numeric(column, errors="coerce")
    present = ~_missing(column)
    return bool(present.any() and np.isfinite(numbers[present]).all())


def _numbers(frame: "pd.DataFrame", column: NumericColumn) -> FloatArray:
    if column.name not in frame.columns:
        raise InputError(f"The table has no column {brief(column.name)}.")
    texts = frame[column.name]
    numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64, copy=True)
    gaps = _missing(texts).to_numpy()
    bad = ~gaps & ~np.isfinite(numbers)
    if bad.any():
        value = brief(texts.to_numpy()[int(bad.argmax())])
        raise InputError(f"Column {brief(column.name)} has {value}, which is not a finite number. Leave it out.")
    if gaps.any():
        if column.if_missing is None:
            raise InputError(
                f"Column {brief(column.name)} has {int(gaps.sum()):,} missing values. State a number that replaces "
                "them, or leave the column out."
            )
        numbers[gaps] = column.if_missing
    return numbers


def _missing(column: "pd.Series") -> "pd.Series[bool]":
    return column.isna() | (column.astype(str).str.strip() == "")
