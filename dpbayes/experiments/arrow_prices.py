"""The increase of the error through each arrow of a network, on the same planned tables with and without it."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpbayes.base.steps import Partial, Work, part_of
from dpbayes.base.types import FloatArray
from dpbayes.experiments.planned_errors import Plan, PlannedErrors, is_near, planned_errors
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network

Arrow = tuple[str, str]


class Payer(NamedTuple):
    """The indices of an arrow and of a mechanism."""

    arrow: int
    mechanism: int


@dataclass(frozen=True, eq=False)
class ArrowPrices:
    """Errors of the drawn network (mechanisms, tables), and without each arrow (arrows, mechanisms, tables)."""

    drawn: FloatArray
    without: FloatArray

    @cached_property
    def prices(self) -> FloatArray:
        """The decrease of the error of each table's release without an arrow: (arrows, mechanisms, tables)."""
        return np.asarray(self.drawn - self.without)

    @cached_property
    def dearest(self) -> Payer:
        """The arrow with the largest mean price, and the mechanism for which it is largest."""
        means = self.prices.mean(axis=-1)
        arrow, mechanism = np.unravel_index(np.argmax(means), means.shape)
        return Payer(int(arrow), int(mechanism))

    @property
    def is_clear(self) -> bool:
        """Whether the price of the dearest arrow is clearly above zero, by the rule of `is_near`."""
        return not is_near(self.prices[self.dearest], self.least)

    @property
    def near(self) -> tuple[Payer, ...]:
        """The other arrows and mechanisms whose price is not clearly lower, the dearest first."""
        means = self.prices.mean(axis=-1)
        order = (Payer(*map(int, np.unravel_index(place, means.shape))) for place in np.argsort(-means, axis=None))
        most = self.prices[self.dearest]
        others = (payer for payer in order if payer != self.dearest)
        return tuple(payer for payer in others if is_near(most - self.prices[payer], self.least))

    @property
    def drawn_error(self) -> float:
        """The error of the mechanism with the largest price on the drawn network."""
        return float(self.drawn[self.dearest.mechanism].mean())

    @property
    def least(self) -> float:
        """The error of this mechanism without the dearest arrow."""
        return float(self.without[self.dearest].mean())


@dataclass(frozen=True, eq=False)
class ArrowErrors:
    """Errors of releases of the drawn network, and without each of the arrows computed so far."""

    drawn: PlannedErrors
    without: Mapping[Arrow, PlannedErrors]

    @property
    def prices(self) -> ArrowPrices:
        """The prices of the arrows in the order of `without`, of which there must be at least one."""
        return ArrowPrices(self.drawn.cells, np.stack([errors.cells for errors in self.without.values()]))

    @property
    def of_answer(self) -> "ArrowErrors | None":
        """The errors of the answers, in place of the errors over all cells; None without a question."""
        drawn = self.drawn.of_answer
        without = {arrow: errors.of_answer for arrow, errors in self.without.items()}
        without_of_answer = {arrow: errors for arrow, errors in without.items() if errors is not None}
        return None if drawn is None else ArrowErrors(drawn, without_of_answer)


def arrow_errors(
    plan: Plan,
    mechanisms_on: Callable[[Network], Sequence[Any]],
    arrows: Sequence[Arrow],
    rng: Callable[[int], np.random.Generator],
    *,
    at_once: int,
) -> Work[ArrowErrors]:
    """Compute the errors on the drawn network and then without each arrow, as `planned_errors` does.

    `mechanisms_on` returns the same mechanisms in the same order for every network. Every step covers some tables of
    one network. Errors: InputError of `planned_errors`.
    """
    networks = 1 + len(arrows)

    def errors_on(part: Plan, place: int) -> Generator[float, None, PlannedErrors]:
        work = planned_errors(part, mechanisms_on(part.network), rng, at_once=at_once)
        return part_of(work, place / networks, (place + 1) / networks)

    so_far = ArrowErrors((yield from errors_on(plan, 0)), {})
    for place, arrow in enumerate(arrows, start=1):
        yield Partial(place / networks, so_far)
        errors = yield from errors_on(replace(plan, tables=without_arrow(plan.tables, *arrow)), place)
        so_far = replace(so_far, without={**so_far.without, arrow: errors})
    return so_far


def without_arrow(tables: Counts, parent: str, child: str) -> Counts:
    """Return the counts of the same tables for the network without an arrow, by adding up the child's counts."""
    network = tables.network
    shorter, node = network.without_edge(parent, child), network.index(child)
    axis = network.families[node].index(network.index(parent))
    values = np.asarray(tables.values)
    kept: list[Any] = []
    for index in range(len(network.names)):
        table = np.asarray(network.table(values, index))
        if index == node:
            table = table.sum(axis=table.ndim - len(network.families[node]) + axis)
        kept.append(table.reshape(*values.shape[:-1], -1))
    return Counts(shorter, np.concatenate(kept, axis=-1), tables.n)
