"""The private choices of a graph: the pairs of a forest, and the parents that are added to it.

The score of a pair of columns is how far its table is from what was released so far: s_ij = sum_ab |U N_ij(a, b) -
E_ij(a, b)| for the counts N_ij and integers E_ij that depend on earlier releases only. One replaced record changes it
by at most `SENSITIVITY`, and the score of "nothing" by 0: see docs/proofs.md.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np

from dpbayes.base.amounts import Amount, Rho
from dpbayes.base.types import AnyArray, BoolArray, FloatArray, IntArray
from dpbayes.mechanisms.adaptive.draws import Draws, choice_scale
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.model.dataset import Dataset
from dpbayes.model.elimination import elimination_plan
from dpbayes.model.pair_marginals import clique_cells

UNIT = 1 << 10
"""U: expected counts are rounded to whole numbers of parts of so many."""

SENSITIVITY = 2 * UNIT
"""How far one replaced record changes the score of a pair at most."""

MOST_RECORDS = 2**31 - 1
"""Most records: then every score fits 64 bits, as a pair has at most 2^16 cells."""

_BLOCK = 1 << 14
"""Records that are compared at once. Single precision holds their counts exactly."""

_FEW, _MARGIN_OF_PARENTS, _MARGIN_OF_TARGET = 25, 1.0, -3.0
"""The score of "nothing" among k candidates is scale * (ln k + c): the largest noise of k scores is about scale * ln k.
In the forest, c is 0: without dependence, "nothing" is as probable as a pair. A target gets a table in vain rather than
none. Under a rho, the forest is omitted by c = 1 for so few columns, and less for more."""

HOPELESS, _MANY = 1.0, 80
"""A stage is omitted if the score of "nothing" exceeds this multiple of the score of two binary columns that determine
each other in n records. In the forest, the multiple falls with more columns than so many, of which a pair is a smaller
part."""

_KEPT = 0.8
"""The share of the expected noise that is subtracted, because the noise-aware estimates remove a part of the noise."""

MOST_CLIQUE, _MOST_CARRIED, _MOST_CELLS = 20_000, 1 << 23, 1 << 15
"""Limits for the cells of a clique of the model, for the numbers in memory for its pair marginals, and for the cells of
all its tables, so that a release takes seconds."""


# Scores


def state_starts(data: Dataset) -> IntArray:
    """Return the place of every column's first state on the axis of all states, and the number of states: (d + 1,)."""
    return np.concatenate(([0], np.cumsum([len(states) for states in data.states]))).astype(np.int64)


def pair_counts(data: Dataset) -> IntArray:
    """Return how many records have every two states of all columns: (R, R), a column's own counts on its diagonal."""
    starts = state_starts(data)
    counts = np.zeros((starts[-1], starts[-1]), dtype=np.int64)
    for first in range(0, data.n, _BLOCK):
        block = data.codes[first : first + _BLOCK]
        has_state = np.zeros((len(block), starts[-1]), dtype=np.float32)
        has_state[np.arange(len(block))[:, None], starts[:-1] + block] = 1
        counts += np.rint(has_state.T @ has_state).astype(np.int64)
    return counts


def pair_scores(counts: IntArray, expected: FloatArray, starts: IntArray) -> IntArray:
    """Return s_ij of all pairs of columns, from counts and expected counts (R, R), rounded to parts of 1/U: (d, d)."""
    away = np.abs(UNIT * counts - np.rint(UNIT * expected).astype(np.int64))
    return np.asarray(np.add.reduceat(np.add.reduceat(away, starts[:-1], axis=0), starts[:-1], axis=1))


# Choices


@dataclass(frozen=True)
class PairChoice:
    """A choice as it is released, in a stage "forest", "parents" or "target": two columns, None for "nothing".

    In "parents" they are (parent, child). In "target" they get a family with the target; one column is stated twice.
    """

    stage: str
    pair: tuple[int, int] | None
    cost: Amount


@dataclass(frozen=True, eq=False)
class Candidates:
    """The pairs `first`, `second` (k,) of a choice, and the score of "nothing"."""

    first: IntArray
    second: IntArray
    least: int
    cost: Amount


Choose = Callable[[Candidates], tuple[int, int] | None]
"""Returns one of the pairs, or None for "nothing": drawn by the scores, or as a release states it."""


def drawn_by_scores(scores: IntArray, draws: Draws) -> Choose:
    """Return choices by the scores (d, d) of all pairs, which have the expected noise subtracted."""

    def choose(among: Candidates) -> tuple[int, int] | None:
        own = scores[among.first, among.second]
        at = draws.chosen(np.append(own, among.least), SENSITIVITY, among.cost)
        return None if at == len(own) else (int(among.first[at]), int(among.second[at]))

    return choose


def chosen_forest(allowed: BoolArray, choose: Choose, *, n: int, cost: Amount) -> Iterator[PairChoice]:
    """Yield the choices of allowed pairs (d, d): a tree selects one of its pairs with others.

    The next tree is an open one of the fewest columns, so that no column that is in a pair chooses before one that is
    in none. Each tree is open until it selects "nothing" or has no candidate. There are no choices if the stage is
    omitted (`HOPELESS`) for n records, and no more of them when most were in vain.
    """
    columns, nothings = len(allowed), 0
    margin = min(_FEW / columns, 1) if isinstance(cost, Rho) else 0.0
    most = HOPELESS * UNIT * n * min(_MANY / columns, 1)
    if not allowed.any() or _score_of_nothing(columns, cost, margin) > most:
        return
    tree, is_open = np.arange(columns), np.ones(columns, dtype=bool)
    for before in range(columns - 1):
        others = allowed & (tree[:, None] != tree)
        places = np.flatnonzero(is_open & others.any(axis=1))
        is_in_vain = 10 * nothings > min(10 + columns, 50) + 5 * (before - nothings)
        if not places.size or is_in_vain:
            return
        own = tree[places[np.argmin(np.bincount(tree)[tree[places]])]]
        first, second = np.nonzero(others & (tree == own)[:, None])
        pair = choose(Candidates(first, second, _score_of_nothing(len(first), cost), cost))
        yield PairChoice("forest", pair, cost)
        if pair is None:
            nothings += 1
            is_open[tree == own] = False
        else:
            tree[tree == tree[pair[1]]] = own
            is_open[tree == own] = True


def _hopeful(first: IntArray, second: IntArray, cost: Amount, margin: float, n: int) -> Candidates | None:
    """Return the candidates of a choice; None if there are none, or the score of "nothing" is too large (public)."""
    if not first.size or (least := _score_of_nothing(len(first), cost, margin)) > HOPELESS * UNIT * n:
        return None
    return Candidates(first, second, least, cost)


def _score_of_nothing(candidates: int, cost: Amount, margin: float = 0.0) -> int:
    return round(float(choice_scale(SENSITIVITY, cost)) * (math.log(candidates) + margin))


def _noise(cost: Amount, tables: int, squares: FloatArray) -> IntArray:
    """Return the expected L1 error of tables in 1/U, of which so many share a cost: from numbers times cells."""
    variance = tables / float(cost.value) if isinstance(cost, Rho) else 8 * (tables / float(cost)) ** 2
    return np.rint(np.minimum(_KEPT * UNIT * np.sqrt(2 / math.pi * variance * squares), 2.0**61)).astype(np.int64)


def noise_of_independence(variances: FloatArray, cards: IntArray, n: int) -> IntArray:
    """Return the L1 distance to expect of independent columns from the product of the released ones, in 1/U: (d, d)."""
    squares, sampled = variances * (cards - 1) * cards, n * np.multiply.outer(cards - 1, cards - 1)
    return np.rint(UNIT * np.sqrt(2 / math.pi * (np.add.outer(squares, squares) + sampled))).astype(np.int64)


def rooted(pairs: list[tuple[int, int]], columns: int) -> list[tuple[int, ...]]:
    """Return the parents of every column in a forest. The column with the most pairs of a tree is its root."""
    beside: list[list[int]] = [[] for _ in range(columns)]
    for i, j in pairs:
        beside[i].append(j)
        beside[j].append(i)
    parents: dict[int, tuple[int, ...]] = {}
    for root in sorted(range(columns), key=lambda j: -len(beside[j])):
        below: list[tuple[int, tuple[int, ...]]] = [] if root in parents else [(root, ())]
        while below:
            node, own = below.pop()
            parents[node] = own
            below += [(other, (node,)) for other in beside[node] if (other,) != own]
    return [parents[j] for j in range(columns)]


@dataclass(frozen=True, eq=False)
class GrowingGraph:
    """A graph of column places to which parents are added: `reaches` (d, d) states which paths it has."""

    parents: tuple[tuple[int, ...], ...]
    cards: IntArray
    reaches: BoolArray

    @classmethod
    def of(cls, parents: Sequence[tuple[int, ...]], cards: IntArray) -> "GrowingGraph":
        """Return the graph with these parents of every column."""
        graph = cls(((),) * len(cards), cards, np.eye(len(cards), dtype=bool))
        return graph._grown([(parent, child) for child, own in enumerate(parents) for parent in own])

    def _grown(self, arrows: Sequence[tuple[int, int]]) -> "GrowingGraph":
        """Return the graph with more arrows: what reaches a parent reaches all that its child reaches."""
        parents, reaches = list(self.parents), self.reaches
        for parent, child in arrows:
            parents[child] = (*parents[child], parent)
            reaches = reaches | np.outer(reaches[:, parent], reaches[child])
        return replace(self, parents=tuple(parents), reaches=reaches)

    def with_arrows(self, arrows: Sequence[tuple[int, int]]) -> "GrowingGraph":
        """Return the graph after selected arrows, which are added only if pair marginals remain exact."""
        grown = self._grown(arrows)
        families = [(*own, node) for node, own in enumerate(grown.parents)]
        most = min(MOST_CLIQUE, _MOST_CARRIED // int(self.cards.sum()))
        return grown if clique_cells(elimination_plan(families), self.cards) <= most else self

    def candidates(self, *, most_parents: int, noise: IntArray, n: int) -> BoolArray:
        """Return whether a column may become a parent of another, in n records with this noise: (parent, child)."""
        full = np.array([len(own) >= most_parents for own in self.parents])
        cells = self._family_products(self.cards)
        small = np.multiply.outer(self.cards - 1, cells) <= _MOST_CELLS - cells.sum()
        small &= (np.multiply.outer(self.cards, cells) <= MOST_CLIQUE) & (noise < HOPELESS * UNIT * n)
        adjacent = np.zeros_like(self.reaches)
        for child, own in enumerate(self.parents):
            adjacent[list(own), child] = True
        varied = np.outer(self.cards > 1, self.cards > 1)  # an arrow at a column of one state adds no number
        return np.asarray(small & varied & ~full & ~self.reaches.T & ~adjacent)

    def noise(self, cost: Amount) -> IntArray:
        """Return the expected L1 error of every family with one more parent, in units of 1/U: (parent, child)."""
        numbers, cells = (np.multiply.outer(own, self._family_products(own)) for own in (self.cards - 1, self.cards))
        share = 1 - 1 / self.cards if isinstance(cost, Rho) else np.ones(len(self.cards))
        return _noise(cost, len(share), np.multiply.outer(share, self._family_products(share)) * numbers * cells)

    def noise_with(self, target: int, cost: Amount) -> IntArray:
        """Return the expected L1 error of the tables of two columns with a target, or of one with it: (d, d)."""
        pairs = np.where(np.eye(len(self.cards), dtype=bool), self.cards, np.multiply.outer(self.cards, self.cards))
        return _noise(cost, len(self.cards), (self.cards[target] * pairs.astype(np.float64)) ** 2)

    def arrows(self, wanted: Sequence[int], most_parents: int) -> list[tuple[int, int]]:
        """Return the arrows (parent, child) that put columns into one family: that of the first that can be a child.

        If the first column, the target, is one of two parents, an arrow joins them.
        """
        for child in wanted:
            others = [j for j in dict.fromkeys(wanted) if j != child]
            new = [j for j in others if j not in self.parents[child]]
            is_joined = child == wanted[0] or any(set(others) <= {j, *self.parents[j]} for j in others)
            room = most_parents - len(self.parents[child])
            if is_joined and 0 < len(new) <= room and not self.reaches[child, new].any():
                return [(parent, child) for parent in new]
        return []

    def _family_products(self, factors: AnyArray) -> AnyArray:
        """Return the product of the factors (d,) of every column and its parents: (d,)."""
        return np.array([factors[[*own, child]].prod() for child, own in enumerate(self.parents)])


def open_pairs(graph: GrowingGraph, plan: AdaptivePlan, is_open: BoolArray, *, n: int) -> Candidates | None:
    """Return the candidates of a round, parents and children that are open (d,); None if the round is hopeless."""
    allowed = graph.candidates(most_parents=plan.most_parents, noise=graph.noise(plan.budget), n=n)
    parent, child = np.nonzero(allowed & is_open)
    return _hopeful(parent, child, plan.parent_cost(len(graph.cards)), _MARGIN_OF_PARENTS, n)


def chosen_parents(
    graph: GrowingGraph, plan: AdaptivePlan, choose: Choose, *, n: int
) -> Iterator[tuple[GrowingGraph, PairChoice]]:
    """Yield the graph and the selected pair after each round of a batch, until "nothing" is selected.

    A node gets at most one more parent. An arrow that would make the cliques too large is not added, but is paid for.
    """
    is_open = np.ones(len(graph.cards), dtype=bool)
    for _ in range(plan.rounds(len(graph.cards))):
        among = open_pairs(graph, plan, is_open, n=n)
        if among is None:
            return
        pair = choose(among)
        graph = graph.with_arrows([pair] if pair else [])
        yield graph, PairChoice("parents", pair, among.cost)
        if pair is None:
            return
        is_open[pair[1]] = False


def open_families(graph: GrowingGraph, plan: AdaptivePlan, target: int, *, n: int) -> Candidates | None:
    """Return the pairs of columns that can get a family with a target; None if the choice is hopeless."""
    others = [j for j in np.flatnonzero(graph.cards > 1).tolist() if j != target]
    is_small = graph.noise_with(target, plan.budget) < HOPELESS * UNIT * n
    small = (pair for pair in combinations_with_replacement(others, 2) if is_small[pair])
    pairs = [pair for pair in small if graph.arrows((target, *pair), plan.most_parents)]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return _hopeful(first, second, plan.target_cost, _MARGIN_OF_TARGET, n)
