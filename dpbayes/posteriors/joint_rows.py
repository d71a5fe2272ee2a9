"""One step of expectation propagation for CPT rows: what a row's own law says beyond what all others say of it.

A row u = (T, k_1, .., k_{r-1}) has a normal law from all others, its cavity. Its own factor is
Dirichlet-multinomial(k | T) on whole numbers, times the exact law of the noise of its own cells, if cells were noised
each by itself. Points of importance sampling stand for the product, the tilted law. A site is the normal factor that
has the same effect on the cavity.

The factor is a law of k given T, and says nothing of T. That T is between 0 and n is known from the parents already. So
the moments of T are compared with those of the cavity cut to [0, n], and only the rest counts as information on T.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import NoiseModel
from dpbayes.posteriors.row_counts import Place, RowCounts, _shares, rows_by_states
from dpbayes.posteriors.row_priors import WholeNumbersLaw

_FAR = 1e3
"""A cavity's standard deviations are at most so many times n + 1: further ones make no difference."""

BETA, LEAST = True, 0.2
CLIP, NEG = False, .7
_NODES = 48
"""Places at which the law of a total is summed."""

_LEAST_VARIANCE = 1e-6
"""Of a tilted law, in squared counts: far below what one record changes."""


@dataclass(frozen=True, eq=False)
class Normals:
    """Normal factors of rows u, one for each of some releases and rows: precision (B, m, r, r) and shift (B, m, r)."""

    precision: FloatArray
    shift: FloatArray

    def towards(self, other: "Normals", share: float) -> "Normals":
        """Return a factor between this one and another."""
        return Normals(
            self.precision + share * (other.precision - self.precision),
            self.shift + share * (other.shift - self.shift),
        )


@dataclass(frozen=True, eq=False)
class TiltedRows(RowCounts):
    """Rows of nodes with r states, as in `RowCounts`, with normal laws from all other rows."""

    @cached_property
    def concentrations(self) -> WholeNumbersLaw:
        """ln T!/Gamma(T + alpha_0) of every kind of row."""
        return WholeNumbersLaw(_log_within_total, self._concentrations[0][None, :], self.prior.n)

    @cached_property
    def _concentrations(self) -> tuple[FloatArray, IntArray]:
        kinds, which = np.unique(self.prior.concentration[:, 0], return_inverse=True)
        return kinds, which.reshape(-1, 1)

    @property
    def fixed(self) -> IntArray:
        """The places of rows that have all n records."""
        return self._fixed

    def cavity(self, mean: FloatArray, covariance: FloatArray, site: Normals) -> tuple[FloatArray, FloatArray]:
        """Return mean (B, m, r) and precision (B, m, r, r) of all others' law from that of all and the own site."""
        covariance = covariance.copy()
        most = (_FAR * (self.prior.n + 1)) ** 2
        covariance[:, self._fixed, 0, 0] += most
        whole = np.linalg.inv(covariance)
        precision = _at_least(whole - site.precision, 1 / most)
        shift = np.matmul(whole, mean[..., None])[..., 0] - site.shift
        return np.linalg.solve(precision, shift[..., None])[..., 0], precision

    def tilted(
        self, released: FloatArray, cavity: tuple[FloatArray, FloatArray], lucks: FloatArray, place: Place
    ) -> tuple[FloatArray, FloatArray]:
        """Return points (1 + r, B, m, S) and weights (B, m, S), drawn about a place."""
        mean, covariance = place
        points, log_chance = self._proposed(lucks, mean, 1.4 * covariance)
        law = self._log_factor(points, released)
        law += self._log_normal(points, *cavity)
        law += self._log_total(points[0], *cavity)
        law -= log_chance
        return points, _shares(law)

    def _total_moments(self, centre, around):
        n = self.prior.n
        m, v = centre[..., 0], around[..., 0, 0]
        cut_mean, cut_variance = cut_moments(m, v, n)
        inner = np.clip(m, 1e-3 * n, n * (1 - 1e-3))
        size = inner * (n - inner) / v
        least = LEAST * n / np.minimum(inner, n - inner)
        ok = (m > 0) & (m < n) & (size > 1 + least)
        return np.where(ok, m, cut_mean), np.where(ok, v, cut_variance)

    def _log_total(self, totals, centre, precision):
        if not BETA:
            return 0.0
        n = self.prior.n
        around = np.linalg.inv(precision)
        m, v = self._total_moments(centre, around)
        m = np.clip(m, 1e-6*n, n * (1 - 1e-6))
        share = m / n
        # beta-binomial of this mean and variance; below binomial variance a normal law
        v0, v1 = around[..., 0, 0], np.maximum(v, 1.05 * m * (1 - share))
        # v = n p q (n + s) / (s + 1)
        ratio = v1 / (m * (1 - share))
        s = np.maximum((n - ratio) / (ratio - 1), 1e-3)
        a, b = s * share, s * (1 - share)
        a, b = a[..., None], b[..., None]
        law = special.gammaln(totals + a) - special.gammaln(totals + 1) + special.gammaln(n - totals + b) - special.gammaln(n - totals + 1)
        law += (totals - centre[..., 0, None]) ** 2 / (2 * v0[..., None])
        law[..., self._fixed, :] = 0.0
        narrow = v < 1.05 * m * (1 - share)
        law[narrow] = 0.0
        return law

    def _log_factor(self, points: FloatArray, released: FloatArray) -> FloatArray:
        law = self.concentrations.at(points[0], self._concentrations[1])
        if not (self.prior.alpha == 1).all():
            for counts, kind in zip(points[1:], self.prior.cell_kind, strict=True):
                law += self.prior.within.at(counts, kind)
        if self.scale:
            for k, counts in enumerate(points[1:]):
                away = np.abs(counts - released[..., k, None])
                away /= self.scale
                law -= away
        return law

    def _log_normal(self, points: FloatArray, mean: FloatArray, precision: FloatArray) -> FloatArray:
        away = points[:-1] - np.moveaxis(mean, -1, 0)[..., None]
        law = np.zeros(away.shape[1:])
        for k in range(len(away)):
            # With the terms of k and l taken together, one product for each pair.
            along = away[k] * (precision[..., k, k, None] / 2)
            for j in range(k):
                along += away[j] * precision[..., j, k, None]
            law -= along * away[k]
        return law

    def place(self, points: FloatArray, weights: FloatArray) -> Place:
        """Mean and covariance of tilted laws."""
        return self._place(points, weights)

    def site(self, place: Place, cavity: tuple[FloatArray, FloatArray]) -> Normals:
        """Return the sites that lead from cavities to these means and covariances, with what is said of T as above."""
        mean, covariance = np.moveaxis(place[0], 0, -1), np.moveaxis(place[1], (0, 1), (-2, -1)).copy()
        centre, precision = cavity
        diagonal = np.arange(covariance.shape[-1])
        covariance[..., diagonal, diagonal] += _LEAST_VARIANCE
        around = np.linalg.inv(precision)
        cut_mean, cut_variance = cut_moments(centre[..., 0], around[..., 0, 0], self.prior.n)
        if BETA:
            cut_mean, cut_variance = self._total_moments(centre, around)
        before, variance = centre[..., 0], covariance[..., 0, 0]
        if CLIP:
            variance = np.minimum(variance, cut_variance)
        # What the own cells add to the information on T.
        more = np.maximum(1 / variance - 1 / cut_variance, -NEG / around[..., 0, 0])
        total_precision = 1 / around[..., 0, 0] + more
        total = (before / around[..., 0, 0] + mean[..., 0] / variance - cut_mean / cut_variance) / total_precision
        by = covariance[..., 1:, 0] / covariance[..., 0, 0, None]
        change = 1 / total_precision - covariance[..., 0, 0]
        wanted_mean = np.concatenate(
            (total[..., None], mean[..., 1:] + by * (total - mean[..., 0])[..., None]), axis=-1
        )
        steps = np.concatenate((np.ones_like(total)[..., None], by), axis=-1)
        wanted = covariance + steps[..., :, None] * steps[..., None, :] * change[..., None, None]
        if self._fixed.size:
            most = (_FAR * (self.prior.n + 1)) ** 2
            own, at = covariance[:, self._fixed], mean[:, self._fixed]
            own[..., 0, :] = own[..., :, 0] = 0.0
            own[..., 0, 0], at[..., 0] = most, centre[:, self._fixed, 0]
            wanted[:, self._fixed], wanted_mean[:, self._fixed] = own, at
        whole = np.linalg.inv(wanted)
        site = _at_least(whole - precision, 0.0) if CLIP else whole - precision
        shift = np.matmul(precision + site, wanted_mean[..., None]) - np.matmul(precision, centre[..., None])
        return Normals(site, shift[..., 0])


def tilted_rows(prior: Dirichlets, noise: NoiseModel, n: int) -> tuple[TiltedRows, ...]:
    """Return all rows of a network, those of nodes with as many states together."""
    network = prior.network
    rows = rows_by_states(prior, noise, n, np.arange(network.row_count), cells=network.cell_count)
    return tuple(TiltedRows(part.prior, part.total, part.contrast, part.scale, part.sd) for part in rows)


def cut_moments(mean: FloatArray, variance: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of normal laws (...) cut to [0, n], by sums over evenly spread places."""
    sd = np.sqrt(variance)
    centre = np.clip(mean, -5 * sd, n + 5 * sd)
    low = np.clip(centre - 6 * sd, -0.5, n)
    high = np.maximum(np.clip(centre + 6 * sd, 0, n + 0.5), low + 1e-3)
    width = high - low
    places = low[..., None] + width[..., None] * _SHARES
    logs = -(((places - centre[..., None]) / sd[..., None]) ** 2) / 2
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True)) * _WEIGHTS
    weights /= weights.sum(axis=-1, keepdims=True)
    first = (weights * places).sum(axis=-1)
    second = (weights * (places - first[..., None]) ** 2).sum(axis=-1)
    return first, np.maximum(second, _LEAST_VARIANCE)


_SHARES, _WEIGHTS = (lambda rule: ((rule[0] + 1) / 2, rule[1] / 2))(np.polynomial.legendre.leggauss(_NODES))


def _at_least(matrices: FloatArray, least: float) -> FloatArray:
    """Return symmetric matrices (..., r, r) with all eigenvalues at least so large."""
    matrices = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray(np.matmul(vectors * np.maximum(values, least)[..., None, :], np.swapaxes(vectors, -1, -2)))


def _log_within_total(counts: FloatArray, parameters: FloatArray) -> FloatArray:
    return np.asarray(special.gammaln(counts + 1) - special.gammaln(counts + parameters[0]))
