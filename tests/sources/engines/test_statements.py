"""What is asked of an engine is written for engines that no test can start; every small table is counted alike."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import (
    MISSING_TEXTS,
    Categories,
    Column,
    CountAs,
    Cuts,
    DropRecord,
    Groups,
    OwnState,
    encode,
)
from dpbayes.sources.engines import sql
from dpbayes.sources.engines.engine import DeclaredTable
from dpbayes.sources.engines.sql import SqlTable
from dpbayes.sources.engines.statements import named_table, statement
from tests.conftest import IS_THOROUGH
from tests.sources.engines.tables import InMemory

COLUMNS: tuple[Column, ...] = (
    Groups("it's", (("woman", ("f", 'say "f"')), ("man", ("m\\",)))),
    Categories("smokes", ("false", "true")),
    Cuts("age", (18, 65)),
    Cuts("weight", (50, 70.5), missing=CountAs(">= 70.5")),
    Categories("odd", ("70", "5", "1"), missing=OwnState()),
)
TYPES = {"it's": "string", "smokes": "boolean", "age": "int32", "weight": "decimal(9, 2)", "odd": "int64"}
DIALECTS = ("bigquery", "snowflake", "trino", "clickhouse", "mssql", "mysql", "databricks", "postgres", "pyspark")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_scan_can_be_written_for_engines_that_nobody_connects_to(dialect: str) -> None:
    network = dp.Network.from_edges(
        [column.name for column in COLUMNS], [("it's", "age")], {column.name: column.domain for column in COLUMNS}
    )
    table = named_table(("clinic", "a table"), TYPES | ({"weight": "float64"} if dialect not in ("mssql",) else {}))
    statements: list[str] = []

    class Written:
        def table(self) -> Any:
            return table

        def answer(self, expression: Any) -> pa.Table:
            statements.append(statement(expression, dialect))
            raise InputError("There is nobody to answer.")

        def share(self) -> float:
            return 0.0

        def cancel(self) -> None: ...

    with pytest.raises(InputError, match="nobody to answer"):
        dp.base.steps.finished(sql._tally(Written(), network, COLUMNS, 64))
    parsed = sqlglot.parse(statements[0], read={"mssql": "tsql", "pyspark": "spark"}.get(dialect, dialect))
    assert len(parsed) == 1
    assert isinstance(parsed[0], sqlglot.exp.Query)
    assert {table.name for table in parsed[0].find_all(sqlglot.exp.Table) if table.db} == {"a table"}


TEXTS = ("a", "b", " a", "b ", "", "NA", "?", "nan", "A", "'", "a\nb", "ü", "1", "01", "x")
TABLE = st.integers(0, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "text": st.lists(st.sampled_from(TEXTS), min_size=n, max_size=n),
            "whole": st.lists(st.integers(-3, 3) | st.none(), min_size=n, max_size=n),
            "real": st.lists(st.sampled_from([0.1, 0.5, -1.0, 1e300, float("nan"), None]), min_size=n, max_size=n),
        }
    )
)
RULE = st.sampled_from([DropRecord(), OwnState("none"), CountAs("s0")])


@settings(max_examples=200 if IS_THOROUGH else 10)
@given(TABLE, RULE, RULE, st.sampled_from([1, 6, 4096]), st.integers(1, 3))
def test_every_small_table_is_counted_or_refused_as_in_memory(
    values: dict[str, list[Any]], rule: Any, other: Any, most_codes: int, nodes: int
) -> None:
    kinds = {"text": pa.string(), "whole": pa.int64(), "real": pa.float64()}
    table = pa.table({name: pa.array(values[name], kind) for name, kind in kinds.items()})
    texts = pd.DataFrame(
        {
            "text": values["text"],
            "whole": ["" if v is None else str(v) for v in values["whole"]],
            "real": ["" if v is None or v != v else repr(v) for v in values["real"]],
        },
        dtype="str",
    )
    columns: tuple[Column, ...] = (
        Groups("text", (("s0", ("a", "A", "'")), ("s1", ("b", "a\nb", "ü")), ("s2", ("1", "01"))), missing=rule),
        Groups("whole", (("s0", ("-3", "-2", "-1")), ("s1", ("0", "1", "2", "3"))), missing=other),
        Cuts("real", (0.1, 1), missing=rule if isinstance(rule, DropRecord) else OwnState("none")),
    )
    edges = [("text", "whole"), ("whole", "real")][: nodes - 1]
    network = dp.Network.from_edges(list(kinds)[:nodes], edges, {c.name: c.domain for c in columns[:nodes]})
    source = DeclaredTable(SqlTable(InMemory(table), most_codes), columns)
    dropping = [column.name for column in columns if isinstance(column.missing, DropRecord)]
    left_out = texts[dropping].isin(MISSING_TEXTS).any(axis=1)  # an engine does not look at the rest of these
    try:
        memory = dp.count(network, encode(texts[~left_out], columns))
    except InputError:
        with pytest.raises(InputError, match="undeclared values"):
            dp.count(network, source)
    else:
        counted = dp.count(network, source)
        assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())
