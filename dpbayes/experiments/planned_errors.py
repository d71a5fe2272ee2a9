"""How far from exact releases leave the probabilities of a network, before there is a table: of every mechanism.

Tables are planned from public probabilities, and a release of each is simulated: no record is looked at. Noise per cell
is a means; what decides are rows with few records, what is known besides of a count, and how the release is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.steps import Partial, Work, slices
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.base import simulated
from dpbayes.mechanisms.release import Release
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.noise_model import Reading

CERTAIN = 2.0
"""So many standard errors the least error must be below every other one, for its mechanism to be named."""

MARGIN = 0.03
"""And by such a share of it: a table that comes true is one of those planned, and not their average."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Counts (T, K) of planned tables, how releases are read, and what is asked besides: a target and what is given."""

    tables: Counts
    reading: Reading
    points: int
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
        return Plan(tables, self.reading, self.points, self.question)


@dataclass(frozen=True, eq=False)
class PlannedErrors:
    """Mean |private - exact| over all cells, a release of each planned table: `cells` (mechanisms, tables).

    `nodes` (mechanisms, tables, nodes) is the same over the cells of each node alone. `answers` (mechanisms, tables) is
    that over the states of what is asked, None where nothing is; of an answer there are no `nodes`.
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
        """How exactly it is known: (mechanisms,)."""
        return standard_error(self.cells.T)

    @property
    def least(self) -> int:
        """The mechanism with the least error as far as is known, by its place."""
        return int(np.argmin(self.means))

    @property
    def near(self) -> tuple[int, ...]:
        """The others whose error may be as small: what is expected is too near to call, or the tables differ too much.

        The tables are the same for all, so that differences are of pairs.
        """
        best, others = self.cells[self.least], np.delete(np.arange(len(self.cells)), self.least)
        return tuple(int(k) for k in others if is_near(self.cells[k] - best, float(best.mean())))

    @property
    def of_answer(self) -> "PlannedErrors | None":
        """The errors of what is asked, in place of those over all cells; None where nothing is."""
        return None if self.answers is None else PlannedErrors(self.mechanisms, self.answers)

    @property
    def node_means(self) -> FloatArray | None:
        """The expected error of every mechanism over the probabilities of each node: (mechanisms, nodes)."""
        return None if self.nodes is None else np.asarray(self.nodes.mean(axis=1))

    @property
    def farthest(self) -> tuple[int, ...]:
        """The node that the mechanism with the least error leaves farthest off, and those too near to it to call."""
        if self.nodes is None:
            return ()
        errors = self.nodes[self.least]
        most = errors[:, int(np.argmax(errors.mean(axis=0)))]
        order = np.argsort(-errors.mean(axis=0), kind="stable")
        return tuple(int(node) for node in order if is_near(most - errors[:, node], float(errors[:, node].mean())))


def is_near(differences: FloatArray, least: float) -> bool:
    """Return whether differences of errors (tables,), of pairs, are too near to 0 to call, beside the least error."""
    if len(differences) < 2:
        return True
    error = float(standard_error(differences[:, None])[0])
    return bool(differences.mean() < CERTAIN * error + MARGIN * least)


def planned_errors(
    plan: Plan, mechanisms: Sequence[Any], rng: Callable[[int], np.random.Generator], *, at_once: int
) -> Work[PlannedErrors]:
    """Work out the errors of all mechanisms on some tables after the others; `rng` is asked for one of each mechanism.

    Every step has more tables. Mechanisms that do not tell their noise are read as they are. Errors: InputError of
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
    """Return the errors of a release of every table; that of the answer is 0 where nothing is asked."""
    exact = mechanism.prior.updated(plan.tables).mean
    private = read_as(simulated(mechanism, plan.tables, rng), plan.reading, plan.points)
    errors = np.abs(private - exact)
    offsets = plan.network.cell_offsets
    nodes = np.add.reduceat(errors, offsets[:-1], axis=-1) / np.diff(offsets)
    cells = errors.mean(axis=-1)
    if plan.question is None:
        return TableErrors(cells, nodes, np.zeros(len(cells)))
    exact_answer, private_answer = (query(plan.network, cells, *plan.question) for cells in (exact, private))
    return TableErrors(cells, nodes, np.abs(private_answer - exact_answer).mean(axis=-1))


def read_as(release: Release[Any], reading: Reading, points: int) -> FloatArray:
    """Return the probabilities (T, K) that releases stand for, with the noise in mind where it is told."""
    outcome = release.outcome
    if reading is Reading.NOISE_AWARE and release.tells_noise:
        cells = np.arange(release.outcome.prior.network.cell_count)
        return release.noise_aware_means(cells, points=points)
    return np.asarray(outcome.probabilities)
