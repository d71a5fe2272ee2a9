"""The price and the worth of an arrow: the noise that it costs, and what a graph cannot say without it.

The error of a graph is the mean total variation, over all pairs of columns, between the true distribution of the two
columns and that of the network with the probabilities that a noise-aware reader concludes from a Laplace release
([Zhang16] Algorithm 1). It consists of noise and of what the graph cannot say. An arrow is worth its noise if the error
is larger without it.

All graphs are compared on the same tables with the same noise. A graph with one arrow more or less differs in the table
of one child, so only the tables that share a column with that table are read again.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.special import xlogy

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.types import AnyArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceUpdates, Release
from dpbayes.model.dataset import Dataset, places
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import clique_cells, pair_marginals
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.prior_rules import PriorRule

Arrow = tuple[str, str]

TABLES, MOST_VALUES, FEWEST = 40, 4_000, 8
"""Simulated releases, and fewer, at least the last number, so that their cells are at most so many in all."""

MOST_RECORDS, MOST_JOINT, REFERENCE = 2_000_000, 4_096, 100_000
"""Records of all simulated tables that are sampled one by one; joint states for which a table is one multinomial
sample; and records that stand for the distribution of all columns where there are more states."""

MOST_SIZE = 200_000
"""The largest product of all states and of the largest clique's cells, for pairs within a moment."""

POINTS = 128
"""Points of every row's noise-aware posterior."""

LEAST_GAIN = 1e-4
"""The least error that a graph has less, without noise, through an arrow that is offered."""

DIGITS = 9
"""Decimals of an error that rounding leaves as they are."""

MOST_ARROWS, FURTHER = 16, 3
"""Arrows that are removed at most, of more those that say most and those that say least; and those that are added."""

PAIRS = 10
"""Pairs of columns that the graph describes worst, between which the best further arrows are searched."""


@dataclass(frozen=True, eq=False)
class RecordTables:
    """Records of `size` tables over the same columns: `codes` (N, d), and each line's table and weight (N,)."""

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    codes: AnyArray
    table: IntArray
    weights: FloatArray
    size: int

    def counts(self, network: Network, node: int) -> FloatArray:
        """Return the counts of one node's table under a network over the columns: (size, cells)."""
        family = network.families[node]
        columns = [self.names.index(network.names[member]) for member in family]
        cards = [len(self.states[column]) for column in columns]
        place = np.ravel_multi_index(tuple(self.codes[:, column] for column in columns), cards)
        cells = int(np.prod(cards))
        summed = np.bincount(self.table * cells + place, weights=self.weights, minlength=self.size * cells)
        return np.asarray(summed, dtype=np.float64).reshape(self.size, cells)

    def all_counts(self, network: Network) -> FloatArray:
        """Return the counts of all tables under a network over the columns: (size, K)."""
        return np.concatenate([self.counts(network, node) for node in range(len(network.names))], axis=-1)


@dataclass(frozen=True, eq=False)
class PairComparison:
    """The true distributions that releases are compared with, and the tables that are released.

    Attributes:
        pairs: P(x_i = a, x_j = b) of all pairs of states of the columns: (R, R).
        whole: One table with the distribution of all columns.
        tables: The tables of n records.
        n: Records of each table.
    """

    pairs: FloatArray
    whole: RecordTables
    tables: RecordTables
    n: int

    @property
    def starts(self) -> IntArray:
        """The place of every column's first state: (d,)."""
        return np.concatenate(([0], np.cumsum([len(states) for states in self.whole.states])[:-1])).astype(np.int64)

    def probabilities(self, network: Network) -> FloatArray:
        """Return the true probabilities of every child given its parents in a graph: (K,)."""
        return np.concatenate([self.table(network, node) for node in range(len(network.names))])

    def table(self, network: Network, node: int) -> FloatArray:
        """Return the true probabilities of one node given its parents; uniform in rows that never occur: (cells,)."""
        counts = self.whole.counts(network, node)[0].reshape(-1, network.cards[node])
        sums = counts.sum(axis=-1, keepdims=True)
        return np.divide(counts, sums, out=np.full(counts.shape, 1 / counts.shape[-1]), where=sums > 0).ravel()

    def errors(self, network: Network, probabilities: FloatArray) -> FloatArray:
        """Return the mean total variation over all pairs of columns of CPTs (..., K): (...); that of a single one."""
        misfits, several = self.misfits(network, probabilities), len(network.names) > 1
        left, right = np.triu_indices(len(network.names), 1) if several else ([0], [0])
        return np.asarray(misfits[..., left, right].mean(axis=-1))

    def misfits(self, network: Network, probabilities: FloatArray) -> FloatArray:
        """Return the total variation of every two columns of CPTs (..., K): (..., d, d)."""
        away, starts = np.abs(self.pairs - pair_marginals(network, probabilities)), self.starts
        return np.asarray(np.add.reduceat(np.add.reduceat(away, starts, axis=-2), starts, axis=-1) / 2)


def planned_pairs(
    source: Network, probabilities: FloatArray, network: Network, n: int, rng: np.random.Generator
) -> PairComparison:
    """Return the comparison with a public distribution, of tables that are sampled from it.

    Args:
        source: The network of the public distribution.
        probabilities: Its CPTs (K,).
        network: The graph that is drawn over columns of the source.
        n: Records of each table.
        rng: The source of randomness.

    Returns:
        The comparison, which depends on no record.

    Raises:
        InputError: The drawn graph is too large.
    """
    _require_small(network)
    releases = _releases(network)
    columns = [source.index(name) for name in network.names]
    if np.prod(source.cards.astype(np.float64)) <= MOST_JOINT:
        codes = np.indices(tuple(source.cards.tolist())).reshape(len(source.names), -1).T
        cells = (start + places(source, node, codes.T) for node, start in enumerate(source.cell_offsets[:-1]))
        joint = np.prod([probabilities[own] for own in cells], axis=0)
        drawn = rng.multinomial(n, joint / joint.sum(), size=releases).astype(np.float64)
        table = np.repeat(np.arange(releases), len(codes))
        whole = _tables(network, codes[:, columns], np.zeros(len(codes), dtype=np.int64), joint, 1)
        tables = _tables(network, np.tile(codes[:, columns], (releases, 1)), table, drawn.ravel(), releases)
    else:
        releases = max(2, min(releases, MOST_RECORDS // max(n, 1)))
        whole = _sampled(source, probabilities, network, 1, REFERENCE, rng)
        tables = _sampled(source, probabilities, network, releases, n, rng)
    every = np.concatenate(([0], np.cumsum(source.cards))).astype(np.int64)
    states = np.concatenate([np.arange(every[column], every[column + 1]) for column in columns])
    pairs = pair_marginals(source, probabilities)[np.ix_(states, states)]
    return PairComparison(pairs, whole, tables, n)


def clear_network(data: Dataset) -> tuple[Network, FloatArray]:
    """Return a graph of the dependences that a table shows beyond chance, and its CPTs, which is not private.

    Arrows are added while one lowers the BIC with an allowance for the d^2 arrows that are tried: twice its gain in log
    likelihood exceeds its free numbers times ln n, plus 4 ln d. So few tables of independent columns get any arrow.
    Of a larger table, `REFERENCE` records are read.
    """
    names, every, states = data.names, range(len(data.names)), dict(zip(data.names, data.states, strict=True))
    data = data.take(np.linspace(0, data.n, min(data.n, REFERENCE), endpoint=False).astype(np.int64))
    network = Network.from_edges(names, [], states)
    gains = np.array([[_gain(data, (child,), parent) for child in every] for parent in every])
    while gains.max() > 0:
        parent, child = (int(place) for place in np.unravel_index(gains.argmax(), gains.shape))
        gains[parent, child] = -np.inf
        with suppress(InputError):  # a circle, or a table that is too large
            larger = Network.from_edges(names, [*network.edges, (names[parent], names[child])], states)
            _require_small(larger)
            network, family = larger, larger.families[child][::-1]
            gains[:, child] = [_gain(data, family, j) if gains[j, child] > -np.inf else -np.inf for j in every]
    whole = _tables(network, data.codes, np.zeros(data.n, dtype=np.int64), np.ones(data.n), 1)
    return network, PairComparison(np.empty(0), whole, whole, data.n).probabilities(network)


def _gain(data: Dataset, family: Sequence[int], parent: int) -> float:
    """Return how far a further parent lowers the BIC of a child, the first of a family; -inf for one of the family."""
    if parent in family:
        return -np.inf
    columns = [*family, parent]
    cards = [len(data.states[column]) for column in columns]
    place = np.ravel_multi_index(tuple(data.codes[:, column] for column in columns), cards)
    counts = np.bincount(place, minlength=math.prod(cards)).reshape(cards[0], -1, cards[-1])
    numbers = (cards[0] - 1) * (cards[-1] - 1) * counts.shape[1]
    likelihoods = [xlogy(of, of).sum() - xlogy(of.sum(0), of.sum(0)).sum() for of in (counts, counts.sum(axis=-1))]
    return float(2 * (likelihoods[0] - likelihoods[1]) - numbers * np.log(max(data.n, 2)) - 4 * np.log(len(data.names)))


@dataclass(frozen=True)
class Change:
    """An arrow that is removed or added.

    Attributes:
        arrow: The parent and the child.
        is_added: Whether the arrow is added; else it is removed.
        network: The graph after the change.
        limit: How much lower the error is with the arrow than without it if there is no noise and no limit to the
            number of records.
    """

    arrow: Arrow
    is_added: bool
    network: Network
    limit: float

    @property
    def name(self) -> str:
        """What the change is called: "smoke → bronc", "add smoke → bronc"."""
        return f"{'add ' * self.is_added}{' → '.join(self.arrow)}"

    @property
    def node(self) -> int:
        """The child, whose table is another one after the change."""
        return self.network.index(self.arrow[1])


@dataclass(frozen=True, eq=False)
class ArrowErrors:
    """The errors of the drawn graph (releases,) and of every changed graph (changes, releases) at one epsilon.

    `guess` is the error of uniform probabilities: a release with a larger error shows nothing about the table.
    """

    changes: tuple[Change, ...]
    drawn: FloatArray
    changed: FloatArray
    guess: float = math.inf

    @property
    def error(self) -> Estimate:
        """The error of the drawn graph."""
        return Estimate.of(self.drawn)

    @property
    def worths(self) -> tuple[Estimate, ...]:
        """How much lower the error is with each arrow than without it; negative if it costs more than it is worth.

        An arrow that is drawn is compared with the graph without it, and one that is added with the drawn graph.
        """
        signs = np.array([-1.0 if change.is_added else 1.0 for change in self.changes])
        return tuple(map(Estimate.of, signs[:, None] * (self.changed - self.drawn)))


@dataclass(frozen=True, eq=False)
class ArrowStudy:
    """A drawn graph, its changes, and the tables and the noise of all simulated releases, for any epsilon.

    Attributes:
        comparison: The true distributions.
        network: The drawn graph.
        changes: The changes that are compared.
        counts: The counts of the drawn graph, and of the child's table after each change: (releases, cells) each.
        noise: Noise of scale 1 in the same cells.
        prior: The rule of the prior.
    """

    comparison: PairComparison
    network: Network
    changes: tuple[Change, ...]
    counts: tuple[FloatArray, ...]
    noise: tuple[FloatArray, ...]
    prior: PriorRule = PriorRule()

    @cached_property
    def limit(self) -> float:
        """The error of the drawn graph without noise and with endless records."""
        return float(self.comparison.errors(self.network, self.comparison.probabilities(self.network)))

    def at(self, epsilon: float) -> ArrowErrors:
        """Return the errors of all graphs at an epsilon."""
        scale = LaplaceUpdates(prior=self.network, epsilon=epsilon).noise_scale  # the same whatever is drawn
        noisy, *tables = [counts + scale * noise for counts, noise in zip(self.counts, self.noise, strict=True)]
        drawn = self._read(self.network, noisy, epsilon, np.arange(self.network.cell_count))
        errors = self.comparison.errors(self.network, drawn)
        changed = np.empty((len(self.changes), len(errors)))
        for k, (change, table) in enumerate(zip(self.changes, tables, strict=True)):
            released = _with_table(self.network, change.node, noisy, table)
            probabilities, cells = _with_table(self.network, change.node, drawn, table), self._touched(change)
            probabilities[..., cells] = self._read(change.network, released, epsilon, cells)
            changed[k] = self.comparison.errors(change.network, probabilities)
        uniform = 1 / self.network.cards[self.network.node_of_row[self.network.row_of_cell]]
        return ArrowErrors(self.changes, errors, changed, float(self.comparison.errors(self.network, uniform)))

    def _read(self, network: Network, noisy: FloatArray, epsilon: float, cells: IntArray) -> FloatArray:
        """Return the probabilities of some cells that a reader concludes, noise-aware where the noise can be stated."""
        mechanism = LaplaceUpdates(prior=self.prior.on(network), epsilon=epsilon)
        n = self.comparison.n
        release = Release(mechanism.outcome_of(noisy, n), mechanism.certified, mechanism.label, {"n": n})
        if not release.tells_noise:
            return np.asarray(release.outcome.probabilities[..., cells])
        return release.noise_aware_means(cells, points=POINTS)

    def _touched(self, change: Change) -> IntArray:
        """Return the cells of the tables that share a column with the child's table before or after the change."""
        columns = {*self.network.families[change.node], *change.network.families[change.node]}
        nodes = [node for node, family in enumerate(change.network.families) if columns & set(family)]
        every = np.arange(change.network.cell_count)
        return np.concatenate([every[_cells_of(change.network, node)] for node in nodes])


def arrow_study(
    comparison: PairComparison,
    network: Network,
    rng: np.random.Generator,
    *,
    prior: PriorRule | None = None,
    last: Arrow | None = None,
    offers: int = FURTHER,
) -> ArrowStudy:
    """Return the study of a drawn graph: without each arrow, and with each of the best further arrows.

    Args:
        comparison: The true distributions and the tables.
        network: The drawn graph.
        rng: The source of the noise.
        prior: The rule of the prior; the recommended one by default.
        last: An arrow whose change is among them in any case, if it can be removed or added.
        offers: The most arrows that are searched and added.

    Returns:
        The study, whose `at` returns the errors at an epsilon. Removals come first, in the order of their limits.

    Example:
        >>> from dpbayes.sources.named_networks import load_named
        >>> asia, cpts = load_named("asia")
        >>> compared = planned_pairs(asia, cpts, asia, 10_000, np.random.default_rng(1))
        >>> study = arrow_study(compared, asia, np.random.default_rng(2))
        >>> study.changes[0].arrow, study.at(epsilon=1).worths[0]
        (('bronc', 'dysp'), Estimate(value=0.0147, error=0.0001))
    """
    removed = removals(comparison, network)
    if len(removed) > MOST_ARROWS:
        kept = removed[: MOST_ARROWS // 2] + removed[-MOST_ARROWS // 2 :]
        removed = tuple(one for one in removed if one in kept or one.arrow == last)
    offered = additions(comparison, network)[:offers] if offers else ()
    changes = (*removed, *offered, *_added(comparison, network, last, offered))
    tables = comparison.tables
    counts = (tables.all_counts(network), *(tables.counts(change.network, change.node) for change in changes))
    seed = int(rng.integers(2**32))
    drawn = [_noise(seed, network, node, tables.size) for node in range(len(network.names))]
    further = [_noise(seed, change.network, change.node, tables.size) for change in changes]
    noise = (np.concatenate(drawn, axis=-1), *further)
    return ArrowStudy(comparison, network, changes, counts, noise, prior or PriorRule())


def _noise(seed: int, network: Network, node: int, releases: int) -> FloatArray:
    """Return noise of scale 1 in a node's table, the same for the same parents in any order, whatever else is drawn."""
    family = network.families[node]
    order = np.argsort([network.names[member] for member in family])
    names = [network.names[member] for member in np.take(family, order)]
    noise = stream(seed, network.names[node], *names).laplace(size=(releases, *network.cards[list(family)][order]))
    return noise.transpose(0, *(1 + np.argsort(order))).reshape(releases, -1)


def removals(comparison: PairComparison, network: Network) -> tuple[Change, ...]:
    """Return the removal of every arrow of a graph; the arrow that says most is the first."""
    drawn = comparison.probabilities(network)
    candidates = [_change(comparison, drawn, arrow, network, network.without_edge(*arrow)) for arrow in network.edges]
    return tuple(sorted(candidates, key=lambda change: -change.limit))


def additions(comparison: PairComparison, network: Network) -> tuple[Change, ...]:
    """Return the further arrows that lower the error of a graph without noise; the arrow that says most is the first.

    The search is over the better direction between the pairs of columns that the graph describes worst.
    """
    drawn = comparison.probabilities(network)
    misfits = comparison.misfits(network, drawn)
    pairs = sorted(combinations(range(len(network.names)), 2), key=lambda pair: -misfits[pair])[:PAIRS]
    candidates = []
    for pair in pairs:
        either = [_change(comparison, drawn, arrow, network, larger) for arrow, larger in _either(network, pair)]
        # Equal ones follow the columns.
        candidates += sorted(either, key=lambda change: -round(change.limit, DIGITS))[:1]
    return tuple(sorted((one for one in candidates if one.limit > LEAST_GAIN), key=lambda change: -change.limit))


def _change(comparison: PairComparison, drawn: FloatArray, arrow: Arrow, network: Network, changed: Network) -> Change:
    node, is_added = network.index(arrow[1]), arrow in changed.edges
    after = _with_table(network, node, drawn, comparison.table(changed, node))
    lower = comparison.errors(changed, after) - comparison.errors(network, drawn)
    return Change(arrow, is_added, changed, float(-lower if is_added else lower))


def _added(
    comparison: PairComparison, network: Network, arrow: Arrow | None, offered: tuple[Change, ...]
) -> list[Change]:
    """Return the addition of an arrow that is neither drawn nor offered, where it gives a network."""
    if arrow is None or not {*arrow} <= {*network.names} or any(change.arrow == arrow for change in offered):
        return []
    pair, drawn = (network.index(arrow[0]), network.index(arrow[1])), comparison.probabilities(network)
    larger = dict(_either(network, pair)).get(arrow)
    return [_change(comparison, drawn, arrow, network, larger)] if larger else []


def _either(network: Network, pair: tuple[int, int]) -> Iterator[tuple[Arrow, Network]]:
    """Yield the arrows of both directions between two columns, with their graphs where these are networks."""
    states = dict(zip(network.names, network.states, strict=True))
    for parent, child in (pair, pair[::-1]):
        arrow = (network.names[parent], network.names[child])
        if arrow in network.edges or arrow[::-1] in network.edges:
            continue
        with suppress(InputError):  # a circle, or a table that is too large
            larger = Network.from_edges(network.names, [*network.edges, arrow], states)
            _require_small(larger)
            yield arrow, larger


def _with_table(network: Network, node: int, values: FloatArray, table: FloatArray) -> FloatArray:
    """Return values (..., K) of a graph with another table of one node."""
    cells = _cells_of(network, node)
    return np.concatenate((values[..., : cells.start], table, values[..., cells.stop :]), axis=-1)


def _releases(network: Network) -> int:
    return max(FEWEST, min(TABLES, MOST_VALUES // network.cell_count))


def _require_small(network: Network) -> None:
    if int(network.cards.sum()) * clique_cells(network.elimination, network.cards) > MOST_SIZE:
        raise InputError("This graph is too large to compare its arrows. Use fewer columns, arrows or values.")


def _cells_of(network: Network, node: int) -> slice:
    return slice(int(network.cell_offsets[node]), int(network.cell_offsets[node + 1]))


def _tables(network: Network, codes: AnyArray, table: IntArray, weights: FloatArray, size: int) -> RecordTables:
    return RecordTables(network.names, network.states, codes, table, weights, size)


def _sampled(
    source: Network, probabilities: FloatArray, network: Network, size: int, n: int, rng: np.random.Generator
) -> RecordTables:
    codes = sample_dataset(source, probabilities, size * n, rng).select(network.names).codes
    return _tables(network, codes, np.repeat(np.arange(size), n), np.ones(size * n), size)
