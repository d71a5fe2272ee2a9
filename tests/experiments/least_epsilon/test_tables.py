import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon import tables as planning
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.model.counts import count
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset

ASIA, CPTS = load_named("asia")
N, DRAWS = 40, 3000
FALSE_ALARM = 1e-9


def drawn(draws: int = DRAWS, cpts: np.ndarray = CPTS) -> np.ndarray:
    return planned_tables(ASIA, cpts, N, draws, np.random.default_rng(12)).values


@pytest.fixture(params=["joint states", "records"], name="way")
def fixture_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "records":
        monkeypatch.setattr(planning, "MOST_JOINT", 0)
    return str(request.param)


def farthest(values: np.ndarray) -> float:
    """How far the mean counts of two states are from n P, in standard errors: of smoke, and of dysp given no cause."""
    smoke = ASIA.cell_offsets[ASIA.index("smoke")]
    share = float(CPTS[smoke])
    error = math.sqrt(N * share * (1 - share) / len(values))
    return abs(values[:, smoke].mean() - N * share) / error


def test_both_ways_draw_the_mean_and_not_a_probability_ten_percent_off(way):
    limit = stats.norm.isf(FALSE_ALARM / 2)
    assert farthest(drawn()) < limit
    other, smoke = CPTS.copy(), ASIA.cell_offsets[ASIA.index("smoke")]
    other[smoke : smoke + 2] = 1.1 * CPTS[smoke], 1 - 1.1 * CPTS[smoke]
    assert farthest(drawn(cpts=other)) > limit


def test_tables_of_one_draw_agree_with_each_other(way):
    values = drawn(50)
    assert values.dtype == np.int64
    assert values.min() >= 0
    for node, family in enumerate(ASIA.families):
        table = np.asarray(ASIA.table(values, node))
        assert np.all(table.reshape(50, -1).sum(axis=1) == N)
        for axis, parent in enumerate(family[:-1]):
            others = tuple(k for k in range(1, table.ndim) if k != 1 + axis)
            own = np.asarray(ASIA.table(values, parent))
            assert np.array_equal(table.sum(axis=others), own.sum(axis=tuple(range(1, own.ndim - 1))))


def test_records_of_many_nodes_are_drawn_in_steps(monkeypatch):
    """Each node of a large network adds to what a step holds, and takes; a step has a table at the least."""
    monkeypatch.setattr(planning, "MOST_JOINT", 0)
    monkeypatch.setattr(planning, "_CODES_AT_ONCE", 10 * N * len(ASIA.names))
    steps = planning.planned_tables_steps(ASIA, CPTS, N, 50, np.random.default_rng(12))
    shares = []
    tables = finished(steps, shares.append)
    assert shares == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert tables.values.shape == (50, ASIA.cell_count)
    assert {int(ASIA.table(table, 0).sum()) for table in tables.values} == {N}
    monkeypatch.setattr(planning, "_CODES_AT_ONCE", 1)
    steps = planning.planned_tables_steps(ASIA, CPTS, N, 3, np.random.default_rng(12))
    assert len([None for _ in steps]) == 3


WIDER = Network.from_edges(
    sorted(ASIA.names), [*ASIA.edges, ("asia", "bronc")], dict(zip(ASIA.names, ASIA.states, strict=True))
)
"""Asia with another arrow, and its nodes in another order."""


def test_the_same_records_are_counted_whatever_arrows_are_fitted(way):
    rng = np.random.default_rng
    wider = planned_tables(ASIA, CPTS, N, 30, rng(12), fitted=WIDER)
    assert wider.network == WIDER
    bronc = WIDER.index("bronc")
    for node, name in enumerate(WIDER.names):
        table, own = np.asarray(WIDER.table(wider.values, node)), np.asarray(ASIA.table(drawn(30), ASIA.index(name)))
        if node == bronc:
            table = table.sum(axis=1)  # over asia, its first parent in this order
        family = [member for member in WIDER.families[node] if not (node == bronc and WIDER.names[member] == "asia")]
        order = [
            [WIDER.names[member] for member in family].index(ASIA.names[k]) for k in ASIA.families[ASIA.index(name)]
        ]
        assert np.array_equal(table.transpose(0, *(1 + k for k in order)), own)


def test_some_columns_are_counted_and_columns_that_are_not_there_are_refused(way):
    two = Network.from_edges(["dysp", "smoke"], [("smoke", "dysp")], dict(zip(ASIA.names, ASIA.states, strict=True)))
    values = planned_tables(ASIA, CPTS, N, 30, np.random.default_rng(12), fitted=two).values
    smoke = ASIA.cell_offsets[ASIA.index("smoke")]
    assert np.array_equal(values[:, two.cell_offsets[1] :], drawn(30)[:, smoke : smoke + 2])
    for other in (Network.from_edges(["dysp"], []), Network.from_edges(["age"], [])):
        with pytest.raises(InputError, match="not in the network from which the records are planned"):
            planned_tables(ASIA, CPTS, N, 1, np.random.default_rng(12), fitted=other)


def test_records_are_counted_as_any_table_is(monkeypatch):
    monkeypatch.setattr(planning, "MOST_JOINT", 0)
    table = sample_dataset(ASIA, CPTS, N, np.random.default_rng(12))
    assert np.array_equal(drawn(1)[0], count(ASIA, table).values)


def test_no_records_and_too_many_of_anything(monkeypatch):
    assert not planned_tables(ASIA, CPTS, 0, 5, np.random.default_rng(1)).values.any()
    with pytest.raises(InputError, match="choose fewer"):
        planned_tables(ASIA, CPTS, 10, 10**7, np.random.default_rng(1))
    monkeypatch.setattr(planning, "MOST_JOINT", 0)
    assert not planned_tables(ASIA, CPTS, 0, 5, np.random.default_rng(1)).values.any()
    with pytest.raises(InputError, match="Choose fewer tables or fewer records"):
        planned_tables(ASIA, CPTS, 10**6, 1000, np.random.default_rng(1))
