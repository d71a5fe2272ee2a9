"""Samples of all rows together: the dependence of the tables' normal distribution, the marginals of the rows' points.

A sample of the normal distribution gives every row u = (T, k_1, .., k_{r-1}). Each number in turn is converted to its
quantile level in the normal distribution given the earlier numbers. The number at the same level of the row's points
replaces it.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.steps import slices
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.posteriors.joint.design import JointDesign, lifted
from dpbayes.posteriors.joint.groups import within_group
from dpbayes.posteriors.joint.rows import Tilted
from dpbayes.posteriors.mixtures import StepLines
from dpbayes.posteriors.row_counts import conditional

_NUMBERS_AT_ONCE = 1 << 18
"""The largest number of counts in one step."""

_LEAST_SD = 3e-5
"""The standard deviation of noise that makes singular covariances regular, in counts."""


@dataclass(frozen=True, eq=False)
class RowDraws:
    """Rows with cells and parameters (m, r): their points, and the mean (B, m, r) and covariance (B, m, r, r) of u.

    `sizes` are the numbers of groups of each cell but the last within a group of totals; () if points have no order.
    """

    cells: IntArray
    alpha: FloatArray
    tilted: Tilted
    mean: FloatArray
    covariance: FloatArray
    sizes: tuple[int, ...]

    def part(self, releases: slice | IntArray) -> "RowDraws":
        """Return some of a batch."""
        own = self.tilted
        parts = own.points[:, releases], own.weights[releases], own.spreads[:, releases], own.log_totals[releases]
        return replace(self, tilted=Tilted(*parts), mean=self.mean[releases], covariance=self.covariance[releases])

    def counts(self, tables: FloatArray) -> FloatArray:
        """Return the counts (S, B, m, r) of the rows for samples of all tables (S, B, K)."""
        result = np.empty((*tables.shape[:2], *self.cells.shape))
        for part in slices(len(tables), _NUMBERS_AT_ONCE // (tables.shape[1] * self.cells.size)):
            numbers = lifted(tables[part][..., self.cells][..., None])[..., 0]
            result[part] = self._counts(self._shares(numbers - self.mean))
        return result

    def _shares(self, away: FloatArray) -> FloatArray:
        """Return quantile levels (S, B, m, r) of the numbers in their normal distributions given the earlier ones."""
        steps, sds = conditional(np.moveaxis(self.covariance, (-2, -1), (0, 1)), _LEAST_SD)
        for k in range(1, away.shape[-1]):
            away[..., k] -= sum(step * away[..., j] for j, step in enumerate(steps[k][:k]))
        return np.asarray(special.ndtr(away / np.moveaxis(sds, 0, -1)))

    def _counts(self, shares: FloatArray) -> FloatArray:
        points, spreads = self.tilted.points, self.tilted.spreads
        batch, row = np.arange(points.shape[1])[:, None], np.arange(points.shape[2])
        group, _ = self._of_groups.picked(batch * points.shape[2] + row, shares[..., 0])
        piece = (batch * points.shape[2] + row) * points.shape[3] + group
        if not self.sizes:
            steps, order = self._of_points
            chosen, _ = steps.picked(piece, shares[..., 1])
            return np.moveaxis(points[1:, batch, row, group, order[batch, row, group, chosen]], 0, -1)
        place, parts = np.zeros_like(group), []
        for k, (size, steps) in enumerate(zip(self.sizes, self._of_cells, strict=True)):
            chosen, part = steps.picked(piece, shares[..., 1 + k])
            piece, place = piece * size + chosen, place * size + chosen
            parts.append(part)
        counts = np.moveaxis(points[1:, batch, row, group, place], 0, -1).copy()
        for k, part in enumerate(parts):
            spread, powers = spreads[1 + k, batch, row, group, place], (self.alpha[:, k], self.alpha[:, -1])
            moved = within_group(counts[..., k], counts[..., -1], spread, part, powers)
            counts[..., -1] -= moved - counts[..., k]
            counts[..., k] = moved
        return counts

    @cached_property
    def _of_groups(self) -> StepLines:
        """The groups of totals."""
        return StepLines.of(self.tilted.weights.sum(axis=-1))

    @cached_property
    def _of_cells(self) -> list[StepLines]:
        """The groups of every cell but the last within a group of totals, by cell."""
        left = self.tilted.weights.reshape(*self.tilted.weights.shape[:-1], *self.sizes)
        inner = range(len(self.sizes))
        return [StepLines.of(left.sum(axis=tuple(range(4 + k, 3 + len(self.sizes))))) for k in inner]

    @cached_property
    def _of_points(self) -> tuple[StepLines, IntArray]:
        """The points within a group of totals, sorted by their first cells, and this order (B, m, J, S)."""
        order = np.argsort(self.tilted.points[1], axis=-1)
        return StepLines.of(np.take_along_axis(self.tilted.weights, order, axis=-1)), order


@dataclass(frozen=True, eq=False)
class TablesLaw:
    """The normal distribution of all tables for B releases: mean (B, R), root (B, R, R), and the rows' points.

    `is_settled` (B,) states for which releases the iteration has converged.
    """

    design: JointDesign
    mean: FloatArray
    root: FloatArray
    rows: tuple[RowDraws, ...]
    is_settled: BoolArray

    def part(self, releases: slice | IntArray) -> "TablesLaw":
        """Return some of a batch."""
        rows = tuple(own.part(releases) for own in self.rows)
        return TablesLaw(self.design, self.mean[releases], self.root[releases], rows, self.is_settled[releases])

    def counts(self, scores: FloatArray) -> FloatArray:
        """Return the counts of all cells (S, B, K) for standard normal numbers (S, B, R)."""
        drawn = self.mean + np.einsum("sbi,bij->sbj", scores, self.root, optimize=True)
        tables = self.design.centre + np.tensordot(drawn, self.design.tables, 1)
        counts = np.empty(tables.shape)
        for own in self.rows:
            counts[..., own.cells] = own.counts(tables)
        return counts
