"""Tests of elimination: the best sum of tables against going through all values."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.model.elimination import elimination_plan, largest, widest_scope
from tests.strategies import NAIVE_BAYES, V_STRUCTURE


def test_an_elimination_ends_with_every_node_and_joins_what_it_must():
    plan = elimination_plan(V_STRUCTURE.families)
    assert sorted(node for node, _ in plan) == [0, 1, 2]
    assert widest_scope(plan) == 3
    assert widest_scope(elimination_plan(NAIVE_BAYES.families)) == 2


@given(
    scopes=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True), min_size=1, max_size=6),
    seed=st.integers(0, 1000),
)
def test_the_largest_sum_is_that_of_all_values(scopes: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = [(tuple(scope), rng.integers(-9, 9, (2,) * len(scope))) for scope in scopes]
    sums = [
        sum(table[tuple(values[v] for v in scope)] for scope, table in factors) for values in product((0, 1), repeat=6)
    ]
    value, chosen = largest(factors, elimination_plan(scopes))
    assert value == max(sums)
    assert value == sum(table[tuple(chosen[v] for v in scope)] for scope, table in factors)


def test_a_chain_needs_tables_of_two_whatever_its_length() -> None:
    plan = elimination_plan([(k, k + 1) for k in range(50)])
    assert widest_scope(plan) == 2


def test_nothing_sums_to_nothing() -> None:
    assert elimination_plan([]) == ()
    assert widest_scope(()) == 0
    assert largest([], ()) == (0, {})


@given(st.lists(st.lists(st.integers(0, 9), max_size=4, unique=True), max_size=9))
def test_the_next_variable_is_always_one_of_the_fewest_neighbours(scopes):
    joined = {v: {u for scope in scopes if v in scope for u in scope} for scope in scopes for v in scope}
    for variable, around in elimination_plan(scopes):
        assert variable == min(joined, key=lambda v: (len(joined[v]), v))
        assert around == tuple(sorted(joined.pop(variable) - {variable}))
        for other in around:
            joined[other] = (joined[other] | set(around)) - {variable}
    assert not joined
