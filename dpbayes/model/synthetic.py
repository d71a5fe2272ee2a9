"""Made-up tables: ancestral sampling from a network with known conditional probability tables."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.quadrature import last_reached
from dpbayes.base.randomness import generator
from dpbayes.base.types import Codes, FloatArray, IntArray
from dpbayes.base.validation import whole_number
from dpbayes.model.cpts import checked_cpts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network

MAX_RECORDS = 10_000_000

BLOCK = 1 << 16
"""Records per pass: a block's uniforms and row numbers (512 kB each) stay in the processor's cache."""


def sample_dataset(
    network: Network,
    probabilities: ArrayLike,
    n: int,
    rng: np.random.Generator | int,
) -> Dataset:
    """Sample n independent records. Every node is sampled given its parents.

    States of probability 0 are never sampled.

    Args:
        network: The network.
        probabilities: Its CPTs (K,).
        n: The number of records, 0 to MAX_RECORDS.
        rng: A generator or a seed.

    Returns:
        The table.

    Raises:
        InputError: n is out of range, or the probabilities are not CPTs of the network.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.sample_dataset(network, probabilities, 1000, np.random.default_rng(1)).codes.shape
        (1000, 8)
    """
    n, rng = whole_number("The number of records", n, low=0, high=MAX_RECORDS), generator(rng)
    checked = checked_cpts(network, probabilities)
    starts = [_starts(network, checked, i) for i in range(len(network.names))]
    codes: Codes = np.zeros((n, len(network.names)), dtype=np.uint8, order="F")
    uniforms = np.empty(min(n, BLOCK))
    for first in range(0, n, BLOCK):
        block = codes[first : first + BLOCK]
        for node in network.order:
            u = rng.random(out=uniforms[: len(block)])
            block[:, node] = last_reached(starts[node], u, _rows(network, block, node))
    return Dataset(network.names, network.states, codes)


def even_records(network: Network, probabilities: ArrayLike, n: int, rng: np.random.Generator) -> Dataset:
    """Sample n records whose counts are as near to their expectations as whole numbers allow, row by row.

    Every record has the distribution of `sample_dataset`, but records are not independent. Among m records with the
    same states of a node's parents, state s occurs m P(s) times, rounded up or down: the records in random order get
    the states at the levels (u + k)/m, k = 0, .., m - 1, with one uniform u. So tables of synthetic records have less
    sampling error. Errors: those of `sample_dataset`.
    """
    n = whole_number("The number of records", n, low=0, high=MAX_RECORDS)
    checked = checked_cpts(network, probabilities)
    codes: Codes = np.zeros((n, len(network.names)), dtype=np.uint8, order="F")
    for node in network.order:
        starts = _starts(network, checked, node)
        rows = np.broadcast_to(_rows(network, codes, node), n)
        order = rng.permutation(n)
        order = order[np.argsort(rows[order], kind="stable")]
        sizes = np.bincount(rows, minlength=len(starts))
        ranks = np.arange(n) - (np.cumsum(sizes) - sizes)[rows[order]]
        levels = (ranks + rng.random(len(sizes))[rows[order]]) / sizes[rows[order]]
        # The sum may round up to 1, which no threshold but the infinite ones may pass.
        codes[order, node] = last_reached(starts, np.minimum(levels, 1 - 2**-53), rows[order])
    return Dataset(network.names, network.states, codes)


def _starts(network: Network, probabilities: FloatArray, node: int) -> FloatArray:
    """Return the uniforms (q_i, r_i) at which the states of every row begin, infinite after the last possible state."""
    cells = np.asarray(network.table(probabilities, node)).reshape(-1, int(network.cards[node]))
    # Rounding may leave a cumulative sum below 1; no uniform may pass the last state that has any probability.
    possible_later = np.cumsum(cells[:, ::-1] > 0, axis=1)[:, ::-1] - (cells > 0) > 0
    starts = np.zeros(cells.shape)
    starts[:, 1:] = np.where(possible_later, np.cumsum(cells, axis=1), np.inf)[:, :-1]
    return starts


def _rows(network: Network, block: Codes, node: int) -> IntArray:
    """Return the parent configuration of every record, (records,), or () for a node without parents."""
    row = np.zeros((), dtype=np.int64)
    for j in network.families[node][:-1]:
        row = row * network.cards[j] + block[:, j]
    return row
