"""How far one record moves the masses of G equal cells for one n and G, by going through all counts."""

from dataclasses import dataclass

import numpy as np
from scipy import special


@dataclass(frozen=True)
class GridSensitivity:
    """The exact sensitivities of the masses of G equal cells under one Beta prior and at most n records.

    `root`: a record replaced in a row of exactly n, such as a root node's. `replaced`: in a row of any number up to n.
    `added`: a record added to a row, or taken from it.
    """

    root: float
    replaced: float
    added: float


def exact_sensitivity(a: float, b: float, *, n: int, cells: int) -> GridSensitivity:
    """Return the largest change of any cell's mass over all counts with a total of at most n, in O(n^2 G)."""
    edges = np.arange(1, cells) / cells
    log_x, log_y = np.log(edges), np.log1p(-edges)
    root = replaced = added = 0.0
    for others in range(n):  # the row's records besides the one that moves
        first, second = a + np.arange(others + 1), b + np.arange(others, -1, -1)
        log_bump = first[:, None] * log_x + second[:, None] * log_y - special.betaln(first, second)[:, None]
        steps = np.abs(np.diff(np.exp(log_bump), prepend=0.0, append=0.0)).max(axis=1)
        root = float((steps * (1 / first + 1 / second)).max())
        replaced = max(replaced, root)
        added = max(added, float((steps / np.minimum(first, second)).max()))
    return GridSensitivity(root, replaced, added)
