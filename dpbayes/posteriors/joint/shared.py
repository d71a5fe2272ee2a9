"""Rows that share an unknown mean mu, in the site update: the row's factor is Dirichlet-multinomial(k | T, s mu).

The log ratios of mu follow u = (T, k_1, .., k_{r-1}) in a row's vector. Given u, they have a normal distribution in the
cavity. The factor is integrated over them at fixed places around their marginal distribution.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy import special

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.joint.groups import log_mean_changes
from dpbayes.posteriors.joint.lines import StepLines, spread_levels
from dpbayes.posteriors.joint.rows import Place, RatioPoints, Tilted, TiltedRows
from dpbayes.posteriors.row_priors import log_rising
from dpbayes.posteriors.shared_means import LEAST, log_ratio_covariance, shared_means

_PLACES = {1: 7, 2: 5, 3: 4}
"""The number of places of every log ratio of a product rule, by the number of log ratios."""

_MOST_PLACES = 64
"""The number of places of more log ratios."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedRows(TiltedRows):
    """Rows of r states with a shared mean and the concentrations s (m,); u is (T, k_1, .., k_{r-1}, log ratios)."""

    concentrations: FloatArray

    def of(self, rows: IntArray) -> Self:
        """Return the rows with these indices, which may repeat."""
        return replace(self, prior=self.prior.of(rows), concentrations=self.concentrations[rows])

    @property
    def size(self) -> int:
        """The length of u."""
        return 2 * self.states - 1

    @property
    def concentration(self) -> FloatArray:
        """The sums of the Dirichlet parameters: (m, 1)."""
        return self.concentrations[:, None]

    @cached_property
    def _covariance(self) -> FloatArray:
        """The prior covariance of the log ratios."""
        return log_ratio_covariance(self.states)

    @cached_property
    def _precision(self) -> FloatArray:
        """The prior precision of the log ratios."""
        return np.asarray(np.linalg.inv(self._covariance), dtype=np.float64)

    @cached_property
    def _places(self) -> tuple[FloatArray, FloatArray]:
        """Standard places (G, r - 1) of the log ratios, and the log volumes (G,)."""
        free = self.states - 1
        if free not in _PLACES:
            scores = special.ndtri(spread_levels(free, _MOST_PLACES).T)
            return scores, (scores**2).sum(axis=-1) / 2
        line, weights = np.polynomial.hermite_e.hermegauss(_PLACES[free])
        scores = np.stack(np.meshgrid(*[line] * free), axis=-1).reshape(-1, free)
        products = np.stack(np.meshgrid(*[weights] * free), axis=-1).reshape(-1, free).prod(axis=-1)
        return scores, np.log(products) + (scores**2).sum(axis=-1) / 2

    def _positive(self, precision: FloatArray) -> FloatArray:
        """The log ratios have at least the information of their prior."""
        r = self.states
        precision[..., r:, r:] -= self._precision
        precision = super()._positive(precision)
        precision[..., r:, r:] += self._precision
        return precision

    def _of_counts(self, cavity: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        (mean, precision), r = cavity, self.states
        across = precision[..., :r, r:]
        own = precision[..., :r, :r] - across @ np.linalg.solve(precision[..., r:, r:], np.swapaxes(across, -1, -2))
        return mean[..., :r], own

    def _slopes(self, by: FloatArray, move: FloatArray, covariance: FloatArray) -> FloatArray:
        """A line through few totals may be steep, so no log ratio moves by more than its standard deviation."""
        by, r = by.copy(), self.states
        sd = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1)[..., r:])
        by[..., r - 1 :] *= sd / np.maximum(np.abs(by[..., r - 1 :] * move[..., None]), sd)
        return by

    def lifted(self, mean: FloatArray, covariance: FloatArray) -> Place:
        """Return the region of u from that of the counts; the log ratios have their prior."""
        r, more = self.states, self.states - 1
        mean = np.pad(mean, ((0, 0), (0, 0), (0, more)))
        covariance = np.pad(covariance, ((0, 0), (0, more), (0, more)))
        covariance[:, r:, r:] = self._covariance
        return mean, covariance

    def _log_factor(
        self, points: FloatArray, spreads: FloatArray, cavity: tuple[FloatArray, FloatArray], place: Place
    ) -> tuple[FloatArray, RatioPoints]:
        """The factor prod Gamma(k + s mu)/Gamma(s mu), integrated over mu given points (1 + r, B, m, J, S)."""
        r, shape = self.states, points.shape[1:]
        mean, precision = cavity
        flat = points.reshape(len(points), *shape[:2], -1)
        own = precision[..., r:, r:]
        variance = np.linalg.inv(own)
        by = -np.matmul(variance, precision[..., r:, :r])
        centre = place[0][..., r:]
        spread = np.linalg.cholesky(place[1][..., r:, r:] + 1e-9 * np.eye(r - 1))
        standard, volume = self._places
        ratios = centre[..., None, :] + np.matmul(standard, np.swapaxes(spread, -1, -2))
        alpha = np.moveaxis(self.concentrations[:, None, None] * shared_means(ratios), -1, 0)[..., None]
        alpha = np.maximum(alpha, LEAST)
        given = mean[..., r:, None] + np.matmul(by, np.moveaxis(flat[:-1], 0, -2) - mean[..., :r, None])
        if r == 2:
            logs = (ratios - given) ** 2 * (-own / 2)
        else:
            away = ratios[..., None, :] - np.swapaxes(given, -1, -2)[..., None, :, :]
            logs = -np.vecdot(away @ own[..., None, :, :], away) / 2
        logs = logs + volume[:, None]
        for k in range(r):
            logs += special.gammaln(flat[1 + k][..., None, :] + alpha[k]) - special.gammaln(alpha[k])
        if self.is_grouped and (spreads[1:] > 0).any():
            cells, within = (array.reshape(*array.shape[:3], 1, -1) for array in (points[1:], spreads[1:]))
            logs += log_mean_changes(cells, within, alpha, lambda counts, k: log_rising(counts, alpha[k]))
        most = logs.max(axis=-2, keepdims=True)
        shares = np.exp(logs - most)
        sums = shares.sum(axis=-2, keepdims=True)
        shares /= sums
        law = self._log_of_totals(points) + (np.log(sums) + most)[..., 0, :].reshape(shape)
        law -= special.gammaln(points[1:] + 1).sum(axis=0)
        first = np.matmul(np.swapaxes(ratios, -1, -2), shares)
        products = (ratios[..., :, None] * ratios[..., None, :]).reshape(*ratios.shape[:-1], -1)
        second = np.matmul(np.swapaxes(products, -1, -2), shares)
        second = np.moveaxis(second, -2, 0).reshape(r - 1, r - 1, *shape)
        first = np.moveaxis(first, -2, 0).reshape(r - 1, *shape)
        return law, RatioPoints(first, second - first[:, None] * first[None])

    def components(self, tilted: Tilted, numbers: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return equally likely parameters of theta, less the prior's `alpha` (m, r): (r, B, m, P), and weights.

        The points, with counts (r, B, m, P) and weights (B, m, P), are few where rows have few records. Every point
        therefore occurs several times, by its weight, with evenly spread values of mu.
        """
        ratios, alpha = tilted.ratios, self.prior.alpha
        assert ratios is not None
        free, shape = self.states - 1, shares.shape
        steps = StepLines.of(shares)
        row = np.arange(shape[0] * shape[1]).reshape(*shape[:2], 1)
        share = np.broadcast_to((np.arange(shape[2]) + 0.5) / shape[2], shape)
        chosen, part = steps.picked(row, share)
        levels = np.empty((free, *shape))
        levels[0] = part
        levels[1:] = spread_levels(max(1, free - 1), shape[2])[: free - 1, None, None]
        scores = special.ndtri(np.clip(levels, 1 / (4 * shape[2]), 1 - 1 / (4 * shape[2])))
        mean, covariance = (
            np.take_along_axis(
                own.reshape(*own.shape[: own.ndim - 4], *shape), chosen.reshape(*(1,) * (own.ndim - 4), *shape), -1
            )
            for own in (ratios.mean, ratios.covariance)
        )
        drawn, root = mean.copy(), np.zeros_like(covariance)
        for k in range(free):
            column = covariance[k:, k] - (root[k:, :k] * root[k, None, :k]).sum(axis=1)
            root[k:, k] = column / np.sqrt(np.maximum(column[:1], 1e-12))
            drawn += root[:, k] * scores[k]
        own = self.concentrations[:, None] * np.moveaxis(shared_means(np.moveaxis(drawn, 0, -1)), -1, 0)
        chosen_counts = np.take_along_axis(numbers, chosen[None], -1)
        return chosen_counts + np.maximum(own, LEAST) - alpha.T[:, None, :, None], np.full(shape, 1 / shape[2])
