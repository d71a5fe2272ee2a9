"""The texts of audits about tables, and the checks that audits share."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.trimmed import range_curve
from dpbayes.audit.report.types import AuditReport, DeltaCurve, Promising, pure_report
from dpbayes.base.text import many, numeral
from dpbayes.base.types import AnyArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.network import Network

MOST_RECORDS = 2**53

PROVED_FOR_ALL = "The value is the bound that is proved for every n."

MOST_NAMED = 6
"""The largest number of nodes or rows that a label names."""


def checked_records(n: int) -> int:
    """Return a number of records. Errors: InputError."""
    return whole_number("The number of records", n, low=0, high=MOST_RECORDS)


def require_size(own: int, n: int) -> None:
    """Check the number of records of a mechanism for tables of one size. Errors: InputError for another size."""
    if own != n:
        raise InputError(f"This mechanism is for tables of {own:,} records, not of {n:,}; audit it for {own:,}.")


def nothing_to_lose(mechanism: Promising, grid: FloatArray) -> AuditReport:
    """Return the report on tables without records: they have no neighbours."""
    flat = DeltaCurve(grid, np.zeros(len(grid)), np.zeros(len(grid)))
    scope = "A table without records has no neighbouring tables."
    return pure_report(mechanism, exact=0.0, at_least=0.0, curve=flat, worst=None, scope=scope)


def all_tables_text(n: int) -> str:
    """Return a sentence on the tables over which the maximum was taken."""
    return f"The maximum is over all tables of {many(n, 'record')} and all their neighbours."


def dots(length: int) -> str:
    """Return the end of a list that names only the first of so many."""
    return ", …" if length > MOST_NAMED else ""


def opposites(network: Network, n: int) -> tuple[str, str]:
    """Return two tables whose odd records differ in every column."""
    odd, common = (_record_text(network, place) for place in (0, -1))
    return f"{n - 1:,} × ({common}) and 1 × ({odd})", f"{n:,} × ({common})"


def replacement(n: int, differs: str) -> tuple[str, str]:
    """Return two tables before and after the replacement of one record, of which only the difference is described."""
    return f"{n:,} records, where {differs}", f"the same {n:,} records after the replacement"


def _record_text(network: Network, place: int) -> str:
    pairs = [f"{name}={states[place]}" for name, states in zip(network.names, network.states, strict=True)]
    return ", ".join(pairs[:MOST_NAMED]) + dots(len(pairs))


def nodes_text(network: Network, differs: IntArray) -> str:
    """Return the nodes that are marked 1 in `differs` (|I|,), only the first of many by name."""
    names = [name for name, marked in zip(network.names, differs.tolist(), strict=True) if marked]
    if len(names) == len(network.names):
        return "every column"
    return ", ".join(names[:MOST_NAMED]) + dots(len(names))


def rows_texts(network: Network, *values: AnyArray) -> tuple[str, ...]:
    """Return every array's values (K,), in those rows only in which the first two arrays differ."""
    rows = np.unique(network.row_of_cell[values[0] != values[1]]).tolist()
    dots = "; …" if len(rows) > MOST_NAMED else ""

    def text(value: AnyArray, row: int) -> str:
        cells = value[network.cells_of_row(row)].tolist()
        return f"{network.row_label(row)}: {', '.join(numeral(cell, 4) for cell in cells)}"

    return tuple("; ".join(text(value, row) for row in rows[:MOST_NAMED]) + dots for value in values)


def counts_text(counts: ArrayLike) -> str:
    """Return the counts of a table."""
    return ", ".join(f"{int(c):,}" for c in np.asarray(counts).tolist())


# Curves that several audits share


def range_only_curve(grid: FloatArray, *, width: float, most: float) -> DeltaCurve:
    """Return the largest curve that the range of a loss allows; nothing is known from below."""
    return DeltaCurve(grid, range_curve(grid, width=width, most=most), np.zeros(len(grid)))


def noise_curve(upper: LaplaceNoise, lower: LaplaceNoise, grid: FloatArray) -> DeltaCurve:
    """Return the curve between two laws of noise, which are the same where it is exact."""
    low, high = lower.deltas(grid)
    return DeltaCurve(grid, upper.deltas(grid)[1] if upper is not lower else high, low)
