"""The largest or least sum of tables that share binary variables, by eliminating one variable after another."""

import heapq
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from dpbayes.base.types import AnyArray

Factor = tuple[tuple[int, ...], AnyArray]
"""Variables, and a table with an axis of length two for each of them before any batch axes."""

Plan = tuple[tuple[int, tuple[int, ...]], ...]
"""The variables in the order of their elimination, each with those that it is joined to by then."""


def elimination_plan(scopes: Iterable[Sequence[int]]) -> Plan:
    """Return a plan for tables over these variables: always the variable with the fewest neighbours next."""
    moral: dict[int, set[int]] = {}
    for scope in scopes:
        for variable in scope:
            moral.setdefault(variable, set()).update(scope)
    plan = []
    fewest = [(len(joined), variable) for variable, joined in moral.items()]
    heapq.heapify(fewest)
    while moral:
        number, variable = heapq.heappop(fewest)
        if variable not in moral or len(moral[variable]) != number:  # of an earlier graph
            continue
        around = tuple(sorted(moral.pop(variable) - {variable}))
        plan.append((variable, around))
        for other in around:
            moral[other] = (moral[other] | set(around)) - {variable}
            heapq.heappush(fewest, (len(moral[other]), other))
    return tuple(plan)


def widest_scope(plan: Plan) -> int:
    """Return how many variables the largest table of an elimination is over; none for an empty plan."""
    return max((1 + len(around) for _, around in plan), default=0)


def table_cells(plan: Plan) -> int:
    """Return how many cells the tables of an elimination have together."""
    return sum(2 ** (len(around) + 1) for _, around in plan)


def eliminated(factors: Sequence[Factor], plan: Plan, best: Callable[..., AnyArray]) -> AnyArray:
    """Return the best sum of the factors over all values of the variables, `best` being np.max or np.min: (*batch,)."""
    left = list(factors)
    for variable, around in plan:
        scope = (*around, variable)
        total = sum(_spread(table, over, scope) for over, table in left if variable in over)
        left = [factor for factor in left if variable not in factor[0]]
        left.append((around, best(total, axis=len(around))))
    return np.asarray(sum(table for _, table in left))


def largest(factors: Sequence[Factor], plan: Plan) -> tuple[float, dict[int, int]]:
    """Return the largest sum of the factors, none with batch axes, and values (0 or 1) of the variables that give it.

    Found on the way back, variable after variable.
    """
    left, choices = list(factors), []
    for variable, around in plan:
        scope = (*around, variable)
        total = np.zeros((2,) * len(scope))
        for over, table in left:
            if variable in over:
                total = total + _spread(table, over, scope)
        left = [factor for factor in left if variable not in factor[0]]
        left.append((around, total.max(axis=-1)))
        choices.append((variable, around, total.argmax(axis=-1)))
    chosen: dict[int, int] = {}
    for variable, around, choice in reversed(choices):
        chosen[variable] = int(choice[tuple(chosen[other] for other in around)])
    return float(sum(float(table) for _, table in left)), chosen


def _spread(table: AnyArray, over: tuple[int, ...], scope: tuple[int, ...]) -> AnyArray:
    """Return a table over some variables as one that broadcasts over all of `scope`."""
    order = sorted(range(len(over)), key=lambda axis: scope.index(over[axis]))
    shape = [2 if variable in over else 1 for variable in scope]
    return table.transpose(*order, *range(len(over), table.ndim)).reshape(*shape, *table.shape[len(over) :])
