"""The Gram matrix of a table in an engine: the sufficient statistics of a linear regression.

The engine clips every column to its public bounds and maps it to [-1, 1], as `scaled` does in memory. It returns only
sums of products, (d + 2)^2 numbers for every n. The result equals that in memory up to the rounding of sums. Numbers of
single precision are an exception: an engine uses their stored value, and a file reader their decimal text.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.steps import slices
from dpbayes.base.text import many
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.regression import GramMatrix, NumericColumn, PublicBounds
from dpbayes.sources.engines.terms import as_whole

if TYPE_CHECKING:
    import ibis.expr.types as ir

LARGEST = 1.7976931348623157e308
"""The largest finite number."""

SMALLEST = 1e-150
"""Smaller numbers in [-1, 1] are replaced by zero. Their products would underflow, which some engines refuse."""

MOST_SUMS = 400
"""The largest number of sums in one statement. Engines limit the number of columns; wide tables need several."""


@dataclass(frozen=True)
class UnitMapping:
    """The mapping of a numeric column from its public bounds to [-1, 1]: (v - middle)/half."""

    column: NumericColumn

    @property
    def middle(self) -> float:
        return self.column.high / 2 + self.column.low / 2

    @property
    def half(self) -> float:
        return self.column.high / 2 - self.column.low / 2

    @property
    def if_missing(self) -> float:
        """The mapped replacement of a missing value; 0 without a replacement, because such a table is refused."""
        stand_in = self.column.if_missing
        return 0.0 if stand_in is None else float(np.clip((stand_in - self.middle) / self.half, -1.0, 1.0))

    def mapped(self, values: FloatArray, missing: BoolArray | None) -> tuple[FloatArray, IntArray]:
        """Return mapped values (n,), and the numbers of missing, infinite and clipped values: (3,)."""
        present = np.isfinite(values)
        if missing is not None:
            present &= ~missing
        is_clipped = present & ((values < self.column.low) | (values > self.column.high))
        missing_too = 0 if missing is None else int(missing.sum())
        tells = np.array([missing_too, len(values) - int(present.sum()) - missing_too, int(is_clipped.sum())])
        clipped = np.clip(np.where(present, values, self.middle), self.column.low, self.column.high)
        unit = np.clip((clipped - self.middle) / self.half, -1.0, 1.0)
        unit[np.abs(unit) < SMALLEST] = 0.0
        if missing is not None:
            unit[missing] = self.if_missing
        return unit, tells


@dataclass(frozen=True, eq=False)
class Products:
    """The sums of one scan over n records of D columns mapped to [-1, 1], the target last.

    `products` (D + 1, D + 1) are those of the columns and a constant 1. `tells` (3, D) are the numbers of missing,
    infinite and clipped values.
    """

    products: FloatArray
    tells: IntArray

    def __add__(self, other: "Products") -> "Products":
        return Products(self.products + other.products, self.tells + other.tells)

    @classmethod
    def nothing(cls, columns: int) -> "Products":
        return cls(np.zeros((columns + 1,) * 2), np.zeros((3, columns), dtype=np.int64))


def require_mappings(columns: Sequence[NumericColumn]) -> tuple[UnitMapping, ...]:
    """Return the mappings of columns. Errors: InputError without a feature, for a repeated column, and bad bounds."""
    if len(columns) < 2:
        raise InputError("A regression needs at least one feature and a target.")
    if len({column.name for column in columns}) < len(columns):
        raise InputError("A column is used twice. Use each column once, as a feature or as the target.")
    PublicBounds({column.name: (column.low, column.high) for column in columns})
    return tuple(map(UnitMapping, columns))


def no_numbers(name: str, kind: object) -> InputError:
    """Return the error for a column that is not numeric."""
    return InputError(
        f"A regression needs numeric columns, but {brief(name)} has type {brief(kind)} in the engine. Leave it out, or "
        "create a view that casts it."
    )


def scaled_gram(columns: Sequence[NumericColumn], scan: Products) -> GramMatrix:
    """Return the Gram matrix for the sums of a scan; the features are divided by sqrt(d), as in `scaled`.

    Errors: InputError for missing values without a replacement, and for infinite numbers.
    """
    missing, not_finite, clipped = scan.tells.tolist()
    for column, gaps, wrong in zip(columns, missing, not_finite, strict=True):
        if wrong:
            raise InputError(
                f"Column {brief(column.name)} has infinite values or NaN in {many(wrong, 'record')}. Leave it out, "
                "or create a view without them."
            )
        if gaps and column.if_missing is None:
            raise InputError(
                f"Column {brief(column.name)} has {gaps:,} missing values. State a number that replaces them, "
                "or leave the column out."
            )
    shares = np.ones(len(columns) + 1)
    shares[:-2] = 1 / np.sqrt(len(columns) - 1)
    return GramMatrix(scan.products * np.outer(shares, shares), tuple(c.name for c in columns), sum(clipped))


# Expressions of ibis, for engines that compute the sums


def mapped_columns(table: "ir.Table", mappings: Sequence[UnitMapping]) -> "ir.Table":
    """Return the columns mapped to [-1, 1] as `u0`, ..., with indicators of missing, infinite and clipped values.

    The indicators are the columns `m0`, `w0`, `c0`, ... with values 1 or 0. Errors: InputError for a column that is not
    numeric.
    """
    parts: dict[str, Any] = {}
    for k, mapping in enumerate(mappings):
        parts |= _parts(table[mapping.column.name], mapping, k)
    return table.select(**parts)


def is_number(kind: Any) -> bool:
    """Whether a type of ibis is numeric."""
    return bool(kind.is_integer() or kind.is_floating() or kind.is_decimal())


def statements(mapped: "ir.Table", columns: int) -> Iterator["ir.Table"]:
    """Yield the statements of all sums, each with the number of records."""
    sums: dict[str, Any] = {}
    for i, j in itertools.combinations_with_replacement(range(columns), 2):
        sums[f"p{i}_{j}"] = (mapped[f"u{i}"] * mapped[f"u{j}"]).sum()
    for k in range(columns):
        sums |= {f"{sign}{k}": mapped[f"{sign}{k}"].sum() for sign in "umwc"}
    names = list(sums)
    for part in slices(len(names), MOST_SUMS):
        yield mapped.aggregate(**{name: sums[name] for name in names[part]}, records=mapped.count())


def products_of(answers: Mapping[str, Any], n: int, columns: int) -> Products:
    """Return the products from sums by name; NULL, the sum of no records, is 0."""

    def numbers(names: Sequence[str]) -> Any:
        return [0 if answers[name] is None else answers[name] for name in names]

    products = np.empty((columns + 1, columns + 1))
    upper = np.triu_indices(columns)
    products[upper] = numbers([f"p{i}_{j}" for i, j in zip(*map(np.ndarray.tolist, upper), strict=True)])
    products[upper[::-1]] = products[upper]
    products[-1, :-1] = products[:-1, -1] = numbers([f"u{k}" for k in range(columns)])
    products[-1, -1] = n
    tells = [numbers([f"{sign}{k}" for k in range(columns)]) for sign in "mwc"]
    return Products(products, np.array(tells, dtype=np.int64))


def _parts(value: Any, mapping: UnitMapping, k: int) -> dict[str, Any]:
    import ibis

    kind, column = value.type(), mapping.column
    if not is_number(kind):
        raise no_numbers(column.name, getattr(kind, "raw_type", kind))
    number = value if kind.is_float64() else value.cast("float64")
    low, high = ibis.literal(column.low, "float64"), ibis.literal(column.high, "float64")
    missing, wrong, finite = value.isnull(), ibis.literal(value=False), value.notnull()
    if not kind.is_integer():
        nan = ibis.coalesce(number.isnan(), ibis.literal(value=False))
        finite = number.between(-LARGEST, LARGEST)
        # For Spark, ibis treats NaN as NULL.
        missing, wrong = missing & ~nan, nan | (value.notnull() & ~finite)
    distance = number - mapping.middle
    unit = ibis.cases(
        (missing, mapping.if_missing),
        (wrong, 0.0),
        (number <= low, -1.0),
        (number >= high, 1.0),
        (distance.abs() <= mapping.half * SMALLEST, 0.0),
        else_=distance / mapping.half,
    )
    clipped = value.notnull() & finite & ((number < low) | (number > high))
    return {
        f"u{k}": unit.cast("float64"),
        f"m{k}": as_whole(missing),
        f"w{k}": as_whole(wrong),
        f"c{k}": as_whole(clipped),
    }
