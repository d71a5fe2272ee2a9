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
from dpbayes.posteriors.joint.lines import StepLines
from dpbayes.posteriors.joint.rows import RatioPoints, Tilted

_NUMBERS_AT_ONCE = 1 << 18
"""The largest number of counts in one step."""


@dataclass(frozen=True, eq=False)
class RowDraws:
    """Rows with cells and parameters (m, r): their points, and the mean (B, m, r) and root (B, m, r, r) of u.

    `sizes` are the numbers of groups of each cell but the last within a group of totals; () if points have no order.
    """

    cells: IntArray
    alpha: FloatArray
    tilted: Tilted
    mean: FloatArray
    root: FloatArray
    sizes: tuple[int, ...]

    def part(self, releases: slice | IntArray) -> "RowDraws":
        """Return some of a batch."""
        own = self.tilted
        ratios = None
        if own.ratios is not None:
            ratios = RatioPoints(own.ratios.mean[:, releases], own.ratios.covariance[:, :, releases])
        parts = own.points[:, releases], own.weights[releases], own.width[releases], own.spreads[:, releases]
        tilted = Tilted(*parts, ratios)
        return replace(self, tilted=tilted, mean=self.mean[releases], root=self.root[releases])

    def counts(self, tables: FloatArray, ratios: FloatArray | None = None) -> FloatArray:
        """Return the counts (S, B, m, r) of the rows for samples of all tables (S, B, K).

        `ratios` (S, B, m, r - 1) are the log ratios of a shared mean.
        """
        result = np.empty((*tables.shape[:2], *self.cells.shape))
        size = self.cells.size * (1 if ratios is None else self.tilted.weights.shape[-1])
        for part in slices(len(tables), _NUMBERS_AT_ONCE // (tables.shape[1] * size)):
            numbers = lifted(tables[part][..., self.cells][..., None])[..., 0]
            if ratios is None:
                result[part] = self._counts(self._shares(numbers - self.mean))
            else:
                own = np.concatenate((numbers[..., :1], ratios[part], numbers[..., 1:]), axis=-1)
                result[part] = self._counts_given(self._shares(own - self.mean), ratios[part])
        return result

    def _counts_given(self, shares: FloatArray, ratios: FloatArray) -> FloatArray:
        """Return the counts at levels (S, B, m, 2r - 1) of the total, the log ratios and the cells.

        Given the total and the log ratios, the points are sorted by their first cells.
        """
        points, spreads, own = self.tilted.points, self.tilted.spreads, self.tilted.ratios
        assert own is not None
        batch, row, free = np.arange(points.shape[1])[:, None], np.arange(points.shape[2]), ratios.shape[-1]
        group, _ = self._of_groups.picked(batch * points.shape[2] + row, shares[..., 0])
        order = self._of_points[1]
        places = (batch[..., None], row[:, None], group[..., None], order[batch, row, group])
        away = np.moveaxis(ratios, -1, 0)[..., None] - own.mean[:, *places]
        precision = self._of_ratios
        logs = -np.log(precision[1][places]) / 2
        for j in range(free):
            for k in range(free):
                logs -= away[j] * precision[0][j, k][places] * away[k] / 2
        weights = self.tilted.weights[places] * np.exp(logs - logs.max(axis=-1, keepdims=True))
        steps = np.cumsum(weights, axis=-1)
        level = shares[..., 1 + free, None] * steps[..., -1:]
        chosen = np.minimum((steps < level).sum(axis=-1), weights.shape[-1] - 1)[..., None]
        start, width = (np.take_along_axis(steps - weights, chosen, -1), np.take_along_axis(weights, chosen, -1))
        part = np.clip((level - start) / np.maximum(width, 1e-300), 0, 1)[..., 0]
        place = np.take_along_axis(order[batch, row, group], chosen, -1)[..., 0]
        counts = np.moveaxis(points[1:, batch, row, group, place], 0, -1).copy()
        if len(spreads) > 1:
            spread, powers = spreads[1, batch, row, group, place], (self.alpha[:, 0], self.alpha[:, -1])
            moved = within_group(counts[..., 0], counts[..., -1], spread, part, powers)
            counts[..., -1] -= moved - counts[..., 0]
            counts[..., 0] = moved
        return counts

    @cached_property
    def _of_ratios(self) -> tuple[FloatArray, FloatArray]:
        """The precision of the log ratios given every point (d, d, B, m, J, S), and the determinants of covariances."""
        assert self.tilted.ratios is not None
        covariance = np.moveaxis(self.tilted.ratios.covariance, (0, 1), (-2, -1))
        covariance = covariance + 1e-6 * np.eye(covariance.shape[-1])
        inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
        return np.moveaxis(inverse, (-2, -1), (0, 1)), np.linalg.det(covariance)

    def _shares(self, away: FloatArray) -> FloatArray:
        """Return quantile levels (S, B, m, r) of the numbers in their normal distributions given the earlier ones."""
        scores = np.zeros_like(away)
        for k in range(away.shape[-1]):
            along = (self.root[..., k, :k] * scores[..., :k]).sum(axis=-1)
            scores[..., k] = (away[..., k] - along) / self.root[..., k, k]
        return np.asarray(special.ndtr(scores))

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
        number = len(self.design.sets)
        tables = self.design.centre + drawn[..., :number] @ self.design.tables
        counts = np.empty(tables.shape)
        for own in self.rows:
            ratios = None
            if own.tilted.ratios is not None:
                nodes = self.design.network.node_of_row[self.design.network.row_of_cell[own.cells[:, 0]]]
                ratios = drawn[..., np.array([self.design.ratios[int(node)] for node in nodes])]
            counts[..., own.cells] = own.counts(tables, ratios)
        if self.design.shared is not None:
            counts += self.design.shared.parameters(drawn[..., number:]) - self.design.shared.alpha
        return counts
