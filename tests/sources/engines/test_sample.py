"""A sample of a table is a simple random one: any set of so many records is as likely as any other."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from scipy.stats import chi2

from dpbayes.base.steps import finished
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError
from dpbayes.sources.engines.address import open_table
from dpbayes.sources.engines.engine import Engine

FALSE_ALARM = 1e-9
"""Probability that a simple random sample fails a test below; seeds are fixed."""

RECORDS, DRAWN, SAMPLES, BLOCKS = 400_000, 4_000, 15, 10

Drawing = Callable[[int], IntArray]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Numbered records of several row groups, and of three files."""
    folder = tmp_path_factory.mktemp("numbered")
    numbers = np.arange(RECORDS)
    table = pa.table({"number": numbers, "word": pa.array((numbers % 7).astype(str))})
    (folder / "parts").mkdir()
    for k, (start, end) in enumerate([(0, 150_000), (150_000, 150_001), (150_001, RECORDS)]):
        part = table.slice(start, end - start)
        arrow_parquet.write_table(part, folder / "parts" / f"{k}.parquet", row_group_size=60_000)
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("rows", table)
        connection.execute("create table t as select * from rows")
    return folder


@pytest.fixture(params=["duckdb", "parquet"])
def engine(request: pytest.FixtureRequest, folder: Path) -> Engine:
    return open_table(f"duckdb:{folder}/t.duckdb?table=t" if request.param == "duckdb" else f"parquet:{folder}/parts")


def drawn(engine: Engine, seed: int, most: int = DRAWN) -> pd.DataFrame:
    return finished(engine.sample(most, np.random.default_rng(seed)))


def improbability(drawing: Drawing) -> float:
    """Return the smaller p-value of two tests, twice: records of a block in all samples, and their spread in each.

    A law that prefers records fails the first, one that draws records together, or in turn, the second.
    """
    counts = np.array([np.bincount(drawing(seed) * BLOCKS // RECORDS, minlength=BLOCKS) for seed in range(SAMPLES)])
    expected = DRAWN / BLOCKS
    # Without replacement the counts vary by this factor less.
    factor = (RECORDS - 1) / (RECORDS - DRAWN)
    in_all = ((counts.sum(axis=0) - SAMPLES * expected) ** 2).sum() / (SAMPLES * expected) * factor
    within_samples = ((counts - expected) ** 2).sum() / expected * factor
    spread = chi2(SAMPLES * (BLOCKS - 1))
    return float(2 * min(chi2(BLOCKS - 1).sf(in_all), 2 * min(spread.sf(within_samples), spread.cdf(within_samples))))


def test_any_record_is_as_likely_as_any_other(engine: Engine) -> None:
    def numbers(seed: int) -> IntArray:
        sample = drawn(engine, seed)
        places = sample["number"].astype(np.int64).to_numpy()
        assert len(set(places.tolist())) == DRAWN
        assert (sample["word"].astype(np.int64) == places % 7).all()
        return places

    assert improbability(numbers) > FALSE_ALARM


def test_laws_that_are_a_little_off_are_noticed() -> None:
    def preferring(seed: int) -> IntArray:
        rng = np.random.default_rng(seed)
        half = rng.random(DRAWN) < 0.525  # the second half 10% less likely
        return np.where(half, rng.integers(0, RECORDS // 2, DRAWN), rng.integers(RECORDS // 2, RECORDS, DRAWN))

    def in_pages(seed: int) -> IntArray:
        pages = np.random.default_rng(seed).choice(RECORDS // 20, DRAWN // 20, replace=False)
        return (pages[:, None] * 20 + np.arange(20)).ravel()

    def in_turn(seed: int) -> IntArray:
        every = RECORDS // DRAWN
        return np.arange(DRAWN) * every + np.random.default_rng(seed).integers(every)

    def fair(seed: int) -> IntArray:
        return np.random.default_rng(seed).choice(RECORDS, DRAWN, replace=False)

    for wrong in (preferring, in_pages, in_turn):
        assert improbability(wrong) < FALSE_ALARM, wrong.__name__
    assert improbability(fair) > 0.001


def test_a_seed_tells_the_sample(engine: Engine) -> None:
    first, again, other = (set(drawn(engine, seed)["number"]) for seed in (1, 1, 2))
    assert first == again
    assert len(first & other) < 200


def test_a_table_of_no_more_records_is_its_own_sample(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", None, "b"], "y": [0.5, 1.0, None], "z": [[1], [2], [3]]})
    arrow_parquet.write_table(table, tmp_path / "t.parquet")
    sample = drawn(open_table(f"parquet:{tmp_path}/t.parquet"), 1)
    assert sample.to_dict("list") == {"x": ["a", "", "b"], "y": ["0.5", "1", ""]}
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("rows", table)
        connection.execute("create table t as select x, y from rows")
        connection.execute("create view v as select * from t where x = 'none'")
    sample = drawn(open_table(f"duckdb:{tmp_path}/t.duckdb?table=t"), 1).sort_values("y")
    assert sample["y"].tolist() == ["", "0.5", "1"]
    assert len(drawn(open_table(f"duckdb:{tmp_path}/t.duckdb?table=v"), 1)) == 0


def test_no_sample_is_drawn_of_what_is_gone(tmp_path: Path) -> None:
    for address in (f"parquet:{tmp_path}/t.parquet", f"duckdb:{tmp_path}/t.duckdb?table=t"):
        with pytest.raises(InputError, match=r"There is no file|does not exist"):
            drawn(open_table(address), 1)
