"""The prior distribution of the counts of rows, which is the same for every release and every noise."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.whole_points import Ends

_MOST_TABULATED = 1 << 19
"""The largest table at halves of all kinds, of 4 MB; it is made whatever the number of values."""

_FLAT, _MOST_AT_ENDS = 0.6, 0.7
"""The Dirichlet parameter below which counts concentrate near 0 or the total, and the largest share of points there."""


@dataclass(frozen=True, eq=False)
class WholeNumbersLaw:
    """Log probabilities of integers from 0 to n, up to a constant, for several kinds of parameters (P, kinds).

    `log` takes numbers and parameters (P, ...). All values are tabulated once, unless there are too many.
    """

    log: Callable[[FloatArray, FloatArray], FloatArray]
    kinds: FloatArray
    n: int

    def at(self, numbers: FloatArray, kind: IntArray) -> FloatArray:
        """Return the log probabilities of whole numbers and halves (...) from 0 to n + 1, of these kinds (...)."""
        size = 2 * self.n + 3
        if self.kinds.shape[1] * size > _MOST_TABULATED:
            return self.log(numbers, self.kinds[:, kind])
        return np.asarray(self._halves.take((2 * numbers + kind * size).astype(np.intp)))

    @cached_property
    def _halves(self) -> FloatArray:
        """The log probabilities of 0, 1/2, .., n + 1, by kind: (kinds * (2 n + 3),)."""
        with np.errstate(invalid="ignore"):  # a total is never above n
            return self.log(np.arange(2 * self.n + 3) / 2, self.kinds[..., None]).ravel()


@dataclass(frozen=True, eq=False)
class RowPriors:
    """Rows of nodes with r states: their indices `rows` (m,) and `cells` (m, r), and their Dirichlet `alpha` (m, r).

    `share` (2, m, 1) are the Beta parameters of T/n for a row's total T. The distribution of T has the kind
    `total_kind` (m, 1) in `totals`. Those of the cells given T have the kinds `cell_kind` (r, m, 1) in `within`.
    """

    states: int
    rows: IntArray
    cells: IntArray
    alpha: FloatArray
    share: FloatArray
    n: int
    totals: WholeNumbersLaw
    total_kind: IntArray
    within: WholeNumbersLaw
    cell_kind: IntArray

    @classmethod
    def of_rows(cls, prior: Dirichlets, share: FloatArray, n: int, rows: IntArray) -> "RowPriors":
        """Return rows (m,) of nodes with the same number of states; `share` (2, all rows) is from `row_shares`."""
        starts, r = prior.network.row_starts[rows], int(prior.network.cards[prior.network.node_of_row[rows[0]]])
        cells = starts[:, None] + np.arange(r)
        alpha = prior.alpha[cells]
        of_totals, total_kind = np.unique(np.vstack((share[:, rows], alpha.sum(axis=-1))), axis=1, return_inverse=True)
        of_cells, cell_kind = np.unique(alpha.T, return_inverse=True)
        laws = WholeNumbersLaw(_log_of_totals(n), of_totals, n), WholeNumbersLaw(_log_within, of_cells[None, :], n)
        places = total_kind.reshape(-1, 1), cell_kind.reshape(r, -1, 1)
        return cls(r, rows, cells, alpha, share[:, rows, None], n, laws[0], places[0], laws[1], places[1])

    def of(self, chosen: IntArray) -> "RowPriors":
        """Return the rows with these indices, which may repeat."""
        places = self.rows[chosen], self.cells[chosen], self.alpha[chosen], self.share[:, chosen]
        kinds = self.total_kind[chosen], self.cell_kind[:, chosen]
        return RowPriors(self.states, *places, self.n, self.totals, kinds[0], self.within, kinds[1])

    @cached_property
    def concentration(self) -> FloatArray:
        """The sums of alpha: (m, 1)."""
        return self.alpha.sum(axis=-1, keepdims=True)

    @cached_property
    def lift(self) -> FloatArray:
        """The matrix (r, r) from a row's cells to its total and all cells but the last."""
        return np.concatenate((np.ones((1, self.states)), np.eye(self.states)[: self.states - 1]))

    @cached_property
    def cell_ends(self) -> list[Ends]:
        """The points of every cell but the last near 0 and near the rest of the total: (2, m, 1) each."""
        near_none = share_at_ends(self.alpha)
        after = np.cumsum(self.alpha[:, ::-1], axis=-1)[:, ::-1]
        share = self.alpha / np.maximum(after, np.finfo(float).tiny)
        none_after = np.minimum.accumulate(near_none[:, ::-1], axis=-1)[:, ::-1]
        chances = np.stack((near_none[:, :-1] * (1 - share[:, :-1]), none_after[:, 1:] * share[:, :-1]))
        powers = np.stack((self.alpha[:, :-1], after[:, 1:]))
        return [Ends(chances[..., [k]], powers[..., [k]]) for k in range(self.states - 1)]

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean (m, r) and covariance (m, r, r) of the counts."""
        (first, second), n = self.share, self.n
        size, share, concentration = first + second, first / (first + second), self.concentration
        total = n * share
        of_total = total * (1 - share) * (n + size) / (size + 1)
        mean = self.alpha / concentration
        within = (of_total + total**2 + concentration * total) / (concentration + 1)
        outer = mean[:, :, None] * mean[:, None, :]
        diagonal = mean[:, :, None] * np.eye(self.states)
        return total * mean, within[..., None] * (diagonal - outer) + of_total[..., None] * outer

    def given_noise(self, total: FloatArray, contrast: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the normal posterior given fitted cells with errors of variances a and c (m, 1) of rows and contrasts.

        The first result are the coefficients (m, r, r) of the prior mean's distance from the fitted cells. The second
        is the covariance (m, r, r) of the row's total and all its cells but the last.
        """
        even = np.full((self.states, self.states), 1 / self.states)
        noise = total[..., None] / self.states * even + contrast[..., None] * (np.eye(self.states) - even)
        _, prior = self.moments
        share = noise @ np.linalg.pinv(noise + prior, rcond=1e-12, hermitian=True)
        covariance = share @ prior
        return share, self.lift @ (covariance + np.swapaxes(covariance, -1, -2)) @ self.lift.T / 2

    def log_law(self, points: FloatArray) -> FloatArray:
        """Return the log probability of totals and cells (1 + r, ..., m, S), up to a constant per row: (..., m, S)."""
        law = self.totals.at(points[0], self.total_kind)
        if not (self.alpha == 1).all():  # given the total, all counts are equally likely
            for counts, kind in zip(points[1:], self.cell_kind, strict=True):
                law += self.within.at(counts, kind)
        return law


def share_at_ends(parameters: FloatArray) -> FloatArray:
    """Return the share of points at an end of a count's range; it increases as the parameter falls below `_FLAT`."""
    return _MOST_AT_ENDS * np.maximum(0.0, 1 - parameters / _FLAT)


def row_priors(prior: Dirichlets, n: int, chosen: IntArray, cells: int) -> tuple[RowPriors, ...]:
    """Return the chosen rows (m,) in groups with the same number of states and at most `cells` cells."""
    network = prior.network
    share, states = row_shares(prior), network.cards[network.node_of_row]
    alike = [(int(r), chosen[states[chosen] == r]) for r in np.unique(states[chosen])]
    parts = (rows[part] for r, rows in alike for part in slices(len(rows), cells // r))
    return tuple(RowPriors.of_rows(prior, share, n, rows) for rows in parts)


def log_rising(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return ln Gamma(k + alpha)/k! of counts k, the factor of a cell with a Dirichlet parameter alpha."""
    return np.asarray(special.gammaln(counts + alpha) - special.gammaln(counts + 1))


def _log_within(counts: FloatArray, parameters: FloatArray) -> FloatArray:
    return log_rising(counts, parameters[0])


def _log_of_totals(n: int) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """Return the log beta-binomial probability of a total, plus the log normaliser of its cells' distribution."""

    def log(records: FloatArray, parameters: FloatArray) -> FloatArray:
        first, second, concentration = parameters
        others = n - records
        law = special.gammaln(first + records) + special.gammaln(second + others) - special.gammaln(others + 1)
        return np.asarray(law - special.gammaln(records + concentration))

    return log


MOST_SIZE = 1e9
"""The largest sum of the two parameters; the share is then certain."""

_LEAST = 1e-300
"""A replacement for a parameter of zero, whose gamma function is infinite."""


def row_shares(prior: Dirichlets) -> FloatArray:
    """Return Beta parameters for the share of records in every row under a prior (K,): (2, m).

    The Beta distribution has the mean and the variance of P(parents = row) under the prior. They are computed for two
    records of the same unknown network, from parents to children, as if the parents of a node were independent. In
    trees this is exact. A root's row has all records.
    """
    network = prior.network
    pairs: dict[int, FloatArray] = {}
    shares = np.empty((2, network.row_count))
    for node in network.order:
        parents = network.families[node][:-1]
        once, twice = np.ones(1), np.ones(1)
        for parent in parents:
            once = np.multiply.outer(once, pairs[parent].sum(axis=0)).ravel()
            twice = np.multiply.outer(twice, np.diag(pairs[parent])).ravel()
        pairs[node] = _pair(prior, node, [pairs[parent] for parent in parents], twice)
        rows = slice(network.row_offsets[node], network.row_offsets[node + 1])
        shares[:, rows] = _beta(once, twice)
    return shares


def _pair(prior: Dirichlets, node: int, parents: list[FloatArray], same: FloatArray) -> FloatArray:
    """Return P(x = a, x' = b) of a node in two records (r, r); `same` (rows,) is P(both records are in the row)."""
    network = prior.network
    mean = network.table(prior.mean, node)
    other = mean
    for axis, pair in enumerate(parents):
        other = np.moveaxis(np.tensordot(pair, other, axes=(1, axis)), 0, axis)
    r = mean.shape[-1]
    mean, other = mean.reshape(-1, r), other.reshape(-1, r)
    apart = other.T @ mean
    # Two records in the same row share its unknown probabilities, which adds their covariance.
    certain = same / (network.table(prior.totals, node).reshape(-1, r)[:, 0] + 1)
    return np.asarray(apart + np.diag(certain @ mean) - (certain[:, None] * mean).T @ mean)


def _beta(mean: FloatArray, square: FloatArray) -> FloatArray:
    """Return the parameters of Beta distributions with these first and second moments: (2, rows)."""
    spread = np.maximum(square - mean**2, 1 / MOST_SIZE * mean)
    size = np.clip(mean * (1 - mean) / spread - 1, 1e-6, MOST_SIZE)
    return np.maximum(np.stack((mean, 1 - mean)) * size, _LEAST)
