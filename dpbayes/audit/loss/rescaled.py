"""The law of two noisy counts, each clipped to [0, n], of which only the ratio is handed over.

Of counts (a, n - a) with Laplace noise of scale b, clipped to Y1 and Y2, the share t = Y1/(Y1 + Y2) has atoms at 0, at
1 and, where both are clipped to the same end, at 1/2. In between its density is an integral over s = Y1 + Y2,

    f(t) = integral over 0 < s < n/max(t, 1 - t) of s p(s t - a) p(s (1 - t) - n + a),    p(x) = exp(-|x|/b)/(2b),

plus that of the pairs of which one is clipped to n. The integrand is exponential between s = a/t and (n - a)/(1 - t),
and on either side, so that it is known in closed form. For more sides than two, t is the ratio of the first two counts,
which the rescaled counts still show: what it loses is a lower bound there.
"""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.posteriors.divergence import expm1_excess

_PAIRS, _POINTS, _ZOOMS = 24, 401, 8
_NEAR_EVEN, _FAR = 1e-9, 20.0
"""Shares that are searched, as log odds: from next to even ones to ln n and so much more."""

_WIDER, _NARROWER = 0.2, 0.05


def log_density(share: ArrayLike, *, first: ArrayLike, n: int, scale: float) -> FloatArray:
    """Return ln f(t) at shares t strictly between 0 and 1, atoms left out, for counts (first, n - first): (...)."""
    t, a = (np.asarray(part, dtype=np.float64) for part in (share, first))
    rest = n - a

    def exponent(s: FloatArray) -> FloatArray:
        return -(np.abs(s * t - a) + np.abs(s * (1 - t) - rest)) / scale

    most = n / np.maximum(t, 1 - t)
    turns = np.sort(np.stack([np.minimum(a / t, most), np.minimum(rest / (1 - t), most)]), axis=0)
    ends = [np.zeros(most.shape), turns[0], turns[1], np.broadcast_to(most, turns[0].shape)]
    pieces = [_log_piece(low, high, exponent(low), exponent(high)) for low, high in pairwise(ends)]
    inside = np.logaddexp.reduce(pieces, axis=0) - 2 * math.log(2 * scale)
    # One of them is clipped to n: that on the larger side of t.
    large = np.maximum(t, 1 - t)
    clipped, free = np.where(t > 0.5, a, rest), np.where(t > 0.5, rest, a)
    other = n * (1 - large) / large
    edge = -(n - clipped) / scale - np.abs(other - free) / scale + np.log(n / large**2) - math.log(4 * scale)
    return np.logaddexp(inside, edge)


def rescaled_loss(*, n: int, scale: float) -> tuple[float, int, float]:
    """Return the largest loss found of (a, n - a) against (a - 1, n - a + 1), that a, and the share where it is met.

    It is a lower bound of what rescaled counts lose: the density is continuous, so the loss is met around there.
    """
    first = np.unique(np.geomspace(1, n, _PAIRS).astype(np.int64))[:, None]
    ahead = np.geomspace(_NEAR_EVEN, math.log(n) + _FAR, _POINTS)
    odds = np.concatenate([-ahead, ahead])
    best = (-math.inf, 1, 0.5)
    reach = 0.0
    for zoom in range(_ZOOMS):
        share = special.expit(odds)
        share = share[(share > 0) & (share < 1)]
        laws = [log_density(share, first=a, n=n, scale=scale) for a in (first, first - 1)]
        loss = laws[0] - laws[1]
        row, column = np.unravel_index(int(np.argmax(loss)), loss.shape)
        if loss[row, column] > best[0]:
            best = float(loss[row, column]), int(first[row, 0]), float(share[column])
        first, middle = np.array([[best[1]]]), float(special.logit(best[2]))
        reach = reach * _NARROWER if zoom else _WIDER * abs(middle)
        odds = middle + reach * np.linspace(-1, 1, _POINTS)
    return best


def _log_piece(low: FloatArray, high: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """ln of the integral of s e^f(s) over [low, high], f straight from `start` to `end`; -infinity where it is empty.

    With x = |end - start| and u the distance from the end where f is larger, all terms are positive.
    """
    width, x = high - low, np.abs(end - start)
    small = np.maximum(x, 1e-12)
    near = expm1_excess(-small) / small**2  # integral of (1 - v) e^(-x v) over [0, 1]
    tail = -np.expm1(-small) / small  # of e^(-x v)
    far = np.where(
        small < 0.5,
        np.exp(-small) * expm1_excess(np.minimum(small, 0.5)) / small**2,
        -np.expm1(np.log1p(small) - small) / small**2,
    )  # of v e^(-x v)
    weight = width * (low * tail + width * np.where(end >= start, near, far))
    with np.errstate(divide="ignore"):
        return np.maximum(start, end) + np.log(weight)
