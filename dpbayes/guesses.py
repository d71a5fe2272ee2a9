"""Probabilities by name, for plans without records."""

from collections.abc import Mapping

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.model.cpts import checked_cpts
from dpbayes.model.network import Network


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
