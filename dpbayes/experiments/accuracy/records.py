"""Training counts and test records of many repeats at once: a new model in each, or a new split of one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpbayes.base.randomness import stream
from dpbayes.base.types import CodeArray, FloatArray, IntArray, SingleArray
from dpbayes.experiments.accuracy.blanket import TestRecords
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Dataset, places
from dpbayes.model.network import Network

_MOST_SHARED = 1 << 22
"""Most joint states of the blanket, times its nodes, that are listed."""


@dataclass(frozen=True, eq=False)
class Batch:
    """R repeats: training counts (R, K) and how often the target has each state in them (R, r), and test records."""

    counts: FloatArray
    target_counts: IntArray
    test: TestRecords


class Repeats:
    """Samples repeats of a plan; the parts that repeats share are prepared once."""

    def __init__(self, plan: AccuracyPlan) -> None:
        self.plan = plan
        self.blanket = plan.blanket

    @property
    def _is_shared(self) -> bool:
        """Whether test records are counted by the blanket's joint states, because these are fewer than the records."""
        configurations = self.blanket.configurations
        return configurations <= min(self.plan.testing, _MOST_SHARED // max(1, len(self.blanket.nodes)))

    def draw(self, block: slice) -> Batch:
        """Sample models and records, or splits, of a block of repeats."""
        rng, repeats = stream(self.plan.seed, "accuracy", "records", block.start), block.stop - block.start
        return self._split(rng, repeats) if isinstance(self.plan.source, Dataset) else self._sampled(rng, repeats)

    # Synthetic records

    def _sampled(self, rng: np.random.Generator, repeats: int) -> Batch:
        plan, network, n = self.plan, self.plan.network, self.plan.training
        assert not isinstance(plan.source, Dataset)
        cpts = _random_cpts(network, self.blanket.target, plan.source.strength, rng, repeats)
        codes = _sample(network, cpts, n + plan.testing, rng)
        training = [column[:, :n] for column in codes]
        counts = _counted(network, training)
        target = codes[self.blanket.target]
        make = self._by_configuration if self._is_shared else self._by_record
        test = make([column[:, n:] for column in codes])
        return Batch(counts, _tally(target[:, :n], self.blanket.states), test)

    def _by_record(self, codes: list[CodeArray]) -> TestRecords:
        target = codes[self.blanket.target]
        weights = np.stack([target == state for state in range(self.blanket.states)], axis=1).astype(np.float32)
        return TestRecords(self.blanket, self.blanket.picked(codes), weights)

    def _by_configuration(self, codes: list[CodeArray]) -> TestRecords:
        """Count the records of each joint state of the blanket."""
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

    def _weights(self, pattern: IntArray, target: CodeArray, patterns: int) -> SingleArray:
        """Count the records (R, n) by pattern and state: (R, r, P)."""
        states, repeats = self.blanket.states, len(pattern)
        index = (np.arange(repeats)[:, None] * states + target) * patterns + pattern
        records = np.bincount(index.ravel(), minlength=repeats * states * patterns)
        return records.reshape(repeats, states, patterns).astype(np.float32)

    # A table

    @cached_property
    def _table(self) -> "_Patterns":
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
        return _Patterns(codes, pattern, firsts, picked, weights)

    def _split(self, rng: np.random.Generator, repeats: int) -> Batch:
        """Train on a random part of the table; test on the rest, or on some records of the rest."""
        plan, table = self.plan, self._table
        n, states, patterns = plan.training, self.blanket.states, len(table.firsts)
        order = rng.permuted(np.tile(np.arange(plan.records, dtype=np.int32), (repeats, 1)), axis=1)
        chosen = order[:, :n]
        counts = _counted(plan.network, [column[chosen] for column in table.codes])
        tally = _tally(table.codes[self.blanket.target][chosen], states)
        if n + plan.testing == plan.records:
            weights = table.weights - self._table_weights(chosen)
        else:
            weights = self._table_weights(order[:, n : n + plan.testing])
        assert weights.shape == (repeats, states, patterns)
        return Batch(counts, tally, TestRecords(self.blanket, table.picked, weights))

    def _table_weights(self, records: NDArray[np.int32]) -> SingleArray:
        table = self._table
        return self._weights(table.pattern[records], table.codes[self.blanket.target][records], len(table.firsts))


@dataclass(frozen=True, eq=False)
class _Patterns:
    """A table's codes and patterns (n,); the patterns' first records, families and weights."""

    codes: list[CodeArray]
    pattern: IntArray
    firsts: IntArray
    picked: list[CodeArray]
    weights: SingleArray


def _counted(network: Network, codes: Sequence[CodeArray]) -> FloatArray:
    """Count the cells of records (R, n) in every repeat: (R, K)."""
    repeats = len(codes[0])
    counts = np.empty((repeats, network.cell_count))
    for node in range(len(codes)):
        first, end = (int(cell) for cell in network.cell_offsets[node : node + 2])
        index = places(network, node, codes) + np.arange(repeats)[:, None] * (end - first)
        counts[:, first:end] = np.bincount(index.ravel(), minlength=repeats * (end - first)).reshape(repeats, -1)
    return counts


def _tally(target: CodeArray, states: int) -> IntArray:
    """Count the target's states in (R, n): (R, r)."""
    return np.stack([np.count_nonzero(target == state, axis=-1) for state in range(states)], axis=-1)


def _random_cpts(network: Network, target: int, strength: float, rng: np.random.Generator, repeats: int) -> FloatArray:
    """Mix uniform Dirichlet rows with equal probabilities; a target without parents has only these: (R, K)."""
    even = 1 / network.cards[network.node_of_row][network.row_of_cell]
    weight = np.full(network.cell_count, strength)
    if len(network.families[target]) == 1:
        weight[network.cell_offsets[target] : network.cell_offsets[target + 1]] = 0.0
    return weight * random_cpts(network, rng, repeats) + (1 - weight) * even


def _sample(network: Network, cpts: FloatArray, n: int, rng: np.random.Generator) -> list[CodeArray]:
    """Draw n records of every repeat, parents before children: the nodes' codes, each (R, n)."""
    repeats = len(cpts)
    codes: list[CodeArray] = [np.zeros((repeats, n), dtype=np.uint8)] * len(network.names)
    rows_of: dict[tuple[int, ...], IntArray] = {}
    for node in network.order:
        uniforms = rng.random((repeats, n), dtype=np.float32)
        parents, states = network.families[node][:-1], int(network.cards[node])
        cells = cpts[:, network.cell_offsets[node] : network.cell_offsets[node + 1]]
        if parents not in rows_of:
            rows_of.clear()  # children of the same parents are often consecutive; large arrays are not kept
            rows_of[parents] = _rows(network, codes, parents, repeats)
        thresholds = np.cumsum(cells.reshape(-1, states), axis=1, dtype=np.float64).astype(np.float32)
        if states > 1:
            codes[node] = (uniforms >= thresholds[:, 0].take(rows_of[parents])).view(np.uint8)
        for state in range(1, states - 1):
            codes[node] += uniforms >= thresholds[:, state].take(rows_of[parents])
    return codes


def _rows(network: Network, codes: list[CodeArray], parents: tuple[int, ...], repeats: int) -> IntArray:
    """Return every record's row among the rows of all repeats, (R, n), or (R, 1) without parents."""
    row = np.arange(repeats)[:, None]
    for j in parents:
        row = row * network.cards[j] + codes[j]
    return row
