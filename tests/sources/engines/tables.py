"""Tables to count in an engine and in memory, and the engine that every machine has."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

import dpbayes as dp
from dpbayes.sources.columns import Column, encode
from dpbayes.sources.engines.duckdb_file import NO_VARIABLES, DuckDbSession
from dpbayes.sources.engines.engine import DeclaredTable, Engine


@dataclass(frozen=True, eq=False)
class InMemory:
    """A table in a DuckDB of the test's own."""

    frame: Any
    title: str = "a frame"

    @contextmanager
    def session(self) -> Iterator[DuckDbSession]:
        rows = self.frame if isinstance(self.frame, pa.Table) else pa.Table.from_pandas(self.frame)
        with duckdb.connect(config=NO_VARIABLES) as connection:
            connection.register("rows", rows)
            connection.execute('create table "a table" as select * from rows')
            yield DuckDbSession(connection, ("a table",))


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Write a frame as a file's reader gives it."""
    texts = {}
    for name, values in frame.items():
        texts[name] = [
            "" if v is None or v != v else str(v).lower() if isinstance(v, bool) else _said(v) for v in values
        ]
    return pd.DataFrame(texts, dtype="str")


def _said(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def assert_equal_counts(engine: Engine, frame: pd.DataFrame, network: dp.Network, columns: tuple[Column, ...]) -> None:
    """Compare what an engine counts with what is counted in memory, of a frame as it stands in the engine."""
    memory = dp.count(network, encode(as_text(frame), columns))
    counted = dp.count(network, DeclaredTable(engine, columns))
    assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())
