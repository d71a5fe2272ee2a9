"""How far replacing one record moves the score of a contingency table, by enumeration and by proof."""

import math
from itertools import combinations

import numpy as np
import pytest

from dpbayes.mechanisms.structure.choice import distance_from_independence, distance_sensitivity
from tests.conftest import thorough

SIZES = {(1, 3): 5, (2, 2): 9, (2, 3): 6, (3, 2): 6, (4, 2): 5, (3, 3): 5}
LONGER = {(2, 2): 14, (2, 3): 8, (2, 4): 6, (3, 3): 7, (3, 4): 5, (4, 4): 4}
CASES = [(*shape, n) for shape, most in thorough([*SIZES.items(), *LONGER.items()], sample=[*SIZES.items()])
         for n in range(1, most + 1)]  # fmt: skip


def tables(cells: int, n: int) -> np.ndarray:
    """All tables of n records in some cells: (tables, cells)."""
    bars = np.array(list(combinations(range(n + cells - 1), cells - 1)), dtype=np.int64).reshape(-1, cells - 1)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + cells - 1)))
    return np.diff(edges, axis=1) - 1


def worst_change(lines: int, columns: int, n: int) -> int:
    """The most that the score moves between neighbours: two records added to the same table of n - 1."""
    added = np.eye(lines * columns, dtype=np.int64)
    scores = [
        [distance_from_independence((rest + one).reshape(lines, columns)) for one in added]
        for rest in tables(lines * columns, n - 1)
    ]
    return int(np.ptp(np.array(scores), axis=1).max())


def test_all_tables_are_listed() -> None:
    listed = tables(4, 3)
    assert len(listed) == len({tuple(table) for table in listed}) == math.comb(6, 3)
    assert (listed.sum(axis=1) == 3).all()
    assert listed.min() == 0


@pytest.mark.parametrize(("lines", "columns", "n"), CASES)
def test_no_neighbours_are_farther_apart_than_the_sensitivity(lines: int, columns: int, n: int) -> None:
    """[Zhang17]: the bound on R, for records replaced; it is attained but for three states a side."""
    distance = worst_change(lines, columns, n)
    assert distance <= distance_sensitivity(lines, columns, n)
    if min(lines, columns) <= 2:
        assert distance == distance_sensitivity(lines, columns, n)
    elif n >= 4:
        assert distance > 4 * (n - 1)
        assert distance > distance_sensitivity(lines, columns, n) / 2


@pytest.mark.parametrize("n", [10**3, 10**5, 10**7])
def test_the_bound_on_the_distance_is_approached_with_three_states_a_side(n: int) -> None:
    s = math.isqrt(n) + 1
    alone = np.array([[1, s - 1, 0], [s - 1, n - 2 * s + 1, 0], [0, 0, 0]])
    new = np.array([[0, s - 1, 0], [s - 1, n - 2 * s + 1, 0], [0, 0, 1]])
    moved = distance_from_independence(new) - distance_from_independence(alone)
    bound = distance_sensitivity(3, 3, n)
    assert bound * (1 - 2 / math.sqrt(n)) <= moved < bound


def test_the_score_is_that_of_its_definition() -> None:
    counts = np.random.default_rng(3).integers(0, 6, (4, 3))
    p = counts / counts.sum()
    expected = np.outer(p.sum(axis=1), p.sum(axis=0))
    half = np.abs(p - expected).sum() / 2
    assert distance_from_independence(counts) == pytest.approx(2 * counts.sum() ** 2 * half, rel=1e-13)


def test_a_table_without_records_or_with_one_state_a_side_scores_nothing() -> None:
    for counts in (np.zeros((2, 3), dtype=np.int64), np.array([[3, 1, 4]]), np.array([[3], [0]]), np.eye(1, 4)):
        whole = counts.astype(np.int64)
        assert distance_from_independence(whole) == 0
    assert [distance_sensitivity(*sizes) for sizes in ((1, 3, 9), (3, 3, 1), (2, 2, 0))] == [0, 0, 0]


def test_the_distance_is_exact_up_to_the_most_records() -> None:
    half = 2**30
    counts = np.array([[half, 0], [0, half - 1]])
    assert distance_from_independence(counts) == 4 * half * (half - 1)
