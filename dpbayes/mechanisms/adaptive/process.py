"""The stages of an adaptive release, all within one rho or pure epsilon: docs/proofs.md has the proof."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Union

import numpy as np

from dpbayes.base.amounts import PrivacyMeasure, number_of
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.adaptive.choices import (
    MOST_RECORDS,
    Candidates,
    Choose,
    GrowingGraph,
    PairChoice,
    chosen_forest,
    chosen_parents,
    drawn_by_scores,
    noise_of_independence,
    open_families,
    open_pairs,
    pair_counts,
    pair_scores,
    rooted,
    state_starts,
)
from dpbayes.mechanisms.adaptive.draws import Draws
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals, MeasuredTables, new_prices, table_prices
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.reading import Measured, column_distributions, model_probabilities
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import pair_marginals

MOST_STATES = 8192
"""Most states of all columns together: all pairs of them are counted."""

_PRICES = 1 << 42
"""About the sum of the prices at the whole budget: prices are fine, and sums fit the machine's whole numbers."""


@dataclass(frozen=True)
class Measurement:
    """A measurement in its released form, in a stage "columns", "pairs" or "families".

    `parents` are the places of every column's parents. `prices` has one for each set (M,) in rho, or each family (d,)
    in epsilon; `integers` are the noisy residuals or counts of those with a price.
    """

    stage: str
    parents: tuple[tuple[int, ...], ...]
    prices: tuple[int, ...]
    integers: tuple[int, ...]


Event = PairChoice | Measurement


@dataclass(frozen=True, eq=False)
class Process:
    """The course of an adaptive release: all that it releases, `events`, and what follows from them."""

    measured: Measured
    choices: Fraction = Fraction(0)
    events: tuple[Event, ...] = ()

    @classmethod
    def start(cls, plan: AdaptivePlan, columns: Network, n: int) -> "Process":
        """Return the course before the first step, of n records of these columns; their arrows are not used.

        Errors: InputError for a target that is no column.
        """
        if plan.target and plan.target not in columns.names:
            listed = brief(", ".join(columns.names), 200)
            raise InputError(f"The target {brief(plan.target)} is not a column; the columns are {listed}.")
        alone = _network(columns, ((),) * len(columns.names))
        unit = int(_PRICES / plan.total)
        kind = MeasuredTables if plan.measure is PrivacyMeasure.EPSILON else MeasuredResiduals
        return cls(kind.nothing(alone, n, unit))

    @property
    def cost(self) -> Fraction:
        """What all steps cost for the worst record."""
        return self.measured.cost + self.choices

    def measured_over(self, parents: Sequence[tuple[int, ...]]) -> Measured:
        """Return the measurements so far over the network with these parents. Errors: InputError for no network."""
        return self.measured.within(_network(self.measured.network, parents))

    def after(self, event: Event) -> "Process":
        """Return the course after one more step. Errors: InputError for a measurement that does not fit."""
        if isinstance(event, PairChoice):
            return replace(self, choices=self.choices + number_of(event.cost), events=(*self.events, event))
        before = self.measured_over(event.parents)
        needed = len(before.network.names if isinstance(before, MeasuredTables) else before.network.closure)
        if len(event.prices) != needed:
            raise InputError(f"A measurement of this network needs {needed:,} prices.")
        measured = before.with_results(np.array(event.prices, dtype=np.int64), event.integers)
        return replace(self, measured=measured, events=(*self.events, event))


_Source = Union["_Curator", "_Released"]
"""Where the steps come from: a curator, who draws them from records, or a release, whose steps are checked."""


@dataclass(frozen=True, eq=False)
class _Curator:
    """A source of steps that sees the records: the plan, the table, its pair counts, and the draws."""

    plan: AdaptivePlan
    data: Dataset
    counts: IntArray
    draws: Draws

    def measured(self, stage: str, process: Process, parents: Sequence[tuple[int, ...]], limit: Fraction) -> Process:
        """Return the course after measuring a network so that all measurements together cost at most the limit."""
        before = process.measured_over(parents)
        prices = table_prices(before, limit) if isinstance(before, MeasuredTables) else new_prices(before, limit)
        integers = before.noisy(self.data, prices, self.draws)
        return process.after(Measurement(stage, tuple(parents), tuple(prices.tolist()), integers))

    def choosing(self, stage: str, measured: Measured, graph: GrowingGraph) -> Choose:
        """Return how pairs are chosen in a stage, by how far their counts are from what was measured."""
        models, noise = _expected(stage, self.plan, measured, graph)
        counts, starts = self._of_target() if stage == "target" else [self.counts], state_starts(self.data)
        scores = sum(pair_scores(own, self.data.n * model, starts) for own, model in zip(counts, models, strict=True))
        return drawn_by_scores(scores - noise, self.draws)

    def _of_target(self) -> Iterator[IntArray]:
        """Yield the pair counts of the records in every state of the target."""
        column = self.data.select([self.plan.target])
        for state in range(len(column.states[0])):
            yield pair_counts(replace(self.data, codes=self.data.codes[column.codes[:, 0] == state]))


def carried_out(plan: AdaptivePlan, data: Dataset, draws: Draws) -> Process:
    """Carry out all stages. Errors: InputError for a table without records, and for sizes above a limit."""
    require_feasible(data.states, data.n)
    columns = Network(data.names, data.states, ((),) * len(data.names))
    process = course(plan, Process.start(plan, columns, data.n), _Curator(plan, data, pair_counts(data), draws))
    if process.cost > plan.total:
        raise AssertionError("the steps cost more than the budget")
    return process


def course(plan: AdaptivePlan, process: Process, source: _Source) -> Process:
    """Return the course of all stages from its start on, with the steps of a source.

    A release under a pure epsilon ends with the pairs if no parent can be chosen.
    """
    columns, n = len(process.measured.network.names), process.measured.n
    process = source.measured("columns", process, ((),) * columns, plan.columns_limit(columns))
    process, graph = _with_forest(plan, process, source)
    is_last = not plan.delta and open_pairs(graph, plan, np.ones(columns, dtype=bool), n=n) is None
    if plan.target:
        is_last &= open_families(graph, plan, process.measured.network.index(plan.target), n=n) is None
    limit = plan.total - process.choices if is_last else plan.pairs_limit(columns)
    process = source.measured("pairs", process, graph.parents, limit)
    return process if is_last else _with_parents(plan, process, graph, source)


def most_steps(plan: AdaptivePlan, columns: int) -> int:
    """Return the most choices and measurements of a release."""
    return columns + 2 + plan.batches * (plan.rounds(columns) + 2)


def require_feasible(domains: Sequence[Sequence[str]], n: int) -> None:
    """Refuse a table that is too large, or has no records or no column of two states. Errors: InputError."""
    states = sum(map(len, domains))
    if states > MOST_STATES:
        raise InputError(f"The columns have {states:,} states together; the limit is {MOST_STATES:,}.")
    if not 1 <= n <= MOST_RECORDS:
        raise InputError(f"The table has {n:,} records; an adaptive release needs 1 to {MOST_RECORDS:,}.")
    if all(len(own) < 2 for own in domains):
        raise InputError("No column has two states, so there is nothing to release.")


def _with_forest(plan: AdaptivePlan, process: Process, source: _Source) -> tuple[Process, GrowingGraph]:
    measured, cards = process.measured, process.measured.network.cards
    alone = GrowingGraph.of(((),) * len(cards), cards)
    choose = source.choosing("forest", measured, alone)
    allowed = alone.candidates(most_parents=1, noise=alone.noise(plan.budget), n=measured.n)
    pairs: list[tuple[int, int]] = []
    for chosen in chosen_forest(allowed, choose, n=measured.n, cost=plan.forest_cost(len(cards))):
        process = process.after(chosen)
        pairs += [chosen.pair] if chosen.pair else []
    return process, GrowingGraph.of(rooted(pairs, len(cards)), cards)


def _with_parents(plan: AdaptivePlan, process: Process, graph: GrowingGraph, source: _Source) -> Process:
    """Add parents and measure the families, batch after batch; the last measurement takes what is left."""
    start = plan.pairs_limit(len(graph.cards))
    for batch in range(plan.batches):
        before, is_last = graph, batch == plan.batches - 1
        if plan.target:
            process, graph = _aimed(plan, process, graph, source)
        choose = source.choosing("parents", process.measured, graph)
        for grown, chosen in chosen_parents(graph, plan, choose, n=process.measured.n):
            graph, process = grown, process.after(chosen)
            is_last |= chosen.pair is None and not plan.target
        is_last |= graph.parents == before.parents
        left = plan.total - process.choices
        limit = left if is_last else start + (left - start) * Fraction(batch + 1, plan.batches)
        process = source.measured("families", process, graph.parents, limit)
        if is_last:
            break
    return process


def _aimed(plan: AdaptivePlan, process: Process, graph: GrowingGraph, source: _Source) -> tuple[Process, GrowingGraph]:
    """Choose one or two columns whose table with the target is far from the model, and put them into one family."""
    measured, target = process.measured, process.measured.network.index(plan.target)
    among = open_families(graph, plan, target, n=measured.n)
    if among is None:
        return process, graph
    pair = source.choosing("target", measured, graph)(among)
    arrows = graph.arrows((target, *pair), plan.most_parents) if pair else []
    return process.after(PairChoice("target", pair, among.cost)), graph.with_arrows(arrows)


def _expected(
    stage: str, plan: AdaptivePlan, measured: Measured, graph: GrowingGraph
) -> tuple[Iterable[FloatArray], IntArray]:
    """Return what was released of all pairs of states (R, R), for each state of a target, and the noise (d, d)."""
    if stage == "forest":
        margins = column_distributions(measured)
        noise = noise_of_independence(measured.variances[1:], graph.cards, measured.n)
        return [np.outer(margins, margins)], graph.noise(plan.budget) + noise
    network, probabilities = measured.network, model_probabilities(measured)
    if stage == "parents":
        return [pair_marginals(network, probabilities)], graph.noise(plan.budget)
    target = network.index(plan.target)
    return by_state(network, probabilities, target), graph.noise_with(target, plan.budget)


def by_state(network: Network, probabilities: FloatArray, node: int) -> Iterator[FloatArray]:
    """Yield P(x_i = a, x_j = b, a node in a state) of all pairs of states (R, R), for every state of the node."""
    for state in range(network.cards[node]):
        own = probabilities.copy()
        network.table(own, node)[..., np.arange(network.cards[node]) != state] = 0
        yield pair_marginals(network, own)


def _network(columns: Network, parents: Sequence[tuple[int, ...]]) -> Network:
    """Return the network over the same columns with parents by place."""
    return Network(columns.names, columns.states, tuple(tuple(columns.names[j] for j in own) for own in parents))


# The steps of a release: each choice at its price among its candidates, followed from the first on, without records


_ORDER = "The steps are in an order that the plan does not allow."


def require_course(plan: AdaptivePlan, start: Process, events: Iterable[Event]) -> None:
    """Refuse steps that the plan does not allow after a `start`. Errors: InputError, which states the first deviation.

    The released results determine which step comes next, its candidates and its cost. This cannot find out whether the
    choices were made from certain records.
    """
    released = _Released(deque(events))
    course(plan, start, released)
    if released.rest:
        raise InputError("There are more steps than the plan allows.")


@dataclass(frozen=True, eq=False)
class _Released:
    """A source of steps without records: those of a release that are left, each checked when its turn comes."""

    rest: deque[Event]

    def measured(self, stage: str, process: Process, parents: Sequence[tuple[int, ...]], limit: Fraction) -> Process:
        event = self._next(stage)
        if not isinstance(event, Measurement):
            raise InputError(_ORDER)
        if event.parents != tuple(parents):
            raise InputError("A measured graph is not the one that was chosen.")
        after = process.after(event)
        if after.measured.cost > limit:
            raise InputError(f'The measurement of "{stage}" costs more than the plan gives this stage.')
        return after

    def choosing(self, stage: str, measured: Measured, graph: GrowingGraph) -> Choose:
        return partial(self._chosen, stage)

    def _chosen(self, stage: str, among: Candidates) -> tuple[int, int] | None:
        chosen = self._next(stage)
        if not isinstance(chosen, PairChoice):
            raise InputError(_ORDER)
        if chosen.cost != among.cost:
            raise InputError("The cost of a choice differs from its cost in the plan.")
        pair = chosen.pair
        if pair is not None and not np.any((among.first == pair[0]) & (among.second == pair[1])):
            raise InputError("A chosen pair of columns was not among the candidates.")
        return pair

    def _next(self, stage: str) -> Event:
        if not self.rest or self.rest[0].stage != stage:
            raise InputError(_ORDER)
        return self.rest.popleft()
