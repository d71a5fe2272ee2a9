"""A Parquet file is counted as if it had been read into memory and encoded."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.model.dataset import Dataset
from dpbayes.sources.columns import (
    LEFT_OUT,
    OUTSIDE,
    Categories,
    Column,
    CountAs,
    Cuts,
    DropRecord,
    Groups,
    OwnState,
    coded,
)
from dpbayes.sources.engines import parquet
from dpbayes.sources.engines.engine import DeclaredTable, Tally
from dpbayes.sources.engines.parquet import ParquetFiles
from dpbayes.sources.engines.parquet.files import CHANGED
from dpbayes.sources.engines.written_numbers import least_at_or_above
from dpbayes.sources.tables import read_parquet
from tests.conftest import IS_THOROUGH


def written(folder: Path, table: pa.Table, name: str = "t.parquet", **how: Any) -> Path:
    folder.mkdir(exist_ok=True)
    arrow_parquet.write_table(table, folder / name, **how)
    return folder / name


def expected(path: Path, network: dp.Network, columns: Sequence[Column]) -> Tally:
    """Encode what a file's reader gives, record by record."""
    frame = read_parquet(path.read_bytes())
    codes = np.array([coded(column, frame[column.name]) for column in columns]).T
    left_out = (codes == LEFT_OUT).any(axis=1)
    outside = (codes == OUTSIDE) & ~left_out[:, None]
    nodes = [column for column in columns if column.name in network.position]
    kept = codes[~left_out & ~outside.any(axis=1)][:, [columns.index(column) for column in nodes]]
    counts = dp.count(network, Dataset(tuple(c.name for c in nodes), tuple(c.domain for c in nodes), kept))
    wrong = dict(zip((column.name for column in columns), outside.sum(axis=0).tolist(), strict=True))
    return Tally(counts.values, counts.n, int(left_out.sum()), wrong)


def over(columns: Sequence[Column], names: Sequence[str] | None = None) -> dp.Network:
    names = names or [column.name for column in columns]
    edges = list(pairwise(names))
    return dp.Network.from_edges(names, edges, {c.name: c.domain for c in columns if c.name in names})


def assert_equal(path: Path, columns: Sequence[Column], network: dp.Network | None = None) -> Tally:
    network = network or over(columns)
    tally = finished(ParquetFiles(path).tally(network, columns))
    memory = expected(path, network, columns)
    assert (tally.n, tally.left_out, dict(tally.outside)) == (memory.n, memory.left_out, dict(memory.outside))
    assert tally.values.tolist() == memory.values.tolist()
    return tally


WHOLE = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
FLOATS = [pa.float32(), pa.float64(), pa.float16()]
WORDS = ["a", "b", " a", "b  ", "", "NA", "nan", "?", "über", "'; drop", "1", "1.5", "05", "-0", "true", "inf"]
NUMBERS = [0.0, -0.0, 1.0, 2.0, 0.5, 0.7, 1e22, 70.5, -3.0, float("nan"), float("inf"), float("-inf"), 0.1 + 0.2]


def values_of(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_integer(kind):
        width = np.iinfo(kind.to_pandas_dtype())
        near = st.integers(max(width.min, -3), min(width.max, 12))
        return st.one_of(near, near, st.sampled_from([int(width.min), int(width.max), int(width.max) // 3]))
    if pa.types.is_floating(kind):
        dtype: Any = kind.to_pandas_dtype()
        numbers = st.one_of(st.sampled_from(NUMBERS), st.integers(0, 5).map(float))
        return numbers.map(lambda x: dtype(min(max(x, -60_000), 60_000) if np.isfinite(x) else x))
    if pa.types.is_binary(kind):
        return st.sampled_from(WORDS).map(str.encode)
    if pa.types.is_decimal(kind):
        return st.integers(0, 3000).map(lambda cents: Decimal(cents) / 100)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return st.integers(1, 4).map(lambda day: datetime(2020, 1, day))
    return st.sampled_from(WORDS)


KINDS = [*WHOLE, *FLOATS, pa.bool_(), pa.string(), pa.large_string(), pa.binary(), pa.decimal128(9, 2)]
KINDS += [pa.date32(), pa.timestamp("ms"), pa.dictionary(pa.int8(), pa.string())]


@st.composite
def columns_with_values(draw: Callable[..., Any], name: str, records: int) -> tuple[pa.Array, Column]:
    """Return values of one type and a column whose states and points are for a part among them."""
    kind = draw(st.sampled_from(KINDS))
    value = values_of(kind)
    values = draw(st.lists(st.one_of(value, value, value, st.none()), min_size=records, max_size=records))
    array = pa.array(values, type=kind)
    texts = {text for text in array.cast(pa.string()).to_pylist() if text and text.strip()}
    kept = draw(st.lists(st.sampled_from(sorted(texts | {"0", "1", "other"})), min_size=1, max_size=20, unique=True))
    missing: Any = draw(st.sampled_from([DropRecord(), OwnState("none at all"), CountAs("")]))
    shape = draw(st.sampled_from([Categories, Groups, Cuts]))
    column: Column
    if shape is Cuts:
        points = draw(st.sets(st.sampled_from([x for x in NUMBERS if np.isfinite(x)]), min_size=1, max_size=8))
        column = Cuts(name, tuple(sorted({float(p) for p in points})))
    elif shape is Groups:
        half = len(kept) // 2
        column = Groups(name, (("first", tuple(kept[: half + 1])), ("second", (*kept[half + 1 :], "nobody"))))
    else:
        column = Categories(name, tuple(kept))
    if isinstance(missing, CountAs):
        missing = CountAs(column.states[-1])
    return array, type(column)(*[getattr(column, f) for f in fields_of(column)], missing=missing)


def fields_of(column: Column) -> list[str]:
    return ["name", {Cuts: "points", Groups: "groups", Categories: "states"}[type(column)]]


@given(st.data())
def test_a_file_is_counted_as_if_it_were_read_and_encoded(tmp_path_factory: Any, data: st.DataObject) -> None:
    records = data.draw(st.integers(1, 40))
    pairs = [data.draw(columns_with_values(name, records)) for name in ("a.b", "ü x", "c")]
    table = pa.table([array for array, _ in pairs], names=[column.name for _, column in pairs])
    path = written(tmp_path_factory.mktemp("t"), table, row_group_size=data.draw(st.integers(1, 40)))
    columns = [column for _, column in pairs]
    assert_equal(path, columns, over(columns, [c.name for c in columns][: data.draw(st.integers(1, 3))]))


@pytest.mark.parametrize("kind", [*WHOLE, *FLOATS], ids=str)
def test_cut_points_lie_where_the_text_of_a_number_reaches_them(kind: pa.DataType) -> None:
    dtype = np.dtype(kind.to_pandas_dtype())
    points = (-1e300, -70.0, -0.1, 0.0, 0.1, 0.7, 1.0, 4.5, 65.0, 1e300)
    least = least_at_or_above(points, dtype)
    assert len(least) == len(points) - (dtype != np.float64)
    numbers = [*least, *np.array([0, 1, 4, 5, 64, 65], dtype=dtype)]
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            numbers += [np.nextafter(x, dtype.type(way)) for x in least for way in (-np.inf, np.inf)]
    array = pa.array([x for x in numbers if np.isfinite(x)], type=kind)
    texts = array.cast(pa.string()).to_pandas()
    bins = np.searchsorted(least, array.to_numpy(), side="right")
    assert bins.tolist() == coded(Cuts("x", points), texts).tolist()


@pytest.mark.parametrize("values", [range(-5, 40), range(0, 10**9, 10**8), [2**63, 5, 2**64 - 1]])
def test_many_values_are_looked_up_as_few_are(values: Sequence[int], tmp_path: Path) -> None:
    kind = pa.uint64() if max(values) >= 2**63 else pa.int64()
    for less in (0, 1):
        states = [str(value) for value in values][less:]
        array = pa.array([*values, *values, None], type=kind)
        path = written(tmp_path, pa.table({"x": array}))
        assert_equal(path, [Categories("x", tuple(states))])
        assert_equal(path, [Groups("x", (("last", tuple(states[-1:])), ("rest", tuple(states[:-1]))))])
    floats = pa.table({"x": pa.array([value / 3 for value in values])})
    states = floats["x"].cast(pa.string()).to_pylist()
    assert_equal(written(tmp_path, floats), [Categories("x", tuple(states))])
    assert_equal(written(tmp_path, floats), [Cuts("x", tuple(sorted(value / 4 + 1 for value in values)))])


def test_blocks_and_batches_add_up_to_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet.files, "MOST_ROWS", 48)
    monkeypatch.setattr(parquet.table, "BLOCK", 100)
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, (1000, 4))
    words = np.array(["x", "y", "NA"])
    table = pa.table({f"n{j}": words[codes[:, j]] if j % 2 else codes[:, j].astype(np.int8) for j in range(4)})
    path = written(tmp_path, table, row_group_size=190)
    states = {0: ("2", "1", "0"), 1: ("y", "x")}
    assert assert_equal(path, [Categories(f"n{j}", states[j % 2]) for j in range(4)]).left_out > 100


def test_a_folder_is_one_table_and_its_hidden_files_are_not_of_it(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "b", "a"], "y": [1, 2, 2]})
    written(tmp_path, table, "part-0.parquet")
    written(tmp_path / "more", table, "part-1.PQ")
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_old.parquet", ".x.parquet", "readme.txt"):
        (tmp_path / name).write_text("no table")
    columns = (Categories("x", ("a", "b")), Categories("y", ("1", "2")))
    counts = dp.count(over(columns), DeclaredTable(ParquetFiles(tmp_path), columns))
    assert (counts.n, counts.values.tolist()) == (6, [4, 2, 2, 2, 0, 2])


def test_a_table_of_no_record_has_counts_of_none(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": pa.array([], type=pa.string())}))
    columns = (Categories("x", ("a", "b")),)
    counts = dp.count(over(columns), DeclaredTable(ParquetFiles(path), columns))
    assert (counts.n, counts.values.tolist()) == (0, [0, 0])


def test_only_the_columns_in_use_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"a": [1, 2], "b": ["x", None], "c": [0, 0], "d": [[1], [2]]}
    path = written(tmp_path, pa.table(rows))
    read_columns: list[list[str]] = []

    class Watched(arrow_parquet.ParquetFile):
        def iter_batches(self, *args: Any, columns: Any = None, **more: Any) -> Any:
            read_columns.append(columns)
            return super().iter_batches(*args, columns=columns, **more)

    monkeypatch.setattr(arrow_parquet, "ParquetFile", Watched)
    columns = (Categories("a", ("1", "2")), Categories("b", ("x",)), Categories("c", ("0",), missing=OwnState()))
    counts = dp.count(over(columns[:1]), DeclaredTable(ParquetFiles(path), columns))
    assert read_columns == [["a", "b", "c"]]
    assert (counts.n, counts.values.tolist()) == (1, [1, 0])


def test_a_scan_of_many_steps_is_stopped_by_taking_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet.files, "MOST_ROWS", 10)
    monkeypatch.setattr(parquet.files, "LEAST_ROWS", 1)
    path = written(tmp_path, pa.table({"x": [1] * 100}))
    columns = (Categories("x", ("1",)),)
    coder, coded_arrays = parquet.codes.coder, []

    def watched(*args: Any) -> Any:
        inner = coder(*args)
        return lambda array, out: (coded_arrays.append(len(array)), inner(array, out))[1]

    monkeypatch.setattr(parquet.table, "coder", watched)
    work = ParquetFiles(path).tally(over(columns), columns)
    assert next(work) == pytest.approx(0.1)
    assert next(work) == pytest.approx(0.2)
    work.close()
    assert len(coded_arrays) <= 4


# What is refused

NO_TEXT = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")])


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: path.unlink(), 'There is no file or folder "t.parquet".'),
        (lambda path: path.write_bytes(b"x,y\n1,2\n"), '"t.parquet" is not a readable Parquet file'),
        (lambda path: path.write_bytes(b""), '"t.parquet" is not a readable Parquet file'),
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), '"t.parquet" is not a readable Parquet file'),
        (lambda path: written(path.parent, pa.table({"y": [1]})), 'The table has no column "x".'),
        (lambda path: written(path.parent, pa.table({"x": [[1]]})), 'Column "x" has lists or records'),
        (lambda path: written(path.parent, pa.table({"x": NO_TEXT})), "has text that is not UTF-8"),
        (lambda path: written(path.parent, pa.table([[1], [2]], names=["x", "x"])), 'Two columns are named "x"'),
        (lambda path: written(path.parent, pa.table({"x": ["1", "7"]})), 'undeclared values in "x" in 1 record'),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(spoil: Any, sentence: str, tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": [1]}))
    spoil(path)
    columns = (Categories("x", ("1",)),)
    with pytest.raises(InputError) as refused:
        dp.count(over(columns), DeclaredTable(ParquetFiles(path), columns))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda files, columns: files.fields(),
        lambda files, columns: finished(files.head(1)),
        lambda files, columns: finished(files.values("named", 2)),
        lambda files, columns: dp.count(over(columns), DeclaredTable(files, columns)),
    ],
)
def test_a_column_whose_name_is_not_utf_8_is_refused(act: Any, tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"named": ["1"]}))
    path.write_bytes(path.read_bytes().replace(b"named", b"na\xffed"))
    with pytest.raises(InputError, match="is not a readable Parquet file"):
        act(ParquetFiles(path), (Categories("named", ("1",)),))


def test_a_folder_without_a_file_and_one_of_different_columns_are_refused(tmp_path: Path) -> None:
    columns = (Categories("x", ("1",)),)
    source = DeclaredTable(ParquetFiles(tmp_path), columns)
    with pytest.raises(InputError, match="has no Parquet file"):
        dp.count(over(columns), source)
    written(tmp_path, pa.table({"x": ["1"]}), "a.parquet")
    written(tmp_path, pa.table({"x": [1]}), "b.parquet")
    with pytest.raises(InputError, match=r'has string in "a\.parquet" and int64 in "b\.parquet"'):
        dp.count(over(columns), source)


def test_bytes_spoilt_anywhere_are_refused_or_read(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": ["1", "2"] * 50, "y": list(range(100))}))
    whole, rng = path.read_bytes(), np.random.default_rng(3)
    columns = (Categories("x", ("1", "2")), Cuts("y", (50,)))
    for place in rng.integers(4, len(whole), 60):
        path.write_bytes(whole[:place] + bytes(rng.integers(0, 256, 3, dtype=np.uint8)) + whole[place + 3 :])
        with suppress(InputError):  # any other error fails the test
            counts = dp.count(over(columns), DeclaredTable(ParquetFiles(path), columns))
            assert counts.values[:2].sum() == counts.n


@pytest.mark.parametrize("change", ["touch", "shrink", "remove", "add"])
def test_a_table_that_changes_while_it_is_counted_is_refused(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet.files, "MOST_ROWS", 1000)
    monkeypatch.setattr(parquet.files, "BUFFER_BYTES", 1 << 16)
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.integers(0, 2, 20_000), "z": rng.random(20_000)})
    path = written(tmp_path, table, row_group_size=2000)
    columns = (Categories("x", ("0", "1")), Cuts("z", (0.5,)))
    work = ParquetFiles(tmp_path).tally(over(columns), columns)
    next(work)
    if change == "touch":
        os.utime(path, ns=(1, 1))
    elif change == "shrink":
        os.truncate(path, 2000)
    elif change == "remove":
        path.unlink()
    else:
        written(tmp_path, table, "more.parquet")
    with pytest.raises(InputError) as refused:
        finished(work)
    assert str(refused.value) == CHANGED


# What is shown of it


def test_very_many_columns_are_connected_and_counted_with_few_looks_at_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = 10_000 if IS_THOROUGH else 2_000
    wide = {f"x{k}": ["a", "b", "b"] for k in range(many)}
    engine = ParquetFiles(written(tmp_path, pa.table(wide)))
    looks, reads = list[str](), list[list[str]]()
    schema_of = arrow_parquet.ParquetFile.schema_arrow.fget
    batches_of = arrow_parquet.ParquetFile.iter_batches

    def schema_arrow(file: Any) -> Any:
        looks.append("schema")  # each takes time in proportion to all columns
        return schema_of(file)

    def iter_batches(file: Any, **words: Any) -> Any:
        reads.append(words["columns"])
        return batches_of(file, **words)

    monkeypatch.setattr(arrow_parquet.ParquetFile, "schema_arrow", property(schema_arrow))
    monkeypatch.setattr(arrow_parquet.ParquetFile, "iter_batches", iter_batches)
    assert len(engine.fields()) == many
    assert finished(engine.head(2)).shape == (2, many)
    reads.clear()
    columns = tuple(Categories(f"x{k}", ("a", "b")) for k in (many - 1, 0, many // 2))
    names = [column.name for column in columns]
    network = dp.Network.from_edges(names, [(names[0], "x0")], dict.fromkeys(names, ("a", "b")))
    counts = dp.count(network, DeclaredTable(engine, columns))
    assert counts.values.tolist() == [1, 2, 1, 0, 0, 2, 1, 2]
    assert reads == [names]
    assert len(looks) < 10


def test_columns_values_and_a_few_records_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet.table, "MOST_VALUES", 4)
    rows = {"x": ["b", "a", None, "b", ""], "y": [1.0, 2.5, None, 1.0, 7.0], "z": [[1]] * 5, "w": [1, 2, 3, 4, 5]}
    engine = ParquetFiles(written(tmp_path, pa.table(rows), row_group_size=2))
    assert [(f.name, f.type) for f in engine.fields()][:2] == [("x", "string"), ("y", "double")]
    assert finished(engine.values("x", 2)).to_dict() == {"": 2, "b": 2}
    assert finished(engine.values("y", 9)).to_dict() == {"1": 2, "": 1, "2.5": 1, "7": 1}
    assert finished(engine.head(3)).to_dict("list") == {
        "x": ["b", "a", ""],
        "y": ["1", "2.5", ""],
        "w": ["1", "2", "3"],
    }
    with pytest.raises(InputError, match=r'Column "w" has more than 4 different values\. Declare it with cut points'):
        finished(engine.values("w", 2))
    assert engine.title == "t.parquet"
