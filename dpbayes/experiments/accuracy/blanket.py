"""P(target | all other nodes) for many sets of CPTs and many records at once: only the Markov blanket matters.

The log-odds of state c of the target against its first state are a sum over the families that contain the target. The
term of a family is ln theta at the record with the target at c, minus ln theta with the target at its first state.
Every configuration of a family's other nodes has such a difference, and a record selects one per family. The log-odds
of all records are therefore a matrix product. No table over the blanket's joint states is built.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.steps import slices
from dpbayes.base.types import CodeArray, FloatArray, IntArray, SingleArray
from dpbayes.model.network import Network

_SCORED, _DESIGNED = 1 << 20, 1 << 22
"""Log-odds, and entries of the design, in memory at a time: 4 and 16 megabytes."""

TIE = np.float32(1e-5)
"""A smaller difference of log-odds is a tie. Equal probabilities differ by rounding, which differs between machines,
and would otherwise decide which state is predicted."""

MOST_COLUMNS = 1024
"""Log-odds with more terms are looked up by family instead of multiplied."""


@dataclass(frozen=True)
class Blanket:
    """The families of a network that contain the target: its own and its children's."""

    network: Network
    target: int

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """The other nodes of every family that contains the target, in the family's order."""
        families = [family for family in self.network.families if self.target in family]
        return tuple(tuple(j for j in family if j != self.target) for family in families)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The Markov blanket: parents, children and the children's other parents."""
        return tuple(sorted({j for family in self.families for j in family}))

    @property
    def states(self) -> int:
        """r: how many states the target has."""
        return int(self.network.cards[self.target])

    @property
    def configurations(self) -> int:
        """How many joint states the blanket has."""
        return math.prod(int(self.network.cards[j]) for j in self.nodes)

    @cached_property
    def starts(self) -> IntArray:
        """First configuration of every family, and M, the number of all, at the end: (F + 1,)."""
        sizes = [math.prod(int(self.network.cards[j]) for j in family) for family in self.families]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def columns(self) -> int:
        """M - F + 1: a constant, and a term for each configuration but every family's first."""
        return int(self.starts[-1]) - len(self.families) + 1

    @cached_property
    def cells(self) -> IntArray:
        """The cell of every configuration and target state: (M, r)."""
        parts = []
        for node, family in enumerate(self.network.families):
            if self.target in family:
                first, end = self.network.cell_offsets[node : node + 2]
                table = np.arange(first, end).reshape([int(self.network.cards[j]) for j in family])
                parts.append(np.moveaxis(table, family.index(self.target), -1).reshape(-1, self.states))
        return np.concatenate(parts)

    def differences(self, log_cpts: FloatArray) -> SingleArray:
        """Return ln theta minus that of the target's first state: (..., r - 1, M), from ln CPTs (..., K)."""
        later, first = log_cpts[..., self.cells.T[1:]], log_cpts[..., None, self.cells[:, 0]]
        return (later - first).astype(np.float32)

    def picked(self, codes: Sequence[CodeArray] | CodeArray) -> list[CodeArray]:
        """Return the configuration of every family at records whose nodes have `codes[j]` (...): F arrays (...)."""
        states: list[CodeArray] = []
        for size, family in zip(np.diff(self.starts), self.families, strict=True):
            kind = np.dtype(np.uint8 if size < 256 else np.int64)  # single bytes are fast to compare
            index: CodeArray = np.zeros(np.shape(codes[0]), dtype=kind)
            for k, j in enumerate(family):
                column = codes[j].astype(kind, copy=False)
                index = column if k == 0 else index * kind.type(self.network.cards[j]) + column
            states.append(index)
        return states


@dataclass(frozen=True, eq=False)
class TestRecords:
    """Records to score, or distinct patterns of them: P of each repeat, or the same P for all (B = R or 1).

    `picked` are configurations counted within each family, F arrays (B, P); `weights` (R, r, P) how many test records
    have the pattern and each state of the target.
    """

    blanket: Blanket
    picked: list[CodeArray]
    weights: SingleArray

    __test__ = False  # pytest must not collect this class

    @cached_property
    def design(self) -> SingleArray | None:
        """One row for each configuration but every family's first, and a row of ones: (B, M - F + 1, P).

        None if it would be too large.
        """
        starts, columns = self.blanket.starts, self.blanket.columns
        if columns > MOST_COLUMNS:
            return None
        batch, patterns = self.picked[0].shape
        rows = np.empty((batch, columns, patterns), dtype=np.float32)
        rows[:, 0] = 1
        at = 1
        for size, index in zip(np.diff(starts), self.picked, strict=True):
            for configuration in range(1, size):
                np.equal(index, configuration, out=rows[:, at], casting="unsafe")
                at += 1
        return rows

    def parts(self, *, epsilons: int) -> "Iterator[TestRecords]":
        """Yield some patterns of all repeats at a time, so that little memory is used."""
        odds = epsilons * len(self.weights) * (self.blanket.states - 1)
        design = len(self.picked[0]) * min(self.blanket.columns, MOST_COLUMNS)
        for part in slices(self.weights.shape[-1], min(_SCORED // odds, _DESIGNED // design)):
            yield TestRecords(self.blanket, [index[:, part] for index in self.picked], self.weights[..., part])

    def log_odds(self, differences: SingleArray) -> SingleArray:
        """Return the log-odds of every state against the first (R, E, r - 1, P), from differences (R, E, r - 1, M)."""
        if self.design is None:
            return self._looked_up(differences)
        starts = self.blanket.starts
        sizes = np.diff(starts)
        base = differences[..., starts[:-1]]
        rest = np.delete(differences - np.repeat(base, sizes, axis=-1), starts[:-1], axis=-1)
        columns = np.concatenate([base.sum(axis=-1, keepdims=True), rest], axis=-1)
        flat = columns.reshape(len(columns), -1, columns.shape[-1])
        return (flat @ self.design).reshape(*differences.shape[:-1], -1)

    def _looked_up(self, differences: SingleArray) -> SingleArray:
        repeats = len(differences)
        log_odds = np.zeros((*differences.shape[:-1], self.picked[0].shape[-1]), dtype=np.float32)
        for start, index in zip(self.blanket.starts, self.picked, strict=False):
            at = start + index.astype(np.int64)
            if len(at) == 1:
                log_odds += differences[..., at[0]]
            else:
                log_odds += np.take_along_axis(differences, at.reshape(repeats, 1, 1, -1), axis=-1)
        return log_odds


def score_records(test: TestRecords, differences: SingleArray) -> FloatArray:
    """Return what `score` does for `differences` (R, E, r - 1, M), in parts of the patterns: (2, R, E)."""
    parts = test.parts(epsilons=differences.shape[1])
    sums = sum(np.stack(_summed(part.log_odds(differences), part.weights)) for part in parts)
    return np.asarray(sums / test.weights.sum(axis=(1, 2), dtype=np.float64)[:, None])


def score(log_odds: SingleArray, weights: SingleArray) -> tuple[FloatArray, FloatArray]:
    """Return the share of correct predictions and the mean log loss in nats, (R, E) each.

    `log_odds` are (R, E, r - 1, P) against the first state, `weights` (R, r, P). The likeliest state is predicted;
    equally likely states have equal shares.
    """
    total = weights.sum(axis=(1, 2), dtype=np.float64)[:, None]
    right, loss = _summed(log_odds, weights)
    return right / total, loss / total


def _summed(log_odds: SingleArray, weights: SingleArray) -> tuple[FloatArray, FloatArray]:
    return _score_two(log_odds, weights) if log_odds.shape[2] == 1 else _score_many(log_odds, weights)


def _score_two(log_odds: SingleArray, weights: SingleArray) -> tuple[FloatArray, FloatArray]:
    odds, first, second = log_odds[:, :, 0], weights[:, 0], weights[:, 1]
    both = first + second
    chosen, ties = (odds > TIE).astype(np.float32), np.abs(odds) <= TIE
    if ties.any():
        chosen += np.float32(0.5) * ties
    right = first.sum(axis=-1, dtype=np.float64)[:, None] + _dot(chosen, second - first)
    # ln(1 + e^z) = (z + |z|)/2 + ln(1 + e^-|z|), less z itself where the second state is the true one.
    lost = np.abs(odds, out=chosen)
    straight = (_dot(lost, both) + _dot(odds, first - second)) / 2
    np.negative(lost, out=lost)
    np.log1p(np.exp(lost, out=lost), out=lost)
    return right, straight + _dot(lost, both)


def _dot(values: SingleArray, weights: SingleArray) -> FloatArray:
    """Sum (R, E, P) over the patterns with weights (R, P): (R, E)."""
    return (values @ weights[..., None])[..., 0].astype(np.float64)


def _score_many(log_odds: SingleArray, weights: SingleArray) -> tuple[FloatArray, FloatArray]:
    scores = np.concatenate([np.zeros_like(log_odds[:, :, :1]), log_odds], axis=2)
    top = scores.max(axis=2, keepdims=True)
    best = (scores >= top - TIE).astype(np.float32)
    best /= best.sum(axis=2, keepdims=True)
    log_total = top + np.log(np.exp(scores - top).sum(axis=2, keepdims=True))
    right = np.einsum("recp,rcp->re", best, weights, dtype=np.float64)
    return right, np.einsum("recp,rcp->re", log_total - scores, weights, dtype=np.float64)
