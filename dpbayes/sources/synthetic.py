"""Made-up tables: ancestral sampling from a network with known conditional probability tables."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbayes.base.types import Codes, FloatArray
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
    rng: np.random.Generator,
    *,
    progress: Callable[[float], object] | None = None,
) -> Dataset:
    """Sample n independent records. Every node is sampled given its parents.

    States of probability 0 are never sampled.

    Args:
        network: The network.
        probabilities: Its CPTs (K,).
        n: The number of records, 0 to MAX_RECORDS.
        rng: Source of randomness.
        progress: Called with the share of records done after every block.

    Returns:
        The table.

    Raises:
        InputError: n is out of range, or the probabilities are not CPTs of the network.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.sample_dataset(network, probabilities, 1000, np.random.default_rng(1)).codes.shape
        (1000, 8)
    """
    n = whole_number("The number of records", n, low=0, high=MAX_RECORDS)
    checked = checked_cpts(network, probabilities)
    thresholds = [_thresholds(network, checked, i) for i in range(len(network.names))]
    codes: Codes = np.zeros((n, len(network.names)), dtype=np.uint8, order="F")
    uniforms = np.empty(min(n, BLOCK))
    for start in range(0, n, BLOCK):
        block = codes[start : start + BLOCK]
        for node in network.order:
            u = rng.random(out=uniforms[: len(block)])
            block[:, node] = _search(thresholds[node], _rows(network, block, node), u)
        if progress is not None:
            progress((start + len(block)) / n)
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
        thresholds = _thresholds(network, checked, node)
        rows = np.broadcast_to(_rows(network, codes, node), n)
        order = rng.permutation(n)
        order = order[np.argsort(rows[order], kind="stable")]
        sizes = np.bincount(rows, minlength=len(thresholds))
        ranks = np.arange(n) - (np.cumsum(sizes) - sizes)[rows[order]]
        levels = (ranks + rng.random(len(sizes))[rows[order]]) / sizes[rows[order]]
        # The sum may round up to 1, which no threshold but the infinite ones may pass.
        codes[order, node] = _search(thresholds, rows[order], np.minimum(levels, 1 - 2**-53))
    return Dataset(network.names, network.states, codes)


def _thresholds(network: Network, probabilities: FloatArray, node: int) -> FloatArray:
    """Return cumulative probabilities (q_i, w), w the least power of two >= r_i, infinite from the last state on."""
    cells = np.asarray(network.table(probabilities, node)).reshape(-1, int(network.cards[node]))
    # Rounding may leave a cumulative sum below 1; no uniform may pass the last state that has any probability.
    possible_later = np.cumsum(cells[:, ::-1] > 0, axis=1)[:, ::-1] - (cells > 0) > 0
    width = 1 << int(cells.shape[1] - 1).bit_length()
    thresholds = np.full((len(cells), width), np.inf)
    thresholds[:, : cells.shape[1]] = np.where(possible_later, np.cumsum(cells, axis=1), np.inf)
    return thresholds


def _rows(network: Network, block: Codes, node: int) -> NDArray[np.intp]:
    """Return the parent configuration of every record, (records,), or () for a node without parents."""
    row = np.zeros((), dtype=np.intp)
    for j in network.families[node][:-1]:
        row = row * network.cards[j] + block[:, j]
    return row


def _search(thresholds: FloatArray, rows: NDArray[np.intp], u: FloatArray) -> NDArray[np.intp]:
    """Return how many thresholds of its row each uniform has reached, by halving: log2(w) steps for all at once."""
    width = thresholds.shape[1]
    flat = thresholds.ravel()
    at = rows * width
    step = width // 2
    while step:
        at = at + step * (u >= flat[at + (step - 1)])
        step //= 2
    return at - rows * width
