"""The residuals of all consistent tables as one vector; rows and parents' tables are linear functions of it.

A row is described by its total and all its cells but the last, u = (T, k_1, .., k_{r-1}). Let t be the vector of all
residuals except that of the empty set, which is n. Every row is u = c + D t. Only the residuals of the node's family
have nonzero columns in D.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.network import Network

MOST_RESIDUALS = 3000
"""The largest number of residuals of a joint posterior, whose covariance is a full matrix."""


@dataclass(frozen=True, eq=False)
class FamilyDesign:
    """The rows (q,) of one node: u = centre + matrix t[numbers], with `matrix` (q, U, R_f) and `centre` (q, U)."""

    rows: IntArray
    numbers: IntArray
    matrix: FloatArray
    centre: FloatArray


@dataclass(frozen=True, eq=False)
class JointDesign:
    """All families of a network and n records; cells are `centre` (K,) + t @ `tables` (R, K) of residuals t (R,)."""

    network: Network
    n: int

    def __post_init__(self) -> None:
        if self.n < 1 or np.any(self.network.cards < 2):
            raise InputError(
                "The joint posterior is computed for tables with records, and for nodes with at least two states. Use "
                "the row-wise posterior."
            )
        size = len(self.network.residuals.set_of_number) - 1
        if size > MOST_RESIDUALS:
            raise InputError(
                f"The joint posterior is computed for networks with at most {MOST_RESIDUALS:,} free table numbers, but "
                f"this one has {size:,}. Use the row-wise posterior."
            )

    @property
    def size(self) -> int:
        """The number of residuals R, without that of the empty set."""
        return len(self.sets)

    @cached_property
    def sets(self) -> IntArray:
        """The index of every residual's set in the closure: (R,)."""
        return self.network.residuals.set_of_number[1:]

    @cached_property
    def centre(self) -> FloatArray:
        """The cells (K,) of the table in which all residuals but n are zero."""
        unit = np.zeros(len(self.sets) + 1)
        unit[0] = self.n
        return self.network.residuals.tables(unit)

    @cached_property
    def tables(self) -> FloatArray:
        """The coefficient of every residual in every cell: (R, K)."""
        return self.network.residuals.tables(np.eye(len(self.sets) + 1)[1:])

    @cached_property
    def families(self) -> tuple[FamilyDesign, ...]:
        """The rows of every node."""
        return tuple(self._family(node) for node in range(len(self.network.names)))

    def _family(self, node: int) -> FamilyDesign:
        network = self.network
        cells = slice(network.cell_offsets[node], network.cell_offsets[node + 1])
        own = self.tables[:, cells]
        numbers = np.flatnonzero(np.abs(own).max(axis=1) > 1e-12)
        r = int(network.cards[node])
        matrix = lifted(own[numbers].T.reshape(-1, r, len(numbers)))
        rows = np.arange(network.row_offsets[node], network.row_offsets[node + 1])
        matrix[np.abs(matrix) < 1e-12] = 0.0
        centre = lifted(self.centre[cells].reshape(-1, r, 1))[..., 0]
        return FamilyDesign(rows, numbers, matrix, centre)

    @cached_property
    def numbers_of_set(self) -> dict[int, IntArray]:
        """The indices of every set's residuals, by the set's bit mask, in the order of the states of its nodes."""
        members = self.network.closure.members
        order = np.argsort(self.sets, kind="stable")
        bounds = np.searchsorted(self.sets[order], np.arange(len(members) + 1))
        return {mask: order[bounds[k] : bounds[k + 1]] for k, mask in enumerate(members) if k}


def lifted(cells: FloatArray) -> FloatArray:
    """Return the total and all cells but the last from cells (..., r, X): (..., r, X)."""
    return np.concatenate((cells.sum(axis=-2, keepdims=True), cells[..., :-1, :]), axis=-2)


def inverse_root(precision: FloatArray) -> FloatArray:
    """Return L^-1 with L L.T = precision, which may be overwritten; NaN if there is none."""
    if not len(precision):
        return precision
    if not np.isfinite(precision).all():
        return np.full_like(precision, np.nan)
    # LAPACK stores a matrix by columns.
    factor, failed = linalg.lapack.dpotrf(precision.T, lower=1, overwrite_a=1)
    if failed:
        return np.full_like(precision, np.nan)
    inverse, _ = linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
    return np.asarray(inverse)
