"""A table's Gram matrix is the same where the table lies as in memory: its sufficient statistics for a regression."""

import itertools
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.regression import GramMatrix, NumericColumn, PublicBounds, RegressionData, moments, scaled
from dpbayes.sources.engines import gram, parquet
from dpbayes.sources.engines.engine import Engine
from dpbayes.sources.engines.gram import require_mappings
from dpbayes.sources.engines.parquet import ParquetFiles
from dpbayes.sources.engines.sql import SqlTable
from dpbayes.sources.engines.statements import named_table, statement
from tests.conftest import IS_THOROUGH
from tests.sources.engines.tables import InMemory

Loaded = Callable[[pa.Table], Engine]


@pytest.fixture(params=["duckdb", "parquet"])
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Loaded:
    """Put a table where one of the engines that need no server finds it."""

    def written(table: pa.Table) -> Engine:
        arrow_parquet.write_table(table, tmp_path / "t.parquet")
        return ParquetFiles(tmp_path / "t.parquet")

    return written if request.param == "parquet" else lambda table: SqlTable(InMemory(table))


def in_memory(table: pa.Table, columns: tuple[NumericColumn, ...]) -> GramMatrix:
    """Clip, scale and multiply all records at once."""
    frame = table.to_pandas()
    values = [
        pd.to_numeric(frame[c.name]).fillna(np.nan if c.if_missing is None else c.if_missing).to_numpy(np.float64)
        for c in columns
    ]
    data = RegressionData(np.column_stack(values[:-1]), values[-1], tuple(column.name for column in columns))
    return GramMatrix.of(scaled(data, PublicBounds({c.name: (c.low, c.high) for c in columns})))


def assert_equal_grams(engine: Engine, table: pa.Table, columns: tuple[NumericColumn, ...]) -> GramMatrix:
    summed, memory = finished(engine.gram(columns)), in_memory(table, columns)
    assert (summed.n, summed.names, summed.clipped) == (memory.n, memory.names, memory.clipped)
    np.testing.assert_allclose(summed.products, memory.products, rtol=1e-12, atol=1e-12 * max(1, memory.n))
    return summed


def every_type(n: int = 3000) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "age": pa.array(rng.integers(-5, 120, n), pa.int16()),
            "large": pa.array(rng.integers(9 * 10**18, size=n), pa.int64()),
            'it\'s "paid"': pa.array(np.where(rng.random(n) < 0.1, None, rng.normal(300, 400, n)), pa.float64()),
            "price": pa.array([Decimal(int(v)) / 100 for v in rng.integers(-900, 900, n)], pa.decimal128(9, 2)),
            "half": pa.array(rng.integers(0, 9, n) / 2, pa.float32()),
            "pay": pa.array(rng.lognormal(3, 1, n)),
        }
    )


COLUMNS = (
    NumericColumn("age", 18, 90),
    NumericColumn("large", 0, 9e18),
    NumericColumn('it\'s "paid"', 0, 500, if_missing=123.4),
    NumericColumn("price", -5, 7.5),
    NumericColumn("half", 0, 3),
    NumericColumn("pay", 0, 60),
)


@pytest.mark.parametrize("most_sums", [4, 400])
def test_sums_of_products_are_those_in_memory(loaded: Loaded, most_sums: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "MOST_SUMS", most_sums)
    monkeypatch.setattr(parquet.table, "SUMMED", 700)
    table = every_type()
    summed = assert_equal_grams(loaded(table), table, COLUMNS)
    assert summed.clipped > 500
    sampler = RegressionSampler(prior_precision=1.0)
    posterior = sampler.posterior(summed.moments)
    memory = sampler.posterior(in_memory(table, COLUMNS).moments)
    np.testing.assert_allclose(posterior.mean, memory.mean, rtol=1e-9)
    sampler.release(summed.moments, np.random.default_rng(1))


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 5e-324, -1.0, 1.0, 2.0, 1e150])
ENDS = st.sampled_from([-1e150, -3.0, -1.0, -1e-300, 0.0, 1e-300, 1.0, 3.0, 1e150])


@settings(max_examples=1000 if IS_THOROUGH else 15)  # tables of many numbers: an engine takes as long for few
@given(
    st.lists(st.tuples(NUMBERS | st.none(), NUMBERS, NUMBERS), max_size=16),
    st.tuples(*[st.tuples(ENDS, ENDS).filter(lambda pair: pair[0] < pair[1])] * 3),
    st.floats(0, 1),
)
def test_any_numbers_and_any_bounds_are_clipped_alike(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], bounds: list[tuple[float, float]], share: float
) -> None:
    values = list(zip(*rows, strict=True)) or [()] * 3
    table = pa.table({name: pa.array(column, pa.float64()) for name, column in zip("xyz", values, strict=True)})
    stand_in = min(max(bounds[0][0] * (1 - share) + bounds[0][1] * share, bounds[0][0]), bounds[0][1])
    columns = tuple(
        NumericColumn(name, *pair, if_missing=stand_in if name == "x" else None)
        for name, pair in zip("xyz", bounds, strict=True)
    )
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    arrow_parquet.write_table(table, path)
    for engine in (SqlTable(InMemory(table)), ParquetFiles(path)):
        assert_equal_grams(engine, table, columns)


def test_the_gram_matrix_in_memory_holds_the_moments() -> None:
    rng = np.random.default_rng(1)
    data = scaled(
        RegressionData(rng.normal(size=(50, 2)), rng.normal(size=50), ("a", "b", "c")),
        PublicBounds(dict.fromkeys("abc", (-2, 2))),
    )
    gram, plain = GramMatrix.of(data), moments(data)
    for name in ("gram", "cross", "square", "n"):
        np.testing.assert_allclose(getattr(gram.moments, name), getattr(plain, name), rtol=1e-13)
    np.testing.assert_allclose(gram.products[-1], [*data.features.sum(axis=0), data.target.sum(), 50], rtol=1e-12)
    for wrong in (np.zeros((3, 3)), np.full((4, 4), np.nan)):
        with pytest.raises(InputError):
            GramMatrix(wrong, ("a", "b", "c"))


def test_memory_holds_a_batch_of_a_folder(tmp_path: Path) -> None:
    table = every_type()
    for k in range(3):
        arrow_parquet.write_table(table.slice(1000 * k, 1000), tmp_path / f"{k}.parquet", row_group_size=150)
    assert_equal_grams(ParquetFiles(tmp_path), table, COLUMNS)
    steps = list(ParquetFiles(tmp_path).gram(COLUMNS))
    assert len(steps) == 3
    assert steps == sorted(steps)


REFUSED: list[tuple[pa.Array, NumericColumn, str]] = [
    (
        pa.array([1.0, None, None]),
        NumericColumn("x", 0, 9),
        '"x" has 2 missing values. State a number that replaces them',
    ),
    (pa.array([1.0, float("nan"), None]), NumericColumn("x", 0, 9, 1), '"x" has infinite values or NaN in 1 record'),
    (pa.array([float("inf"), float("-inf"), 1]), NumericColumn("x", 0, 9), "infinite values or NaN in 2 records"),
    (pa.array(["1", "2", "3"]), NumericColumn("x", 0, 9), 'numeric columns, but "x" has type .*string'),
    (pa.array([True, False, True]), NumericColumn("x", 0, 1), "needs numeric columns"),
    (pa.array([1, 2, 3], pa.date32()), NumericColumn("x", 0, 9), "needs numeric columns"),
    (pa.array([1, 2, 3]), NumericColumn("z", 0, 9), 'no column "z"'),
    (pa.array([1, 2, 3]), NumericColumn("y", 0, 9), "used twice"),
    (pa.array([1, 2, 3]), NumericColumn("x", 9, 0), "the lower one first"),
]


@pytest.mark.parametrize(("values", "column", "said"), REFUSED)
def test_what_cannot_be_summed_up_is_one_sentence(
    loaded: Loaded, values: pa.Array, column: NumericColumn, said: str
) -> None:
    engine = loaded(pa.table({"x": values, "y": [1.0, 2.0, 3.0]}))
    with pytest.raises(InputError, match=said):
        finished(engine.gram((column, NumericColumn("y", 0, 9))))


def test_one_column_is_no_regression(loaded: Loaded) -> None:
    with pytest.raises(InputError, match="at least one feature"):
        finished(loaded(pa.table({"x": [1.0]})).gram((NumericColumn("x", 0, 9),)))


def test_a_column_of_nothing_is_all_stand_ins(loaded: Loaded) -> None:
    table = pa.table({"x": pa.array([None] * 4, pa.float64()), "y": [1.0, 2.0, 3.0, 4.0]})
    assert_equal_grams(loaded(table), table, (NumericColumn("x", 0, 4, 1), NumericColumn("y", 0, 9)))


def test_a_table_that_changes_between_two_statements_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "MOST_SUMS", 3)
    table, statements = InMemory(pa.table({"x": [1.0], "y": [2.0]})), itertools.count()
    steps = SqlTable(table).gram((NumericColumn("x", 0, 9), NumericColumn("y", 0, 9)))

    from tests.sources.engines import tables

    answer = tables.DuckDbSession.answer

    def growing(self: Any, expression: Any) -> pa.Table:
        if next(statements) == 1:
            self.connection.execute('insert into "a table" values (3, 4)')
        return answer(self, expression)

    monkeypatch.setattr(tables.DuckDbSession, "answer", growing)
    with pytest.raises(InputError, match="changed during"):
        finished(steps)


@pytest.mark.parametrize(
    "dialect", ["bigquery", "snowflake", "trino", "clickhouse", "postgres", "pyspark", "databricks"]
)
def test_sums_can_be_written_for_engines_that_nobody_connects_to(dialect: str) -> None:
    kinds = {"age": "int16", "large": "int64", 'it\'s "paid"': "float64", "price": "decimal(9, 2)"}
    table = named_table(("clinic", "a table"), kinds)
    mappings = require_mappings(COLUMNS[:4])
    (text,) = (
        statement(expression, dialect) for expression in gram.statements(gram.mapped_columns(table, mappings), 4)
    )
    assert text.lower().count("sum(") == 10 + 4 * 4
