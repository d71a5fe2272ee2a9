"""Every engine counts the same table alike, and as it is counted in memory."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories, Column, Cuts, encode
from dpbayes.sources.engines import count as module
from dpbayes.sources.engines.table import DeclaredTable
from tests.engines.conftest import ENGINES, MARKS, Loaded
from tests.sources.engines.tables import assert_equal_counts

pytestmark = MARKS
on_every_engine = pytest.mark.parametrize("loaded", ENGINES, indirect=True)

HOSTILE = ("code", "arm", "group by 1; drop table x; --", 'say "hi"', "it's", "back`tick", "back\\slash", "line\nbreak",
           "100% {of} $1 :this ?", "😀 straße", "a.b", "Mixed Case", " space ", "n" * 60, "*")  # fmt: skip
STATES = ("yes", "it's", 'say "no"', "; drop table x; --", "\\", "a\\nb", "a\nb", "😀", "straße", "%s {x}", "Ä",
          "A\u0308", "YES")  # fmt: skip


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
    assert list(engine.types()) == list(HOSTILE)
    assert_equal_counts(engine, frame, network_over(columns), columns)


@on_every_engine
def test_hostile_states_are_texts(loaded: Loaded) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.choice([*STATES, " yes ", "\t😀"], 300) for name in ("x", "y")})
    columns = tuple(Categories(name, STATES) for name in ("x", "y"))
    assert_equal_counts(loaded(pa.Table.from_pandas(frame)), frame, network_over(columns), columns)


@on_every_engine
@pytest.mark.parametrize("missing", [None, "none"])
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
        Cuts("cut", (0.1, 0.7, 50), missing="< 0.1"),
        Categories("single", ("0.3", "0.7", "0.1"), missing=missing),
        Cuts("single cut", (0.1, 0.7, 1)),
        Categories("price", ("0.10", "1.50", "-3.00"), missing=missing),
        Cuts("price cut", (0.1, 1.5), codes=(0.1, 2)),
        Categories("day", ("2024-02-29", "1969-01-01"), missing=missing),
    )
    frame = pd.DataFrame({name: _texts(table[name]) for name in table.column_names}, dtype="str")
    network = network_over(columns)
    memory = dp.count(network, encode(frame, columns))
    counted = dp.count(network, DeclaredTable(loaded(table), columns))
    assert (counted.n, counted.values.tolist()) == (memory.n, memory.values.tolist())
    assert memory.n == n


def _texts(values: pa.ChunkedArray) -> list[str]:
    return ["" if text is None or text == "nan" else text for text in values.cast(pa.string()).to_pylist()]


@on_every_engine
def test_what_is_not_declared_is_refused_and_can_be_listed(loaded: Loaded) -> None:
    engine = loaded(pa.table({"x": ["a", "b", "b", None, "?"], "y": pa.array([1, 2, 3, 4, 5])}))
    columns = (Categories("x", ("a",)), Cuts("y", (2,)))
    with pytest.raises(InputError, match='"x" in 2 records'):
        dp.count(network_over(columns), DeclaredTable(engine, columns))
    assert engine.values("x", 2).to_dict() in ({"b": 2, "?": 1}, {"b": 2, "a": 1}, {"b": 2, "": 1})
    assert engine.head(2)["y"].isin(list("12345")).all()
    for ask in (
        lambda: engine.values("z", 1),
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
    monkeypatch.setattr(module, "MOST_SETS", 3)
    engine = loaded(pa.Table.from_pandas(frame))
    assert_equal_counts(engine, frame, network, columns)


@on_every_engine
def test_a_sample_has_different_records(loaded: Loaded) -> None:
    n, most = 20_000, 400
    engine = loaded(pa.table({"number": np.arange(n), "it's": pa.array([f"😀 {k}" for k in range(n)])}))
    first, other = engine.sample(most), engine.sample(most)
    numbers = first["number"].astype(np.int64)
    assert len(set(numbers)) == most
    assert (first["it's"] == "😀 " + first["number"]).all()
    assert set(first["number"]) != set(other["number"])
    assert abs(numbers.mean() - n / 2) < 6.2 * n / np.sqrt(12 * most), "chance exceeds this with probability 1e-9"
    assert len(engine.sample(2 * n)) == n
