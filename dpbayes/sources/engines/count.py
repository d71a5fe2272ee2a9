"""The counts of a network from one statement of ibis: a union of one GROUP BY for each set of families.

The engine groups by the values themselves. It returns each combination of values with its number of records, and the
functions for file readers code the values, so a table has the same counts in an engine and in a file.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.libraries import pa, pd
from dpbayes.base.steps import slices
from dpbayes.base.text import many
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.sources.columns import OUTSIDE, Column, Cuts, code_of_missing, encoded
from dpbayes.sources.engines.connect import Backend

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_CELLS = 1 << 12
"""The largest number of joint cells of a set of families, unless a single family has more."""

MOST_SETS = 24
"""The largest number of sets in one statement. A wide network needs several statements, in one snapshot if possible."""

MOST_ANSWERS = 1 << 16
"""The largest number of combinations of values that a statement returns for a set, beside its declared cells."""

LARGEST = 1.7976931348623157e308
"""The largest finite number."""


@dataclass(frozen=True, eq=False)
class Group:
    """The answer for a set of columns: by column, the code of each combination (rows,), and its records."""

    codes: Mapping[str, IntArray]
    records: IntArray


def counts_in(connection: Backend, table: "ir.Table", network: Network, columns: Sequence[Column]) -> Counts:
    """Count a table for a network over some of its declared columns.

    As for a table in memory, a missing value counts as the state that its column declares, and an undeclared value of
    any column is refused.

    Errors: InputError for a missing column, a type that cannot be compared, an undeclared value, and a table that
    changes during the count.
    """
    by_name = {column.name: column for column in columns}
    require_comparable(connection, table, columns)
    sets = column_sets(network, list(by_name))
    groups = _groups(connection, table, sets, by_name)
    _refuse_undeclared(groups)
    _require_one_state(groups)
    values = np.zeros(network.cell_count, dtype=np.int64)
    for node, family in enumerate(network.families):
        names = [network.names[j] for j in family]
        group = next(group for group in groups if set(names) <= group.codes.keys())
        cards = [int(network.cards[j]) for j in family]
        cells = np.ravel_multi_index([group.codes[name] for name in names], cards)
        counted = np.bincount(cells, group.records, minlength=math.prod(cards))  # exact up to 2^53 records
        values[network.cell_offsets[node] : network.cell_offsets[node + 1]] = counted
    return Counts(network, values, int(groups[0].records.sum()))


def column_sets(network: Network, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return sets of columns such that each family is in one, and each other column is in a set of its own.

    Families are packed in decreasing order of size, each into the set that grows least.
    """
    sizes = dict(zip(network.names, network.cards.tolist(), strict=True))

    def cells(names: set[str]) -> int:
        return math.prod(sizes[name] for name in names)

    families = [{network.names[j] for j in family} for family in network.families]
    packed: list[set[str]] = []
    for family in sorted(families, key=cells, reverse=True):
        fits = [own for own in packed if family <= own or cells(own | family) <= MOST_CELLS]
        if fits:
            min(fits, key=lambda own: cells(own | family) / cells(own)).update(family)
        else:
            packed.append(set(family))
    others = [(name,) for name in columns if name not in sizes]
    return [tuple(name for name in columns if name in own) for own in packed] + others


# Values in the engine


def require_comparable(connection: Backend, table: "ir.Table", columns: Sequence[Column]) -> None:
    """Check the types of columns. Errors: InputError, also for text whose collation treats other letters as equal."""
    import ibis

    kinds = table.schema()
    for column in columns:
        if column.name not in kinds:
            raise InputError(f"The table has no column {brief(column.name)}.")
        kind = kinds[column.name]
        if isinstance(column, Cuts) and not kind.is_numeric():
            raise InputError(
                f"The cut points of {brief(column.name)} need a numeric column, but its type in the engine is "
                f"{brief(kind)}. Create a view that casts it."
            )
        if kind.is_nested() or kind.is_binary() or (kind.is_temporal() and not kind.is_date()):
            raise _incomparable(column.name, kind)
    texts = [column.name for column in columns if kinds[column.name].is_string()]
    nothing = table.filter(ibis.literal(value=False))
    for part in slices(len(texts), MOST_SETS):
        folds = {f"c{k}": _folds(nothing[name]) for k, name in enumerate(texts[part])}
        answer = connection.to_pyarrow(nothing.aggregate(**folds)).to_pylist()[0]
        for k, name in enumerate(texts[part]):
            if answer[f"c{k}"]:
                raise _incomparable(name, "text whose collation treats different letters as equal")


def _folds(text: Any) -> "ir.BooleanValue":
    """Return whether a column's comparison treats different letters as equal."""
    return (text.max().fill_null("a") == "A") | (text.max().fill_null("a") == "á")


def _incomparable(name: str, kind: object) -> InputError:
    return InputError(
        f"The values of {brief(name)} cannot be compared with states: the type in the engine is {brief(kind)}. Create "
        "a view that casts it to text."
    )


def _grouping_key(value: Any, column: Column) -> Any:
    """Return what a column is grouped by: the code of a column with cut points, else the value."""
    import ibis

    if not isinstance(column, Cuts):
        return value
    # The text of a number in single precision differs from its value: the nearest number to 0.7 is below 0.7.
    number = (value.cast("string") if value.type().is_float32() else value).cast("float64")
    code = sum(((number >= point).cast("int32") for point in column.points), start=ibis.literal(0, "int32"))
    is_finite = number.between(-LARGEST, LARGEST)
    is_missing = number.isnull() | number.isnan() | number.isin(column.codes)
    return ibis.cases((is_missing, ibis.null("int32")), (is_finite, code), else_=OUTSIDE)


def _counted(table: "ir.Table", columns: Sequence[Column], number: int, width: int) -> "ir.Table":
    """Return a set's combinations of values as text with their records, in the form that all sets have."""
    import ibis

    keys = {f"v{k}": _grouping_key(table[column.name], column) for k, column in enumerate(columns)}
    grouped = table.select(**keys).group_by(list(keys)).aggregate(records=lambda rows: rows.count())
    texts = {name: grouped[name].cast("string") for name in keys}
    empty = {f"v{k}": ibis.null("string") for k in range(len(keys), width)}
    first = grouped.limit(_most_answers(columns))
    numbered: ir.Table = first.select(arm=ibis.literal(number, "int32"), **texts, **empty, records="records")
    return numbered


def _most_answers(columns: Sequence[Column]) -> int:
    return MOST_ANSWERS + math.prod(len(column.domain) for column in columns)


# Answers


def _groups(
    connection: Backend, table: "ir.Table", sets: Sequence[tuple[str, ...]], columns: Mapping[str, Column]
) -> list[Group]:
    """Return the answers for all sets, from one statement for each MOST_SETS of them."""
    import ibis

    groups: list[Group] = []
    for part in slices(len(sets), MOST_SETS):
        own = sets[part]
        width = max(map(len, own))
        arms = [_counted(table, [columns[name] for name in names], k, width) for k, names in enumerate(own)]
        answer = connection.to_pyarrow(ibis.union(*arms, distinct=False) if len(arms) > 1 else arms[0])
        numbers = answer["arm"].to_numpy()
        groups += [_coded(answer.filter(numbers == k), names, columns, table) for k, names in enumerate(own)]
    return groups


def _coded(answer: "pa.Table", names: tuple[str, ...], columns: Mapping[str, Column], table: "ir.Table") -> Group:
    """Return the codes of an answer. Errors: InputError for a column with too many values to return them all."""
    if answer.num_rows >= _most_answers([columns[name] for name in names]):
        most = max(range(len(names)), key=lambda place: len(answer[f"v{place}"].unique()))
        raise InputError(
            f"Column {brief(names[most])} has too many different values, so most are not declared. Use cut points, or "
            "group its values in a view."
        )
    codes = {}
    for place, name in enumerate(names):
        column, texts = columns[name], answer[f"v{place}"]
        if isinstance(column, Cuts):
            codes[name] = texts.cast(pa.int64()).fill_null(code_of_missing(column)).to_numpy()
        else:
            codes[name] = encoded(column, file_texts(texts, table[name].type()))
    return Group(codes, answer["records"].to_numpy().astype(np.int64))


def file_texts(texts: "pa.ChunkedArray", kind: Any) -> "pd.Series":
    """Return values as a file reader converts them to text, "" if missing; engines write fractions differently."""
    if kind.is_nested() or kind.is_binary():
        return pd.Series(["" if value is None else str(value) for value in texts.to_pylist()], dtype="str")
    if kind.is_floating():
        dtype = pa.float32() if kind.is_float32() else pa.float64()
        texts = pa.array([None if text is None else float(text) for text in texts.to_pylist()], dtype).cast(pa.string())
    series: pd.Series = texts.cast(pa.string()).fill_null("").to_pandas()
    return series


def _refuse_undeclared(groups: Sequence[Group]) -> None:
    wrong: dict[str, int] = {}
    for group in groups:
        for name, codes in group.codes.items():
            if records := int(group.records[codes == OUTSIDE].sum()):
                wrong[name] = records
    if wrong:
        listed = [f"{brief(name)} in {many(records, 'record')}" for name, records in list(wrong.items())[:3]]
        more = f" and {len(wrong) - 3} other columns" if len(wrong) > 3 else ""
        raise InputError(
            f"There are undeclared values in {' and '.join(listed)}{more}. Declare them, or group them with others."
        )


def _require_one_state(groups: Sequence[Group]) -> None:
    """Check that all sets have the same number of records, and agree on shared columns.

    Without snapshots, an engine may use two states of the table. Two states that agree on both cannot be detected.
    """
    seen: dict[str, list[int]] = {}
    for group in groups:
        for name, codes in group.codes.items():
            records = np.bincount(codes, group.records).astype(np.int64).tolist()
            if seen.setdefault(name, records) != records or group.records.sum() != groups[0].records.sum():
                raise InputError("The table changed during the count. Count it again.")
