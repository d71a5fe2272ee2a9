"""Mixtures of Dirichlet distributions, one per CPT row: the posterior of CPTs if the counts are uncertain."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.text import many
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import finite_number, leading
from dpbayes.model.network import Network
from dpbayes.posteriors.answers import DRAWS, QueryAnswer, answer_of, even_draws, even_scores
from dpbayes.posteriors.dirichlet import AnsweringPosterior, Dirichlets
from dpbayes.posteriors.noise_model import NoiseModel

_STEPS, _CLOSE = 60, 1e-9
"""The largest number of steps to a quantile, and the size of the last step; Newton steps need fewer than bisection."""

_DIVERGENCE_DRAWS = 64
"""Samples of an exact posterior for a divergence; most of its error is that of the releases."""

_LEAST = 1e-300
"""A replacement for a probability of zero, whose logarithm is infinite."""


@dataclass(frozen=True, eq=False)
class DirichletMixtures(AnsweringPosterior):
    """sum_s w_s Dirichlet(alpha + k_s) for every CPT row; rows are independent.

    `counts` (..., S, K) are S possible counts k of every cell. `weights` (..., S, m) are the weights of every row, with
    sum 1 over S. `prior` has one alpha (K,). `chosen` is the noise, with the consistent tables, of a graph chosen from
    the records. Intervals are then as wide as the noise alone allows, so that they contain the shares in the records.
    """

    prior: Dirichlets
    counts: FloatArray
    weights: FloatArray
    chosen: tuple[NoiseModel, FloatArray] | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        components, rows = self.weights.shape[-2:]
        return f"<DirichletMixtures of {many(rows, 'row')} with {many(components, 'component')} each>"

    @property
    def network(self) -> Network:  # type: ignore[override]
        return self.prior.network

    @cached_property
    def effective(self) -> FloatArray:
        """1 / sum w^2 of every row, the effective number of its possible counts: (..., m)."""
        return 1 / (self.weights**2).sum(axis=-2)

    @cached_property
    def _components(self) -> Dirichlets:
        return self.prior.updated(self.counts)

    @cached_property
    def mean(self) -> FloatArray:
        """E theta for every cell: (..., K); also the predictive probability of the next record's state."""
        return self.marginals().mean

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviation of theta for every cell: (..., K)."""
        return self.marginals().sd

    def part(self, draws: int | slice) -> "DirichletMixtures":
        """Return a part of a batch (draws, S, K)."""
        return replace(self, counts=self.counts[draws], weights=self.weights[draws])

    # Marginals of cells

    def interval(
        self, level: float = 0.95, *, cells: IntArray | slice | int = slice(None)
    ) -> tuple[FloatArray, FloatArray]:
        """Return the central credible interval of the cells' marginals: two arrays (..., cells).

        The cell of a row with a single state has the probability 1.
        """
        low, high = self.marginals(cells).interval(level)
        if isinstance(cells, int):
            low, high = low[..., 0], high[..., 0]
        if self.chosen is not None:
            ends = self.chosen[0].share_interval(self.chosen[1], level, cells)
            low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        return low, high

    def marginals(self, cells: IntArray | slice | int = slice(None)) -> "BetaMixtures":
        """Return the marginals of some cells."""
        columns = slice(cells, cells + 1) if isinstance(cells, int) else cells
        rows = self.network.row_of_cell[columns]
        alpha, totals = self._components.alpha[..., columns], self._totals[..., rows]
        return BetaMixtures(alpha, totals - alpha, self.weights[..., rows])

    @cached_property
    def _totals(self) -> FloatArray:
        """alpha_0 + T of every row: (..., S, m)."""
        return np.asarray(self.network.row_sums(self._components.alpha))

    # All rows

    def divergence_of_rows(self, exact: Dirichlets) -> FloatArray:
        """Return KL(exact || this) of every row in nats, for one exact posterior (K,): (..., m).

        It is the mean of the log ratio over samples of the exact posterior.
        """
        network = self.network
        draws = even_draws(network, np.broadcast_to(exact.alpha, (_DIVERGENCE_DRAWS, network.cell_count)))
        divergence = np.empty((*self.weights.shape[:-2], network.row_count))
        for r in np.unique(network.cards):
            rows = np.flatnonzero(network.cards[network.node_of_row] == r)
            cells = network.row_starts[rows, None] + np.arange(r)
            log_theta = np.log(np.maximum(np.moveaxis(draws[:, cells], 0, 1), _LEAST))
            log_density = _log_dirichlet(exact.alpha[cells][..., None, :], log_theta)[..., 0]
            parts = np.moveaxis(self._components.alpha[..., cells], -3, -2)
            logs = _log_dirichlet(parts, log_theta)
            with np.errstate(divide="ignore"):  # a weight may be too small for a double
                logs += np.log(np.moveaxis(self.weights[..., rows], -2, -1))[..., None, :]
            divergence[..., rows] = (log_density - _log_sums(logs)).mean(axis=-1)
        return np.maximum(divergence, 0.0)

    def _answer(self, target: str, evidence: Mapping[str, str], level: float, prior: Dirichlets | None) -> QueryAnswer:
        answer = answer_of(self.network, self._even_draws, target, evidence, level)
        answer = (prior or self.prior).compared(answer, self._exact_cells, self._even_draws, target, evidence)
        assumes = self.prior.independence_for((target, *evidence))
        if assumes or self.chosen is None:
            return answer.assuming(assumes)
        noise, tables = self.chosen
        return answer.reaching(*noise.answer_interval(tables, target, evidence, level))

    @cached_property
    def _even_draws(self) -> FloatArray:
        """CPTs (S, ..., K), sampled with the same random numbers for every posterior."""
        return even_draws(self.network, self._even_alpha)

    @property
    def _exact_cells(self) -> tuple[FloatArray, FloatArray]:
        """The cells of exact answers for `vague_coverage`.

        Separate rows do not share what a sum over them states. Probabilities, which vary more, stand for exact answers.
        """
        return self._even_draws, np.ones((*self.weights.shape[:-2], self.network.row_count))

    @cached_property
    def _even_alpha(self) -> FloatArray:
        """The parameters (S, ..., K) of the posteriors given sampled counts."""
        shares = special.ndtr(even_scores((DRAWS, *self.weights.shape[:-2], self.network.row_count), 3))
        return self._picked(shares).alpha

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] = ()) -> FloatArray:
        """Sample CPTs (*size, ..., K): every row's counts by their weights, then its probabilities."""
        return self.drawn(rng, size).sample(rng)

    def drawn(self, rng: np.random.Generator, size: int | tuple[int, ...] = ()) -> Dirichlets:
        """Sample one of the possible counts of every row, and return the posteriors given them: (*size, ..., K)."""
        return self._picked(rng.random((*leading(size), *self.weights.shape[:-2], self.network.row_count)))

    def _picked(self, shares: FloatArray) -> Dirichlets:
        """Return the posteriors given the counts at these quantile levels (*size, ..., m)."""
        weights = np.swapaxes(self.weights, -1, -2)
        row = np.arange(math.prod(weights.shape[:-1])).reshape(weights.shape[:-1])
        index = self.network.over_cells(StepLines.of(weights).picked(row, shares)[0])[..., None, :]
        counts = np.broadcast_to(self.counts, (*index.shape[:-2], *self.counts.shape[-2:]))
        return self.prior.updated(np.take_along_axis(counts, index, axis=-2)[..., 0, :])


@dataclass(frozen=True, eq=False)
class StepLines:
    """Distribution functions of many discrete distributions of `size` places, each shifted by its index, on one line.

    A level is found by one binary search on this line, without a comparison with every place.
    """

    line: FloatArray
    size: int

    @classmethod
    def of(cls, weights: FloatArray) -> "StepLines":
        """Return the distribution functions of weights (..., size); for weights that are not finite, they are zero."""
        steps = np.cumsum(weights, axis=-1)
        shares = np.nan_to_num(steps / np.maximum(steps[..., -1:], np.finfo(float).tiny)).reshape(-1, weights.shape[-1])
        return cls((shares + np.arange(len(shares))[:, None]).ravel(), weights.shape[-1])

    def picked(self, law: IntArray, shares: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the places of levels (...) in their distributions, and the relative position within each place."""
        first = law * self.size
        chosen = np.clip(np.searchsorted(self.line, law + shares) - first, 0, self.size - 1)
        end = self.line[first + chosen] - law
        start = np.where(chosen > 0, self.line[first + np.maximum(chosen, 1) - 1] - law, 0.0)
        return chosen, np.clip((shares - start) / np.maximum(end - start, np.finfo(float).tiny), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class BetaMixtures:
    """sum_s w_s Beta(a_s, b_s), parameters and weights (..., S, cells); the value is 1 if b = 0."""

    a: FloatArray
    b: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> FloatArray:
        """E theta: (..., cells)."""
        return np.asarray((self.weights * self.a / (self.a + self.b)).sum(axis=-2))

    @property
    def sd(self) -> FloatArray:
        """Standard deviation of theta: (..., cells)."""
        total = self.a + self.b
        share = self.a / total
        away = (share - self.mean[..., None, :]) ** 2
        return np.asarray(np.sqrt((self.weights * (share * (1 - share) / (total + 1) + away)).sum(axis=-2)))

    @property
    def effective(self) -> FloatArray:
        """1 / sum w^2, the effective number of components: (..., cells)."""
        return np.asarray(1 / (self.weights**2).sum(axis=-2))

    def part(self, draws: int | slice) -> "BetaMixtures":
        """Return a part of a batch (draws, S, cells)."""
        return BetaMixtures(self.a[draws], self.b[draws], self.weights[draws])

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return the central credible interval: two arrays (..., cells)."""
        tail = (1 - finite_number("interval", level, low=0, high=1)) / 2
        low = self.quantile(tail)
        # Both have errors of `_CLOSE`, which could exchange the ends of a very narrow interval.
        return low, np.maximum(low, self.quantile(1 - tail))

    def cumulative(self, theta: FloatArray) -> FloatArray:
        """The distribution function at values (..., cells): (..., cells)."""
        value = theta[..., None, :]
        cumulative = special.betainc(self.a, np.maximum(self.b, _LEAST), value)
        return np.asarray((self.weights * np.where(self.b > 0, cumulative, value >= 1)).sum(axis=-2))

    def log_density(self, theta: FloatArray) -> FloatArray:
        """The log density at points (points, cells): (..., points, cells); ln 0 below a certain 1."""
        places, a, b = theta[:, None], self.a[..., None, :, :] - 1, self.b[..., None, :, :] - 1
        logs = (
            a * np.log(places) + b * np.log1p(-places)  # a logarithm for each point, and not for each component
            if np.all((theta > 0) & (theta < 1))
            else special.xlogy(a, places) + special.xlog1py(b, -places)
        )
        logs += self._log_constants[..., None, :, :]
        density = _log_sums(np.asarray(np.moveaxis(logs, -2, -1)))
        return np.where(np.all(self.b > 0, axis=-2)[..., None, :], density, -np.inf)

    @cached_property
    def _log_constants(self) -> FloatArray:
        with np.errstate(divide="ignore"):  # a weight may be too small for a double
            return np.asarray(np.log(self.weights) - special.betaln(self.a, np.maximum(self.b, _LEAST)))

    def quantile(self, share: float) -> FloatArray:
        """Return the quantile at a level `share`: (..., cells), by Newton steps inside a bracket.

        The normal score of the level is nearly linear in the log-odds of theta, so few steps suffice. Finished cells
        take no further steps.
        """
        shape, target = (*self.a.shape[:-2], self.a.shape[-1]), float(special.ndtri(share))
        a, b, weights, constants = (
            np.moveaxis(array, -2, 0).reshape(array.shape[-2], -1)
            for array in (self.a, self.b, self.weights, self._log_constants)
        )
        place = self._near(target).ravel()
        low, high = np.zeros_like(place), np.ones_like(place)
        left = np.arange(place.size)  # cells without a quantile so far
        for _ in range(_STEPS):
            here, first, second = place[left], a[:, left], b[:, left]
            reached = (weights[:, left] * special.betainc(first, np.maximum(second, _LEAST), here)).sum(axis=0)
            low[left], high[left] = (
                np.where(reached < share, here, low[left]),
                np.where(reached < share, high[left], here),
            )
            with np.errstate(all="ignore"):  # at an end of the bracket the density may be 0 or infinite
                logs = special.xlogy(first - 1, here) + special.xlog1py(second - 1, -here) + constants[:, left]
                score = special.ndtri(reached)
                slope = np.exp(_log_sums(logs.T) + score**2 / 2) * here * (1 - here) * math.sqrt(math.tau)
                step = special.expit(special.logit(here) - (score - target) / slope)
            # A step that stays close to an end of the bracket has converged.
            inside = (step > low[left] - _CLOSE) & (step < high[left] + _CLOSE)
            place[left] = np.where(inside, step, (low[left] + high[left]) / 2)
            left = left[np.abs(place[left] - here) >= _CLOSE]
            if not left.size:
                break
        return np.where((self.b > 0).all(axis=-2), place.reshape(shape), 1.0)

    def _near(self, score: float) -> FloatArray:
        """Return the quantile of this normal score for normal log-odds with about the right spread: (..., cells)."""
        mean, sd = self.mean, self.sd
        inner = np.clip(mean, 1e-9, 1 - 1e-9)
        spread = sd / (inner * (1 - inner))
        return np.asarray(special.expit(special.logit(inner) + score * np.minimum(spread, 3.0)))


def _log_sums(logs: FloatArray) -> FloatArray:
    """Return ln of the sum of exponentials over the last axis of logs (..., S), which are overwritten: (...,)."""
    most = logs.max(axis=-1, keepdims=True)
    logs -= most
    return np.asarray(np.log(np.exp(logs, out=logs).sum(axis=-1)) + most[..., 0])


def _log_dirichlet(alpha: FloatArray, log_theta: FloatArray) -> FloatArray:
    """Return the log density of Dirichlet distributions (..., m, S, r) at ln theta (m, J, r): (..., m, J, S)."""
    constant = special.gammaln(alpha.sum(axis=-1)) - special.gammaln(alpha).sum(axis=-1)
    return np.asarray(np.matmul(log_theta, np.swapaxes(alpha - 1, -1, -2)) + constant[..., None, :])
