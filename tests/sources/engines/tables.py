"""Tables to count in an engine and in memory, and the engine that every machine has."""

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

import dpbayes as dp
from dpbayes.sources.columns import Column, encode
from dpbayes.sources.engines.table import DeclaredTable, Engine, open_table


def in_duckdb(rows: pa.Table | pd.DataFrame, folder: Path) -> Engine:
    """Write a table into a new file of DuckDB, and open it there."""
    path = folder / "data.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("rows", rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows))
        connection.execute('create table "the table" as select * from rows')
    return open_table(f"duckdb:{path}?table=the table")


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
