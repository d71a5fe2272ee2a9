"""Planned tables: both ways to sample them have the right mean, and one record is counted once in every family."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.experiments import planned_tables as planning
from dpbayes.experiments.planned_tables import planned_tables
from dpbayes.model.dataset import count
from dpbayes.model.synthetic import sample_dataset
from dpbayes.sources.named_networks import load_named

ASIA, CPTS = load_named("asia")
N, DRAWS = 40, 3000
FALSE_ALARM = 1e-9


def drawn(draws: int = DRAWS, cpts: np.ndarray = CPTS) -> np.ndarray:
    return planned_tables(ASIA, cpts, N, draws, np.random.default_rng(12)).values


@pytest.fixture(params=["joint states", "records"], name="way")
def fixture_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "records":
        monkeypatch.setattr(planning, "MOST_JOINT", 0)
        monkeypatch.setattr(planning, "_CODES_AT_ONCE", 1000 * N * len(ASIA.names))  # some tables at a time
    return str(request.param)


def farthest(values: np.ndarray) -> float:
    """How far the mean count of a state of smoke is from n P, in standard errors."""
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
