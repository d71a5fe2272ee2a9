"""Rows that share an unknown mean mu, in the site update: the row's factor is Dirichlet-multinomial(k | T, s mu).

The log ratios of mu follow u = (T, k_1, .., k_{r-1}) in a row's vector. Given u, they have a normal distribution in the
cavity. The factor is integrated over them at fixed places around their marginal distribution.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.joint.lines import StepLines, spread_levels
from dpbayes.posteriors.shared_means import LEAST, log_ratio_covariance, shared_means

_PLACES = {1: 7, 2: 5, 3: 4}
"""The number of places of every log ratio of a product rule, by the number of log ratios."""

_MOST_PLACES = 64
"""The number of places of more log ratios."""


@dataclass(frozen=True, eq=False)
class RatioPoints:
    """The log ratios given every point: means (r - 1, B, m, J, S) and covariances (r - 1, r - 1, B, m, J, S)."""

    mean: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, eq=False)
class SharedFactor:
    """The factor of rows of r states with the concentration s (m,)."""

    states: int
    concentrations: FloatArray

    def of(self, rows: IntArray) -> "SharedFactor":
        """Return the factor of rows with these indices, which may repeat."""
        return SharedFactor(self.states, self.concentrations[rows])

    @cached_property
    def covariance(self) -> FloatArray:
        """The prior covariance of the log ratios."""
        return log_ratio_covariance(self.states)

    @cached_property
    def precision(self) -> FloatArray:
        """The prior precision of the log ratios."""
        return np.asarray(np.linalg.inv(self.covariance), dtype=np.float64)

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

    def integrated(
        self,
        points: FloatArray,
        cavity: tuple[FloatArray, FloatArray],
        place: tuple[FloatArray, FloatArray],
        within: Callable[[FloatArray], FloatArray] | None,
    ) -> tuple[FloatArray, RatioPoints]:
        """Return the log of prod Gamma(k + s mu)/Gamma(s mu), integrated over mu given points (1 + r, B, m, J, S).

        `within` returns the correction for groups of counts, from parameters (r, B, m, G, 1).
        """
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
        if within is not None:
            logs += within(alpha)
        most = logs.max(axis=-2, keepdims=True)
        shares = np.exp(logs - most)
        sums = shares.sum(axis=-2, keepdims=True)
        shares /= sums
        law = (np.log(sums) + most)[..., 0, :].reshape(shape)
        first = np.matmul(np.swapaxes(ratios, -1, -2), shares)
        products = (ratios[..., :, None] * ratios[..., None, :]).reshape(*ratios.shape[:-1], -1)
        second = np.matmul(np.swapaxes(products, -1, -2), shares)
        second = np.moveaxis(second, -2, 0).reshape(r - 1, r - 1, *shape)
        first = np.moveaxis(first, -2, 0).reshape(r - 1, *shape)
        return law, RatioPoints(first, second - first[:, None] * first[None])

    def components(
        self, ratios: RatioPoints, counts: FloatArray, weights: FloatArray, alpha: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return equally likely parameters of theta, less the prior's `alpha` (m, r): (r, B, m, P), and weights.

        The points, with counts (r, B, m, P) and weights (B, m, P), are few where rows have few records. Every point
        therefore occurs several times, by its weight, with evenly spread values of mu.
        """
        free, shape = self.states - 1, weights.shape
        steps = StepLines.of(weights)
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
        numbers = np.take_along_axis(counts, chosen[None], -1)
        return numbers + np.maximum(own, LEAST) - alpha.T[:, None, :, None], np.full(shape, 1 / shape[2])
