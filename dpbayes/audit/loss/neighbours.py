"""Every table and every pair of neighbours, where there are few enough to list them all."""

import math
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.compositions import compositions, is_listable, neighbour_pairs
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.hellinger import MOST_PAIRED


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
