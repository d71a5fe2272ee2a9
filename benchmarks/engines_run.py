"""One way of counting a Parquet file, in a process of its own: `python -m benchmarks.engines_run WAY FILE`.

Prints seconds of the clock and of the processor, the largest resident memory in MB and the number of records, as JSON.
What is imported is not timed.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb as engine
import numpy as np
import pyarrow.parquet as arrow_parquet

from dpbayes.model.counts import count
from dpbayes.model.network import Network
from dpbayes.sources.columns import Categories
from dpbayes.sources.engines.clusters import clusters, strides
from dpbayes.sources.engines.duckdb_file import NO_VARIABLES, DuckDbSession
from dpbayes.sources.engines.engine import DeclaredTable
from dpbayes.sources.engines.parquet import ParquetFiles
from dpbayes.sources.engines.sql import SqlTable

NODES = 20
TEXTS = ("no", "yes")
WHOLE = ("0", "1")

CHECKED = "case X{node} when 'yes' then {step} when 'no' then 0 end"
UNCHECKED = "case X{node} when 'yes' then {step} else 0 end"
"""The code of a column of text, written by hand; where it is neither, the first gives a record the code NULL."""


def network() -> Network:
    """Return 20 binary nodes of at most 4 parents; every other one is a column of text."""
    rng = np.random.default_rng(3)
    names = [f"X{i}" for i in range(NODES)]
    parents = [rng.choice(i, min(i, int(rng.integers(1, 5))), replace=False) for i in range(NODES)]
    edges = [(names[j], names[i]) for i, chosen in enumerate(parents) for j in chosen]
    return Network.from_edges(names, edges, {name: TEXTS if i % 2 else WHOLE for i, name in enumerate(names)})


def columns() -> tuple[Categories, ...]:
    net = network()
    return tuple(Categories(name, states) for name, states in zip(net.names, net.states, strict=True))


# The ways


def parquet(path: Path) -> int:
    return count(network(), DeclaredTable(ParquetFiles(path), columns())).n


def decode(path: Path) -> int:
    """Read the same columns, text as places in dictionaries, and do nothing with them."""
    names = list(network().names)
    file = arrow_parquet.ParquetFile(path, read_dictionary=names)
    return sum(len(batch) for batch in file.iter_batches(columns=names))


@dataclass(frozen=True, eq=False)
class ViewOfFile:
    """A Parquet file as a view in a DuckDB of the benchmark's own."""

    path: Path
    title: str = "a file"

    @contextmanager
    def session(self) -> Iterator[DuckDbSession]:
        with engine.connect(config=NO_VARIABLES) as connection:
            connection.execute(f"create view t as select * from read_parquet('{self.path}')")
            yield DuckDbSession(connection, ("t",))


def duckdb(path: Path) -> int:
    return count(network(), DeclaredTable(SqlTable(ViewOfFile(path)), columns())).n


def clusters_in_sql(path: Path) -> int:
    """Count with a statement as a person would write it who knows the strategy, and that all values are declared."""
    return _by_hand(path, CHECKED)


def unchecked_in_sql(path: Path) -> int:
    """Count with the fastest such statement that was seen: whatever is not "yes" is counted as "no"."""
    return _by_hand(path, UNCHECKED)


def _by_hand(path: Path, text: str) -> int:
    with engine.connect() as database:
        database.execute(f"create view t as select * from read_parquet('{path}')")
        answer = database.sql(by_hand(text)).to_arrow_table()
    return int(answer.filter(answer["arm"].to_numpy() == 0)["records"].to_numpy().sum())


def by_hand(text: str) -> str:
    """Return the statement of a scan of t, with an expression for the code of a column of text."""
    net = network()
    arms = []
    for arm, cluster in enumerate(clusters(net)):
        terms = [
            text.format(node=node, step=step) if node % 2 else f"X{node} * {step}"
            for node, step in zip(cluster.nodes, strides(net, cluster).tolist(), strict=True)
        ]
        code = " + ".join(f"({term})" for term in terms)
        arms.append(f"select {arm} arm, code, count(*) records from (select {code} code from t) u group by code")
    return " union all ".join(arms)


def families_in_sql(path: Path) -> int:
    """Count with one plain GROUP BY for each family."""
    net, n = network(), 0
    database = engine.connect()
    database.execute(f"create view t as select * from read_parquet('{path}')")
    for family in net.families:
        names = ", ".join(net.names[j] for j in family)
        rows = database.execute(f"select {names}, count(*) from t group by {names}").fetchall()
        n = sum(row[-1] for row in rows)
    return n


def pandas(path: Path) -> int:
    import pandas as library

    net = network()
    frame = library.read_parquet(path, columns=list(net.names))
    sums = [int(frame.groupby([net.names[j] for j in family]).size().sum()) for family in net.families]
    return sums[-1]


def polars(path: Path) -> int:
    import polars as library

    net = network()
    table = library.scan_parquet(path)
    families = [table.group_by([net.names[j] for j in family]).len() for family in net.families]
    return int(library.collect_all(families, engine="streaming")[0]["len"].sum())


WAYS: dict[str, Callable[[Path], int]] = {
    way.__name__: way
    for way in (parquet, decode, duckdb, clusters_in_sql, unchecked_in_sql, families_in_sql, pandas, polars)
}


def main() -> None:
    way, path = WAYS[sys.argv[1]], Path(sys.argv[2])
    warm = partial(way, path.with_name("few.parquet"))
    warm()  # imports
    start, worked = time.perf_counter(), time.process_time()
    n = way(path)
    seconds, processor = time.perf_counter() - start, time.process_time() - worked
    print(json.dumps({"n": n, "seconds": seconds, "processor": processor, "megabytes": peak_mb()}))


def peak_mb() -> float:
    """Return the largest resident memory so far, from Linux's own account; getrusage tells that of the parent, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main()
