"""Tables that stay where they are: seconds and memory against n, beside what nobody can beat and what others do."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from benchmarks.core import slope, span
from benchmarks.engines_run import network
from benchmarks.record import Record, median_ms
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from tests.browser.serving import ROOT

GROUP = 1 << 20
"""Records of a row group, and of what is drawn at a time."""

PEERS = ("pandas", "polars", "families_in_sql")
MOST_OF_PEERS = {"pandas": 10_000_000}
"""Records beyond which a peer would not fit into memory."""

Measured = dict[str, float]


def engines(*, sizes: Sequence[int] = (100_000, 1_000_000, 10_000_000), repeats: int = 3) -> list[Record]:
    """Time all ways on growing files in turn, each in a process of its own; the files are deleted afterwards."""
    records, took = [], dict[str, list[float]]()
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), n)
            ways = ["parquet", "decode", "duckdb", "clusters_in_sql", "unchecked_in_sql"]
            ways += [way for way in PEERS if n <= MOST_OF_PEERS.get(way, n)]
            runs = [{way: run(way, path) for way in ways} for _ in range(repeats if n <= 10_000_000 else 1)]
        if any(measured["n"] != n for all_ways in runs for measured in all_ways.values()):
            raise AssertionError("not every way counted all records")
        medians = {way: {key: statistics.median(r[way][key] for r in runs) for key in runs[0][way]} for way in ways}
        records += of_size(n, medians)
        for way in ("parquet", "duckdb"):
            took.setdefault(way, []).append(medians[way]["processor"])
    # Below a million records what is paid once weighs more than the records.
    large = [k for k, n in enumerate(sizes) if n >= 1_000_000]
    if len(large) > 1:
        spread = [sizes[k] for k in large]
        for way, times in took.items():
            exponent = slope(spread, [times[k] for k in large])
            records.append(Record(name=f"Slope of {way} in n ({span(spread)})", value=exponent, unit="", bound=1.1))
    return records


def of_size(n: int, ways: dict[str, Measured]) -> list[Record]:
    """Return what each way took of a table of n records, against the ways that it is measured by."""

    def against(way: str, baseline: str, what: str, bound: float | None, unit: str = "s") -> Record:
        return Record(
            name=f"{way}, {n:,} records, {what}",
            value=ways[way][what],
            unit=unit,
            baseline=baseline,
            baseline_value=ways[baseline][what],
            bound=bound,
        )

    strict = n >= 10_000_000  # less is over before it is worth a bound
    records = [against("parquet", "decode", what, 1.5 if strict else None) for what in ("seconds", "processor")]
    records += [
        against("duckdb", "clusters_in_sql", what, 1.2 if strict else None) for what in ("seconds", "processor")
    ]
    records.append(against("duckdb", "unchecked_in_sql", "processor", None))
    records += [
        against(way, peer, "processor", None) for peer in PEERS if peer in ways for way in ("parquet", "duckdb")
    ]
    bounds = {"parquet": 700.0}
    return records + [
        Record(name=f"{way}, {n:,} records, peak", value=ways[way]["megabytes"], unit="MB", bound=bounds.get(way))
        for way in ways
    ]


def run(way: str, path: Path) -> Measured:
    """Measure one way in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.engines_run", way, str(path)]
    answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    measured: Measured = json.loads(answer.stdout.splitlines()[-1])
    return measured


def write(folder: Path, n: int) -> Path:
    """Write a table of n made-up records, and beside it one of few; return its path."""
    net, rng = network(), np.random.default_rng(4)
    path = folder / "table.parquet"
    arrow_parquet.write_table(_drawn(net, 1000, rng), folder / "few.parquet")
    with arrow_parquet.ParquetWriter(path, _drawn(net, 1, rng).schema) as writer:
        for start in range(0, n, GROUP):
            writer.write_table(_drawn(net, min(GROUP, n - start), rng), row_group_size=GROUP)
    return path


def _drawn(net: Network, n: int, rng: np.random.Generator) -> pa.Table:
    """Return n records of independent values, three in ten of them the second state."""
    arrays = []
    for states in net.states:
        codes = pa.array((rng.random(n, dtype=np.float32) < 0.3).astype(np.int8))
        arrays.append(codes if states[0] == "0" else pa.DictionaryArray.from_arrays(codes, states).cast(pa.string()))
    return pa.table(arrays, names=list(net.names))


def in_memory(*, n: int = 10_000_000, repeats: int = 3) -> list[Record]:
    """Time counting a binary table in memory against the bare XOR and popcount of columns that are packed already."""
    net, rng = network(), np.random.default_rng(5)
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
