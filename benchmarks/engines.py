"""Tables that are counted in place: a count of Alarm by DuckDB beside hand-written GROUP BYs, and a count in memory."""

import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from benchmarks.record import Record, median_ms
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.sources.columns import Categories
from dpbayes.sources.engines.table import DeclaredTable, open_table
from dpbayes.sources.named_networks import load_named, naive_bayes

BOUND = 1.5
"""The largest ratio of the time of a count to that of the hand-written statement."""


def engines(*, n: int = 1_000_000, repeats: int = 5) -> list[Record]:
    """Time counts of n records of Alarm in turn with a hand-written statement, in a DuckDB file and in Parquet."""
    network, cpts = load_named("alarm")
    data = sample_dataset(network, cpts, n, np.random.default_rng(4))
    columns = tuple(Categories(name, states) for name, states in zip(network.names, network.states, strict=True))
    expected = count(network, data).values
    with tempfile.TemporaryDirectory() as folder:
        addresses = write(Path(folder), data)
        records = []
        for kind, address in addresses.items():
            table = DeclaredTable(open_table(address), columns)
            if (count(network, table).values != expected).any():
                raise AssertionError(f"{kind} counts differently from memory")
            by_hand = hand_written(network, Path(folder), kind)
            times = [(seconds(lambda table=table: count(network, table)), seconds(by_hand)) for _ in range(repeats)]
            ours, theirs = zip(*times, strict=True)
            name = f"Alarm, {n:,} records, {kind} through ibis"
            records.append(
                Record.of_times(name, ours, "s", baseline="a GROUP BY per family", baseline_times=theirs, bound=BOUND)
            )
    return records


def write(folder: Path, data: Dataset) -> dict[str, str]:
    """Write records as text into a DuckDB file and a Parquet file; return their addresses."""
    texts = [
        pa.DictionaryArray.from_arrays(pa.array(data.column(name).astype(np.int8)), list(states)).cast(pa.string())
        for name, states in zip(data.names, data.states, strict=True)
    ]
    table = pa.table(texts, names=list(data.names))
    arrow_parquet.write_table(table, folder / "t.parquet")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("rows", table)
        connection.execute("create table t as select * from rows")
    return {"DuckDB": f"duckdb:{folder}/t.duckdb?table=t", "Parquet": f"parquet:{folder}/t.parquet"}


def hand_written(network: Network, folder: Path, kind: str) -> Callable[[], object]:
    """Return a function that sends one statement: a union of a GROUP BY for each family, without any check."""
    table = "t" if kind == "DuckDB" else f"read_parquet('{folder}/t.parquet')"
    width, arms = max(map(len, network.families)), []
    for number, family in enumerate(network.families):
        names = [f'"{network.names[j]}"' for j in family]
        shown = [*names, *["null"] * (width - len(names))]
        arms.append(f"select {number}, {', '.join(shown)}, count(*) from {table} group by {', '.join(names)}")
    text = " union all ".join(arms)

    def ask() -> object:
        with duckdb.connect(str(folder / "t.duckdb"), read_only=True) as connection:
            return connection.sql(text).to_arrow_table()

    return ask


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def in_memory(*, n: int = 10_000_000, repeats: int = 3) -> list[Record]:
    """Time counting a binary table in memory against the bare XOR and popcount of columns that are packed already."""
    net, rng = naive_bayes(19), np.random.default_rng(5)
    data = Dataset(net.names, net.states, rng.integers(0, 2, (len(net.names), n), dtype=np.uint8).T)
    packed = []
    for name in net.names:
        bits = np.packbits(data.column(name))
        packed.append(np.concatenate((bits, np.zeros(-len(bits) % 8, dtype=np.uint8))).view(np.uint64))
    families = [sorted(family) for family in net.families]
    sets = {c for family in families for size in range(1, len(family) + 1) for c in combinations(family, size)}
    ordered = sorted(sets, key=lambda chosen: (len(chosen), chosen))

    def bare() -> list[int]:
        parity: dict[tuple[int, ...], np.ndarray] = {}
        for chosen in ordered:
            last = packed[chosen[-1]]
            parity[chosen] = parity[chosen[:-1]] ^ last if len(chosen) > 1 else last
        return [int(np.bitwise_count(bits).sum()) for bits in parity.values()]

    return [
        Record(
            name=f"Counting {n:,} x {len(net.names)} binary in memory, {net.cell_count} cells",
            value=median_ms(lambda: count(net, data), repeats=repeats),
            unit="ms",
            baseline=f"XOR and popcount of {len(ordered)} sets of packed columns",
            baseline_value=median_ms(bare, repeats=repeats),
            bound=1.5,
        )
    ]
