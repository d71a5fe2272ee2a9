"""The site update of expectation propagation for CPT rows.

The product of all other factors gives a row u = (T, k_1, .., k_{r-1}) a normal distribution, the cavity. The row's own
factor is Dirichlet-multinomial(k | T) on whole numbers. If noise was added to every cell, the factor also contains the
exact distribution of the noise in the row's cells. The product of cavity and factor is the tilted distribution. It is
represented by points: groups of neighbouring totals, and for each group of totals groups of neighbouring counts or, for
nodes with many states, points of importance sampling. A site is the normal factor that has the same effect on the
cavity.

The Dirichlet-multinomial factor is a distribution of k given T. It contains no information on T by itself. Between 0
and n, the cavity of a total is far from normal if its variance is large. A beta-binomial distribution with the same
mean and variance then replaces it. The part of the site on T is the factor exp(b T - a T^2 / 2) from this distribution
to the tilted one.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy import special

from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.posteriors.joint.groups import groups_of_numbers, log_mean_changes, spread_levels, within_group
from dpbayes.posteriors.row_counts import conditional
from dpbayes.posteriors.row_priors import RowPriors
from dpbayes.posteriors.whole_points import Ends, point_between

_FAR = 1e3
"""The limit for a cavity's standard deviations, in units of n + 1. Larger values have no effect on the result."""

_LEAST_VARIANCE, _LEAST_SHARE = 0.01, 0.1
"""The amount that is added to a tilted distribution's variances: in squared counts, far below the change by one record,
and at most this share of the cavity's variance, which is small if there is little noise."""

_GROUPS, _GROUPS_IF_STEEP = 16, 64
"""The number of groups of totals for points of importance sampling, and the number if a Dirichlet parameter is below 1.
Totals near 0 are then likely in many rows. With as many points, 16 groups have up to three times the error of 64."""

_MORE = 3
"""The factor by which a third free number increases the number of points."""

_MOVES = 4
"""The largest number of searches for the region of a distribution."""

_WIDER, _NARROWEST = 1.5, 0.3
"""The spread of importance sampling as a multiple of the distribution's spread, and its smallest value for a cell."""

_LEAST_RATIO = 1e-9
"""What a singular covariance gets on its diagonal, in units of its mean diagonal."""

_FEW, _MANY = 0.1, 1.0
"""Limits for the smaller parameter of a beta distribution: below the first, the normal distribution truncated to [0, n]
is used; between the two, the moments are interpolated."""

_BINOMIAL = 1.05
"""The smallest variance of a beta-binomial distribution in use, in units of the binomial variance."""

_NEWTON = 4
"""Newton steps for the two parameters of a message, from a least-squares parabola."""

Place = tuple[FloatArray, FloatArray]
"""The location of a distribution: mean (B, m, r) and covariance (B, m, r, r) of u."""


class Normals(NamedTuple):
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
class Tilted:
    """Points (1 + r, B, m, J, S) of totals and all cells, S of each of J groups of totals, and weights (B, m, J, S).

    `spreads` (r, B, m, J, S) are the variances of whole numbers within the groups of totals and cells. Points of
    importance sampling have only groups of totals (1, ...). `log_totals` (B, m, J) is the distribution of the groups of
    totals in the cavity.
    """

    points: FloatArray
    weights: FloatArray
    spreads: FloatArray
    log_totals: FloatArray

    @cached_property
    def place(self) -> Place:
        """Mean and covariance of u."""
        r, batch, m = len(self.points) - 1, *self.points.shape[1:3]
        weights = self.weights.reshape(batch, m, -1)
        points = self.points[:-1].reshape(r, batch, m, -1)
        mean = np.vecdot(weights, points)
        away = points - mean[..., None]
        covariance = np.empty((batch, m, r, r))
        for k, own in enumerate(away):
            covariance[..., k, k:] = np.moveaxis(np.vecdot(weights * own, away[k:]), 0, -1)
            covariance[..., k:, k] = covariance[..., k, k:]
        return np.moveaxis(mean, 0, -1), covariance

    @property
    def sampling_error(self) -> FloatArray:
        """The standard error (B, m) of means from points of importance sampling, in standard deviations; else 0."""
        squares = (self.weights**2).sum(axis=(-2, -1))
        return np.sqrt(squares) if len(self.spreads) == 1 else np.zeros(squares.shape)

    def scattered(self, alpha: FloatArray) -> FloatArray:
        """Return all cells (r, B, m, J, S), each moved from the middle of its group to a place within the group.

        The places are spread evenly over all points. In a row of thousands of records, a group near 0 contains many
        small counts, which its middle does not represent. `alpha` (m, r) are the rows' parameters.
        """
        counts = self.points[1:].copy()
        shape = self.weights.shape[2:]
        parts = spread_levels(max(1, len(counts) - 1), int(np.prod(shape))).reshape(-1, 1, 1, *shape)
        for k, spread in enumerate(self.spreads[1:]):
            powers = alpha[:, k, None, None], alpha[:, -1, None, None]
            move = within_group(counts[k], counts[-1], spread, parts[k], powers) - counts[k]
            counts[k] += move
            counts[-1] -= move
        return counts

    @cached_property
    def region(self) -> Place:
        """Mean and covariance of u including the variances within groups: the region for the next search."""
        mean, covariance = self.place[0], self.place[1].copy()
        flat = self.spreads.reshape(*self.spreads.shape[:3], -1)
        within = np.vecdot(self.weights.reshape(flat.shape[1:]), flat)
        diagonal = np.arange(len(within))
        covariance[..., diagonal, diagonal] += np.moveaxis(within, 0, -1)
        return mean, covariance

    def put(self, release: IntArray, row: IntArray, others: "Tilted") -> "Tilted":
        """Replace the distributions of some rows (P,) of some releases (P,); `others` has one release of P rows."""
        self.points[:, release, row], self.weights[release, row] = others.points[:, 0], others.weights[0]
        self.spreads[:, release, row], self.log_totals[release, row] = others.spreads[:, 0], others.log_totals[0]
        return replace(self)


@dataclass(frozen=True, eq=False)
class TiltedRows:
    """Rows of nodes with r states: either roots, whose row has all n records (`is_fixed`), or rows of other nodes."""

    prior: RowPriors
    is_fixed: bool
    is_grouped: bool
    scale: float
    sd: float

    def of(self, rows: IntArray) -> Self:
        """Return the rows with these indices, which may repeat."""
        return replace(self, prior=self.prior.of(rows))

    @property
    def states(self) -> int:
        return self.prior.states

    @property
    def n(self) -> int:
        return self.prior.n

    @cached_property
    def _is_steep(self) -> bool:
        """Whether a parameter below 1 concentrates counts near 0 or near the total."""
        return bool((self.prior.alpha < 1).any())

    @property
    def _most(self) -> float:
        return (_FAR * (self.n + 1)) ** 2

    def cavity(self, mean: FloatArray, covariance: FloatArray, site: Normals) -> tuple[FloatArray, FloatArray]:
        """Return the cavity's mean (B, m, r) and precision (B, m, r, r), from the rows' moments and sites."""
        if self.is_fixed:
            covariance = covariance.copy()
            covariance[..., 0, 0] += self._most
        whole = np.linalg.inv(covariance)
        precision = _at_least(whole - site.precision, 1 / self._most)
        shift = np.matmul(whole, mean[..., None])[..., 0] - site.shift
        return np.linalg.solve(precision, shift[..., None])[..., 0], precision

    # Points

    def located(self, released: FloatArray, cavity: tuple[FloatArray, FloatArray], region: Place, size: int) -> Tilted:
        """Return points of the tilted distribution; the region is moved until it contains the distribution."""
        law = self.tilted(released, cavity, region, size)
        places = np.indices(released.shape[:2]).reshape(2, -1)
        before, after = region, law.region
        for _ in range(_MOVES - 1):
            is_off = _is_off(before, after).ravel()
            if not is_off.any():
                break
            release, row = places = places[:, is_off]
            before = (
                after[0].reshape(1, -1, self.states)[:, is_off],
                after[1].reshape(1, -1, self.states, self.states)[:, is_off],
            )
            others = cavity[0][release, row][None], cavity[1][release, row][None]
            part = self.of(row).tilted(released[release, row][None], others, before, size)
            after = part.region
            law = law.put(release, row, part)
        return law

    def tilted(self, released: FloatArray, cavity: tuple[FloatArray, FloatArray], place: Place, size: int) -> Tilted:
        """Return about `size` points of the tilted distribution around a place."""
        groups, *inner = self._sizes(size)
        totals, width = self._totals(place, groups)
        points, log_chance, spreads = self._cells(totals, place, tuple(inner))
        with np.errstate(divide="ignore"):
            log_totals = np.log(width)
        law = log_totals[..., None] - log_chance
        law += self._log_factor(points, spreads)
        if self.scale:
            law += self._log_noise(points, released)
        law += self._log_normal(points, *cavity)
        if not self.is_fixed:
            own, change = self._log_totals(totals, *cavity)
            law += change[..., None]
            log_totals += own
        flat = law.reshape(*law.shape[:2], -1)
        weights = special.softmax(flat, axis=-1)
        spreads[0] += (np.maximum(width, 1)[..., None] ** 2 - 1) / 12
        return Tilted(points, weights.reshape(law.shape), spreads, log_totals)

    def _sizes(self, points: int) -> tuple[int, ...]:
        """The number of groups of totals, and of each cell given the earlier cells."""
        free = self.states - self.is_fixed
        if not self.is_grouped:
            groups = 1 if self.is_fixed else _GROUPS_IF_STEEP if self._is_steep else _GROUPS
            return groups, 2 * points // groups
        enough = points * _MORE ** max(free - 2, 0)
        side = max(2, round(enough ** (1 / max(free, 1)))) if free else 1
        return (1,) * self.is_fixed + (side,) * free

    def inner_sizes(self, points: int) -> tuple[int, ...]:
        """The number of groups of each cell but the last within a group of totals; () if points have no order."""
        return self._sizes(points)[1:] if self.is_grouped else ()

    def _totals(self, place: Place, groups: int) -> tuple[FloatArray, FloatArray]:
        mean, covariance = place
        if self.is_fixed:
            whole = np.full((*mean.shape[:-1], 1), float(self.n))
            return whole, np.ones_like(whole)
        sd = np.sqrt(covariance[..., 0, 0])
        return groups_of_numbers(
            mean[..., 0], sd, np.zeros_like(sd), np.full_like(sd, self.n), groups, is_steep=self._is_steep
        )

    def _cells(
        self, totals: FloatArray, place: Place, sizes: tuple[int, ...]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Points (1 + r, B, m, J, S), and the log chances of the cells given the total."""
        mean, covariance = place
        steps, sds = conditional(np.moveaxis(covariance, (-2, -1), (0, 1)), _NARROWEST)
        if self.is_grouped:
            return self._grid(totals, mean, steps, sds, sizes)
        return self._drawn(totals, mean, steps, sds, sizes[0])

    def _grid(
        self, totals: FloatArray, mean: FloatArray, steps: FloatArray, sds: FloatArray, sizes: tuple[int, ...]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Groups of counts, cell after cell."""
        numbers, log_width, spreads = [totals], np.zeros_like(totals), [np.zeros_like(totals)]
        away, left = [totals - _over(mean[..., 0], totals)], totals
        for k, size in zip(range(1, self.states), sizes, strict=True):
            centre = _over(mean[..., k], totals) + sum(
                _over(step, totals) * by for step, by in zip(steps[k], away, strict=False)
            )
            sd = np.broadcast_to(_over(sds[k], totals), centre.shape)
            middle, width = groups_of_numbers(centre, sd, np.zeros_like(left), left, size, is_steep=self._is_steep)
            with np.errstate(divide="ignore"):
                log_width = log_width[..., None] + np.log(width)
            numbers = [number[..., None] for number in numbers]
            away = [by[..., None] for by in away] + [middle - centre[..., None]]
            numbers.append(middle)
            spreads = [spread[..., None] for spread in spreads] + [(np.maximum(width, 1) ** 2 - 1) / 12]
            totals, left = totals[..., None], left[..., None] - middle
        numbers.append(left)
        shape = (*left.shape[:3], -1)
        points = np.stack([np.broadcast_to(number, left.shape).reshape(shape) for number in numbers])
        within = np.stack([np.broadcast_to(spread, left.shape).reshape(shape) for spread in spreads])
        return points, -log_width.reshape(shape), within

    def _drawn(
        self, totals: FloatArray, mean: FloatArray, steps: FloatArray, sds: FloatArray, inner: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Points of importance sampling."""
        r = self.states
        points = np.empty((1 + r, *totals.shape, inner))
        points[0] = totals[..., None]
        log_chance = np.zeros(points.shape[1:])
        away = [(totals - mean[..., 0, None])[..., None]]
        wider = np.maximum(1.0, totals / np.maximum(mean[..., 0, None], 1e-9))[..., None]
        left = totals[..., None]
        # Every group of totals has points of its own, so that all of them together are spread evenly as well. Every
        # row has its own shift of all points, so that errors of similar rows do not add up.
        levels = spread_levels(r - 1, totals.shape[-1] * inner).reshape(r - 1, 1, -1, inner)
        shifts = spread_levels(r - 1, self.prior.rows.max() + 1)[:, self.prior.rows]
        levels = levels + shifts[..., None, None]
        levels -= levels >= 1
        for k in range(1, r):
            centre = mean[..., k, None, None]
            for step, by in zip(steps[k], away, strict=False):
                centre = centre + step[..., None, None] * by
            sd = _WIDER * wider * sds[k][..., None, None]
            points[k], log = point_between(levels[k - 1], centre, sd, np.floor(left), self._ends[k - 1])
            away.append(points[k] - centre)
            left = left - points[k]
            log_chance += log
        points[r] = left
        return points, log_chance, np.zeros((1, *log_chance.shape))

    @cached_property
    def _ends(self) -> list[Ends]:
        return [Ends(ends.chances[..., None], ends.powers[..., None]) for ends in self.prior.cell_ends]

    # The law

    def _log_factor(self, points: FloatArray, spreads: FloatArray) -> FloatArray:
        """The Dirichlet-multinomial factor at points (1 + r, B, m, J, S)."""
        law, alpha = self._log_of_totals(points), self.prior.alpha
        for k, counts in enumerate(points[1:]):
            if not (alpha[:, k] == 1).all():
                law += self._log_cell(counts, k)
        if self._is_steep and self.is_grouped:
            law += log_mean_changes(points[1:], spreads[1:], alpha.T[..., None, None], self._log_cell)
        return law

    def _log_of_totals(self, points: FloatArray) -> FloatArray:
        """The part of the factor that depends on the total: (B, m, J, S)."""
        totals, concentration = points[0, ..., :1], self.prior.concentration[..., None]
        law = special.gammaln(totals + 1) - special.gammaln(totals + concentration)
        return np.broadcast_to(law, points.shape[1:]).copy()

    def _log_cell(self, counts: FloatArray, k: int) -> FloatArray:
        """The factor of the k-th cell at counts (..., m, J, S), which may be the middles of groups."""
        return self.prior.within.at(counts, self.prior.cell_kind[k][..., None])

    def _log_noise(self, points: FloatArray, released: FloatArray) -> FloatArray:
        """The distribution of the noise that was added to the row's own cells."""
        law = np.zeros(points.shape[1:])
        for k, counts in enumerate(points[1:]):
            law -= np.abs(counts - released[..., k, None, None]) / self.scale
        return law

    @staticmethod
    def _log_normal(points: FloatArray, mean: FloatArray, precision: FloatArray) -> FloatArray:
        away = points[:-1] - np.moveaxis(mean, -1, 0)[..., None, None]
        law = np.zeros(away.shape[1:])
        for k in range(len(away)):
            along = away[k] * (precision[..., k, k, None, None] / 2)
            for j in range(k):
                along += away[j] * precision[..., j, k, None, None]
            law -= along * away[k]
        return law

    def _log_totals(
        self, totals: FloatArray, centre: FloatArray, precision: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The distribution of totals in the cavity, and its log ratio to the cavity's normal distribution of totals.

        It is beta-binomial with the cavity's mean and variance, if there is one. If there is none, or if it would
        concentrate at an end, the moments are those of the normal distribution truncated to [0, n].
        """
        n, mean = self.n, centre[..., 0]
        variance = np.asarray(np.linalg.inv(precision)[..., 0, 0], dtype=np.float64)
        normal = -((totals - mean[..., None]) ** 2) / (2 * variance[..., None])
        first, second = cut_moments(mean, variance, n)
        inner = np.clip(mean, 1e-3 * n, n * (1 - 1e-3))
        least = np.minimum(inner, n - inner) / n * (inner * (n - inner) / variance - 1)
        part = np.clip((least - _FEW) / (_MANY - _FEW), 0, 1) * ((mean > 0) & (mean < n))
        first, second = first + part * (mean - first), second + part * (variance - second)
        share = np.clip(first / n, 1e-6, 1 - 1e-6)
        binomial = n * share * (1 - share)
        ratio = np.maximum(second / binomial, _BINOMIAL)
        size = np.maximum((n - ratio) / (ratio - 1), 1e-3)
        a, b = (size * share)[..., None], (size * (1 - share))[..., None]
        others = n - totals
        law = special.gammaln(totals + a) - special.gammaln(totals + 1)
        law += special.gammaln(others + b) - special.gammaln(others + 1)
        law = np.where((second < _BINOMIAL * binomial)[..., None], normal, law)
        return law, law - normal

    # Sites

    def site(self, tilted: Tilted, cavity: tuple[FloatArray, FloatArray]) -> Normals:
        """Return the normal factors that change cavities to the moments of these tilted distributions."""
        mean, covariance = tilted.place[0], tilted.place[1].copy()
        centre, precision = cavity
        diagonal = np.arange(self.states)
        around = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        of_others = np.abs(around[..., diagonal, diagonal])
        covariance[..., diagonal, diagonal] += np.minimum(_LEAST_VARIANCE, _LEAST_SHARE * of_others)
        if self.is_fixed:
            covariance[..., 0, :] = covariance[..., :, 0] = 0.0
            covariance[..., 0, 0] = self._most
            mean = np.concatenate((centre[..., :1], mean[..., 1:]), axis=-1)
            wanted, wanted_mean = covariance, mean
        else:
            before, variance = centre[..., 0], around[..., 0, 0]
            more, push = self._tilt(tilted, mean[..., 0], covariance[..., 0, 0])
            total_precision = 1 / variance + more
            total = (before / variance + push) / total_precision
            by = covariance[..., 1:, 0] / covariance[..., 0, 0, None]
            change = 1 / total_precision - covariance[..., 0, 0]
            wanted_mean = np.concatenate(
                (total[..., None], mean[..., 1:] + by * (total - mean[..., 0])[..., None]), axis=-1
            )
            steps = np.concatenate((np.ones_like(total)[..., None], by), axis=-1)
            wanted = covariance + steps[..., :, None] * steps[..., None, :] * change[..., None, None]
        site = _at_least(_inverses(wanted) - precision, 0.0)
        shift = np.matmul(precision + site, wanted_mean[..., None]) - np.matmul(precision, centre[..., None])
        return Normals(site, shift[..., 0])

    @staticmethod
    def _tilt(tilted: Tilted, mean: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a and b of the factor exp(b T - a T^2 / 2) from the cavity's distribution of T to the tilted one."""
        sd = np.sqrt(wanted)
        totals, base = tilted.points[0, ..., 0], tilted.log_totals
        z = (totals - mean[..., None]) / sd[..., None]
        squares = z * z - np.vecdot(tilted.weights.sum(axis=-1), z * z)[..., None]
        own = tilted.weights.sum(axis=-1)
        weighs = own > 1e-12
        logs = np.log(np.where(weighs, own, 1.0)) - np.where(weighs, base, 0.0)
        own = np.where(weighs, own, 0.0)
        # Start: the least-squares line and parabola of the log message, on the points of the tilted distribution.
        logs = logs - np.vecdot(own, logs)[..., None]
        v11, v12 = np.vecdot(own, z * z) + 1e-6, np.vecdot(own, z * squares)
        v22 = np.vecdot(own, squares * squares) + 1e-6
        det = np.maximum(v11 * v22 - v12**2, 1e-9)
        of_z, of_squares = np.vecdot(own, logs * z), np.vecdot(own, logs * squares)
        push, curve = (v22 * of_z - v12 * of_squares) / det, (v11 * of_squares - v12 * of_z) / det
        for _ in range(_NEWTON):
            weights = special.softmax(base + push[..., None] * z + curve[..., None] * squares, axis=-1)
            first, second = np.vecdot(weights, z), np.vecdot(weights, squares)
            v11 = np.vecdot(weights, z * z) - first**2 + 1e-6
            v12 = np.vecdot(weights, z * squares) - first * second
            v22 = np.vecdot(weights, squares * squares) - second**2 + 1e-6
            det = np.maximum(v11 * v22 - v12**2, 1e-9)
            d1, d2 = -(v22 * first - v12 * second) / det, -(v11 * second - v12 * first) / det
            step = np.minimum(1.0, 2.0 / np.maximum(np.maximum(np.abs(d1), np.abs(d2)), 1e-9))
            push, curve = push + step * d1, curve + step * d2
        more = np.maximum(-2 * curve / wanted, 0.0)
        return more, push / sd + more * mean


def _is_off(before: Place, after: Place) -> BoolArray:
    """Whether distributions are outside the regions of their points, or cover a small part of these: (B, m)."""
    old, new = (np.diagonal(place[1], axis1=-2, axis2=-1) + 0.1 for place in (before, after))
    is_far = (after[0] - before[0]) ** 2 > 2.0 * old
    return np.asarray((is_far | (new < 0.25 * old) | (new > 2.5 * old)).any(axis=-1))


def _over(values: FloatArray, like: FloatArray) -> FloatArray:
    """Return values (B, m) with further axes of length 1, as many as an array has."""
    return values.reshape(*values.shape, *(1,) * (like.ndim - 2))


def cut_moments(mean: FloatArray, variance: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of normal distributions (...) truncated to [0, n], by Gauss-Legendre quadrature."""
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
    return first, np.maximum(second, 1e-6)


_SHARES, _WEIGHTS = (lambda rule: ((rule[0] + 1) / 2, rule[1] / 2))(np.polynomial.legendre.leggauss(48))


def _inverses(covariances: FloatArray) -> FloatArray:
    """Return the inverses of covariances (..., r, r); if one is singular, the diagonals get a little larger."""
    try:
        return np.asarray(np.linalg.inv(covariances))
    except np.linalg.LinAlgError:
        size = covariances.shape[-1]
        diagonal = np.einsum("...kk->...", covariances)[..., None, None] / size
        return np.asarray(np.linalg.inv(covariances + _LEAST_RATIO * np.maximum(diagonal, 1.0) * np.eye(size)))


def _at_least(matrices: FloatArray, least: float) -> FloatArray:
    """Return symmetric matrices (..., r, r) whose eigenvalues are raised to at least `least`."""
    matrices = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray(np.matmul(vectors * np.maximum(values, least)[..., None, :], np.swapaxes(vectors, -1, -2)))
