"""The exact posterior given released tables, sampled by Markov chains over whole tables; slow, for small networks.

The state has one integer table for every clique of a junction tree. The tables are consistent and have n records. With
theta integrated out, the prior probability of a state is, up to a constant,

    prod_S N_S! / prod_C N_C! * prod_rows [prod_k Gamma(alpha_k + N_k) / Gamma(alpha_0 + T)],

where C runs over cells of cliques and S over cells of separators; prod_S N_S! / prod_C N_C! is, up to a constant, the
number of tables of records with these marginals. The release adds the factor exp(-|Y - N_k| / b) for every cell. The
target distribution has no approximation.

A move changes one variable in s of the records that have certain values in all cliques of this variable. The proposal
is symmetric, and any table can be reached from any other, one record at a time. Variables that share no clique move in
one step, and so do all chains. If a node has several parents and the noise is large compared with the variation of n
records, such moves are too small: `rhat` is then far above 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import special

from dpbayes.base.libraries import nx
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.model.query import joint_probabilities
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import noise_aware
from dpbayes.posteriors.noise_model import NoiseModel

CHAINS = 128
"""The number of parallel chains."""

SWEEPS = 1000
"""Sweeps of every chain; the first third is discarded."""

_WARM, _KEPT = 3, 64
"""The first draw is after one in this many sweeps; the number of stored draws of a chain."""

_POINTS = 64
"""Points of the approximate posterior from which chains start."""


@dataclass(frozen=True, eq=False)
class ExactDraws:
    """Samples of the counts given the release: `law` has D samples of each chain as components of equal weight.

    `effective` (K,) is the effective sample size of the mean of a cell, estimated from the differences between chains.
    `rhat` (K,) is the ratio of the spread of all samples to that within chains (Gelman and Rubin 1992); it is close to
    1 if the chains have converged.
    """

    law: DirichletMixtures
    rhat: FloatArray
    effective: FloatArray


def exact_posterior(
    prior: Dirichlets,
    noise: NoiseModel,
    released: FloatArray,
    n: int,
    rng: np.random.Generator,
    *,
    sweeps: int = SWEEPS,
) -> ExactDraws:
    """Sample the exact posterior given one released table (K,) of n records, with Laplace noise in every cell."""
    assert noise.scale
    numbers = np.asarray(released, dtype=np.float64)
    quick = noise_aware(prior, noise, numbers, n, points=_POINTS)
    drawn = _CellChains(prior, noise, numbers, n).drawn(quick.sample(rng, (CHAINS,)), rng)
    warm = sweeps // _WARM
    reads = np.unique(np.linspace(warm, sweeps - 1, _KEPT).astype(int))
    kept = np.empty((len(reads), CHAINS, prior.network.cell_count))
    taken = 0
    for sweep in range(sweeps):
        while (counts := next(drawn)) is None:
            pass
        if sweep in reads:
            kept[taken] = counts
            taken += 1
    return _draws(prior, kept)


def _draws(prior: Dirichlets, counts: FloatArray) -> ExactDraws:
    """Summarise samples (D, chains, K)."""
    draws, chains, _ = counts.shape
    means = prior.updated(counts).mean
    within = means.var(axis=0, ddof=1).mean(axis=0)
    between = means.mean(axis=0).var(axis=0, ddof=1)
    total = within * (draws - 1) / draws + between
    one = np.ones_like(total)  # if all samples are equal, more samples add nothing
    rhat = np.sqrt(np.divide(total, within, out=one.copy(), where=within > 0))
    effective = chains * np.divide(total, between, out=draws * one, where=between > 0)
    flat = counts.reshape(draws * chains, -1)
    weights = np.full((len(flat), prior.network.row_count), 1 / len(flat))
    return ExactDraws(DirichletMixtures(prior, flat, weights), rhat, np.minimum(effective, draws * chains))


@dataclass(frozen=True, eq=False)
class _Moves:
    """Variables (G,) that share no clique: the number of values of the rest of their cliques, and their own states.

    `cells` are the indices, in all tables, of the cells that count a record with these values, (first + value * states
    + own, T). Short lists are padded with the index that counts nothing.
    """

    values: IntArray
    states: IntArray
    first: IntArray
    cells: IntArray

    @property
    def repeats(self) -> int:
        return int(self.values.max())


@dataclass(frozen=True, eq=False)
class _CellChains:
    """All tables on one axis: the network's cells (K,), its rows (m,), cliques, separators, and an unused index.

    The log probability is the sum of sign * lnGamma(N + shift) - rate * |N - released|.
    """

    prior: Dirichlets
    noise: NoiseModel
    released: FloatArray
    n: int

    @cached_property
    def cliques(self) -> list[tuple[int, ...]]:
        """The cliques of the triangulated moral graph."""
        network = self.prior.network
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(range(len(network.names)))
        for family in network.families:
            graph.add_edges_from(combinations(family, 2))
        chordal, _ = nx.complete_to_chordal_graph(graph)
        return sorted(tuple(sorted(clique)) for clique in nx.chordal_graph_cliques(chordal))

    @cached_property
    def separators(self) -> list[tuple[int, ...]]:
        """The nodes that neighbours in the junction tree share; an empty separator has n records and never changes."""
        graph: nx.Graph[int] = nx.Graph()
        for first, second in combinations(range(len(self.cliques)), 2):
            if shared := set(self.cliques[first]) & set(self.cliques[second]):
                graph.add_edge(first, second, weight=len(shared), shared=tuple(sorted(shared)))
        return [attributes["shared"] for _, _, attributes in nx.maximum_spanning_tree(graph).edges(data=True)]

    @cached_property
    def _nodes(self) -> list[tuple[int, ...]]:
        """The nodes of every table, in the order of its axes."""
        families = self.prior.network.families
        return [*families, *(family[:-1] for family in families), *self.cliques, *self.separators]

    @cached_property
    def _starts(self) -> IntArray:
        """The first index of every table, and then the index that counts nothing."""
        cards = self.prior.network.cards
        return np.concatenate(([0], np.cumsum([cards[list(nodes)].prod() for nodes in self._nodes]))).astype(np.int64)

    @cached_property
    def _law(self) -> FloatArray:
        """Sign, shift, rate and released number of every index: (4, places)."""
        network, size = self.prior.network, int(self._starts[-1]) + 1
        cells, rows, families = network.cell_count, network.row_count, len(network.families)
        cliques, separators = self._starts[2 * families], self._starts[2 * families + len(self.cliques)]
        law = np.zeros((4, size))
        law[1] = 1.0
        law[0, :cells], law[1, :cells] = 1.0, self.prior.alpha
        law[2, :cells], law[3, :cells] = 1 / self.noise.scale, self.released
        law[0, cells : cells + rows], law[1, cells : cells + rows] = -1.0, network.row_sums(self.prior.alpha)
        law[0, cliques:separators], law[0, separators:-1] = -1.0, 1.0
        return law

    def drawn(self, cpts: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray | None]:
        """Start with n records sampled from each CPT (chains, K); yield counts (chains, K) after a sweep, else None."""
        tables = self.tables_of(cpts, rng)
        values = self.values(tables, np.arange(tables.shape[1]))
        while True:
            for moves in self.groups:
                for _ in range(moves.repeats):
                    self.move(moves, tables, values, rng)
                yield None
            yield tables[:, : self.prior.network.cell_count]

    def values(self, tables: FloatArray, places: IntArray) -> FloatArray:
        """The terms of the log probability at some indices, from the counts there."""
        sign, shift, rate, released = self._law[:, places]
        return np.asarray(sign * special.gammaln(tables + shift) - rate * np.abs(tables - released))

    def tables_of(self, cpts: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return tables (chains, places) of n records sampled from each CPT (chains, K)."""
        network, chains = self.prior.network, len(cpts)
        [joint] = joint_probabilities(network, cpts, tuple(range(len(network.names))))
        drawn = rng.multinomial(self.n, joint / joint.sum(axis=-1, keepdims=True)).astype(np.float64)
        drawn = drawn.reshape(chains, *network.cards)
        tables = [self._margin(drawn, nodes) for nodes in self._nodes]
        return np.concatenate((*tables, np.zeros((chains, 1))), axis=1)

    @staticmethod
    def _margin(drawn: FloatArray, nodes: tuple[int, ...]) -> FloatArray:
        """The table (chains, cells) of some nodes, in their order, from the table of all nodes."""
        others = tuple(1 + node for node in range(drawn.ndim - 1) if node not in nodes)
        margin = drawn.sum(axis=others).transpose(0, *(1 + np.argsort(np.argsort(nodes))))
        return np.asarray(margin.reshape(len(drawn), -1))

    @cached_property
    def groups(self) -> list[_Moves]:
        """All variables that can move, in groups that share no clique."""
        near: nx.Graph[int] = nx.Graph()
        near.add_nodes_from(int(node) for node in np.flatnonzero(self.prior.network.cards > 1))
        for clique in self.cliques:
            near.add_edges_from(pair for pair in combinations(clique, 2) if pair[0] in near and pair[1] in near)
        colours = nx.greedy_color(near) if self.n else {}
        return [
            self._moves([node for node in sorted(colours) if colours[node] == colour])
            for colour in sorted(set(colours.values()))
        ]

    def _moves(self, variables: list[int]) -> _Moves:
        cards = self.prior.network.cards
        cells = [self._cells(variable) for variable in variables]
        most = max(array.shape[1] for array in cells)
        padded = [
            np.pad(array, ((0, 0), (0, most - array.shape[1])), constant_values=self._starts[-1]) for array in cells
        ]
        states = cards[variables].astype(np.int64)
        sizes = np.array([len(array) for array in cells])
        first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        return _Moves(sizes // states, states, first, np.concatenate(padded))

    def _cells(self, variable: int) -> IntArray:
        """The indices that count records by the values in a variable's cliques, its own value last: (values, T)."""
        cards = self.prior.network.cards
        beside = sorted(set().union(*(clique for clique in self.cliques if variable in clique)) - {variable})
        order = [*beside, variable]
        codes = np.indices(tuple(cards[order])).reshape(len(order), -1)
        place = {node: k for k, node in enumerate(order)}
        return np.stack(
            [
                start + np.ravel_multi_index([codes[place[node]] for node in nodes], cards[list(nodes)])
                for nodes, start in zip(self._nodes, self._starts, strict=False)
                if variable in nodes
            ],
            axis=1,
        )

    def move(self, moves: _Moves, tables: FloatArray, values: FloatArray, rng: np.random.Generator) -> None:
        """Propose one move of every variable of a group in every chain; changes tables and values (chains, places)."""
        shape = len(tables), len(moves.values)
        others, own, step, size, luck = rng.random((5, *shape))
        now = (own * moves.states).astype(np.int64)
        then = (now + 1 + (step * (moves.states - 1)).astype(np.int64)) % moves.states
        at = moves.first + (others * moves.values).astype(np.int64) * moves.states
        records = np.floor(np.exp(size * np.log(self.n + 1)))[..., None]  # log-uniform
        left, entered = moves.cells[at + now], moves.cells[at + then]
        places = np.concatenate((left, entered), axis=-1)
        counts_something = places < self._starts[-1]
        change = np.concatenate((-records * np.ones(left.shape), records * np.ones(left.shape)), axis=-1)
        chain = np.arange(shape[0])[:, None, None]
        before = tables[chain, places]
        after = before + change * counts_something
        is_table: BoolArray = (after >= 0).all(axis=-1)
        worth = self.values(np.maximum(after, 0.0), places)
        gain = (worth - values[chain, places]).sum(axis=-1)
        takes = (is_table & (np.log(luck) < gain))[..., None]
        tables[chain, places] = np.where(takes, after, before)
        values[chain, places] = np.where(takes, worth, values[chain, places])
