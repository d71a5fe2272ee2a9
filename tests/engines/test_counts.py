"""Every engine counts the same table alike, and as it is counted in memory."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpbayes as dp
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.model.regression import NumericColumn
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, DropRecord, OwnState, encode
from dpbayes.sources.engines import sql
from dpbayes.sources.engines.engine import DeclaredTable
from tests.conftest import IS_THOROUGH
from tests.engines.conftest import ENGINES, Loaded
from tests.sources.engines.tables import assert_equal_counts
from tests.sources.engines.test_gram import assert_equal_grams

# Spark leaves sockets of its own to the garbage collector.
pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]
on_every_engine = pytest.mark.parametrize("loaded", ENGINES, indirect=True)

HOSTILE = (
    "code",
    "records",
    "arm",
    "select",
    "group by 1; drop table x; --",
    'say "hi"',
    "it's",
    "back`tick",
    "back\\slash",
    "line\nbreak",
    "100% {of} $1 :this ?",
    "😀 straße",
    "a.b",
    "Mixed Case",
    " space ",
    "n" * 60,
    "t0",
    "*",
)
STATES = (
    "yes",
    "it's",
    'say "no"',
    "; drop table x; --",
    "\\",
    "a\\nb",
    "a\nb",
    "😀",
    "straße",
    "%s {x}",
    "Ä",
    "A\u0308",
    "YES",
)


def network_over(columns: tuple[Column, ...]) -> dp.Network:
    """Return a network in which every column has the two before it for parents."""
    names = [column.name for column in columns]
    edges = [(names[j - k], names[j]) for j in range(len(names)) for k in (1, 2) if j >= k]
    return dp.Network.from_edges(names, edges, {column.name: column.domain for column in columns})


@on_every_engine
def test_hostile_names_of_columns_are_names(loaded: Loaded) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.choice(["no", "yes"], 200) for name in HOSTILE})
    columns = tuple(Categories(name, ("no", "yes")) for name in HOSTILE)
    engine = loaded(pa.Table.from_pandas(frame))
    assert [field.name for field in engine.fields()] == list(HOSTILE)
    assert_equal_counts(engine, frame, network_over(columns), columns)


@on_every_engine
def test_hostile_states_are_texts(loaded: Loaded) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.choice([*STATES, " yes ", "\t😀"], 300) for name in ("x", "y")})
    columns = tuple(Categories(name, STATES) for name in ("x", "y"))
    assert_equal_counts(loaded(pa.Table.from_pandas(frame)), frame, network_over(columns), columns)


@on_every_engine
@pytest.mark.parametrize("missing", [DropRecord(), OwnState("none")])
def test_every_type_is_counted_as_its_text(loaded: Loaded, missing: Any) -> None:
    rng, n = np.random.default_rng(5), 500

    def drawn_from(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[k] for k in rng.integers(0, len(values), n)], kind, from_pandas=False)

    day = datetime.date
    table = pa.table(
        {
            "text": drawn_from(["a", " a", "?", "NA", "", None, "b"], pa.string()),
            "truth": drawn_from([True, False, None], pa.bool_()),
            "whole": drawn_from([-5, 0, 7, 9_000_000_000_000_000_000, None], pa.int64()),
            "small": drawn_from([1, 2, 3], pa.int16()),
            "real": drawn_from([0.5, 1.0, float("nan"), 1e-7, None], pa.float64()),
            "cut": drawn_from([0.1, 0.7, 49.99, 50.0, float("nan"), None], pa.float64()),
            "single": drawn_from([0.1, 0.7, 0.3, None], pa.float32()),
            "single cut": drawn_from([0.1, 0.7, 0.3, 3.0], pa.float32()),
            "price": drawn_from([Decimal("1.50"), Decimal("0.10"), Decimal("-3.00"), None], pa.decimal128(9, 2)),
            "price cut": drawn_from([Decimal("1.50"), Decimal("0.10"), Decimal("7.00")], pa.decimal128(9, 2)),
            "day": drawn_from([day(2024, 2, 29), day(1969, 1, 1), None], pa.date32()),
        }
    )
    columns: tuple[Column, ...] = (
        Categories("text", ("b", "a"), missing=missing),
        Categories("truth", ("true", "false"), missing=missing),
        Categories("whole", ("-5", "0", "7", "9000000000000000000"), missing=missing),
        Categories("small", ("1", "2", "3")),
        Categories("real", ("0.5", "1", "1e-7"), missing=missing),
        Cuts("cut", (0.1, 0.7, 50), missing=CountAs("< 0.1")),
        Categories("single", ("0.3", "0.7", "0.1"), missing=missing),
        Cuts("single cut", (0.1, 0.7, 1)),
        Categories("price", ("0.10", "1.50", "-3.00"), missing=missing),
        Cuts("price cut", (0.1, 1.5)),
        Categories("day", ("2024-02-29", "1969-01-01"), missing=missing),
    )
    frame = pd.DataFrame({name: _texts(table[name]) for name in table.column_names}, dtype="str")
    network = network_over(columns)
    memory = dp.count(network, encode(frame, columns))
    counted = dp.count(network, DeclaredTable(loaded(table), columns))
    assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())
    assert 0 < memory.n < n or isinstance(missing, OwnState)


def _texts(values: pa.ChunkedArray) -> list[str]:
    return ["" if text is None or text == "nan" else text for text in values.cast(pa.string()).to_pylist()]


@on_every_engine
def test_an_empty_table_has_no_records(loaded: Loaded) -> None:
    columns = (Categories("x", ("a", "b")), Cuts("y", (1,)))
    table = pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.float64())})
    engine = loaded(table)
    counts = dp.count(network_over(columns), DeclaredTable(engine, columns))
    assert (counts.n, counts.values.sum()) == (0, 0)
    assert len(finished(engine.head(5))) == len(finished(engine.values("x", 5))) == 0


@on_every_engine
def test_what_is_not_declared_is_refused_and_can_be_listed(loaded: Loaded) -> None:
    engine = loaded(pa.table({"x": ["a", "b", "b", None, "?"], "y": pa.array([1, 2, 3, 4, 5])}))
    columns = (Categories("x", ("a",)), Cuts("y", (2,)))
    with pytest.raises(InputError, match='"x" in 2 records'):
        dp.count(network_over(columns), DeclaredTable(engine, columns))
    assert finished(engine.values("x", 2)).to_dict() in ({"b": 2, "?": 1}, {"b": 2, "a": 1}, {"b": 2, "": 1})
    assert finished(engine.head(2))["y"].isin(list("12345")).all()
    for ask in (
        lambda: finished(engine.values("z", 1)),
        lambda: dp.count(network_over((Cuts("z", (1,)),)), DeclaredTable(engine, (Cuts("z", (1,)),))),
    ):
        with pytest.raises(InputError, match='no column "z"'):
            ask()


@on_every_engine
def test_a_wide_network_is_counted_in_several_statements_of_one_state(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(6)
    names = [f"x{k}" for k in range(16)]
    frame = pd.DataFrame({name: rng.choice(["0", "1", "2"], 150) for name in names})
    columns = tuple(Categories(name, ("0", "1", "2")) for name in names)
    edges = [(names[j - k], names[j]) for j in range(16) for k in (1, 3, 7, 13) if j >= k]
    network = dp.Network.from_edges(names, edges, {name: ("0", "1", "2") for name in names})
    monkeypatch.setattr(sql, "MOST_ARMS", 3)
    engine = loaded(pa.Table.from_pandas(frame))
    assert_equal_counts(engine, frame, network, columns)


@pytest.mark.skipif(
    not IS_THOROUGH, reason="ten million records take minutes to load: make engines HYPOTHESIS_PROFILE=thorough"
)
@on_every_engine
def test_ten_million_records_have_the_same_counts(loaded: Loaded) -> None:
    rng, n = np.random.default_rng(7), 10_000_000
    table = pa.table(
        {
            "a": pa.array(rng.integers(0, 4, n), pa.int64()),
            "b": pa.DictionaryArray.from_arrays(rng.integers(0, 2, n), ["no", "yes"]).cast(pa.string()),
            "c": pa.array(rng.normal(size=n)),
        }
    )
    columns = (Categories("a", ("0", "1", "2", "3")), Categories("b", ("no", "yes")), Cuts("c", (-1, 0, 1)))
    network = network_over(columns)
    a, b = table["a"].to_numpy(), table["b"].to_numpy(zero_copy_only=False) == "yes"
    c = np.searchsorted([-1, 0, 1], table["c"].to_numpy(), side="right")
    codes = np.column_stack((a, b, c)).astype(np.uint8)
    memory = dp.count(network, dp.Dataset(network.names, network.states, codes))
    counted = dp.count(network, DeclaredTable(loaded(table), columns))
    assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())


@on_every_engine
def test_sums_of_products_are_those_in_memory(loaded: Loaded) -> None:
    rng, n = np.random.default_rng(8), 700
    table = pa.table(
        {
            "small": pa.array(rng.integers(-5, 120, n), pa.int16()),
            "whole": pa.array(rng.integers(9 * 10**18, size=n), pa.int64()),
            'say "hi"': pa.array(np.where(rng.random(n) < 0.1, None, rng.normal(300, 400, n)), pa.float64()),
            "price": pa.array([Decimal(int(v)) / 100 for v in rng.integers(-900, 900, n)], pa.decimal128(9, 2)),
            "tiny": pa.array(rng.choice([0, 1e-300, -1e-200, 1e-160, 1], n)),
            "pay": pa.array(rng.lognormal(3, 1, n)),
        }
    )
    limits = {"small": (18, 90), "whole": (0, 9e18), 'say "hi"': (0, 500), "price": (-5, 7.5), "tiny": (-1, 1)}
    columns = tuple(NumericColumn(name, *limit, if_missing=7) for name, limit in (limits | {"pay": (0, 60)}).items())
    assert_equal_grams(loaded(table), table, columns)


@on_every_engine
def test_what_cannot_be_summed_up_is_one_sentence(loaded: Loaded) -> None:
    engine = loaded(
        pa.table({"x": [1.0, None, 3.0], "y": [1.0, float("inf"), float("nan")], "t": ["1", "2", "3"], "z": [1, 2, 3]})
    )
    assert [field.name for field in engine.fields() if field.is_number] == ["x", "y", "z"]
    for names, said in (("tx", "needs numeric columns"), ("yt", "needs numeric columns"), ("ax", 'no column "a"')):
        with pytest.raises(InputError, match=said):
            finished(engine.gram([NumericColumn(name, 0, 9) for name in names]))
    with pytest.raises(InputError, match="infinite values or NaN in 2 records"):
        finished(engine.gram([NumericColumn("x", 0, 9, 1), NumericColumn("y", 0, 9)]))
    with pytest.raises(InputError, match='"x" has 1 missing values'):
        finished(engine.gram([NumericColumn("x", 0, 9), NumericColumn("z", 0, 9)]))


@on_every_engine
def test_a_sample_is_of_different_records_and_its_seed_tells_them(loaded: Loaded) -> None:
    n, most = 20_000, 400
    engine = loaded(pa.table({"number": np.arange(n), "it's": pa.array([f"😀 {k}" for k in range(n)])}))

    def drawn(seed: int) -> pd.DataFrame:
        return finished(engine.sample(most, np.random.default_rng(seed)))

    first, again, other = drawn(1), drawn(1), drawn(2)
    numbers = first["number"].astype(np.int64)
    assert len(set(numbers)) == most
    assert (first["it's"] == "😀 " + first["number"]).all()
    assert set(first["number"]) == set(again["number"]) != set(other["number"])
    assert abs(numbers.mean() - n / 2) < 6.2 * n / np.sqrt(12 * most), "chance exceeds this with probability 1e-9"
    assert len(finished(engine.sample(2 * n, np.random.default_rng(1)))) == n
