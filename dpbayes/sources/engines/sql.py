"""Tables of databases and clusters, counted by one GROUP BY for each cluster of families, in one statement of ibis.

The engine maps values to codes. It returns only joint codes, each with its number of records.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.libraries import pa, pd
from dpbayes.base.steps import Work, mapped, slices
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.network import Network
from dpbayes.model.regression import GramMatrix, NumericColumn
from dpbayes.sources.columns import LEFT_OUT, Column, code_of_missing
from dpbayes.sources.engines.clusters import MOST_CODES, Cluster, add_marginals, clusters, node_marginals, strides
from dpbayes.sources.engines.engine import Field, Tally
from dpbayes.sources.engines.gram import (
    Products,
    UnitMapping,
    is_number,
    mapped_columns,
    products_of,
    require_mappings,
    scaled_gram,
    statements,
)
from dpbayes.sources.engines.session import Database, Session, Waiting, answered, in_session, located_table, waited
from dpbayes.sources.engines.terms import (
    NOT_DECLARED,
    TO_LEAVE_OUT,
    Term,
    as_whole,
    can_say_missing,
    comparable,
    is_there,
    joint_code,
    term,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_ARMS = 24
"""The largest number of clusters in one statement. A wide network needs several, in one snapshot if possible."""

MOST_CHECKED = 32
"""The largest number of columns in one sum; parsers of engines do not accept sums of hundreds of terms."""


@dataclass(frozen=True, eq=False)
class SqlTable:
    """A table that a database or a cluster counts; at most `most_codes` joint codes for each GROUP BY.

    Each method opens a connection and closes it at the end.
    """

    database: Database
    most_codes: int = MOST_CODES

    @property
    def title(self) -> str:
        return self.database.title

    def fields(self) -> tuple[Field, ...]:
        with self.database.session() as session:
            kinds = session.table().schema().items()
            return tuple(Field(str(name), str(kind), is_number(kind)) for name, kind in kinds)

    def tally(self, network: Network, columns: Sequence[Column]) -> Work[Tally]:
        """Count in statements of MOST_ARMS clusters.

        If a record with a text for a missing value must be left out, the table is scanned a second time without such
        records. A test for them in every scan would take longer than the rest of the count. Errors: InputError, also if
        the table changes during the count.
        """
        return in_session(self.database, lambda session: _tally(session, network, columns, self.most_codes))

    def gram(self, columns: Sequence[NumericColumn]) -> Work[GramMatrix]:
        """Sum products in statements of MOST_SUMS. Errors: InputError, also if the table changes during the scan."""
        mappings = require_mappings(columns)
        sums = in_session(self.database, lambda session: _products(session, mappings))
        return mapped(sums, lambda products: scaled_gram(columns, products))

    def values(self, name: str, most: int) -> "Work[pd.Series]":
        """Return up to `most` distinct values of a column as text with their records, the most frequent first."""
        return in_session(self.database, lambda session: _values(session, name, most))

    def head(self, most: int) -> "Work[pd.DataFrame]":
        """Return a few records as text, for the curator only."""
        return in_session(self.database, lambda session: _head(session, most))

    def sample(self, most: int, rng: np.random.Generator) -> "Work[pd.DataFrame]":
        """Sample records without replacement, as text, for the curator only. Errors: InputError."""
        return in_session(self.database, lambda session: _sample(session, most, rng))


# Queries in a session


def _values(session: Session, name: str, most: int) -> "Waiting[pd.Series]":
    import ibis

    table = yield from located_table(session)
    _require_column(table, name)
    grouped = _counted(table.select(value=comparable(table[name])).group_by("value"))
    frequent = grouped.order_by([ibis.desc("records"), "value"]).limit(most)
    answer = yield from answered(session, frequent, 0.0, 1.0)
    return pd.Series(answer["records"].to_numpy(), index=pd.Index(_texts(answer["value"])), name=name)


def _head(session: Session, most: int) -> "Waiting[pd.DataFrame]":
    first = _shown((yield from located_table(session))).limit(most)
    return _frame((yield from answered(session, first, 0.0, 1.0)))


def _sample(session: Session, most: int, rng: np.random.Generator) -> "Waiting[pd.DataFrame]":
    rows = _shown((yield from located_table(session)))
    return _frame((yield from waited(session, lambda: session.sampled(rows, most, rng), 0.0, 1.0)))


def _tally(session: Session, network: Network, columns: Sequence[Column], most_codes: int) -> Waiting[Tally]:
    table, by_name = (yield from located_table(session)), {column.name: column for column in columns}
    for name in by_name:
        _require_column(table, name)
    nodes, others = [by_name[name] for name in network.names], [c for c in columns if c.name not in network.position]
    scan = _ScanColumns(session, table, network, nodes, others, most_codes)
    droppable = [column for column in columns if code_of_missing(column) == LEFT_OUT]
    kept = _with_values(table, droppable, as_text=False)
    sums = yield from _sums(kept, scan)
    # In a joint code, an undeclared number hides a text for which the record is left out.
    if sums.to_leave_out or (sums.undeclared and any(can_say_missing(table, column) for column in droppable)):
        kept = _with_values(table, droppable, as_text=True)
        sums = yield from _sums(kept, scan)
    wrong = (yield from _undeclared(kept, scan)) if sums.undeclared else {}
    return Tally(sums.values, sums.n - sums.undeclared, max(0, sums.total - sums.n), wrong)


def _sums(kept: "ir.Table", scan: "_ScanColumns") -> Waiting["_Sums"]:
    import ibis

    packed = clusters(scan.network, scan.most_codes)
    arms = [_grouped(kept, joint_code(scan.terms(kept, cluster))) for cluster in packed]
    for part in slices(len(scan.others), MOST_CHECKED):  # with stride 0: these columns are only checked
        arms.append(_grouped(kept, joint_code([term(kept, column, 0) for column in scan.others[part]])))
    if kept is not scan.table:  # in the same statement, so in the same state of the table
        arms.append(_counted(scan.table).select(code=ibis.literal(0, "int64"), records="records"))
    answers: list[pa.Table] = []
    for start in range(0, len(arms), MOST_ARMS):
        group = arms[start : start + MOST_ARMS]
        shares = start / len(arms), (start + len(group)) / len(arms)
        answer = yield from answered(scan.session, _together(group), *shares)
        arm = answer["arm"].to_numpy()
        answers += [answer.filter(arm == place) for place in range(len(group))]
    total = answers.pop()["records"].to_pylist()[0] if kept is not scan.table else None
    return _added_up(scan.network, packed, answers, total)


def _undeclared(kept: "ir.Table", scan: "_ScanColumns") -> Waiting[dict[str, int]]:
    """Count the records with an undeclared value by column, in a further scan."""
    columns = [*scan.nodes, *scan.others]
    codes = [joint_code([term(kept, column, 1)]) for column in columns]
    sums = {f"c{k}": as_whole(code < 0).sum() for k, code in enumerate(codes)}
    answer = yield from answered(scan.session, kept.aggregate(**sums), 1.0, 1.0)
    return {column.name: int(answer[f"c{k}"][0].as_py() or 0) for k, column in enumerate(columns)}


def _products(session: Session, mappings: Sequence[UnitMapping]) -> Waiting[Products]:
    table = yield from located_table(session)
    for mapping in mappings:
        _require_column(table, mapping.column.name)
    queries = list(statements(mapped_columns(table, mappings), len(mappings)))
    sums: dict[str, Any] = {}
    ns = set()
    for place, query in enumerate(queries):
        answer = yield from answered(session, query, place / len(queries), (place + 1) / len(queries))
        sums |= {name: answer[name][0].as_py() for name in answer.column_names}
        ns.add(int(sums["records"]))
    if len(ns) != 1:
        raise InputError("The table changed during the computation. Start it again.")
    return products_of(sums, ns.pop(), len(mappings))


# The statement


@dataclass(frozen=True, eq=False)
class _ScanColumns:
    """What is counted: a network over the table of a session, its columns in order, and others that are in use."""

    session: Session
    table: "ir.Table"
    network: Network
    nodes: Sequence[Column]
    others: Sequence[Column]
    most_codes: int

    def terms(self, kept: "ir.Table", cluster: Cluster) -> list[Term]:
        steps = strides(self.network, cluster).tolist()
        return [term(kept, self.nodes[node], step) for node, step in zip(cluster.nodes, steps, strict=True)]


def _grouped(kept: "ir.Table", code: "ir.IntegerValue") -> "ir.Table":
    return _counted(kept.select(code=code).group_by("code"))


def _counted(table: Any) -> "ir.Table":
    counted: ir.Table = table.aggregate(records=lambda rows: rows.count())
    return counted


def _together(arms: "Sequence[ir.Table]") -> "ir.Table":
    """Return one statement of all arms, each with its index, because one statement sees one state of the table."""
    import ibis

    numbered = [arm.select(arm=ibis.literal(k, "int32"), code="code", records="records") for k, arm in enumerate(arms)]
    return ibis.union(*numbered, distinct=False) if len(numbered) > 1 else numbered[0]


def _with_values(table: "ir.Table", columns: Sequence[Column], *, as_text: bool) -> "ir.Table":
    present = [is_there(table, column, as_text=as_text) for column in columns]
    return table.filter(*present) if present else table


def _require_column(table: "ir.Table", name: str) -> None:
    if name not in table.columns:
        raise InputError(f"The table has no column {brief(name)}.")


# The answer


@dataclass(frozen=True, eq=False)
class _Sums:
    values: IntArray
    n: int
    total: int
    undeclared: int
    to_leave_out: int


def _added_up(network: Network, packed: Sequence[Cluster], answers: "Sequence[pa.Table]", total: int | None) -> _Sums:
    """Add up all arms: one for each cluster, then those of columns that are no nodes; `total` None means all records.

    Errors: InputError unless all arms have the same number of records and agree on shared nodes. Without snapshots, an
    engine may have used two states of the table. Two states that agree on both cannot be detected.
    """
    values, ns = np.zeros(network.cell_count, dtype=np.int64), set()
    undeclared = to_leave_out = 0
    marginals: list[dict[int, IntArray]] = []
    for k, answer in enumerate(answers):
        codes, records = (answer[name].to_numpy() for name in ("code", "records"))
        ns.add(int(records.sum()))
        left = codes <= (TO_LEAVE_OUT - NOT_DECLARED) // 2
        to_leave_out = max(to_leave_out, int(records[left].sum()))
        undeclared = max(undeclared, int(records[(codes < 0) & ~left].sum()))
        if k < len(packed):
            joint = np.zeros(math.prod(network.cards[list(packed[k].nodes)].tolist()), dtype=np.int64)
            joint[codes[codes >= 0]] = records[codes >= 0]
            add_marginals(values, network, packed[k], joint)
            marginals.append(node_marginals(network, packed[k], joint))
    is_one_state = len(ns) == 1 and (undeclared > 0 or to_leave_out > 0 or _agree(marginals))
    if not is_one_state:
        raise InputError("The table changed during the count. Count it again.")
    n = ns.pop()
    return _Sums(values, n, n if total is None else total, undeclared, to_leave_out)


def _agree(marginals: Sequence[dict[int, IntArray]]) -> bool:
    """Whether the nodes of several clusters have the same counts in each."""
    first: dict[int, IntArray] = {}
    return all(
        np.array_equal(first.setdefault(node, one), one) for marginal in marginals for node, one in marginal.items()
    )


def _shown(table: "ir.Table") -> "ir.Table":
    return table.select(**{name: comparable(table[name]) for name in table.columns})


def _frame(answer: "pa.Table") -> "pd.DataFrame":
    return pd.DataFrame({name: _texts(answer[name]) for name in answer.column_names}, dtype="str")


def _texts(values: "pa.ChunkedArray") -> "pd.Series":
    try:
        text: pd.Series = values.cast(pa.string()).fill_null("").to_pandas()
    except pa.ArrowNotImplementedError:  # lists and the like
        text = pd.Series(["" if value is None else str(value) for value in values.to_pylist()], dtype="str")
    return text
