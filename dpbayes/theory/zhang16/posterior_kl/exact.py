"""The KL divergence of a released row as a random quantity: its exact mean and its exact largest value.

A row of r states has the exact posterior Dir(a), a = alpha + counts, and the released one Dir(alpha + Z) with
Z_k = clip(counts_k + Lap(b), 0, n), independent. In nats,

    f(Z) = KL(Dir(a) || Dir(alpha + Z)) = sum_k d(a_k, alpha_k + Z_k) - d(a_0, alpha_0 + sum_k Z_k),

with the Bregman divergence d of ln Gamma. A KL divergence of an exponential family is convex in its second argument,
so on the box [0, n]^r it is largest at a corner, and it is zero inside.

The mean needs no quadrature over Z. From psi'(x) = int_0^inf t e^(-xt) / (1 - e^-t) dt follows

    d(x, x + w) = int_0^inf e^(-xt) g(tw) / (t (1 - e^-t)) dt,    g(u) = e^-u - 1 + u >= 0,

and E g(tW) is elementary for a clipped Laplace W, hence for sums of them. That leaves one smooth integral over ln t.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.dataset import Counts
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import bregman_loggamma

_STEP = 0.35
"""Spacing in ln t; the integrand is analytic for |Im ln t| < pi/2, so the trapezoid rule errs by about e^(-pi^2/h)."""

_SMALL = 1e-3
"""Below this t min(b, L) four terms of a power series replace differences that would cancel."""

_BLOCK = 400_000
"""Most numbers per array, so that they stay near the processor."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct CPT rows of r states: `prior` and `counts` (R, r), how often each occurs (R,), and n.

    The order of a row's states does not matter for KL and is sorted away.
    """

    prior: FloatArray
    counts: FloatArray
    times: IntArray
    n: float

    @property
    def states(self) -> int:
        """r, the number of states."""
        return self.prior.shape[1]

    @property
    def posterior(self) -> FloatArray:
        """a = alpha + counts: (R, r)."""
        return self.prior + self.counts

    def total(self, values: FloatArray) -> FloatArray:
        """Sum values of the distinct rows (..., R) over all rows: (...)."""
        return values @ self.times


def distinct_rows(prior: Dirichlets, counts: Counts) -> tuple[Rows, ...]:
    """Return the distinct rows of a network, one `Rows` for every number of states above one.

    Errors: InputError for batches and for counts of another network.
    """
    network = prior.network
    if counts.network != network:
        raise InputError("The counts and the prior have different networks. Count the table again.")
    if prior.alpha.ndim != 1 or counts.values.ndim != 1:
        raise InputError("These bounds take one prior and one set of counts at a time.")
    cards = network.cards[network.node_of_row]
    by_cards = []
    for card in np.unique(cards[cards > 1]):
        cells = network.row_starts[cards == card][:, None] + np.arange(card)
        pairs = np.sort(counts.values[cells] + 1j * prior.alpha[cells], axis=-1)
        columns = np.concatenate([pairs.imag, pairs.real], axis=-1).T
        rows = columns[:, np.lexsort(columns[::-1])].T  # np.unique takes twenty times as long for rows
        starts = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1)))
        distinct, times = rows[starts], np.diff(starts, append=len(rows))
        by_cards.append(Rows(distinct[:, :card], distinct[:, card:], times, float(counts.n)))
    return tuple(by_cards)


def kl_at(rows: Rows, updates: FloatArray) -> FloatArray:
    """Return f at the released updates (..., R, r) in nats: (..., R)."""
    a, released = rows.posterior, rows.prior + updates
    cells = bregman_loggamma(a, released).sum(axis=-1)
    return np.maximum(cells - bregman_loggamma(a.sum(axis=-1), released.sum(axis=-1)), 0.0)


def oscillation(rows: Rows) -> FloatArray:
    """Return max f - min f over [0, n]^r in nats: (R,). [Zhang16] Lemma A.4, exact.

    The minimum 0 is at the counts. Of the corners with j coordinates at n, the best takes the j largest gains, so r + 1
    candidates stand for all 2^r.
    """
    a, alpha = rows.posterior, rows.prior
    low, high = bregman_loggamma(a, alpha), bregman_loggamma(a, alpha + rows.n)
    gains = -np.sort(low - high, axis=-1)
    totals = alpha.sum(axis=-1, keepdims=True) + rows.n * np.arange(rows.states + 1)
    best = low.sum(axis=-1, keepdims=True) + np.concatenate([np.zeros((len(a), 1)), np.cumsum(gains, axis=-1)], axis=-1)
    largest: FloatArray = (best - bregman_loggamma(a.sum(axis=-1, keepdims=True), totals)).max(axis=-1)
    return np.maximum(largest, 0.0)


def clipped_mean(counts: FloatArray, n: float, scale: FloatArray) -> FloatArray:
    """Return E clip(D + Lap(b), 0, n) = D + (b/2) (e^(-D/b) - e^(-(n-D)/b)), broadcast. [Zhang16] A.2, corrected.

    The paper counts the atom at n twice and so adds (n/2) e^(-(n-D)/b).
    """
    return counts + scale / 2 * (np.exp(-counts / scale) - np.exp(-(n - counts) / scale))


def printed_clipped_mean(counts: FloatArray, n: float, scale: FloatArray) -> FloatArray:
    """Return E Z as the proof prints it; it can exceed n. [Zhang16] A.2."""
    return counts + scale / 2 * np.exp(-counts / scale) + (n - scale) / 2 * np.exp((counts - n) / scale)


def expected_kl(groups: Iterable[Rows], scale: FloatArray) -> FloatArray:
    """Return the exact E KL(exact || released) of all rows together in nats, for noise scales b (E,): (E,)."""
    total = np.zeros(scale.shape)
    for rows in groups:
        total += rows.total(expected_kl_rows(rows, scale))
    return total


def expected_kl_rows(rows: Rows, scale: FloatArray) -> FloatArray:
    """Return the exact E f of every distinct row in nats, for noise scales b (E,): (E, R). [Zhang16] Theorem 1."""
    t = _nodes(rows)
    blocks = slices(len(scale), _BLOCK // (len(t) * max(1, len(rows.prior))))
    parts = [_expected_block(rows, scale[part], t) for part in blocks]
    return np.concatenate(parts) if parts else np.zeros((0, len(rows.prior)))


def _nodes(rows: Rows) -> FloatArray:
    """Nodes in t from where the integrand is linear to where it has vanished: (T,)."""
    first = np.log(1e-7 / (rows.n + rows.posterior.sum(axis=-1).max()))
    last = np.log(40 / rows.prior.min())
    return np.exp(np.arange(first, last + _STEP, _STEP))


def _expected_block(rows: Rows, scale: FloatArray, t: FloatArray) -> FloatArray:
    """Integrate over t. `spread` is e^(-t sum D) E g(t sum W), gathered state by state; see `_add_state`."""
    rate = 1 / scale[:, None]
    cells = np.zeros((len(scale), len(rows.prior), len(t)))
    partial, linear, cross, decay = cells.copy(), cells.copy(), cells.copy(), np.ones(cells.shape[1:])
    for k in range(rows.states):
        counts = rows.counts[:, k]
        bend, shift = _bend(counts, rows.n, rate, t)
        drop = np.exp(-t * counts[:, None])
        cells += np.exp(-t * rows.prior[:, k, None]) * bend
        moved = bend - shift[..., None] * t * drop
        # prod (1 + q) = 1 + sum q + cross, everything times e^(-t sum D) against overflow.
        cross = cross * (drop + moved) + linear * moved
        linear, partial = linear * drop + moved * decay, partial * drop + bend * decay
        decay = decay * drop
    integrand = (cells - np.exp(-t * rows.prior.sum(axis=-1)[:, None]) * (partial + cross)) / -np.expm1(-t)
    below = integrand[..., 0] / np.expm1(_STEP)  # what nodes further left would add, where the integrand is linear in t
    return np.maximum((integrand.sum(axis=-1) + below) * _STEP, 0.0)


def _bend(counts: FloatArray, n: float, rate: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return e^(-tD) E g(tW) (E, R, T) and E W (E, R) for W = clip(Lap(b), -D, n - D).

    By parts, E g(tW) = t/2 [H(c, U) - H(c + t, U)] + t/2 [H(c - t, D) - H(c, D)] with c = 1/b, U = n - D and
    H(c, L) = int_0^L e^(-cw) dw. Both brackets are positive.
    """
    up, down = n - counts, counts
    above, below = _mass(rate, up), _mass(rate, down)
    c, drop = rate[..., None], np.exp(-t * down[:, None])
    upward = (above[..., None] - _mass(c + t, up[:, None])) * drop
    downward = np.exp(-down[:, None] * np.minimum(t, c)) * _mass(np.abs(c - t), down[:, None])
    downward -= below[..., None] * drop
    upward = np.where(t * np.minimum(1 / c, up[:, None]) < _SMALL, _series(rate, up, -t) * drop, upward)
    downward = np.where(t * np.minimum(1 / c, down[:, None]) < _SMALL, _series(rate, down, t) * drop, downward)
    return t / 2 * (upward + downward), (above - below) / 2


def _mass(rate: FloatArray, length: FloatArray) -> FloatArray:
    """H(c, L) for c >= 0: (1 - e^(-cL))/c, and L at c = 0."""
    product = rate * length
    tiny = product < 1e-300
    return length * np.where(tiny, 1.0, -np.expm1(-product) / np.where(tiny, 1.0, product))


def _series(rate: FloatArray, length: FloatArray, t: FloatArray) -> FloatArray:
    """|int_0^L (e^(tw) - 1) e^(-cw) dw| to four terms, t of either sign: (E, R, T)."""
    size = np.zeros((*rate.shape[:1], len(length), len(t)))
    for j in range(1, 5):
        moment = special.gammainc(j + 1, rate * length) / rate ** (j + 1)
        size += moment[..., None] * t**j
    return np.abs(size)
