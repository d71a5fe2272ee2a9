"""The law of the counts of rows, given what was released: points of importance sampling, as `noise_aware` has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.steps import slices
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import NoiseModel
from dpbayes.posteriors.row_shares import row_shares
from dpbayes.posteriors.whole_points import Ends, point_between

_FIRST = 4
"""The first of two passes, which looks where the law lies, has one of so many points."""

_AGAIN, _WELL = 3, 0.2
"""How often rows get new points, about where the last ones say that the law lies, and up to what share of them carries
all the weight: half of that, and they are moved all the way."""

_SPEAK, _HALVINGS = 16, 8
"""Points' worth of weight that say where a law lies at the least: heavy ones are evened so far, by so many halvings."""

_LEAST = 1e-300
"""Stands for a weight of zero, whose logarithm is infinite."""

_WIDER = 1.4
"""By what the variance of the points exceeds that of the law, so that none is missed."""

_FLAT, _MOST_AT_ENDS = 0.6, 0.7
"""A Dirichlet parameter below which counts pile up near 0 or all, and what share of points goes there at most."""


@dataclass(frozen=True, eq=False)
class RowCounts:
    """All rows of nodes with r states, with what is known of them before the release.

    `rows` (m,) and `cells` (m, r) are their places; `total` and `contrast` (m, 1) are the variances a and c of the
    fitted rows, `share` (2, m, 1) the Beta parameters of T/n; `scale` and `sd` are the own cells' noise.
    """

    states: int
    rows: IntArray
    cells: IntArray
    alpha: FloatArray
    total: FloatArray
    contrast: FloatArray
    share: FloatArray
    scale: float
    sd: float
    n: int

    @cached_property
    def _is_fixed(self) -> BoolArray:
        """Whether the row has all n records, as a root's has: (m, 1)."""
        return self.total == 0

    @cached_property
    def _noise_covariance(self) -> FloatArray:
        even = np.full((self.states, self.states), 1 / self.states)
        total, contrast = self.total[..., None], self.contrast[..., None]
        return total / self.states * even + contrast * (np.eye(self.states) - even)

    @cached_property
    def _prior_moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean (m, r) and covariance (m, r, r) of the counts before the release."""
        (first, second), n = self.share, self.n
        size, share, concentration = first + second, first / (first + second), self.alpha.sum(axis=-1, keepdims=True)
        total = n * share
        of_total = total * (1 - share) * (n + size) / (size + 1)
        mean = self.alpha / concentration
        within = (of_total + total**2 + concentration * total) / (concentration + 1)
        outer = mean[:, :, None] * mean[:, None, :]
        diagonal = mean[:, :, None] * np.eye(self.states)
        return total * mean, within[..., None] * (diagonal - outer) + of_total[..., None] * outer

    @cached_property
    def _normal_law(self) -> tuple[FloatArray, FloatArray]:
        """The share of the way from the fitted cells to the prior's mean, and the covariance: (m, r, r) each."""
        _, prior = self._prior_moments
        noise = self._noise_covariance
        share = noise @ np.linalg.pinv(noise + prior, rcond=1e-12, hermitian=True)
        covariance = share @ prior
        return share, (covariance + np.swapaxes(covariance, -1, -2)) / 2

    def _first_look(self, fit: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where the law lies if prior and noise are both taken as normal: means (..., m, r), covariances (m, r, r)."""
        centre, _ = self._prior_moments
        share, covariance = self._normal_law
        return fit + np.matmul(share, (centre - fit)[..., None])[..., 0], covariance

    @cached_property
    def _ends_of_total(self) -> Ends:
        """The points near a total of 0 and of n: (2, m, 1); most where the prior has it so."""
        chances = _likes_nothing(self.share) * self.share[::-1] / self.share.sum(axis=0)
        return Ends(np.where(self._is_fixed, 0.0, chances), self.share)

    @cached_property
    def _ends_of_cells(self) -> list[Ends]:
        """The same near 0 and near all that is left, of every cell but the last: (2, m, 1) each."""
        likes = _likes_nothing(self.alpha)
        after = np.cumsum(self.alpha[:, ::-1], axis=-1)[:, ::-1]
        share = self.alpha / np.maximum(after, np.finfo(float).tiny)
        none_after = np.minimum.accumulate(likes[:, ::-1], axis=-1)[:, ::-1]
        chances = np.stack((likes[:, :-1] * (1 - share[:, :-1]), none_after[:, 1:] * share[:, :-1]))
        powers = np.stack((self.alpha[:, :-1], after[:, 1:]))
        return [Ends(chances[..., [k]], powers[..., [k]]) for k in range(self.states - 1)]

    @cached_property
    def _has_one_peak(self) -> BoolArray:
        """Whether no point is put near an end, where few heavy ones may be all there is: (m,)."""
        ends = [self._ends_of_total, *self._ends_of_cells]
        return ~np.any([each.chances.any(axis=(0, 2)) for each in ends], axis=0)

    def posterior(self, released: FloatArray, fit: FloatArray, lucks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return counts (..., m, S, r) and weights (..., m, S) from the rows' released and fitted cells (..., m, r)."""
        told = released, fit
        place = self._place(*self._points(told, lucks[:, : lucks.shape[1] // _FIRST], self._first_look(fit)))
        counts, weights = self._points(told, lucks, place)
        for _ in range(_AGAIN):
            worth = _worth(weights) / lucks.shape[-1]
            low = (worth < _WELL) & self._has_one_peak
            if not low.any():
                break
            # Those just below the limit move hardly at all: while a slider crosses it nothing jumps.
            share = np.minimum(1.0, 2 * (1 - worth[low] / _WELL))[:, None]
            rows = self._of(np.nonzero(low)[-1])
            mean, covariance = rows._place(counts[low], weights[low])
            place[0][low] += share * (mean - place[0][low])
            place[1][low] += share[..., None] * (covariance - place[1][low])
            counts[low], weights[low] = rows._points((released[low], fit[low]), lucks, (place[0][low], place[1][low]))
        return counts, weights

    def _of(self, chosen: IntArray) -> "RowCounts":
        """Some of the rows, each as often as it is asked for."""
        known = self.alpha[chosen], self.total[chosen], self.contrast[chosen], self.share[:, chosen]
        return RowCounts(self.states, self.rows[chosen], self.cells[chosen], *known, self.scale, self.sd, self.n)

    def _points(
        self, told: tuple[FloatArray, FloatArray], lucks: FloatArray, place: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Points (..., m, S, r) about a mean (..., m, r) with a covariance, and their weights (..., m, S)."""
        mean, covariance = place
        counts, log_chance = self._proposed(lucks, mean, _WIDER * covariance)
        return counts, _shares(self._log_law(counts, *told) - log_chance)

    def _place(self, counts: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where the law lies by its points: mean (..., m, r) and covariance; few heavy points speak for their like."""
        weights = np.where(self._has_one_peak[:, None], _evened(weights), weights)
        mean = np.matmul(weights[..., None, :], counts)[..., 0, :]
        away = counts - mean[..., None, :]
        return mean, np.matmul(np.swapaxes(weights[..., None] * away, -1, -2), away)

    def _log_law(self, counts: FloatArray, released: FloatArray, fit: FloatArray) -> FloatArray:
        """The law of the counts (..., m, S, r), up to a constant: (..., m, S)."""
        alpha, records = self.alpha[:, None, :], over_states(counts)
        law = self._log_law_of_totals(records)
        if not (self.alpha == 1).all():  # with which both are the same
            law += over_states(special.gammaln(counts + alpha) - special.gammaln(counts + 1))
        total, contrast = _parts(counts - fit[..., None, :])
        law -= (_inverse(self.total) * total + _inverse(self.contrast) * contrast) / 2
        if self.scale:
            away = counts - released[..., None, :]
            total, contrast = _parts(away)
            law += (np.where(self._is_fixed, 0.0, total) / self.states + contrast) / (2 * self.sd**2)
            law -= over_states(np.abs(away)) / self.scale
        return law

    def _log_law_of_totals(self, records: FloatArray) -> FloatArray:
        """The part of the law that knows totals (..., m, S) alone: looked up where more are asked than exist."""
        if records.size <= len(self.rows) * (self.n + 1) and "_log_law_of_every_total" not in vars(self):
            return self._log_law_of(records)
        return np.asarray(self._log_law_of_every_total[np.arange(len(self.rows))[:, None], records.astype(np.int64)])

    @cached_property
    def _log_law_of_every_total(self) -> FloatArray:
        """The same of totals from 0 to n: (m, n + 1)."""
        return self._log_law_of(np.arange(self.n + 1.0)[None, :])

    def _log_law_of(self, records: FloatArray) -> FloatArray:
        (first, second), others = self.share, self.n - records
        law = special.gammaln(first + records) + special.gammaln(second + others) - special.gammaln(others + 1)
        return np.asarray(law - special.gammaln(records + self.alpha.sum(axis=-1, keepdims=True)))

    def _proposed(self, lucks: FloatArray, mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return whole counts (..., m, S, r), none negative and at most n together, near a mean; and log chances.

        The total comes first, then cell after cell from what is left, the last one being the rest.
        """
        r = self.states
        lift = np.concatenate((np.ones((1, r)), np.eye(r)[: r - 1]))
        centre = mean @ lift.T
        # Wide enough to doubt the nearest number by; noise far below one count leaves no doubt of it.
        narrow = np.clip(np.sqrt(self.contrast), 1e-6, 0.5)
        factor = np.asarray(np.linalg.cholesky(lift @ covariance @ lift.T + (narrow**2)[..., None] * np.eye(r)))
        shape = (*mean.shape[:-1], lucks.shape[-1])
        log_chance, counts = np.zeros(shape), np.empty((*shape, r))
        standard = np.empty((*shape, r))  # how far each is from its centre, in widths
        left = np.full((*mean.shape[:-1], 1), float(self.n))  # the same for all points until the total is drawn
        for k in range(r):
            here = centre[..., k, None]
            if k > 0:
                here = here + np.matmul(standard[..., :k], factor[..., k, :k, None])[..., 0]
            width = factor[..., k, k, None]
            ends = self._ends_of_total if k == 0 else self._ends_of_cells[k - 1]
            drawn, log = point_between(lucks[k], here, width, left, ends)
            standard[..., k] = (drawn - here) / width
            if k == 0:
                drawn, log = np.where(self._is_fixed, left, drawn), np.where(self._is_fixed, 0.0, log)
                standard[..., k] = np.where(self._is_fixed, 0.0, standard[..., k])
                left = drawn
            else:
                counts[..., k - 1] = drawn
                left = left - drawn
            log_chance += log
        counts[..., r - 1] = left
        return counts, log_chance


def rows_by_states(
    prior: Dirichlets, noise: NoiseModel, n: int, chosen: IntArray, *, cells: int
) -> Iterator[RowCounts]:
    """Yield the chosen rows (m,), those of nodes with as many states together, up to so many cells at once."""
    network = prior.network
    totals, contrasts = (
        each[network.node_of_row][:, None] for each in network.residuals.row_variances(noise.variances)
    )
    share, states = row_shares(prior)[..., None], network.cards[network.node_of_row]
    for r in np.unique(states[chosen]):
        alike = chosen[states[chosen] == r]
        for some in slices(len(alike), cells // int(r)):
            rows = alike[some]
            places = network.row_starts[rows, None] + np.arange(r)
            known = totals[rows], contrasts[rows], share[:, rows]
            yield RowCounts(int(r), rows, places, prior.alpha[places], *known, noise.scale, noise.sd, n)


def _parts(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The squared sum of rows (..., r), and their squared distance from their mean."""
    total = over_states(values) ** 2
    return total, over_states(values**2) - total / values.shape[-1]


def over_states(values: FloatArray) -> FloatArray:
    """The sums of rows (..., r), state after state: numpy sums short rows ten times as slowly."""
    total = values[..., 0].copy()
    for state in range(1, values.shape[-1]):
        total += values[..., state]
    return total


def _worth(weights: FloatArray) -> FloatArray:
    """How many equally likely points weights (..., S) are worth: (...,)."""
    return np.asarray(1 / (weights**2).sum(axis=-1))


def _evened(weights: FloatArray) -> FloatArray:
    """Raise weights (..., S) to the largest power up to 1 with which they are worth `_SPEAK` points."""
    low = _worth(weights) < min(_SPEAK, weights.shape[-1] / 2)
    if not low.any():
        return weights
    logs = np.log(np.maximum(weights[low], _LEAST))
    least, most = np.zeros(len(logs)), np.ones(len(logs))
    for _ in range(_HALVINGS):
        power = (least + most) / 2
        few = _worth(_shares(power[:, None] * logs)) < min(_SPEAK, weights.shape[-1] / 2)
        least, most = np.where(few, least, power), np.where(few, power, most)
    evened = weights.copy()
    evened[low] = _shares(least[:, None] * logs)
    return evened


def _shares(log_weights: FloatArray) -> FloatArray:
    weights = np.exp(log_weights - log_weights.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _inverse(variance: FloatArray) -> FloatArray:
    """1 over a variance; 0 where nothing varies, and nothing can differ."""
    return np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)


def _likes_nothing(parameters: FloatArray) -> FloatArray:
    """Return how many points go to the ends of a count's range: the more the prior does, below `_FLAT`."""
    return _MOST_AT_ENDS * np.maximum(0.0, 1 - parameters / _FLAT)
