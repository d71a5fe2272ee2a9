"""Draws of all rows together: the dependence of the tables' normal law, the marginals of the rows' own laws.

A draw of the normal law gives every row u = (T, k_1, .., k_{r-1}). Taken in turn, each number's place in its normal law
given those before it is a share between 0 and 1; the row's points, in the same turn, have a number at this share.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.posteriors.joint_design import JointDesign, lifted
from dpbayes.posteriors.joint_rows import Tilted

_ROWS_AT_ONCE = 1 << 21
"""Numbers that one step holds."""


@dataclass(frozen=True, eq=False)
class RowDraws:
    """Rows with cells (m, r): their points, and the normal law of u, mean (B, m, r) and Cholesky root (B, m, r, r).

    `sizes` are the groups of each cell but the last within a group of totals, or () for points in no order.
    """

    cells: IntArray
    is_fixed: bool
    tilted: Tilted
    mean: FloatArray
    root: FloatArray
    sizes: tuple[int, ...]

    def part(self, releases: slice | IntArray) -> "RowDraws":
        """Return some of a batch."""
        own = self.tilted
        tilted = Tilted(own.points[:, releases], own.weights[releases], own.width[releases], own.spreads[:, releases])
        return replace(self, tilted=tilted, mean=self.mean[releases], root=self.root[releases])

    def counts(self, tables: FloatArray) -> FloatArray:
        """Return the counts (S, B, m, r) of the rows at draws of all tables (S, B, K)."""
        number = tables.shape[0]
        result = np.empty((*tables.shape[:2], *self.cells.shape))
        inner = self.tilted.weights.shape[-1] + self.tilted.weights.shape[-2]
        at_once = max(1, _ROWS_AT_ONCE // (tables.shape[1] * len(self.cells) * inner))
        for start in range(0, number, at_once):
            part = slice(start, start + at_once)
            away = lifted(tables[part][..., self.cells][..., None])[..., 0] - self.mean
            result[part] = self._counts(self._shares(away))
        return result

    def _shares(self, away: FloatArray) -> FloatArray:
        """Return shares (S, B, m, r) in the normal laws of the numbers given those before them."""
        scores = np.zeros_like(away)
        for k in range(away.shape[-1]):
            along = (self.root[..., k, :k] * scores[..., :k]).sum(axis=-1)
            scores[..., k] = (away[..., k] - along) / self.root[..., k, k]
        return np.asarray(special.ndtr(scores))

    def _counts(self, shares: FloatArray) -> FloatArray:
        weights, points, spreads = self.tilted.weights, self.tilted.points, self.tilted.spreads
        batch, row = np.arange(weights.shape[0])[:, None], np.arange(weights.shape[1])
        group, _ = _picked(weights.sum(axis=-1), shares[..., 0])
        within = weights[batch, row, group]  # (S, B, m, inner)
        if self.sizes:
            place, part = np.zeros_like(group), shares[..., 0]
            left = within.reshape(*within.shape[:-1], *self.sizes)
            for k, size in enumerate(self.sizes):
                own = left.reshape(*left.shape[:4], -1).sum(axis=-1)
                chosen, part = _picked(own, shares[..., 1 + k])
                place = place * size + chosen
                left = (
                    np.take_along_axis(left, chosen.reshape(*chosen.shape, *(1,) * (left.ndim - 3)), axis=3)[..., 0, :]
                    if (left.ndim > 4)
                    else left
                )
        else:
            first = points[1, batch, row, group]
            order = np.argsort(first, axis=-1)
            chosen, part = _picked(np.take_along_axis(within, order, axis=-1), shares[..., 1])
            place = np.take_along_axis(order, chosen[..., None], axis=-1)[..., 0]
        counts = np.moveaxis(points[1:, batch, row, group, place], 0, -1)
        if len(self.sizes) == 1:
            # Within a group all whole numbers are alike.
            width = np.sqrt(12 * spreads[1, batch, row, group, place] + 1) - 1
            step = np.clip((part - 0.5) * width, -counts[..., 0], counts[..., 1])
            counts = counts + step[..., None] * np.array([1.0, -1.0])
        return counts


@dataclass(frozen=True, eq=False)
class TablesLaw:
    """The normal law of all tables for B releases: mean (B, R), root (B, R, R), and the rows' own laws.

    `is_settled` (B,) says which of them are to be trusted.
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
        """Return counts of all cells (S, B, K) at normal scores (S, B, R)."""
        drawn = self.mean + np.einsum("sbi,bij->sbj", scores, self.root, optimize=True)
        tables = self.design.centre + drawn @ self.design.tables
        counts = np.empty(tables.shape)
        for own in self.rows:
            counts[..., own.cells] = own.counts(tables)
        return counts


def _picked(weights: FloatArray, shares: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return which of some weights (..., J) shares (...) fall on, and how far within it each does."""
    steps = np.cumsum(weights, axis=-1)
    steps = steps / np.maximum(steps[..., -1:], np.finfo(float).tiny)
    chosen = np.minimum((steps < shares[..., None]).sum(axis=-1), weights.shape[-1] - 1)
    shape = np.broadcast_shapes(steps.shape, (*shares.shape, 1))
    steps = np.broadcast_to(steps, (*shape[:-1], weights.shape[-1]))
    end = np.take_along_axis(steps, chosen[..., None], axis=-1)[..., 0]
    start = np.where(chosen > 0, np.take_along_axis(steps, np.maximum(chosen - 1, 0)[..., None], axis=-1)[..., 0], 0.0)
    return chosen, np.clip((shares - start) / np.maximum(end - start, np.finfo(float).tiny), 0.0, 1.0)
