"""The distribution of the counts of rows given a release, by importance sampling; for `noise_aware`.

States are the first axis of all points, so that numpy's inner loops run over points and rows and are long.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.posteriors.row_priors import RowPriors, share_at_ends
from dpbayes.posteriors.whole_points import Ends, point_between

_FIRST = 4
"""The first of two passes, which locates the distribution, uses one point in this many."""

_AGAIN, _WELL = 3, 0.2
"""The largest number of further passes, and the effective share of points below which a row gets one. Below half of
that share, the points move all the way to the new location."""

_SPEAK, _HALVINGS = 16, 8
"""The smallest effective number of points for a location. Weights are flattened until it is reached, by bisection."""

_LEAST = 1e-300
"""A replacement for a weight of zero, whose logarithm is infinite."""

_WIDER = 1.4
"""The variance of the points as a multiple of that of the distribution, so that its tails are covered."""

Place = tuple[FloatArray, FloatArray]
"""Mean (r, ..., m) and covariance (r, r, ..., m) of a row's total and all its cells but the last."""


@dataclass(frozen=True, eq=False)
class RowCounts:
    """Rows of nodes with r states, and the noise on them.

    `total` and `contrast` (m, 1) are the variances a and c of the fitted rows. `scale` and `sd` describe the noise of
    the rows' own cells. Points have a total and all cells: (1 + r, ..., m, S).
    """

    prior: RowPriors
    total: FloatArray
    contrast: FloatArray
    scale: float
    sd: float

    @cached_property
    def _is_fixed(self) -> BoolArray:
        """Whether the row has all n records, as a root's row does: (m, 1)."""
        return self.total == 0

    @cached_property
    def _narrow(self) -> FloatArray:
        """The smallest spread of the points (m,), so that neighbouring integers are reached.

        If the noise is far below one count, the nearest integer is certain and the spread is small.
        """
        return np.clip(np.sqrt(self.contrast[:, 0]), 1e-6, 0.5)

    @cached_property
    def _precisions(self) -> tuple[FloatArray, FloatArray]:
        """The coefficients of a row's squared sum of errors and of its sum of squares in the log density: (m, 1)."""
        of_squares = _inverse(self.contrast) / 2
        return _inverse(self.total) / 2 - of_squares / self.prior.states, of_squares

    @cached_property
    def _normal_law(self) -> tuple[FloatArray, FloatArray]:
        return self.prior.given_noise(self.total, self.contrast)

    def _first_look(self, fit: FloatArray) -> Place:
        """The location if prior and noise are approximated as normal; all releases have the same covariance."""
        centre, _ = self.prior.moments
        share, covariance = self._normal_law
        mean = (fit + np.matmul(share, (centre - fit)[..., None])[..., 0]) @ self.prior.lift.T
        covariance = np.moveaxis(covariance, 0, -1)
        return np.moveaxis(mean, -1, 0), covariance[:, :, None] if fit.ndim > 2 else covariance

    @cached_property
    def _ends(self) -> list[Ends]:
        """The points near 0 and near the most of the total and of every cell but the last: (2, m, 1) each."""
        share = self.prior.share
        chances = share_at_ends(share) * share[::-1] / share.sum(axis=0)
        return [Ends(np.where(self._is_fixed, 0.0, chances), share), *self.prior.cell_ends]

    def posterior(self, released: FloatArray, fit: FloatArray, lucks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points (1 + r, ..., m, S) and weights (..., m, S) from the rows' released and fitted cells.

        The cells are (..., m, r). `lucks` are numbers between 0 and 1, spread evenly: (r, S), or (r, ..., m, S) of
        every row's own.
        """
        observed = released, fit
        place = self._place(*self._points(observed, lucks[..., : lucks.shape[-1] // _FIRST], self._first_look(fit)))
        points, weights = self._points(observed, lucks, place)
        for _ in range(_AGAIN):
            worth = _worth(weights) / lucks.shape[-1]
            low = worth < _WELL
            if not low.any():
                break
            # Just below the limit, rows hardly move, so results are continuous while a slider crosses the limit.
            share = np.minimum(1.0, 2 * (1 - worth[low] / _WELL))
            rows = self._of(np.nonzero(low)[-1])
            mean, covariance = rows._place(points[:, low], weights[low])
            place[0][:, low] += share * (mean - place[0][:, low])
            place[1][:, :, low] += share * (covariance - place[1][:, :, low])
            own = lucks if lucks.ndim == 2 else lucks[:, low]
            moved = rows._points((released[low], fit[low]), own, (place[0][:, low], place[1][:, :, low]))
            points[:, low], weights[low] = moved
        return points, weights

    def _of(self, chosen: IntArray) -> "RowCounts":
        """Return the rows with these indices, which may repeat."""
        return RowCounts(self.prior.of(chosen), self.total[chosen], self.contrast[chosen], self.scale, self.sd)

    def _points(
        self, observed: tuple[FloatArray, FloatArray], lucks: FloatArray, place: Place
    ) -> tuple[FloatArray, FloatArray]:
        """Return points around a location, and their weights (..., m, S)."""
        mean, covariance = place
        points, log_chance = self._proposed(lucks, mean, _WIDER * covariance)
        return points, special.softmax(self._log_law(points, *observed) - log_chance, axis=-1)

    def _place(self, points: FloatArray, weights: FloatArray) -> Place:
        """Return the location of the distribution from its points; the weights of few heavy points are flattened."""
        weights = _evened(weights)
        mean = np.vecdot(weights, points[:-1])
        away = points[:-1] - mean[..., None]
        return mean, np.vecdot((weights * away)[:, None], away)

    def _log_law(self, points: FloatArray, released: FloatArray, fit: FloatArray) -> FloatArray:
        """Return the log density of the points up to a constant of every row: (..., m, S)."""
        law = self.prior.log_law(points)
        of_total, of_squares = self._precisions
        law -= of_total * (points[0] - fit.sum(axis=-1)[..., None]) ** 2
        squares = np.zeros(law.shape)
        for k, counts in enumerate(points[1:]):
            squares += (counts - fit[..., k, None]) ** 2
            if self.scale:  # the fit contains this noise as normal
                away = np.abs(counts - released[..., k, None])
                law += away * (away / (2 * self.sd**2) - 1 / self.scale)
        return law - of_squares * squares

    def _proposed(self, lucks: FloatArray, mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return non-negative integer counts with a sum of at most n near a mean, and log probabilities (..., m, S).

        The total is sampled first, then each cell from the remaining count; the last cell is the rest.
        """
        r, shape = self.prior.states, (*mean.shape[1:], lucks.shape[-1])
        steps, sds = conditional(covariance, self._narrow)
        points = np.empty((1 + r, *shape))
        away: list[FloatArray] = []  # distances from the centres
        left = np.full((*shape[:-1], 1), float(self.prior.n))  # equal for all points until the total is sampled
        log_chance = np.zeros(shape)
        for k in range(r):
            centre = mean[k, ..., None]
            for step, by in zip(steps[k], away, strict=False):
                centre = centre + step[..., None] * by
            points[k], log = point_between(lucks[k], centre, sds[k][..., None], left, self._ends[k])
            away.append(points[k] - centre)
            if k == 0:
                for values, certain in ((points[0], self.prior.n), (away[0], 0.0), (log, 0.0)):
                    np.copyto(values, certain, where=self._is_fixed)
            left = points[0] if k == 0 else left - points[k]
            log_chance += log
        points[r] = left
        return points, log_chance


def conditional(covariance: FloatArray, sd: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Return regression coefficients of normal numbers on the earlier ones (r, r, ...), and conditional sds (r, ...).

    They follow from the Cholesky factor of the covariance (r, r, ...), after independent noise with standard deviations
    `sd` (...) was added to every number.
    """
    factor = np.zeros(covariance.shape)
    for k in range(len(factor)):
        column = covariance[k:, k] - (factor[k:, :k] * factor[k, :k]).sum(axis=1)
        column[0] = np.maximum(column[0], 0) + sd**2
        factor[k:, k] = column / np.sqrt(column[0])
    sds = np.stack([factor[k, k] for k in range(len(factor))])
    return factor / sds, sds


def _worth(weights: FloatArray) -> FloatArray:
    """Return the effective number of points of weights (..., S): (...,)."""
    return np.asarray(1 / np.vecdot(weights, weights))


def _evened(weights: FloatArray) -> FloatArray:
    """Raise weights (..., S) to the largest power up to 1 at which their effective number of points is `_SPEAK`."""
    low = _worth(weights) < min(_SPEAK, weights.shape[-1] / 2)
    if not low.any():
        return weights
    root = np.maximum(weights[low], _LEAST)
    root /= root.max(axis=-1, keepdims=True)
    raised, enough = np.ones(root.shape), min(_SPEAK, weights.shape[-1] / 2)
    for _ in range(_HALVINGS):
        root = np.sqrt(root)
        more = raised * root  # increases the power by half of the last step
        raised = np.where((more.sum(axis=-1) ** 2 < enough * np.vecdot(more, more))[:, None], raised, more)
    evened = weights.copy()
    evened[low] = raised / raised.sum(axis=-1, keepdims=True)
    return evened


def _inverse(variance: FloatArray) -> FloatArray:
    """Return 1 over a variance, and 0 for a variance of 0."""
    return np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
