"""The sufficient statistics of a linear regression of a table that is summed up where it lies: its Gram matrix.

Every column is clipped to its public bounds and mapped to [-1, 1] by the engine, as `scaled` does in memory; sums of
products travel, (d + 2)^2 numbers whatever n is. Equal to those in memory but for the rounding of sums, and for numbers
of single precision, which an engine takes as what they hold and a file's reader as what is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.text import many
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.regression import GramMatrix, NumericColumn, PublicBounds

LARGEST = 1.7976931348623157e308
"""The largest finite number."""

SMALLEST = 1e-150
"""Numbers in [-1, 1] nearer to zero are taken as zero: their products are, and some engines refuse to round so."""


@dataclass(frozen=True)
class UnitMapping:
    """How a column of numbers is mapped from its public bounds to [-1, 1]: (v - middle)/half."""

    column: NumericColumn

    @property
    def middle(self) -> float:
        return self.column.high / 2 + self.column.low / 2

    @property
    def half(self) -> float:
        return self.column.high / 2 - self.column.low / 2

    @property
    def if_missing(self) -> float:
        """What a missing value is mapped to; 0 where nothing stands in, for such a table is refused."""
        stand_in = self.column.if_missing
        return 0.0 if stand_in is None else float(np.clip((stand_in - self.middle) / self.half, -1.0, 1.0))

    def mapped(self, values: FloatArray, missing: BoolArray | None) -> tuple[FloatArray, IntArray]:
        """Return mapped values (n,), and how many are missing, are not finite, and were clipped: (3,)."""
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
    """What one scan sums up of columns mapped to [-1, 1], the target last: for D of them and n records.

    `products` (D + 1, D + 1) are those of the columns and a one; `tells` (3, D) how many values are missing, are not
    finite, and were clipped.
    """

    products: FloatArray
    tells: IntArray

    def __add__(self, other: "Products") -> "Products":
        return Products(self.products + other.products, self.tells + other.tells)

    @classmethod
    def nothing(cls, columns: int) -> "Products":
        return cls(np.zeros((columns + 1,) * 2), np.zeros((3, columns), dtype=np.int64))


def require_mappings(columns: Sequence[NumericColumn]) -> tuple[UnitMapping, ...]:
    """Return how columns are mapped. Errors: InputError for no feature, a column twice, and bounds out of order."""
    if len(columns) < 2:
        raise InputError("A regression needs at least one feature and a target.")
    if len({column.name for column in columns}) < len(columns):
        raise InputError("A column is used twice. Use each column once, as a feature or as the target.")
    PublicBounds({column.name: (column.low, column.high) for column in columns})
    return tuple(map(UnitMapping, columns))


def no_numbers(name: str, kind: object) -> InputError:
    """Return what is said of a column of another type."""
    return InputError(
        f"A regression needs numeric columns, but {brief(name)} has type {brief(kind)} in the engine. Leave it out, or "
        "create a view that casts it."
    )


def scaled_gram(columns: Sequence[NumericColumn], scan: Products) -> GramMatrix:
    """Return the Gram matrix of what was summed up: the features are divided by sqrt(d), as `scaled` divides them.

    Errors: InputError for missing values where nothing stands in, and for numbers that are not finite.
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
