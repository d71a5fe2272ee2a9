"""Privacy of a draw of all CPTs from trimmed posteriors: exact for tiny networks, otherwise between two values.

The terms of all nodes add up to `most`; a search among tables gives `least`: see docs/proofs.md.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.audit.loss.neighbours import all_tables
from dpbayes.audit.loss.trimmed import checked_size
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.model.compositions import is_listable
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import MOST_PAIRED
from dpbayes.posteriors.trimmed import distinct_pairs, log_mass_between

_MOST_KINDS = 32
"""Most kinds of records for which all tables are listed."""

_MOST_SPLITS = 2000
"""Most records for which the way they are shared between two rows is optimised; beyond, both are given all."""

_PAIRS = 1 << 15
"""Pairs of tables looked at at once."""


@dataclass(frozen=True, eq=False)
class NetworkLoss:
    """The pure epsilon of one draw of all CPTs: between `least`, which the witnesses reach, and `most`.

    `first` and `second` are the CPT counts (K,) of neighbours, `theta` (K,) the CPTs at which their loss is `least`.
    """

    least: float
    most: float
    first: IntArray
    second: IntArray
    theta: FloatArray

    @property
    def is_exact(self) -> bool:
        """Whether both values agree."""
        return self.most - self.least <= 1e-9 * max(1.0, self.most)


def network_loss(prior: Dirichlets, *, n: int, bound: float) -> NetworkLoss:
    """Return what one draw of all CPTs loses over all neighbouring tables of n records, decisions trimmed to +-bound.

    Exact where all tables can be listed, and for a single binary node; otherwise an upper and a lower value. Zero when
    n = 0. N draws from the same table lose N times as much.
    """
    n, bound = checked_size(n, bound=bound)
    network = prior.network
    if n == 0 or np.all(network.cards == 1):
        none = np.zeros(network.cell_count, dtype=np.int64)
        return NetworkLoss(0.0, 0.0, none, none, prior.mean)
    if tables_are_few(network, n=n):
        tables = all_tables(network, n=n)
        exact, (first, second) = _worst_pair(prior, tables.counts, tables.pairs, bound)
        return _witnessed(prior, first, second, bound, (exact, exact))
    suspects = suspicious_tables(network, n=n)
    least, pair = _worst_pair(rows_alone(prior, suspects.rows), suspects.counts, suspects.pairs, bound)
    first, second = (suspects.whole(network, counts) for counts in pair)
    return _witnessed(prior, first, second, bound, (least, max(least, _nodewise_most(prior, n, bound))))


def tables_are_few(network: Network, *, n: int) -> bool:
    """Return whether all tables of n records can be listed within seconds."""
    kinds = math.prod(int(card) for card in network.cards)
    return kinds <= _MOST_KINDS and is_listable(n, sides=kinds, most=MOST_PAIRED)


def log_masses(prior: Dirichlets, counts: IntArray, *, bound: float) -> FloatArray:
    """Return ln Z of all rows together after counts (..., K): (...)."""
    a, b = Decisions(prior.network).parameters(prior.alpha + counts)
    total: FloatArray = _distinct_log_mass(a, b, bound).sum(axis=-1)
    return total


def _distinct_log_mass(a: FloatArray, b: FloatArray, bound: float) -> FloatArray:
    """ln Z(a, b), elementwise; equal pairs and mirrored ones are integrated once."""
    pairs, place = np.unique(np.minimum(a, b).ravel() + 1j * np.maximum(a, b).ravel(), return_inverse=True)
    return log_mass_between(pairs.real, pairs.imag, -bound, bound)[place].reshape(a.shape)


def _worst_pair(prior: Dirichlets, tables: IntArray, pairs: IntArray, bound: float) -> tuple[float, IntArray]:
    """The most that a pair among the tables (T, K) loses, ln p(theta | x) - ln p(theta | y), and that pair: (2, K)."""
    decisions, masses = Decisions(prior.network), log_masses(prior, tables, bound=bound)
    best, place = -math.inf, 0
    for start in range(0, len(pairs), _PAIRS):
        x, y = pairs[start : start + _PAIRS].T
        high, low = _log_ratio_ends(decisions, tables[x] - tables[y], bound)
        losses = np.maximum(high, low).sum(axis=-1) - (masses[x] - masses[y])
        if losses.max() > best:
            best, place = float(losses.max()), start + int(np.argmax(losses))
    return max(0.0, best), tables[pairs[place]]


def _witnessed(
    prior: Dirichlets, first: IntArray, second: IntArray, bound: float, ends: tuple[float, float]
) -> NetworkLoss:
    """The loss between two values, with the CPTs at which these tables (K,) lose most."""
    decisions = Decisions(prior.network)
    high, low = _log_ratio_ends(decisions, first - second, bound)
    theta = decisions.probabilities(np.where(high > low, bound, -bound))
    return NetworkLoss(*ends, first, second, theta)


def _log_ratio_ends(decisions: Decisions, moved: IntArray, bound: float) -> tuple[FloatArray, FloatArray]:
    """What every decision adds to the log-likelihood ratio at either end of its log-odds: two arrays (..., K - m)."""
    toward, away = decisions.parameters(moved.astype(np.float64))
    likely, unlikely = float(special.log_expit(bound)), float(special.log_expit(-bound))
    return toward * likely + away * unlikely, toward * unlikely + away * likely


@dataclass(frozen=True, eq=False)
class Suspects:
    """Tables that differ in one record and may lose much, in those rows alone that any of them has a record in.

    `rows` (R,) are rows of the network, `counts` (T, C) the tables' counts of these rows' cells, and `pairs` (N, 2)
    places of neighbours among them. In all other rows, of which a wide table has most, every table has none.
    """

    rows: IntArray
    counts: IntArray
    pairs: IntArray

    def whole(self, network: Network, counts: IntArray) -> IntArray:
        """Return one table's counts (C,) as counts of the whole network (K,)."""
        values = np.zeros(network.cell_count, dtype=np.int64)
        values[cells_of(network, self.rows)] = counts
        return values


def cells_of(network: Network, rows: IntArray) -> IntArray:
    """Return the cells of some rows, one row after another."""
    spans = (network.cells_of_row(row) for row in rows.tolist())
    return np.concatenate([np.arange(span.start, span.stop) for span in spans])


def moved_rows(network: Network, first: IntArray, second: IntArray) -> IntArray:
    """Return the rows in which two tables' counts (K,) differ; the first row where they are the same."""
    return np.unique(network.row_of_cell[first != second]) if np.any(first != second) else np.zeros(1, dtype=np.int64)


def rows_alone(prior: Dirichlets, rows: IntArray) -> Dirichlets:
    """Return the prior of some rows of a network, every row as a node of its own that has no parents.

    The rows' laws are independent, so what tables lose that are alike elsewhere, they lose there.
    """
    network = prior.network
    names = tuple(str(row) for row in rows.tolist())
    states = dict(zip(names, (network.states[node] for node in network.node_of_row[rows]), strict=True))
    return Dirichlets(Network.from_edges(names, [], states), prior.alpha[cells_of(network, rows)])


def suspicious_tables(network: Network, *, n: int) -> Suspects:
    """Return tables of n >= 1 records in which pairs of neighbours may lose much.

    One record is replaced by its opposite, and the others are as that one. Alike, they make the odd record improbable
    at every root; some of them visit the rows that the odd record's parents pick, and disagree with its children there.
    """
    ends = np.stack([np.zeros(len(network.cards), dtype=np.int64), network.cards - 1])
    visits = _visitors(network)
    shares = np.unique(np.round(np.geomspace(1, max(n - 1, 1), min(n, 48))).astype(np.int64))
    shares = np.concatenate([[0], shares[shares <= n - 1]])
    kinds = [np.concatenate([[odd, common], np.where(visits, odd, common)]) for odd, common in (ends, ends[::-1])]
    rows, counts = _counts_of(network, np.concatenate(kinds))
    tables = []
    for ones in np.split(counts, 2):
        rest = (n - 1 - shares)[:, None, None] * ones[1] + shares[:, None, None] * ones[2:]
        tables.append(np.stack([rest + ones[0], rest + ones[1]], axis=2).reshape(-1, counts.shape[-1]))
    suspects = np.concatenate(tables)
    return Suspects(rows, suspects, np.arange(len(suspects)).reshape(-1, 2))


def _visitors(network: Network) -> BoolArray:
    """Sets of nodes that a visiting record shares with the odd one: nodes with children, layers, and some parents."""
    names = range(len(network.names))
    depth = np.zeros(len(network.names), dtype=np.int64)
    for node in network.order:
        parents = network.families[node][:-1]
        depth[node] = max((int(depth[p]) + 1 for p in parents), default=0)
    parental = np.isin(names, [p for family in network.families for p in family[:-1]])
    widest = sorted(names, key=lambda i: -len(network.families[i]))[:8]
    sets = [parental, depth == 0, depth % 2 == 0, depth % 2 == 1]
    sets += [np.isin(names, network.families[i][:-1]) for i in widest]
    return np.unique(np.array(sets), axis=0)


def _counts_of(network: Network, records: IntArray) -> tuple[IntArray, IntArray]:
    """The rows (R,) that these records are in, and the counts of tables of one record each in their cells alone."""
    places = np.empty(records.shape, dtype=np.int64)  # the cell of every node that a record is in
    for node, family in enumerate(network.families):
        sizes = np.append(network.cards[list(family[1:])], 1)
        strides = np.cumprod(sizes[::-1])[::-1]
        places[:, node] = network.cell_offsets[node] + records[:, family] @ strides
    rows = np.unique(network.row_of_cell[places])
    cells = cells_of(network, rows)
    return rows, np.array([np.isin(cells, place) for place in places], dtype=np.int64)


def _nodewise_most(prior: Dirichlets, n: int, bound: float) -> float:
    """The sum over the nodes of the most that a record's change within the node's family can lose, at any tables."""
    network = prior.network
    losses_by_prior: dict[bytes, tuple[float, float]] = {}
    total = 0.0
    for node, depth in enumerate(Decisions(network).depths):
        if network.cards[node] != 2:
            total += 2 * int(depth) * bound
            continue
        first, second, _ = distinct_pairs(*network.table(prior.alpha, node).reshape(-1, 2).T)
        alpha = np.unique(np.column_stack([first, second]), axis=0)
        key = alpha.tobytes()
        if key not in losses_by_prior:
            losses_by_prior[key] = _binary_most(alpha, n, bound)
        same, other = losses_by_prior[key]
        total += same if network.rows_per_node[node] == 1 else max(same, other)
    return total


def _binary_most(alpha: FloatArray, n: int, bound: float) -> tuple[float, float]:
    """The most that a change within one row of a binary node loses, and between two; `alpha` (R, 2) are the priors."""
    own, other = np.concatenate([alpha, alpha[:, ::-1]]).T[..., None]
    s = np.arange(n) if n <= _MOST_SPLITS else np.array([n - 1])
    parts = [np.broadcast_arrays(*pair) for pair in ((own, other + s), (own + 1, other + s))]
    parts += [np.broadcast_arrays(*pair) for pair in ((own + s, other), (own + s + 1, other))]
    a, b = np.stack(parts, axis=1)
    masses = _distinct_log_mass(a, b, bound)
    against, along = masses[1] - masses[0], masses[3] - masses[2]  # ln E[theta], (2 R, s)
    same = (np.roll(along[:, -1], len(alpha)) - against[:, -1]).max()
    gain = (along.max(axis=0)[::-1] - against.min(axis=0)).max()
    return min(bound + float(same), 2 * bound), min(bound + float(gain), 2 * bound)
