"""Neighbouring tables to compare: all of them where there are few, otherwise those that may lose much."""

import math
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import BoolArray, IntArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.compositions import compositions, is_listable, neighbour_pairs
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import MOST_PAIRED

_MOST_KINDS = 32
"""Most kinds of records for which all tables are listed."""


@dataclass(frozen=True, eq=False)
class AllTables:
    """All tables of n records, up to their order: the CPT `counts` (T, K), and the places of ordered `pairs` (N, 2)."""

    counts: IntArray
    pairs: IntArray


def all_tables(network: Network, *, n: int) -> AllTables:
    """Return all tables of n records; up to order they are the throws of a die with one side for each record.

    Errors: InputError when there are more than MOST_PAIRED, and for a bad n.
    """
    n = whole_number("The number of records", n, low=0, high=MOST_PAIRED)
    sides = math.prod(len(states) for states in network.states)
    if not is_listable(n, sides=sides, most=MOST_PAIRED):
        raise InputError(
            f"{n:,} records of {sides:,} possible kinds have more than {MOST_PAIRED:,} tables, too many to list them "
            "all; use fewer records or fewer nodes."
        )
    records = np.stack(np.unravel_index(np.arange(sides), tuple(network.cards)), axis=-1).astype(np.uint8)
    single = [count(network, Dataset(network.names, network.states, record[None])).values for record in records]
    return AllTables(compositions(n, sides=sides) @ np.array(single), neighbour_pairs(n, sides=sides))


def tables_are_few(network: Network, *, n: int) -> bool:
    """Return whether all tables of n records can be listed within seconds."""
    kinds = math.prod(int(card) for card in network.cards)
    return kinds <= _MOST_KINDS and is_listable(n, sides=kinds, most=MOST_PAIRED)


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
