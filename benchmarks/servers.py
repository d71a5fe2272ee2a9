"""PostgreSQL and Spark on this machine: a scan against the same strategy in SQL that was written by hand.

The servers are those of tests/engines. Their processor seconds and their memory are counted by the kernel, of a server
and of all that it starts; the seconds beside those of this process.
"""

import os
import re
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as arrow_parquet

from benchmarks.core import slope, span
from benchmarks.engines import write
from benchmarks.engines_run import CHECKED, by_hand, columns, network
from benchmarks.record import Record
from dpbayes.model.counts import count
from dpbayes.sources.engines.address import database_of, parsed
from dpbayes.sources.engines.engine import DeclaredTable
from dpbayes.sources.engines.session import Database
from dpbayes.sources.engines.spark import SparkCluster
from dpbayes.sources.engines.sql import SqlTable
from tests.engines.servers import postgres, programs, write_table

TICKS = os.sysconf("SC_CLK_TCK")

LOOK = 0.05
"""Seconds between two looks at a server's memory."""


@dataclass(frozen=True)
class Ran:
    """What one scan took, in seconds, and the most memory that the server had meanwhile, in MB."""

    seconds: float
    processor: float
    peak: float


@dataclass(frozen=True)
class Loaded:
    """A table in a server: how the library counts it, how a statement by hand does, and the server's process."""

    database: Database
    ask: Callable[[str], list[Any]]
    process: int


def servers(*, sizes: Sequence[int] = (1_000_000, 10_000_000), repeats: int = 3) -> list[Record]:
    """Time scans of growing tables in each server, and the statement by hand beside each."""
    records: list[Record] = []
    for name, loaded in (("PostgreSQL", in_postgres), ("Spark local[2]", in_spark)):
        of_sizes = [measured(name, loaded, n, repeats=repeats) for n in sizes]
        records += [record for of_size in of_sizes for record in of_size]
        if len(sizes) > 1:
            exponent = slope(sizes, [of_size[-1].value for of_size in of_sizes])
            records.append(Record(name=f"Slope of {name} in n ({span(sizes)})", value=exponent, unit="", bound=1.1))
    return records


def measured(
    name: str, loaded: Callable[[Path], AbstractContextManager[Loaded]], n: int, *, repeats: int
) -> list[Record]:
    """Time scans of n records by the clock and by the processor, after one that warms up."""
    with tempfile.TemporaryDirectory() as folder, loaded(write(Path(folder), n)) as table:
        runs = [_pair(table, n) for _ in range(repeats + 1)][1:]
    units = {"seconds": "s", "peak": "MB", "processor": "s"}
    return [_record(f"{name}, {n:,} records, {what}", runs, what, unit) for what, unit in units.items()]


@contextmanager
def in_postgres(path: Path) -> Iterator[Loaded]:
    """Load a Parquet file into a server of its own."""
    where = programs()
    if where is None:
        raise FileNotFoundError("PostgreSQL is not installed: `make servers` as root installs it.")
    folder = Path(tempfile.mkdtemp(prefix="dpbayes-postgres-"))
    folder.chmod(0o755)
    try:
        with postgres(folder, where) as server, server.connect() as connection:
            write_table(connection, "t", arrow_parquet.read_table(path))
            connection.execute("vacuum analyze t")
            os.environ["PGPASSWORD"] = server.password
            process = int((folder / "data" / "postmaster.pid").read_text().split()[0])
            yield Loaded(
                database_of(parsed(server.address("t"))),
                lambda text: connection.execute(re.sub(r"\b(X\d+)\b", r'"\1"', text)).fetchall(),
                process,
            )
    finally:
        shutil.rmtree(folder)


@contextmanager
def in_spark(path: Path) -> Iterator[Loaded]:
    """Have Spark on this machine read a Parquet file."""
    cluster = SparkCluster("t", "local[2]", ("parquet", str(path)))
    with cluster.session() as session:
        spark = session.spark
        spark.read.parquet(str(path)).createOrReplaceTempView("t")
        yield Loaded(cluster, lambda text: spark.sql(text).collect(), spark.sparkContext._gateway.proc.pid)


def _pair(table: Loaded, n: int) -> tuple[Ran, Ran]:
    """Return what a scan of the library took, and what the statement by hand did."""
    source = DeclaredTable(SqlTable(table.database), columns())
    text = by_hand(CHECKED)

    def ours() -> int:
        return count(network(), source).n

    def hand() -> int:
        return sum(records for arm, _, records in table.ask(text) if arm == 0)

    ran = []
    for act in (ours, hand):
        start, worked = time.perf_counter(), _worked(table.process)
        with _watched(table.process) as memory:
            if act() != n:
                raise AssertionError("not every record was counted")
        ran.append(Ran(time.perf_counter() - start, _worked(table.process) - worked, max(memory)))
    return ran[0], ran[1]


def _worked(process: int) -> float:
    """Return the processor seconds of this process and of another one with all that it started."""
    return time.process_time() + sum(map(_ticks, _family(process))) / TICKS


def _ticks(process: int) -> int:
    """Return what a process and those of its children that have ended took; 0 if it has ended, too."""
    try:
        after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, after_name[11:15]))


@contextmanager
def _watched(process: int) -> Iterator[list[float]]:
    """Look at the memory of a process, with all that it started, until the end; what they share counts once."""
    over, memory = threading.Event(), [_memory(process)]

    def watch() -> None:
        while not over.wait(LOOK):
            memory.append(_memory(process))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield memory
    finally:
        over.set()
        watcher.join()


def _memory(process: int) -> float:
    """Return the memory of a process and of all that it started in MB."""
    return sum(map(_share_of_memory, _family(process))) / 1024


def _share_of_memory(process: int) -> int:
    """Return a process's memory in kB, of what is shared its share; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii", errors="replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _family(process: int) -> Generator[int, None, None]:
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            for child in task.read_text().split():
                yield from _family(int(child))


def _record(name: str, runs: Sequence[tuple[Ran, Ran]], what: str, unit: str) -> Record:
    ours, hand = (statistics.median(getattr(pair[k], what) for pair in runs) for k in (0, 1))
    return Record(name=name, value=ours, unit=unit, baseline="by hand", baseline_value=hand)
