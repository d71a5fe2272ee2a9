"""The expected error of a network's probabilities under every mechanism, before there is a table.

Tables are planned from public probabilities, and one release of each table is simulated. No record is used. The noise
per cell does not determine the error alone: rows with few records, public knowledge about counts, and the kind of
recipient matter too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.steps import Partial, Work, slices
from dpbayes.base.types import FloatArray
from dpbayes.experiments.releases import concluded
from dpbayes.mechanisms.base import simulated
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.noise_model import Reading

CERTAIN = 2.0
"""The least error is named only if it is below every other error by at least so many standard errors..."""

MARGIN = 0.03
"""...and by this share of the least error, because a real table differs from the average of the planned tables."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Counts (T, K) of planned tables, the kind of recipient, and optionally a question: a target and its evidence."""

    tables: Counts
    reading: Reading
    question: tuple[str, Mapping[str, str]] | None = None

    @property
    def network(self) -> Network:
        """The network whose probabilities are released."""
        return self.tables.network

    @property
    def size(self) -> int:
        """How many tables are planned."""
        return len(self.tables.values)

    def part(self, window: slice) -> "Plan":
        """Return the plan of some of the tables."""
        tables = Counts(self.network, self.tables.values[window], self.tables.n)
        return Plan(tables, self.reading, self.question)


@dataclass(frozen=True, eq=False)
class PlannedErrors:
    """Mean |private - exact| over all cells, a release of each planned table: `cells` (mechanisms, tables).

    `nodes` (mechanisms, tables, nodes) is the same over the cells of each node. `answers` (mechanisms, tables) is the
    same over the states of the question's target; None without a question. Errors of answers have no `nodes`.
    """

    mechanisms: tuple[Any, ...]
    cells: FloatArray
    nodes: FloatArray | None = None
    answers: FloatArray | None = None

    @property
    def means(self) -> FloatArray:
        """The expected error of every mechanism: (mechanisms,)."""
        return np.asarray(self.cells.mean(axis=1))

    @property
    def standard_errors(self) -> FloatArray:
        """The standard errors of `means`: (mechanisms,)."""
        return standard_error(self.cells.T)

    @property
    def least(self) -> int:
        """The index of the mechanism with the least mean error so far."""
        return int(np.argmin(self.means))

    @property
    def near(self) -> tuple[int, ...]:
        """The indices of the other mechanisms whose errors are not clearly larger.

        All mechanisms use the same tables, so the differences are of pairs.
        """
        best, others = self.cells[self.least], np.delete(np.arange(len(self.cells)), self.least)
        return tuple(int(k) for k in others if is_near(self.cells[k] - best, float(best.mean())))

    @property
    def of_answer(self) -> "PlannedErrors | None":
        """The errors of the answers, in place of the errors over all cells; None without a question."""
        return None if self.answers is None else PlannedErrors(self.mechanisms, self.answers)

    @property
    def node_means(self) -> FloatArray | None:
        """The expected error of every mechanism over the probabilities of each node: (mechanisms, nodes)."""
        return None if self.nodes is None else np.asarray(self.nodes.mean(axis=1))

    @property
    def farthest(self) -> tuple[int, ...]:
        """The node with the largest error under the best mechanism, and nodes whose error is not clearly smaller."""
        if self.nodes is None:
            return ()
        errors = self.nodes[self.least]
        most = errors[:, int(np.argmax(errors.mean(axis=0)))]
        order = np.argsort(-errors.mean(axis=0), kind="stable")
        return tuple(int(node) for node in order if is_near(most - errors[:, node], float(errors[:, node].mean())))


def is_near(differences: FloatArray, least: float) -> bool:
    """Return whether paired differences of errors (tables,) show no clear difference, given the least error."""
    if len(differences) < 2:
        return True
    error = float(standard_error(differences[:, None])[0])
    return bool(differences.mean() < CERTAIN * error + MARGIN * least)


def planned_errors(
    plan: Plan, mechanisms: Sequence[Any], rng: Callable[[int], np.random.Generator], *, at_once: int
) -> Work[PlannedErrors]:
    """Compute the errors of all mechanisms on some tables at a time; `rng` returns the generator of each mechanism.

    Every step adds tables. Releases that do not state their noise are read naively. Errors: InputError of
    `Release.noise_aware_means`.
    """
    streams = [rng(place) for place in range(len(mechanisms))]
    blocks: list[list[TableErrors]] = [[] for _ in mechanisms]
    for block in slices(plan.size, at_once):
        for parts, mechanism, luck in zip(blocks, mechanisms, streams, strict=True):
            parts.append(errors_of(plan.part(block), mechanism, luck))
        cells = _joined([[part.cells for part in parts] for parts in blocks])
        nodes = _joined([[part.nodes for part in parts] for parts in blocks])
        answers = _joined([[part.answer for part in parts] for parts in blocks]) if plan.question else None
        so_far = PlannedErrors(tuple(mechanisms), cells, nodes, answers)
        if block.stop < plan.size:
            yield Partial(block.stop / plan.size, so_far)
    return so_far


def _joined(parts: Sequence[Sequence[FloatArray]]) -> FloatArray:
    return np.stack([np.concatenate(arrays) for arrays in parts])


class TableErrors(NamedTuple):
    """Errors of a release of every table: over all `cells` (T,), of each node (T, nodes), and of the answer (T,)."""

    cells: FloatArray
    nodes: FloatArray
    answer: FloatArray


def errors_of(plan: Plan, mechanism: Any, rng: np.random.Generator) -> TableErrors:
    """Return the errors of one release of every table; the error of the answer is 0 without a question."""
    exact = mechanism.prior.updated(plan.tables).mean
    release = simulated(mechanism, plan.tables, rng)
    private = concluded(release, plan.reading if release.tells_noise else Reading.AS_REAL)
    errors = np.abs(private - exact)
    offsets = plan.network.cell_offsets
    nodes = np.add.reduceat(errors, offsets[:-1], axis=-1) / np.diff(offsets)
    cells = errors.mean(axis=-1)
    if plan.question is None:
        return TableErrors(cells, nodes, np.zeros(len(cells)))
    exact_answer, private_answer = (query(plan.network, cells, *plan.question) for cells in (exact, private))
    return TableErrors(cells, nodes, np.abs(private_answer - exact_answer).mean(axis=-1))
