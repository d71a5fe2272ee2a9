"""Sums of products inside an engine, as expressions of ibis: what a regression needs of a table."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.steps import slices
from dpbayes.sources.engines.gram import LARGEST, SMALLEST, Products, UnitMapping, no_numbers
from dpbayes.sources.engines.terms import as_whole

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_SUMS = 400
"""Sums of one statement; engines have limits on columns, and wide tables take several statements."""


def mapped_columns(table: "ir.Table", mappings: Sequence[UnitMapping]) -> "ir.Table":
    """Return the columns mapped to [-1, 1] as `u0` ..., and as `m0`, `w0`, `c0` ... what they tell, 1 or 0 each.

    Errors: InputError for a column that holds no numbers.
    """
    parts: dict[str, Any] = {}
    for k, mapping in enumerate(mappings):
        parts |= _parts(table[mapping.column.name], mapping, k)
    return table.select(**parts)


def is_number(kind: Any) -> bool:
    """Whether a type of ibis is one of numbers."""
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
    """Return what the sums say, by their names; NULL, of no record, is 0."""

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
        # Of Spark, ibis takes NaN for NULL.
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
