"""Counts of many tables drawn from a public network, for planning before there is a table."""

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.steps import Work, finished, mapped, slices
from dpbayes.base.types import AnyArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.counts import Counts
from dpbayes.model.cpts import checked_cpts, random_cpts
from dpbayes.model.network import Network
from dpbayes.sources.synthetic import MAX_RECORDS, sample_dataset

MOST_JOINT = 4096
"""Most joint states of all nodes of which a table's records are drawn as one multinomial number."""

MOST_DRAWN = 100_000_000
"""Most records that are drawn one by one."""

MOST_COUNTS = 50_000_000
"""Most counts that the tables may hold together."""

_AT_ONCE, _CODES_AT_ONCE = 1 << 20, 1 << 24
"""Records that are drawn one by one in one step, and the codes of all nodes that they have at most."""


def planned_tables(network: Network, probabilities: ArrayLike, n: int, draws: int, rng: np.random.Generator) -> Counts:
    """Return the counts (draws, K) of so many tables of n independent records each.

    Few joint states are drawn as multinomial counts, which costs nothing for n; of more the records are. Errors:
    InputError for bad numbers, and for more records or counts than can be drawn.
    """
    return finished(planned_tables_steps(network, probabilities, n, draws, rng))


def planned_tables_steps(
    network: Network, probabilities: ArrayLike, n: int, draws: int, rng: np.random.Generator
) -> Work[Counts]:
    """Do `planned_tables` in steps, where records are drawn: many of them on a network of many nodes take seconds."""
    n = whole_number("The number of records", n, low=0, high=MAX_RECORDS)
    draws = whole_number("The number of tables", draws, low=1, high=MOST_COUNTS)
    cpts = checked_cpts(network, probabilities)
    if draws * network.cell_count > MOST_COUNTS:
        raise InputError(f"{draws:,} tables of a network of {network.cell_count:,} cells are too many; draw fewer.")
    if are_drawn_together(network):
        return Counts(network, _of_joint_states(network, cpts, n, draws, rng), n)
    if draws * n > MOST_DRAWN:
        raise InputError(f"{draws:,} tables of {n:,} records are too many to draw here; use fewer draws or records.")
    return (yield from mapped(_of_records(network, cpts, n, draws, rng), lambda values: Counts(network, values, n)))


def evenly_planned_tables(network: Network, n: int, draws: int, rng: np.random.Generator) -> Counts:
    """Return the counts (draws, K) of so many tables of n records, each from probabilities of its own, drawn evenly.

    Errors: as of `planned_tables`.
    """
    tables = [planned_tables(network, random_cpts(network, rng), n, 1, rng).values for _ in range(draws)]
    return Counts(network, np.concatenate(tables), n)


def are_drawn_together(network: Network) -> bool:
    """Return whether a table's records are one multinomial number, so that their number costs nothing."""
    return bool(np.prod(network.cards.astype(np.float64)) <= MOST_JOINT)


def _of_joint_states(network: Network, cpts: FloatArray, n: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Every joint state is in one cell of each node; its chance is the product of theirs."""
    states = np.indices(tuple(network.cards.tolist())).reshape(len(network.names), -1)
    starts = network.cell_offsets[:-1]
    cells = np.stack([start + _places(network, node, states.T) for node, start in enumerate(starts)])
    chances = cpts[cells].prod(axis=0)
    drawn = rng.multinomial(n, chances / chances.sum(), size=draws)
    member = np.zeros((states.shape[1], network.cell_count))
    for own in cells:
        member[np.arange(len(own)), own] = 1.0
    return np.rint(drawn @ member).astype(np.int64)


def _of_records(network: Network, cpts: FloatArray, n: int, draws: int, rng: np.random.Generator) -> Work[IntArray]:
    values = np.empty((draws, network.cell_count), dtype=np.int64)
    records = min(_AT_ONCE, _CODES_AT_ONCE // len(network.names))
    for part in slices(draws, records // max(n, 1)):
        tables = part.stop - part.start
        codes = sample_dataset(network, cpts, tables * n, rng).codes
        table = np.repeat(np.arange(tables), n)
        for node, (start, end) in enumerate(pairwise(network.cell_offsets.tolist())):
            cells = table * (end - start) + _places(network, node, codes)
            values[part, start:end] = np.bincount(cells, minlength=tables * (end - start)).reshape(tables, -1)
        yield part.stop / draws
    return values


def _places(network: Network, node: int, codes: AnyArray) -> IntArray:
    """The cell of one node's table that every record (records, nodes) is in: (records,)."""
    family = list(network.families[node])
    places = np.ravel_multi_index([codes[:, member] for member in family], network.cards[family].tolist())
    return np.asarray(places, dtype=np.int64)
