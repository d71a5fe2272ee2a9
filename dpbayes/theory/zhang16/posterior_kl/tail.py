"""Certified quantiles of the KL divergence between the exact and the released posterior, for many noise scales at once.

The divergence is a sum of independent rows, each convex in its clipped Laplace updates. The distribution of every row
is replaced by a discrete distribution that dominates it:

1. The range of the updates is divided into cells with exact probabilities. Updates further than `reach` noise scales
   from the counts are left out, and their small probability is added to the failure probability.
2. On a cell, a convex function is at most its value at the largest corner. The probability of every cell is moved to
   this value, rounded up to a common grid. The result dominates the row's distribution.
3. The rows' distributions are convolved by Fourier transform. Sums beyond the grid wrap around. Their probability has a
   Chernoff bound, which is also added to the failure probability.

A row of two states has two-dimensional cells. For more states f is first bounded by a sum over its states: d is convex,
so d(a_0, y_0) is at least its tangent at E y_0. The result is rigorous up to rounding (about 1e-12).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.base.libraries import fft
from dpbayes.base.steps import slices
from dpbayes.base.types import ComplexArray, FloatArray, IntArray
from dpbayes.posteriors.divergence import bregman_loggamma
from dpbayes.theory.zhang16.posterior_kl.exact import Rows, clipped_mean, expected_kl, oscillation

CELLS = 64
"""Cells per update; the excess is inversely proportional to this number."""

MOST_PIECES = 100
"""The largest number of distinct distributions to convolve; for hundreds, Chernoff's bound is as sharp and faster."""

_LEAST_VALUES, _MOST_VALUES = 4096, 32768
"""Most steps of the grid of values; a row's value is rounded up by less than one."""

_ROOM = 1.25
"""The grid ends this much above a bound that is exceeded with probability delta/1000."""

_RATES = np.concatenate([np.arange(-13, -1, 2), np.arange(-1, 8)])
"""Powers of 2 tried for lambda E f; the low ones for small noise, whose square has a tail beyond the exponential."""

_COARSE = 16
_BLOCK = 500_000
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class TailBounds:
    """Certified bounds (E,) in nats that the KL divergence exceeds with probability at most delta.

    `is_convolved` states whether the quantile is from the dominating distribution; otherwise it is Chernoff's bound.
    """

    quantile: FloatArray
    chernoff: FloatArray
    mcdiarmid: FloatArray
    largest: FloatArray
    is_convolved: bool

    @property
    def best(self) -> FloatArray:
        """The smallest of them: (E,)."""
        return np.minimum.reduce([self.quantile, self.chernoff, self.mcdiarmid, self.largest])


@dataclass(frozen=True, eq=False)
class _Grid:
    """Nodes low + i step, i = 0..cells, of every update: `low` (e, R, r), `step` (e, 1, 1), noise scale (e, 1, 1)."""

    rows: Rows
    scale: FloatArray
    low: FloatArray
    step: FloatArray
    cells: int

    @property
    def nodes(self) -> FloatArray:
        """(e, R, r, cells + 1); the last is exactly n where the grid ends there."""
        return np.minimum(self.low[..., None] + self.step[..., None] * np.arange(self.cells + 1), self.rows.n)

    @property
    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """The probabilities of 0 and of n where the grid reaches them, else 0: (e, R, r) each."""
        at_zero = np.exp(-self.rows.counts / self.scale) / 2
        at_n = np.exp(-(self.rows.n - self.rows.counts) / self.scale) / 2
        high = self.low + self.cells * self.step
        return np.where(self.low <= 0, at_zero, 0.0), np.where(high >= self.rows.n * (1 - 1e-12), at_n, 0.0)

    @property
    def masses(self) -> FloatArray:
        """The probability of every cell: (e, R, r, cells)."""
        offset = (self.nodes - self.rows.counts[:, :, None]) / self.scale[..., None]
        tail = np.exp(-np.abs(offset)) / 2
        both = np.where(offset > 0, 1 - tail, tail)
        # Right of the counts the difference of upper tails keeps the digits.
        return np.where(offset[..., :-1] > 0, -np.diff(tail, axis=-1), np.diff(both, axis=-1))

    @property
    def spread(self) -> FloatArray:
        """The probabilities of nodes when each cell's mass goes to its two ends, keeping its mean: (e, R, r, cells+1).

        That raises the expectation of every convex function, exp(lambda f) among them.
        """
        offset = (self.nodes - self.rows.counts[:, :, None]) / self.scale[..., None]
        tail = np.exp(-np.abs(offset)) / 2
        below, integral = np.where(offset > 0, 1 - tail, tail), np.maximum(offset, 0) + tail
        masses = self.masses
        up = below[..., 1:] - np.diff(integral, axis=-1) * (self.scale / self.step)[..., None]
        up = np.clip(up, 0.0, masses)
        first, last = self.atoms
        weights = np.zeros((*masses.shape[:-1], self.cells + 1))
        weights[..., :-1] += masses - up
        weights[..., 1:] += up
        weights[..., 0] += first
        weights[..., -1] += last
        return weights

    def values(self) -> tuple[FloatArray, FloatArray]:
        """Return the pieces of f at the nodes, minus their least values, and the sum of those (e, R).

        For r = 2 one piece (e, R, cells+1, cells+1); otherwise r of them (e, R, r, cells+1), whose sum is at least f.
        """
        rows, nodes, posterior = self.rows, self.nodes, self.rows.posterior
        start = posterior.sum(axis=-1)
        cells = bregman_loggamma(posterior[:, :, None], rows.prior[:, :, None] + nodes)
        if rows.states == 2:
            sums = self.low.sum(axis=-1, keepdims=True) + self.step * np.arange(2 * self.cells + 1)
            totals = bregman_loggamma(start[:, None], rows.prior.sum(axis=-1)[:, None] + sums)
            hankel = np.lib.stride_tricks.sliding_window_view(totals, self.cells + 1, axis=-1)
            table = cells[..., 0, :, None] + cells[..., 1, None, :] - hankel
            return np.maximum(table, 0.0), np.zeros(table.shape[:2])
        mean = clipped_mean(rows.counts, rows.n, self.scale)
        middle = rows.prior.sum(axis=-1) + mean.sum(axis=-1)
        slope = (special.digamma(middle) - special.digamma(start))[..., None, None]
        pieces = cells - slope * (nodes - mean[..., None])
        least = pieces.min(axis=-1, keepdims=True)
        return pieces - least, least.sum(axis=(-2, -1)) - bregman_loggamma(start, middle)


def _grid(rows: Rows, scale: FloatArray, reach: float, cells: int) -> _Grid:
    wide = scale[:, None, None]
    span = np.minimum(rows.n, 2 * reach * wide)
    low = np.clip(rows.counts - span / 2, 0.0, rows.n - span)
    return _Grid(rows, wide, low, span / cells, cells)


def tail_bounds(groups: Sequence[Rows], scale: FloatArray, *, delta: float, cells: int = CELLS) -> TailBounds:
    """Return bounds on KL(exact || released) that fail with probability at most delta, for noise scales b (E,).

    `groups` are the rows of the network (`distinct_rows`). [Zhang16] Theorem 1, corrected: McDiarmid's inequality with
    sum c^2 and exact constants, Chernoff's bound, and the quantile of the dominating law. `cells` trades time for
    sharpness of the quantile. Where more than MOST_PIECES distinct laws would have to be convolved, Chernoff's bound
    stands for the quantile; it is close to it for sums of so many.
    """
    mean = expected_kl(groups, scale)
    constants = [(rows, oscillation(rows)) for rows in groups]
    largest = np.full(scale.shape, sum((float(rows.total(c)) for rows, c in constants), 0.0))
    squares = sum((float(rows.total(c**2)) for rows, c in constants), 0.0)
    mcdiarmid = mean + np.sqrt(np.log(1 / delta) / 2 * squares)
    if not np.any(largest > 0):
        return TailBounds(largest, largest, largest, largest, is_convolved=True)
    reach = float(np.log(2 * sum(int(rows.times.sum()) * _pieces(rows) for rows in groups) / delta)) + 4.0
    rates = 2.0**_RATES / np.maximum(mean, 1e-300)[:, None]
    near, far, rate = _chernoff(groups, scale, rates, reach=reach, delta=delta)
    quantile, is_convolved = near, sum(len(rows.times) * _pieces(rows) for rows in groups) <= MOST_PIECES
    if is_convolved:
        grids = _Search(reach, cells, _ROOM * np.minimum(far, largest), rate)
        quantile = _quantile(groups, scale, grids, delta=delta)
    return TailBounds(
        np.minimum(quantile, largest), np.minimum(near, largest), mcdiarmid, largest, is_convolved=is_convolved
    )


def _chernoff(
    groups: Sequence[Rows], scale: FloatArray, rates: FloatArray, *, reach: float, delta: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return [ln E exp(lambda f) + ln(1/delta)] / lambda at its best lambda; for delta/1000 too, and that lambda."""
    exponent, _ = _log_means(groups, scale, rates, reach=reach, cells=_COARSE)
    near = np.argmin((exponent + np.log(1 / delta)) / rates, axis=-1)
    far = np.argmin((exponent + np.log(1e3 / delta)) / rates, axis=-1)
    every = np.arange(len(scale))
    finer = rates[every, near][:, None] * 2 ** (np.arange(-2, 3) / 3)
    sharp, lost = _log_means(groups, scale, finer, reach=reach, cells=2 * _COARSE)
    best = ((sharp + np.log(1 / np.maximum(delta - lost, 1e-300))[:, None]) / finer).min(axis=-1)
    return best, ((exponent + np.log(1e3 / delta)) / rates)[every, far], rates[every, far]


def _log_means(
    groups: Sequence[Rows], scale: FloatArray, rates: FloatArray, *, reach: float, cells: int
) -> tuple[FloatArray, FloatArray]:
    """Return an upper bound of ln E exp(lambda f) within reach (E, L) and the probability (E,) that is out of reach."""
    exponent, lost = np.zeros(rates.shape), np.full(scale.shape, _ROUNDING)
    for rows in groups:
        for block, part in _blocks(rows, len(scale), cells, 1):
            grid = _grid(part, scale[block], reach, cells)
            values, base = grid.values()
            weights = grid.spread
            if part.states == 2:
                weights = weights[:, :, 0, :, None] * weights[:, :, 1, None, :]
            ends = (-2, -1) if part.states == 2 else (-1,)
            outside = np.maximum(1 - weights.sum(axis=ends), 0.0).reshape(*base.shape, -1).sum(axis=-1)
            lost[block] += part.total(outside)
            values = np.where(weights > 0, values, 0.0)
            for k, rate in enumerate(rates[block].T):
                with np.errstate(over="ignore"):
                    sums = (np.exp(rate[:, None, None, None] * values) * weights).sum(axis=ends)
                log_means = np.log(np.maximum(sums, 1e-300)).reshape(*base.shape, -1).sum(axis=-1)
                exponent[block, k] += part.total(log_means + rate[:, None] * base)
    return exponent, lost


@dataclass(frozen=True, eq=False)
class _Search:
    """The range of the quantile: below `top` (E,); the tail above has a Chernoff bound with `rate` (E,)."""

    reach: float
    cells: int
    top: FloatArray
    rate: FloatArray


def _quantile(groups: Sequence[Rows], scale: FloatArray, search: _Search, *, delta: float) -> FloatArray:
    """Return the 1 - delta quantile of the convolution: (E,), infinite if the failure probability is too large."""
    pieces = sum(int(rows.times.sum()) * _pieces(rows) for rows in groups)
    size = int(np.clip(2 ** np.ceil(np.log2(32 * pieces)), _LEAST_VALUES, _MOST_VALUES))
    base = np.zeros(scale.shape)
    for rows in groups:
        if rows.states != 2:
            base += rows.total(_grid(rows, scale, search.reach, search.cells).values()[1])
    step = np.maximum(search.top - base, 1e-300) / (size - 1)
    growth = search.rate * step
    tilt = np.exp(-growth[:, None] * np.arange(size)[::-1])  # relative to the last value, against overflow
    spectrum = np.ones((len(scale), size // 2 + 1), dtype=np.complex128)
    lost, beyond = np.full(scale.shape, _ROUNDING), -growth * size
    for rows in groups:
        for block, part in _blocks(rows, len(scale), search.cells, size):
            law = _dominating(_grid(part, scale[block], search.reach, search.cells), step[block], size)
            times = np.repeat(part.times, _pieces(part))
            lost[block] += np.maximum(1 - law.sum(axis=-1), 0.0) @ times
            tilted = (law @ tilt[block, :, None])[..., 0]
            beyond[block] += (np.log(np.maximum(tilted, 1e-300)) + growth[block, None] * (size - 1)) @ times
            spectrum[block] *= _product(fft.rfft(law, axis=-1), times)
    total = np.maximum(fft.irfft(spectrum, n=size, axis=-1), 0.0)
    lost += np.exp(np.minimum(beyond, 0.0))
    tails = np.cumsum(total[:, ::-1], axis=-1)[:, ::-1] - total + lost[:, None]
    return np.where(tails[:, -1] <= delta, base + step * np.argmax(tails <= delta, axis=-1), np.inf)


def _pieces(rows: Rows) -> int:
    """Return the number of independent pieces of a row: one for two states, else one for each state."""
    return 1 if rows.states == 2 else rows.states


def _dominating(grid: _Grid, step: FloatArray, size: int) -> FloatArray:
    """Return the dominating law of every piece on the values step * (0, ..., size - 1): (e, pieces, size)."""
    first, last = grid.atoms
    masses = np.concatenate([first[..., None], grid.masses, last[..., None]], axis=-1)
    corners = _ends(grid.values()[0])
    pieces = len(grid.rows.times) * _pieces(grid.rows)
    if grid.rows.states == 2:
        corners = _ends(corners.swapaxes(-1, -2)).swapaxes(-1, -2)
        masses = masses[:, :, 0, :, None] * masses[:, :, 1, None, :]
    shape = (len(step), pieces, -1)
    bins = np.minimum(np.ceil(corners.reshape(shape) / step[:, None, None]), size).astype(np.int64)
    bins += np.arange(len(step) * pieces).reshape(len(step), pieces, 1) * (size + 1)
    laws = np.bincount(bins.ravel(), weights=masses.ravel(), minlength=len(step) * pieces * (size + 1))
    law: FloatArray = laws.astype(np.float64, copy=False)
    return law.reshape(len(step), pieces, size + 1)[..., :size]


def _ends(values: FloatArray) -> FloatArray:
    """The larger end of every cell on the last axis, with the two atoms before and after."""
    return np.concatenate([values[..., :1], np.maximum(values[..., :-1], values[..., 1:]), values[..., -1:]], axis=-1)


def _product(spectra: ComplexArray, times: IntArray) -> ComplexArray:
    """Return prod_p spectra[:, p] ** times[p] by repeated squaring: (e, frequencies)."""
    result = np.ones((spectra.shape[0], spectra.shape[2]), dtype=np.complex128)
    while len(times):
        result *= np.prod(spectra[:, times % 2 == 1], axis=1)
        more = times > 1
        times, spectra = times[more] // 2, spectra[:, more] ** 2
    return result


def _blocks(rows: Rows, count: int, cells: int, size: int) -> Iterator[tuple[slice, Rows]]:
    """Divide (noise scales, rows) into blocks whose arrays fit into the processor's cache."""
    size_of_row = max((cells + 2) ** 2, size) if rows.states == 2 else rows.states * size
    wide = max(1, min(len(rows.times), _BLOCK // size_of_row))
    deep = _BLOCK // (size_of_row * wide)
    for part in slices(len(rows.times), wide):
        few = Rows(rows.prior[part], rows.counts[part], rows.times[part], rows.n)
        for scales in slices(count, deep):
            yield scales, few
