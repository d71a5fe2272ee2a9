"""Counts of many tables that are sampled from a public network, for planning before there is a table."""

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.steps import Work, finished, mapped, slices
from dpbayes.base.types import AnyArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.counts import Counts
from dpbayes.model.cpts import checked_cpts
from dpbayes.model.network import Network
from dpbayes.sources.synthetic import MAX_RECORDS, sample_dataset

MOST_JOINT = 4096
"""Most joint states of all nodes for which the records of a table are sampled as one multinomial sample."""

MOST_DRAWN = 100_000_000
"""Most records that are sampled one by one."""

MOST_COUNTS = 50_000_000
"""Most counts of all tables together."""

_AT_ONCE, _CODES_AT_ONCE = 1 << 20, 1 << 24
"""Most records that are sampled one by one in one step, and most codes of all their nodes."""


def planned_tables(
    source: Network,
    probabilities: ArrayLike,
    n: int,
    draws: int,
    rng: np.random.Generator,
    *,
    fitted: Network | None = None,
) -> Counts:
    """Return counts of planned tables whose records are drawn from a public joint distribution.

    A table with few joint states is one multinomial sample, whose time does not depend on n; otherwise its records are
    sampled. The same generator gives the same records for every fitted network.

    Args:
        source: The network that the records are drawn from.
        probabilities: Its CPTs (K,).
        n: Records of each table.
        draws: How many tables.
        rng: The source of randomness.
        fitted: The network whose cells are counted: columns of `source` under any arrows; `source` by default.

    Returns:
        Counts of `fitted`: (draws, K).

    Raises:
        InputError: For bad numbers, more records or counts than can be drawn, and a node of `fitted` that is no
            column of `source` with the same states.
    """
    return finished(planned_tables_steps(source, probabilities, n, draws, rng, fitted=fitted))


def planned_tables_steps(
    source: Network,
    probabilities: ArrayLike,
    n: int,
    draws: int,
    rng: np.random.Generator,
    *,
    fitted: Network | None = None,
) -> Work[Counts]:
    """Compute `planned_tables` in steps, because many records of a network with many nodes take seconds."""
    n = whole_number("The number of records", n, low=0, high=MAX_RECORDS)
    draws = whole_number("The number of tables", draws, low=1, high=MOST_COUNTS)
    cpts, network = checked_cpts(source, probabilities), fitted or source
    if not has_columns(source, network):
        raise InputError("A node of the fitted network is not in the network from which the records are planned.")
    if draws * network.cell_count > MOST_COUNTS:
        raise InputError(f"{draws:,} tables of a network of {network.cell_count:,} cells are too many; choose fewer.")
    if are_drawn_together(source):
        return Counts(network, joint_counts(source, cpts, n, rng, fitted=network, draws=draws), n)
    if draws * n > MOST_DRAWN:
        raise InputError(
            f"{draws:,} tables of {n:,} records are too many to sample. Choose fewer tables or fewer records."
        )
    records = _of_records(source, cpts, n, draws, rng, network)
    return (yield from mapped(records, lambda values: Counts(network, values, n)))


def has_columns(source: Network, fitted: Network) -> bool:
    """Return whether every node of a network is a column of the source, with the same states in the same order."""
    columns = dict(zip(source.names, source.states, strict=True))
    return all(columns.get(name) == states for name, states in zip(fitted.names, fitted.states, strict=True))


def are_drawn_together(network: Network) -> bool:
    """Return whether a table is one multinomial sample, whose time does not depend on the number of records."""
    return bool(np.prod(network.cards.astype(np.float64)) <= MOST_JOINT)


def joint_counts(
    source: Network,
    cpts: FloatArray,
    n: int,
    rng: np.random.Generator,
    *,
    fitted: Network | None = None,
    draws: int | None = None,
) -> IntArray:
    """Return counts of tables of n records, each sampled as one multinomial number of all joint states.

    Args:
        source: The network of the records, with few joint states.
        cpts: Its CPTs, (K,) for all tables or (R, K) for one table each.
        n: Records of each table.
        rng: The source of randomness.
        fitted: The network whose cells are counted; `source` by default.
        draws: The number of tables, for CPTs (K,).

    Returns:
        The counts (draws, K) or (R, K).
    """
    fitted = fitted or source
    states = np.indices(tuple(source.cards.tolist())).reshape(len(source.names), -1).T
    probabilities = cpts[..., _cells(source, states)].prod(axis=-2)
    drawn = rng.multinomial(n, probabilities / probabilities.sum(axis=-1, keepdims=True), size=draws)
    member = np.zeros((len(states), fitted.cell_count))
    for own in _cells(fitted, states[:, _columns(source, fitted)]):
        member[np.arange(len(own)), own] = 1.0
    return np.rint(drawn @ member).astype(np.int64)


def _of_records(
    source: Network, cpts: FloatArray, n: int, draws: int, rng: np.random.Generator, fitted: Network
) -> Work[IntArray]:
    values = np.empty((draws, fitted.cell_count), dtype=np.int64)
    records, columns = min(_AT_ONCE, _CODES_AT_ONCE // len(source.names)), _columns(source, fitted)
    for part in slices(draws, records // max(n, 1)):
        tables = part.stop - part.start
        codes = sample_dataset(source, cpts, tables * n, rng).codes[:, columns]
        table = np.repeat(np.arange(tables), n)
        for node, (start, end) in enumerate(pairwise(fitted.cell_offsets.tolist())):
            cells = table * (end - start) + _places(fitted, node, codes)
            values[part, start:end] = np.bincount(cells, minlength=tables * (end - start)).reshape(tables, -1)
        yield part.stop / draws
    return values


def _columns(source: Network, fitted: Network) -> list[int]:
    """Return the index in the source of every node of the fitted network."""
    return [source.index(name) for name in fitted.names]


def _cells(network: Network, codes: AnyArray) -> IntArray:
    """Return the cell of every node for each record (records, nodes): (nodes, records)."""
    starts = network.cell_offsets[:-1]
    return np.stack([start + _places(network, node, codes) for node, start in enumerate(starts)])


def _places(network: Network, node: int, codes: AnyArray) -> IntArray:
    """Return the cell within one node's table for every record (records, nodes): (records,)."""
    family = list(network.families[node])
    places = np.ravel_multi_index([codes[:, member] for member in family], network.cards[family].tolist())
    return np.asarray(places, dtype=np.int64)
