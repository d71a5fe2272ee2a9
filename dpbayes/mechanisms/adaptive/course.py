"""Whether released steps are a course that the plan allows: each choice at its price among its candidates.

The steps are followed from the first on, without records. After each step, the released results determine which step
comes next, how many candidates it has, and what it may cost. This cannot find out whether the choices were made from
certain records.
"""

from collections import deque
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from dpbayes.base.amounts import Amount
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.choices import ChosenPair, GrowingGraph, forest_pairs, open_pairs, rooted
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import (
    Event,
    Measurement,
    PairChoice,
    Process,
    ends_with_pairs,
    families_limit,
    forest_rounds,
    pairs_limit,
    parent_rounds,
)

_ORDER = "The steps are in an order that the plan does not allow."


def require_course(plan: AdaptivePlan, start: Process, events: Iterable[Event]) -> None:
    """Refuse steps that the plan does not allow after a `start`. Errors: InputError, which states the first deviation.

    A measurement may cost at most what the plan gives its stage. A choice must have the plan's cost, and the number of
    candidates that the earlier steps leave.
    """
    rest = deque(events)
    alone = ((),) * len(start.measured.network.names)
    process = _after_measurement(start, rest, Measurement("columns", alone, (), ()), plan.one_way * plan.total)
    process, graph = _after_forest(plan, process, rest)
    is_last = ends_with_pairs(plan, graph, process.measured.n)
    limit = pairs_limit(plan, process, is_last=is_last)
    process = _after_measurement(process, rest, Measurement("pairs", graph.parents, (), ()), limit)
    if not is_last:
        _after_parents(plan, process, graph, rest)
    if rest:
        raise InputError("There are more steps than the plan allows.")


def _after_measurement(process: Process, rest: deque[Event], due: Measurement, limit: Fraction) -> Process:
    """Take the next step, which must measure the graph of the `due` measurement, within a limit of all measurements."""
    event = rest.popleft() if rest else None
    if not isinstance(event, Measurement) or event.stage != due.stage:
        raise InputError(_ORDER)
    if event.parents != due.parents:
        raise InputError("A measured graph is not the one that was chosen.")
    after = process.after(event)
    if after.measured.cost > limit:
        raise InputError(f'The measurement of "{due.stage}" costs more than the plan gives this stage.')
    return after


def _next_choice(rest: deque[Event], stage: str, cost: Amount, candidates: tuple[IntArray, IntArray]) -> ChosenPair:
    """Take the next step, which must be a choice in a stage, at a cost, among pairs of columns."""
    event = rest.popleft() if rest else None
    if not isinstance(event, PairChoice) or event.stage != stage:
        raise InputError(_ORDER)
    chosen, (first, second) = event.chosen, candidates
    if chosen.cost != cost:
        raise InputError("The cost of a choice differs from its cost in the plan.")
    if chosen.candidates != len(first):
        raise InputError(
            f"A choice states {chosen.candidates:,} candidates, but the earlier steps leave {len(first):,}."
        )
    if chosen.pair is not None and not np.any((first == chosen.pair[0]) & (second == chosen.pair[1])):
        raise InputError("A chosen pair of columns was not among the candidates.")
    return chosen


def _require_taken(chosen: ChosenPair, *, is_taken: bool) -> None:
    if chosen.is_taken != is_taken:
        raise InputError('A choice has the wrong value of "taken".')


def _after_forest(plan: AdaptivePlan, process: Process, rest: deque[Event]) -> tuple[Process, GrowingGraph]:
    cards = process.measured.network.cards
    setting = forest_rounds(plan, cards, process.measured.n)
    first, second = forest_pairs(setting)
    tree, pairs = np.arange(len(cards)), []
    while (free := tree[first] != tree[second]).any():
        chosen = _next_choice(rest, "forest", setting.cost, (first[free], second[free]))
        _require_taken(chosen, is_taken=True)
        process = process.after(PairChoice("forest", chosen))
        if chosen.pair is None:
            break
        i, j = chosen.pair
        tree[tree == tree[j]] = tree[i]
        pairs.append(chosen.pair)
    return process, GrowingGraph.of(rooted(pairs, len(cards)), cards)


def _after_parents(plan: AdaptivePlan, process: Process, graph: GrowingGraph, rest: deque[Event]) -> None:
    columns = len(graph.cards)
    setting = parent_rounds(plan, columns, process.measured.n)
    for batch in range(plan.batches):
        before, is_last, is_open = graph.parents, batch == plan.batches - 1, np.ones(columns, dtype=bool)
        for _ in range(setting.rounds):
            candidates = open_pairs(graph, setting, is_open)
            if not candidates[0].size:
                break
            chosen = _next_choice(rest, "parents", setting.cost, candidates)
            process = process.after(PairChoice("parents", chosen))
            is_taken = True
            if chosen.pair is not None:
                graph, is_taken = graph.taking(*chosen.pair)
                is_open[chosen.pair[1]] = not is_taken
            _require_taken(chosen, is_taken=is_taken)
            if chosen.pair is None:
                is_last = True
                break
        is_last |= graph.parents == before
        limit = families_limit(plan, process, batch, is_last=is_last)
        process = _after_measurement(process, rest, Measurement("families", graph.parents, (), ()), limit)
        if is_last:
            break
