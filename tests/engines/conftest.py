"""Every engine with the same table in it; `make engines` has installed what they need."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpbayes.sources.engines.address import parsed
from dpbayes.sources.engines.connect import opened
from dpbayes.sources.engines.table import Engine, open_table
from tests.engines.servers import Postgres, postgres, programs, write_table
from tests.sources.engines.tables import in_duckdb

# Spark leaves sockets of its own to the garbage collector, and ibis cursors; both use what pandas and Arrow deprecate.
MARKS = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:<psycopg.ServerCursor:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

Loaded = Callable[[pa.Table], Engine]
"""Writes a table into an engine, and opens it there."""


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: run `make engines`")
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL is not installed: run `make engines` as root, or install the package postgresql")
    folder = Path(tempfile.mkdtemp(prefix="dpbayes-postgres-"))
    folder.chmod(0o755)
    with postgres(folder, where) as running:
        before = os.environ.get("PGPASSWORD")
        os.environ["PGPASSWORD"] = running.password
        try:
            yield running
        finally:
            os.environ.pop("PGPASSWORD")
            if before is not None:
                os.environ["PGPASSWORD"] = before
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark.sql", reason="Spark is not installed: run `make engines`")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed: run `make engines` as root, or install the package default-jre-headless")
    try:
        with opened(parsed("spark:local[2]")):
            yield pyspark.SparkSession.getActiveSession()
    finally:
        active = pyspark.SparkSession.getActiveSession()
        if active is not None:
            active.stop()


@pytest.fixture
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Loaded:
    """What writes a table into the engine that the test asks for."""
    return _LOADERS[request.param](request, tmp_path)


def _duckdb(request: pytest.FixtureRequest, folder: Path) -> Loaded:
    return lambda table: in_duckdb(table, folder)


def _postgresql(request: pytest.FixtureRequest, folder: Path) -> Loaded:
    server: Postgres = request.getfixturevalue("server")

    def load(table: pa.Table) -> Engine:
        with server.connect() as connection:
            write_table(connection, "the table", table)
        return open_table(server.address("the table"))

    return load


def _spark(request: pytest.FixtureRequest, folder: Path) -> Loaded:
    request.getfixturevalue("spark")

    def load(table: pa.Table) -> Engine:
        pq.write_table(table, folder / "data.parquet")
        return open_table(f'spark:local[2]?table=parquet."{folder}/data.parquet"')

    return load


def _parquet(request: pytest.FixtureRequest, folder: Path) -> Loaded:

    def load(table: pa.Table) -> Engine:
        pq.write_table(table, folder / "data.parquet")
        return open_table(f"parquet:{folder}/data.parquet")

    return load


_LOADERS: dict[str, Callable[[pytest.FixtureRequest, Path], Loaded]] = {
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "spark": _spark,
    "parquet": _parquet,
}
ENGINES = tuple(_LOADERS)
