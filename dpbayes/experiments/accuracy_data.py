"""Training counts and test records of many repeats at once: a new model in each, or a new split of one table."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpbayes.cpts import SMALLEST
from dpbayes.dataset import Dataset
from dpbayes.experiments.accuracy_blanket import Blanket, CodeArray, TestRecords
from dpbayes.experiments.accuracy_plan import AccuracyPlan
from dpbayes.network import IntArray, Network

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Batch:
    """R repeats: training counts (R, K) and how often the target has each state in them (R, r), and test records."""

    counts: FloatArray
    target_counts: IntArray
    test: TestRecords


class Repeats:
    """Draws repeats of a plan; what they share is prepared once."""

    def __init__(self, plan: AccuracyPlan) -> None:
        self.plan = plan
        self.blanket = Blanket(plan.network, plan.network.index(plan.target))

    @property
    def patterns(self) -> int:
        """How many patterns, or records, are scored in each repeat."""
        if isinstance(self.plan.source, Dataset):
            return len(self._table.firsts)
        tested = self.plan.records - self.plan.training
        return min(tested, self.blanket.configurations)

    def draw(self, rng: np.random.Generator, repeats: int) -> Batch:
        """Draw models and records, or splits."""
        if isinstance(self.plan.source, Dataset):
            return self._split(rng, repeats)
        return self._sampled(rng, repeats)

    # Synthetic records

    def _sampled(self, rng: np.random.Generator, repeats: int) -> Batch:
        plan, network = self.plan, self.plan.network
        assert not isinstance(plan.source, Dataset)
        cpts = _random_cpts(network, self.blanket.target, plan.source.strength, rng, repeats)
        codes = _sample(network, cpts, plan.source.records, rng)
        n = plan.training
        training = [column[:, :n] for column in codes]
        counts = _counted(network, cell_indices(network, training))
        target = codes[self.blanket.target]
        shared = self.blanket.configurations <= plan.source.records - n
        make = self._by_configuration if shared else self._by_record
        test = make([column[:, n:] for column in codes])
        return Batch(counts, _tally(target[:, :n], self.blanket.states), test)

    def _by_record(self, codes: list[CodeArray]) -> TestRecords:
        target = codes[self.blanket.target]
        weights = np.stack([target == state for state in range(self.blanket.states)], axis=1).astype(np.float32)
        return TestRecords(self.blanket, self.blanket.picked(codes), weights)

    def _by_configuration(self, codes: list[CodeArray]) -> TestRecords:
        """Few joint states of the blanket: count how many records have each."""
        target, cards = codes[self.blanket.target], [int(self.plan.network.cards[j]) for j in self.blanket.nodes]
        pattern = np.zeros(target.shape, dtype=np.int64)
        for j, card in zip(self.blanket.nodes, cards, strict=True):
            pattern = pattern * card + codes[j]
        return TestRecords(self.blanket, self._every, self._weights(pattern, target, self.blanket.configurations))

    @cached_property
    def _every(self) -> list[CodeArray]:
        """Each family's configuration in every joint state of the blanket."""
        network, nodes = self.plan.network, self.blanket.nodes
        cards = [int(network.cards[j]) for j in nodes]
        values = np.indices(cards).reshape(len(nodes), 1, -1) if nodes else np.zeros((0, 1, 1), dtype=np.int64)
        codes: list[CodeArray] = [np.zeros((1, values.shape[-1]), dtype=np.int64)] * len(network.names)
        for j, column in zip(nodes, values, strict=True):
            codes[j] = column
        return self.blanket.picked(codes)

    def _weights(self, pattern: IntArray, target: CodeArray, patterns: int) -> NDArray[np.float32]:
        """Count the records (R, n) by pattern and state: (R, r, P)."""
        states, repeats = self.blanket.states, len(pattern)
        index = (np.arange(repeats)[:, None] * states + target) * patterns + pattern
        found = np.bincount(index.ravel(), minlength=repeats * states * patterns)
        return found.reshape(repeats, states, patterns).astype(np.float32)

    # A table

    @cached_property
    def _table(self) -> "_Table":
        table, network = self.plan.source, self.plan.network
        assert isinstance(table, Dataset)
        codes = [table.column(name) for name in network.names]
        if self.blanket.nodes:
            rows = np.stack([codes[j] for j in self.blanket.nodes], axis=-1)
            _, firsts, pattern = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        else:
            firsts, pattern = np.zeros(1, dtype=np.int64), np.zeros(table.n, dtype=np.int64)
        target, pattern = codes[self.blanket.target], pattern.reshape(-1)
        picked = self.blanket.picked([column[firsts][None] for column in codes])
        weights = self._weights(pattern[None], target[None], len(firsts))
        return _Table(cell_indices(network, codes), target, pattern, firsts, picked, weights)

    def _split(self, rng: np.random.Generator, repeats: int) -> Batch:
        """Train on a random part of the table; test on all of it without that part."""
        plan, table = self.plan, self._table
        chosen = rng.permuted(np.tile(np.arange(plan.records, dtype=np.int32), (repeats, 1)), axis=1)[
            :, : plan.training
        ]
        target = table.target[chosen]
        counts = _counted(plan.network, table.cells[:, chosen])
        trained = self._weights(table.pattern[chosen], target, len(table.firsts))
        test = TestRecords(self.blanket, table.picked, table.weights - trained)
        return Batch(counts, _tally(target, self.blanket.states), test)


@dataclass(frozen=True, eq=False)
class _Table:
    """The cells (|I|, n), target states and patterns (n,) of a table; the patterns' records, families and weights."""

    cells: IntArray
    target: CodeArray
    pattern: IntArray
    firsts: IntArray
    picked: list[CodeArray]
    weights: NDArray[np.float32]


def cell_indices(network: Network, codes: list[CodeArray]) -> IntArray:
    """Return the cell that every record adds to, for every node: (|I|, ...), from codes (...) of each node."""
    found = np.empty((len(codes), *codes[0].shape), dtype=np.int64)
    for node, family in enumerate(network.families):
        index = np.zeros(codes[0].shape, dtype=np.int64)
        for j in family:
            index = index * int(network.cards[j]) + codes[j]
        found[node] = index + network.cell_offsets[node]
    return found


def _counted(network: Network, cells: IntArray) -> FloatArray:
    """Count cells (|I|, R, n) of every repeat: (R, K)."""
    repeats, size = cells.shape[1], network.cell_count
    index = cells + np.arange(repeats)[:, None] * size
    return np.bincount(index.ravel(), minlength=repeats * size).reshape(repeats, size).astype(np.float64)


def _tally(target: CodeArray, states: int) -> IntArray:
    """Count the target's states in (R, n): (R, r)."""
    return np.stack([np.count_nonzero(target == state, axis=-1) for state in range(states)], axis=-1)


def _random_cpts(
    network: Network, target: int, strength: float, rng: np.random.Generator, repeats: int
) -> NDArray[np.float64]:
    """Mix uniform Dirichlet rows with even ones; a target without parents is even: (R, K)."""
    drawn = rng.standard_exponential((repeats, network.cell_count)) + SMALLEST
    shares = drawn / network.row_sums(drawn)[:, network.row_of_cell]
    even = 1 / network.cards[network.node_of_row][network.row_of_cell]
    weight = np.full(network.cell_count, strength)
    if len(network.families[target]) == 1:
        weight[network.cell_offsets[target] : network.cell_offsets[target + 1]] = 0.0
    return weight * shares + (1 - weight) * even


def _sample(network: Network, cpts: FloatArray, n: int, rng: np.random.Generator) -> list[CodeArray]:
    """Draw n records of every repeat, parents before children: the nodes' codes, each (R, n)."""
    repeats = len(cpts)
    codes: list[CodeArray] = [np.zeros((repeats, n), dtype=np.uint8)] * len(network.names)
    rows_of: dict[tuple[int, ...], IntArray] = {}
    for node in network.order:
        parents, states = network.families[node][:-1], int(network.cards[node])
        cells = cpts[:, network.cell_offsets[node] : network.cell_offsets[node + 1]]
        if parents not in rows_of:
            rows_of[parents] = _rows(network, codes, parents, repeats)
        thresholds = np.cumsum(cells.reshape(-1, states), axis=1, dtype=np.float64).astype(np.float32)
        uniforms = rng.random((repeats, n), dtype=np.float32)
        reached = [uniforms >= thresholds[:, state].take(rows_of[parents]) for state in range(states - 1)]
        if reached:
            codes[node] = np.stack(reached).sum(axis=0, dtype=np.uint8) if states > 2 else reached[0].view(np.uint8)
    return codes


def _rows(network: Network, codes: list[CodeArray], parents: tuple[int, ...], repeats: int) -> IntArray:
    """Return every record's row among the rows of all repeats, (R, n), or (R, 1) without parents."""
    row = np.arange(repeats)[:, None]
    for j in parents:
        row = row * network.cards[j] + codes[j]
    return row
