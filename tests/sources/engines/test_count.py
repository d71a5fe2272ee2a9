"""A table has the same counts in an engine as in memory, and is refused for the same values."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.sources.columns import Categories, Column, Cuts, encode
from dpbayes.sources.engines import count as module
from dpbayes.sources.engines.count import MOST_CELLS, column_sets
from dpbayes.sources.engines.table import DeclaredTable, Engine, open_table
from dpbayes.sources.files import read_parquet
from dpbayes.sources.named_networks import NAMED, load_named
from tests.conftest import IS_THOROUGH
from tests.sources.engines.tables import assert_equal_counts, in_duckdb


def drawn(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m", " f", "m  "], n),
            "smokes": rng.choice([True, False], n),
            "age": rng.integers(0, 100, n),
            "grade": rng.integers(3, 6, n),
            "odd": rng.choice([1, 5, 70], n),
            "dose": rng.choice([0.5, 1.0, 2.25, float("nan")], n),
            "weight": rng.choice([40.0, 70.5, float("nan"), 120.0], n),
            "note": rng.choice(["a", "?", "NA", "", None, "über", "'; drop table t; --"], n),
        }
    )


COLUMNS: tuple[Column, ...] = (
    Categories("sex", ("woman", "man"), values=(("f",), ("m",))),
    Categories("smokes", ("false", "true")),
    Cuts("age", (18, 65)),
    Categories("grade", ("3", "4", "5")),
    Categories("odd", ("70", "5", "1")),
    Categories("dose", ("0.5", "1", "2.25"), missing="missing"),
    Cuts("weight", (50, 70.5), missing=">= 70.5"),
    Categories("note", ("a", "über", "'; drop table t; --"), missing="nothing said"),
)
EDGES = [("sex", "age"), ("age", "note"), ("smokes", "note"), ("dose", "weight"), ("odd", "grade"), ("note", "dose")]


def network_over(columns: Sequence[Column], edges: Sequence[tuple[str, str]] = EDGES) -> Network:
    names = [column.name for column in columns]
    own = [(a, b) for a, b in edges if a in names and b in names]
    return Network.from_edges(names, own, {column.name: column.domain for column in columns})


def counts_of(engine: Engine, columns: Sequence[Column], network: Network | None = None) -> dp.Counts:
    return dp.count(network or network_over(columns), DeclaredTable(engine, tuple(columns)))


@pytest.mark.parametrize(("most_cells", "most_sets"), [(1, 2), (64, 24), (4096, 24)])
@pytest.mark.parametrize("missing", ["none", None])
def test_a_table_has_the_same_counts_as_in_memory(
    missing: Any, most_cells: int, most_sets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", most_cells)
    monkeypatch.setattr(module, "MOST_SETS", most_sets)
    columns = tuple(with_rule(column, missing) for column in COLUMNS)
    assert_equal_counts(in_duckdb(drawn(), tmp_path), drawn(), network_over(columns), columns)


def with_rule(column: Column, missing: Any) -> Column:
    return replace(column, missing=missing) if column.name in ("note", "dose", "weight") else column


def test_undeclared_values_are_refused_by_column(tmp_path: Path) -> None:
    columns = (Categories("sex", ("f",)), Categories("odd", ("1", "5")))
    frame = pd.DataFrame({"sex": ["f", "f", "x"], "odd": [1, 2, 70]})
    with pytest.raises(InputError, match='"odd" in 2 records') as refused:
        counts_of(in_duckdb(frame, tmp_path), columns)
    assert '"sex" in 1 record' in str(refused.value)


def test_a_column_of_identifiers_is_refused_without_returning_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ANSWERS", 100)
    engine = in_duckdb(pd.DataFrame({"x": ["a"] * 500, "id": range(500)}), tmp_path)
    columns = (Categories("x", ("a",)), Categories("id", ("1", "2")))
    with pytest.raises(InputError, match='"id" has too many different values'):
        counts_of(engine, columns)
    assert counts_of(engine, (columns[0], Cuts("id", (100, 490)))).values.tolist() == [500, 100, 390, 10]


def test_singles_are_compared_as_their_texts(tmp_path: Path) -> None:
    # As a double, the single nearest 0.7 is below 0.7; its text, which a file has, is not.
    said = ["0.1", "0.7", "0.3", "1e+30", "16777216", "0.69999"]
    texts = pd.DataFrame({"x": said}, dtype="str")
    engine = in_duckdb(pd.DataFrame({"x": np.array(said, dtype=np.float32)}), tmp_path)
    for column in (Cuts("x", (0.1, 0.7, 16777217)), Cuts("x", (0.3, 1e300)), Categories("x", tuple(said))):
        memory = dp.count(network_over((column,)), encode(texts, (column,)))
        assert counts_of(engine, (column,)).values.tolist() == memory.values.tolist()


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.binary(), pa.list_(pa.int64()), pa.time64("us")], ids=str)
def test_a_type_that_has_no_states_is_refused(kind: Any, tmp_path: Path) -> None:
    engine = in_duckdb(pa.table({"x": pa.array([None], kind)}), tmp_path)
    for column in (Categories("x", ("1", "0x")), Cuts("x", (1,))):
        with pytest.raises(InputError, match=r'"x".*view that casts it'):
            counts_of(engine, (column,))


def test_cut_points_on_text_and_a_missing_column_are_refused(tmp_path: Path) -> None:
    engine = in_duckdb(pd.DataFrame({"x": ["1"]}), tmp_path)
    for column, said in ((Cuts("x", (1,)), '"x" need a numeric column'), (Cuts("y", (1,)), 'no column "y"')):
        with pytest.raises(InputError, match=said):
            counts_of(engine, (column,))


# Missing values


UNUSED: dict[str, tuple[Column, list[Any], list[Any]]] = {
    "text": (Categories("other", ("a", "b")), ["a", " b", "NA", None], ["a", " b", "NA", "z"]),
    "own": (Categories("other", ("a",), missing="none"), ["a", "?", None, "a "], ["a", "?", None, "A"]),
    "cut": (Cuts("other", (1.5,), missing="< 1.5"), [0.0, None, 2.0, 1e9], [0.0, None, 2.0, np.inf]),
}


@pytest.mark.parametrize(("column", "declared", "undeclared"), UNUSED.values(), ids=list(UNUSED))
def test_a_column_in_use_that_is_no_node_must_keep_to_its_domain(
    tmp_path: Path, column: Column, declared: list[Any], undeclared: list[Any]
) -> None:
    columns = (Categories("sex", ("f", "m")), column)
    tables = [pa.table({"sex": ["f", "m", "f", "f"], "other": pa.array(own)}) for own in (declared, undeclared)]
    counts = counts_of(in_duckdb(tables[0], tmp_path), columns, network_over(columns[:1]))
    assert (counts.n, counts.values.tolist()) == (4, [3, 1])
    with pytest.raises(InputError, match='"other" in 1 record'):
        counts_of(in_duckdb(tables[1], tmp_path), columns, network_over(columns[:1]))


S = ("s0", "s1", "s2")
TEXTS = ("a", "b", " a", "b ", "", "NA", "?", "nan", "A", "'", "a\nb", "ü", "1", "01", "x")
TABLE = st.integers(0, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "text": st.lists(st.sampled_from(TEXTS), min_size=n, max_size=n),
            "whole": st.lists(st.integers(-3, 3) | st.none(), min_size=n, max_size=n),
            "real": st.lists(st.sampled_from([0.1, 0.5, -1.0, 1e300, float("nan"), None]), min_size=n, max_size=n),
        }
    )
)
RULE = st.sampled_from([None, "none", "s0"])


@settings(max_examples=200 if IS_THOROUGH else 10)
@given(TABLE, RULE, RULE, st.integers(1, 3))
def test_every_small_table_is_counted_or_refused_as_in_memory(
    tmp_path_factory: Any, values: dict[str, list[Any]], rule: Any, other: Any, nodes: int
) -> None:
    kinds = {"text": pa.string(), "whole": pa.int64(), "real": pa.float64()}
    table = pa.table({name: pa.array(values[name], kind) for name, kind in kinds.items()})
    texts = pd.DataFrame(
        {
            "text": values["text"],
            "whole": ["" if v is None else str(v) for v in values["whole"]],
            "real": ["" if v is None or v != v else repr(v) for v in values["real"]],
        },
        dtype="str",
    )
    columns: tuple[Column, ...] = (
        Categories("text", S, values=(("a", "A", "'"), ("b", "a\nb", "ü"), ("1", "01")), missing=rule),
        Categories("whole", S[:2], values=(("-3", "-2", "-1"), ("0", "1", "2", "3")), missing=other),
        Cuts("real", (0.1, 1), missing=rule if rule is None else "none"),
    )
    network = network_over(columns[:nodes], list(pairwise(kinds)))
    engine = in_duckdb(table, tmp_path_factory.mktemp("t"))
    try:
        memory = dp.count(network, encode(texts, columns))
    except InputError:
        with pytest.raises(InputError, match="undeclared values"):
            counts_of(engine, columns, network)
    else:
        counted = counts_of(engine, columns, network)
        assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())


NUMBERS = (0.0, 1.0, 2.0, 0.5, 0.7, 70.5, -3.0, 1e22, 0.1 + 0.2)
POINTS = (-1e300, -3.0, 0.0, 0.1, 0.3, 0.5, 0.7, 1.0, 70.5, 1e300)
KINDS = (pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.bool_(), pa.decimal128(9, 2))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_parquet_file_is_counted_as_if_it_were_read_and_encoded(kind: pa.DataType, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    whole = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    numbers = [True, False] if pa.types.is_boolean(kind) else [0, 1, 7, 100] if whole else NUMBERS
    values = pa.array([[*numbers, None][k] for k in rng.integers(0, len(numbers) + 1, 200)], kind)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": values, "y": ["a", "b"] * 100}), path, row_group_size=60)
    frame = read_parquet(path.read_bytes())
    states = tuple(sorted(set(frame["x"]) - {""}))
    numeric: list[Column] = [] if pa.types.is_boolean(kind) else [Cuts("x", POINTS, missing="missing")]
    for column in (Categories("x", states), Categories("x", states, missing="missing"), *numeric):
        columns = (Categories("y", ("b", "a")), column)
        memory = dp.count(network_over(columns, [("y", "x")]), encode(frame, columns))
        counted = counts_of(open_table(f"parquet:{path}"), columns, network_over(columns, [("y", "x")]))
        assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())


# Sets of families


@pytest.mark.parametrize("name", sorted(NAMED))
def test_each_family_is_in_a_set_that_is_small_unless_the_family_is_large(name: str) -> None:
    network, _ = load_named(name)
    sets = column_sets(network, [*network.names, "other"])
    families = [{network.names[j] for j in family} for family in network.families]
    sizes = dict(zip(network.names, network.cards.tolist(), strict=True))
    assert all(any(family <= set(own) for own in sets) for family in families)
    assert sets[-1] == ("other",)
    for own in sets[:-1]:
        widest = max(math.prod(sizes[n] for n in family) for family in families if family <= set(own))
        assert math.prod(sizes[n] for n in own) <= max(MOST_CELLS, widest)
    assert len(sets) <= 1 + math.ceil(len(network.names) / 2)


def group_of(names: str, rows: Sequence[str]) -> module.Group:
    """Return the answer for columns with the same values in each, such as "ab" for two records."""
    codes = np.array(["abc".index(value) for value in rows])
    return module.Group(dict.fromkeys(names, codes), np.ones(len(rows), dtype=np.int64))


@pytest.mark.parametrize("after", ["abb", "bb"])
def test_sets_that_differ_in_their_records_or_in_a_shared_column_are_refused(after: str) -> None:
    module._require_one_state([group_of("xy", "ab"), group_of("xz", "ba"), group_of("w", "cc")])
    with pytest.raises(InputError, match="changed during the count"):
        module._require_one_state([group_of("xy", "ab"), group_of("xz", after)])


def test_sets_of_other_columns_that_differ_in_their_number_of_records_are_refused() -> None:
    with pytest.raises(InputError, match="changed during the count"):
        module._require_one_state([group_of("x", "ab"), group_of("y", "abb")])
