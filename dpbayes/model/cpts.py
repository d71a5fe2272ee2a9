"""Conditional probability tables on the flat cell axis: checking given ones, guessing and drawing them."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.model.network import Network

TOLERANCE = 1e-3
"""A row may miss 1 by this much (published tables are rounded); it is then divided by its sum."""

ROUNDING = 1e-12
"""A row that misses 1 by no more than this is left as it is, so that reading what was written changes nothing."""


def checked_cpts(network: Network, probabilities: ArrayLike) -> FloatArray:
    """Return CPT probabilities (K,) whose rows sum to 1, or say which row is wrong.

    A row whose sum is off by less than TOLERANCE is divided by it; one within ROUNDING is left bit for bit.
    """
    try:
        values = np.array(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        kind = brief(type(probabilities).__name__)
        raise InputError(f"probabilities must be an array, not {kind}. Use posterior.mean or dp.guess.") from None
    if values.shape != (network.cell_count,):
        raise InputError(
            f"The network needs {network.cell_count} probabilities, one for each cell; "
            f"got an array of shape {values.shape}."
        )
    with np.errstate(all="ignore"):  # infinities of both signs; the row is refused below
        sums = np.asarray(network.row_sums(values), dtype=np.float64)
    negative = np.logical_or.reduceat(~(values >= 0.0), network.row_starts)
    wrong = np.flatnonzero(negative | ~(np.abs(sums - 1.0) <= TOLERANCE))
    if wrong.size:
        raise InputError(_row_problem(network, values, int(wrong[0]), sums[wrong[0]]))
    off = np.abs(sums - 1.0) > ROUNDING
    divisors = np.where(off, sums, 1.0)[network.row_of_cell]
    return values / divisors


def cpts_of_tables(network: Network, tables: Mapping[str, tuple[Sequence[str], FloatArray]]) -> FloatArray:
    """Return the CPTs (K,) of tables by node: the names of the parents and the node in any order, and an axis for each.

    Errors: InputError for a node without a table, or with one of other parents or another shape.
    """
    return checked_cpts(network, np.concatenate([_own_order(network, i, tables) for i in range(len(network.names))]))


def _own_order(network: Network, node: int, tables: Mapping[str, tuple[Sequence[str], FloatArray]]) -> FloatArray:
    name, family = network.names[node], network.families[node]
    if name not in tables:
        raise InputError(f"The node {brief(name)} has no probabilities.")
    axes, values = tables[name]
    if sorted(axes) != sorted(network.names[j] for j in family):
        raise InputError(f"The probabilities of {brief(name)} must be over the node and its parents.")
    if values.shape != tuple(len(network.states[network.index(axis)]) for axis in axes):
        raise InputError(f"The probabilities of {brief(name)} have the shape {values.shape}, not one per state.")
    return np.asarray(values.transpose([axes.index(network.names[j]) for j in family])).ravel()


def _row_problem(network: Network, values: FloatArray, row: int, total: float) -> str:
    cells = values[network.cells_of_row(row)]
    label = brief(network.row_label(row), 80)
    if not np.isfinite(cells).all():
        return f"The row {label} has a probability that is not a finite number."
    if cells.min() < 0.0:
        return f"The row {label} has a negative probability, {numeral(cells.min(), 6)}."
    return f"The probabilities of the row {label} sum to {numeral(total, 6)}; they must sum to 1."


def random_cpts(network: Network, rng: np.random.Generator, *size: int) -> FloatArray:
    """Draw every row uniformly from all distributions of its states: probabilities (*size, K), strictly inside (0, 1).

    The one cell of a one-state node is 1.
    """
    drawn = rng.standard_exponential((*size, network.cell_count)) + 1e-9  # so that every record is possible
    return np.asarray(drawn / network.over_cells(network.row_sums(drawn)))


def guess(network: Network, stated: Mapping[str, float]) -> FloatArray:
    """Return CPTs from a few probabilities by name, such as a guess for `least_epsilon`. No record is used.

    Args:
        network: The network.
        stated: Probabilities by name: "smoker=yes", or "ill=yes | smoker=yes". A name holds in every row that agrees
            with it, and a later name replaces an earlier one. The other states of a row share the rest evenly.

    Returns:
        The probabilities (K,) of all cells.

    Raises:
        InputError: A name is not in the network, or the probabilities of a row do not add up to 1.

    Example:
        >>> network = dp.network("rain -> grass")
        >>> dp.guess(network, {"rain=yes": 0.2, "grass=yes": 0.1, "grass=yes | rain=yes": 0.9})
        array([0.8, 0.2, 0.9, 0.1, 0.1, 0.9])
    """
    labels = [network.cell_label(cell) for cell in range(network.cell_count)]
    values = np.full(len(labels), np.nan)
    for name, probability in stated.items():
        cells = [cell for cell, label in enumerate(labels) if _parts(name) <= _parts(label)]
        if not cells:
            node = name.partition("=")[0]
            near = [label for label in labels if label.partition("=")[0] == node] or labels
            names = " or ".join(map(brief, near[-2:]))
            raise InputError(f"The network has no probability {brief(name)}. Write a name such as {names}.")
        values[cells] = finite_number(f"The probability {brief(name)}", probability, low=0, high=1)
    free = np.isnan(values)
    rest, number = 1 - network.row_sums(np.nan_to_num(values)), network.row_sums(free.astype(np.int64))
    return checked_cpts(network, np.where(free, network.over_cells(rest / np.maximum(number, 1)), values))


def _parts(label: str) -> set[str]:
    own, _, given = label.partition(" | ")
    return {f"{own} |", *(given.split(", ") if given else ())}
