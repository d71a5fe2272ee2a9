"""The private choices of a graph: the pairs of a forest, and the parents that are added to it.

Every choice takes one of the candidates or nothing, by the exponential mechanism on whole scores. The score of a
candidate is its pair's score (`dpbayes.mechanisms.adaptive.scores`) minus a whole number that depends on earlier
releases only: the L1 error that noise is expected to bring. Nothing has a score of its own, which depends on the number
of candidates only. So one replaced record changes the score of a candidate by at most `SENSITIVITY`, and the score of
nothing by 0. Which candidates there are depends on earlier releases only.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpbayes.base.types import AnyArray, BoolArray, FloatArray, IntArray
from dpbayes.mechanisms.adaptive.draws import Draws, choice_scale
from dpbayes.mechanisms.adaptive.scores import SENSITIVITY, UNIT
from dpbayes.model.elimination import elimination_plan
from dpbayes.model.pair_marginals import clique_cells

_LEAST_FOREST, _LEAST_PARENTS = 0.6, 1.2
"""Nothing has the score of this many times scale * ln(candidates), which is about the largest noise of that many."""

HOPELESS = 1.0
"""A stage is left out if nothing has a score above that of two binary columns that determine each other, n records."""

_KEPT = 0.8
"""The share of the expected noise that is subtracted: the reading of the tables removes a part of the noise."""

MOST_ROUNDS = 128
"""Most rounds that add parents."""

MOST_CLIQUE, _MOST_CARRIED = 20_000, 1 << 23
"""Most cells of a clique of the model, and most numbers that its pair marginals carry at once."""


@dataclass(frozen=True)
class ChosenPair:
    """One choice: (parent, child) or two columns of the forest, None for nothing, among `candidates`.

    `is_taken` tells whether the graph takes the pair: not where the model would become too large.
    """

    pair: tuple[int, int] | None
    candidates: int
    rho: Fraction
    is_taken: bool = True


@dataclass(frozen=True, kw_only=True)
class ForestRounds:
    """The public settings of the choice of a forest among `allowed` pairs (d, d) of n records, each round at a rho."""

    allowed: BoolArray
    n: int
    rho: Fraction


def chosen_forest(scores: IntArray, setting: ForestRounds, draws: Draws) -> Iterator[ChosenPair]:
    """Yield the pairs of a forest until nothing is chosen or the forest is a tree; nothing at all if it is hopeless.

    The scores are (d, d), with noise subtracted.
    """
    allowed, rho = setting.allowed, setting.rho
    first, second = np.triu_indices(len(scores), 1)
    usable = allowed[first, second]
    first, second = first[usable], second[usable]
    if not usable.any() or is_hopeless(_score_of_nothing(_LEAST_FOREST, len(first), rho), setting.n):
        return
    tree = np.arange(len(scores))
    while True:
        free = np.flatnonzero(tree[first] != tree[second])
        if not free.size:
            return
        least = _score_of_nothing(_LEAST_FOREST, len(free), rho)
        at = draws.chosen(np.append(scores[first[free], second[free]], least), SENSITIVITY, rho)
        if at == len(free):
            yield ChosenPair(None, len(free), rho)
            return
        i, j = int(first[free[at]]), int(second[free[at]])
        tree[tree == tree[j]] = tree[i]
        yield ChosenPair((i, j), len(free), rho)


def is_hopeless(least: int, n: int) -> bool:
    """Return whether nothing has so large a score that a stage is left out, at no cost. It uses public facts only."""
    return least > HOPELESS * UNIT * n


def _score_of_nothing(least: float, candidates: int, rho: Fraction) -> int:
    return round(least * float(choice_scale(SENSITIVITY, rho)) * math.log(candidates))


def pair_noise(cards: IntArray, *, tables: int, rho: Fraction) -> IntArray:
    """Return the expected L1 error of a pair's table, in whole parts of 1/U, if so many tables share a rho: (d, d).

    A residual with the share p of a record gets the variance tables * p/rho.
    """
    variance = tables * np.multiply.outer(1 - 1 / cards, 1 - 1 / cards) / float(rho)
    return _l1_noise(variance, np.multiply.outer(cards - 1, cards - 1), np.multiply.outer(cards, cards))


def _l1_noise(variance: FloatArray, numbers: IntArray, cells: IntArray) -> IntArray:
    """Return the expected L1 error of tables of so many cells, of so many independent numbers of this variance."""
    error = np.sqrt(2 / math.pi * variance * numbers * cells)
    return np.rint(np.minimum(_KEPT * UNIT * error, 2.0**61)).astype(np.int64)


def rooted(pairs: list[tuple[int, int]], columns: int) -> list[tuple[int, ...]]:
    """Return the parents of every column in a forest. The column with the most pairs of a tree is its root."""
    beside: list[list[int]] = [[] for _ in range(columns)]
    for i, j in pairs:
        beside[i].append(j)
        beside[j].append(i)
    parents: list[tuple[int, ...]] = [()] * columns
    seen = [False] * columns
    for root in sorted(range(columns), key=lambda j: -len(beside[j])):
        below = [] if seen[root] else [root]
        while below:
            node = below.pop()
            seen[node] = True
            for other in beside[node]:
                if not seen[other]:
                    parents[other] = (node,)
                    below.append(other)
    return parents


@dataclass(frozen=True, eq=False)
class GrowingGraph:
    """A graph that parents are added to, and which parents may be added.

    `parents` are places of columns. `reaches` (d, d) tells from which column arrows lead to which. `refused` (d, d)
    marks the (parent, child) that made the cliques of the model too large.
    """

    parents: tuple[tuple[int, ...], ...]
    cards: IntArray
    reaches: BoolArray
    refused: BoolArray

    @classmethod
    def of(cls, parents: Sequence[tuple[int, ...]], cards: IntArray) -> "GrowingGraph":
        """Return the graph with these parents of every column."""
        columns = len(cards)
        graph = cls(((),) * columns, cards, np.eye(columns, dtype=bool), np.zeros((columns, columns), dtype=bool))
        for child, own in enumerate(parents):
            for parent in own:
                graph = graph.with_parent(parent, child)
        return graph

    def with_parent(self, parent: int, child: int) -> "GrowingGraph":
        """Return the graph with one more arrow: what reaches the parent reaches all that the child reaches."""
        parents = list(self.parents)
        parents[child] = (*parents[child], parent)
        reaches = self.reaches | np.outer(self.reaches[:, parent], self.reaches[child])
        return replace(self, parents=tuple(parents), reaches=reaches)

    def refusing(self, parent: int, child: int) -> "GrowingGraph":
        """Return the graph in which this arrow is no candidate any more."""
        refused = self.refused.copy()
        refused[parent, child] = True
        return replace(self, refused=refused)

    @property
    def is_small(self) -> bool:
        """Whether the model's pair marginals can be computed exactly."""
        families = [(*own, node) for node, own in enumerate(self.parents)]
        most = min(MOST_CLIQUE, _MOST_CARRIED // int(self.cards.sum()))
        return clique_cells(elimination_plan(families), self.cards) <= most

    def candidates(self, *, most_parents: int, most_cells: int) -> BoolArray:
        """Return whether a column may become a parent of another: (parent, child)."""
        full = np.array([len(own) >= most_parents for own in self.parents])
        small = np.multiply.outer(self.cards, self._family_products(self.cards)) <= most_cells
        adjacent = np.zeros_like(self.reaches)
        for child, own in enumerate(self.parents):
            adjacent[list(own), child] = True
        return np.asarray(small & ~full & ~self.reaches.T & ~adjacent & ~self.refused)

    def noise(self, rho: Fraction) -> IntArray:
        """Return the expected L1 error of every family with one more parent, in whole parts of 1/U: (parent, child).

        The tables share a rho as in `pair_noise`.
        """
        share = np.multiply.outer(1 - 1 / self.cards, self._family_products(1 - 1 / self.cards))
        numbers = np.multiply.outer(self.cards - 1, self._family_products(self.cards - 1))
        cells = np.multiply.outer(self.cards, self._family_products(self.cards))
        return _l1_noise(len(self.cards) * share / float(rho), numbers, cells)

    def _family_products(self, factors: AnyArray) -> AnyArray:
        """Return the product of the factors (d,) of every column and its parents: (d,)."""
        return np.array([factors[[*own, child]].prod() for child, own in enumerate(self.parents)])


@dataclass(frozen=True, kw_only=True)
class ParentRounds:
    """The public settings of some rounds that add parents: `noise_rho` is what the tables share, `rho` a round's."""

    rounds: int
    n: int
    most_parents: int
    most_cells: int
    noise_rho: Fraction
    rho: Fraction


def chosen_parents(
    graph: GrowingGraph, scores: IntArray, setting: ParentRounds, draws: Draws
) -> Iterator[tuple[GrowingGraph, ChosenPair]]:
    """Yield the graph after each round and what the round chose, until nothing is chosen.

    The scores are (d, d), without noise subtracted. A node gets at most one more parent. A graph whose cliques would be
    too large is not taken; the round that chose it is spent.
    """
    noise, is_open = graph.noise(setting.noise_rho), np.ones(len(graph.cards), dtype=bool)
    for _ in range(setting.rounds):
        allowed = graph.candidates(most_parents=setting.most_parents, most_cells=setting.most_cells)
        parent, child = np.nonzero(allowed & is_open)
        if not parent.size:
            return
        least = _score_of_nothing(_LEAST_PARENTS, len(parent), setting.rho)
        if is_hopeless(least, setting.n):
            return
        own = scores[parent, child] - noise[parent, child]
        at = draws.chosen(np.append(own, least), SENSITIVITY, setting.rho)
        if at == len(parent):
            yield graph, ChosenPair(None, len(parent), setting.rho)
            return
        pair = int(parent[at]), int(child[at])
        grown = graph.with_parent(*pair)
        is_taken = grown.is_small
        graph = grown if is_taken else graph.refusing(*pair)
        is_open[pair[1]] = not is_taken
        yield graph, ChosenPair(pair, len(parent), setting.rho, is_taken)
