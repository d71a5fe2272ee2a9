"""The largest or least sum of tables that share binary variables, by eliminating one variable after another."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import AnyArray

MAX_TABLE_BITS = 20
"""The largest table of an exact search, as a power of two."""

Factor = tuple[tuple[int, ...], AnyArray]
"""Variables, and a table with an axis of length two for each of them."""

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


@dataclass(frozen=True)
class LargestSum:
    """The largest sum of tables of integers or, if it is not `exact`, the sum of their largest entries: a bound."""

    value: int
    exact: bool

    @classmethod
    def of(cls, factors: Sequence[Factor], plan: Plan) -> "LargestSum":
        """Return the largest sum over all values of the variables, exact if the tables of the plan are small enough."""
        if widest_scope(plan) <= MAX_TABLE_BITS:
            return cls(int(largest(factors, plan)[0]), exact=True)
        return cls(sum(int(table.max()) for _, table in factors), exact=False)


def largest(factors: Sequence[Factor], plan: Plan) -> tuple[AnyArray, dict[int, int]]:
    """Return the largest sum of the factors, and values (0 or 1) of the variables that give it.

    The sum has the type of the factors, so integers remain exact. The values are found on the way back, variable after
    variable.
    """
    left, choices = list(factors), []
    for variable, around in plan:
        over_it = (spread(table, over, (*around, variable)) for over, table in left if variable in over)
        table = np.asarray(sum(over_it))
        left = [factor for factor in left if variable not in factor[0]]
        off, on = table[..., 0], table[..., 1]
        left.append((around, np.maximum(off, on)))
        choices.append((variable, around, on > off))
    chosen: dict[int, int] = {}
    for variable, around, choice in reversed(choices):
        chosen[variable] = int(choice[tuple(chosen[other] for other in around)])
    return np.asarray(sum(table for _, table in left)), chosen


def spread(table: AnyArray, over: tuple[int, ...], scope: tuple[int, ...]) -> AnyArray:
    """Return a table (over, ...) with an axis of length one for each other variable of `scope`, in its order."""
    order = sorted(range(len(over)), key=lambda axis: scope.index(over[axis]))
    turned = table.transpose(*order, *range(len(over), table.ndim))
    return np.expand_dims(turned, tuple(k for k, variable in enumerate(scope) if variable not in over))
