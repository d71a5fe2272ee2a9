"""Exact privacy of a mechanism with finitely many inputs and outputs, from the logarithm of its law.

`log_pmf` (X, R) holds ln P[r | x]; `pairs` (N, 2) the places (x, y) of ordered neighbours. If the law is not
normalised, `log_masses` (X,) are the logarithms of its rows' sums, so that tiny differences keep their digits.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number

_BLOCK = 1 << 20
"""Losses held at once."""

_ROUNDING = 1e-9
"""Rounding of a loss, many times over."""


@dataclass(frozen=True)
class WorstLoss:
    """The exact pure epsilon, and where it is reached: neighbours x, y and output r, as places; -1 if nowhere."""

    epsilon: float
    x: int = -1
    y: int = -1
    r: int = -1


def checked_grid(epsilons: ArrayLike) -> FloatArray:
    """Return the epsilons of a curve (E,). Errors: InputError unless they are a list of non-negative numbers."""
    grid = np.asarray(epsilons, dtype=np.float64)
    if grid.ndim != 1 or not np.all(grid >= 0):
        raise InputError("The epsilons of a privacy curve must be a list of numbers that are not negative.")
    return grid


def exact_pure_epsilon(log_pmf: FloatArray, *, pairs: IntArray, log_masses: FloatArray | None = None) -> WorstLoss:
    """Return the largest loss over all pairs and outputs; infinite where y excludes what x allows."""
    worst = WorstLoss(0.0)
    for part, gaps, shifts, _ in _blocks(log_pmf, pairs, log_masses):
        losses = gaps - shifts
        place = int(np.argmax(losses))
        pair, r = divmod(place, losses.shape[1])
        if losses.flat[place] > worst.epsilon:
            worst = WorstLoss(float(losses.flat[place]), int(part[pair, 0]), int(part[pair, 1]), r)
    return worst


def exact_curve(
    log_pmf: FloatArray, *, pairs: IntArray, epsilons: ArrayLike, log_masses: FloatArray | None = None
) -> FloatArray:
    """Return delta(epsilon) = max over pairs of sum_r (P[r | x] - e^epsilon P[r | y])_+ at every epsilon: (E,).

    Terms are P[r | x] (1 - e^(epsilon - loss)), which do not cancel.
    """
    grid = checked_grid(epsilons)
    deltas = np.zeros(len(grid))
    for _, gaps, shifts, log_p in _blocks(log_pmf, pairs, log_masses):
        tops = (shifts - gaps).min(axis=1)
        order = np.argsort(tops, kind="stable")
        gaps, shifts, p, tops = gaps[order], shifts[order], np.exp(log_p[order]), tops[order]
        for k, epsilon in enumerate(grid):
            # Only these pairs lose more than epsilon anywhere; a loss that rounds to epsilon may be more than it.
            alive = int(np.searchsorted(tops, _ROUNDING * (1 + epsilon) - epsilon))
            if alive:
                excess = -np.expm1(np.minimum((epsilon - gaps[:alive]) + shifts[:alive], 0.0))
                deltas[k] = max(deltas[k], np.einsum("pr,pr->p", p[:alive], excess).max())
    return np.minimum(deltas, 1.0)


def exact_epsilon(log_pmf: FloatArray, *, pairs: IntArray, delta: float, log_masses: FloatArray | None = None) -> float:
    """Return the smallest epsilon >= 0 with delta(epsilon) <= delta.

    The worst events are prefixes S_k of the outputs sorted by falling loss (Neyman-Pearson), so it is the largest
    ln((P[S_k | x] - delta) / P[S_k | y]) over pairs and k.
    """
    delta = finite_number("delta", delta, low=0, high=1)
    least = 0.0
    for part, gaps, _, log_p in _blocks(log_pmf, pairs, log_masses):
        log_q = log_pmf[part[:, 1]] - (0.0 if log_masses is None else log_masses[part[:, 1], None])
        order = np.argsort(-gaps, axis=1, kind="stable")
        log_p, log_q = np.take_along_axis(log_p, order, axis=1), np.take_along_axis(log_q, order, axis=1)
        log_p, log_q = np.logaddexp.accumulate(log_p, axis=1), np.logaddexp.accumulate(log_q, axis=1)
        log_p = np.minimum(log_p, 0.0)  # a sum that rounding lifts above one exceeds even delta = 1
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = log_p + np.log1p(-np.exp(np.minimum(np.log(delta) - log_p, 0.0))) - log_q
        needed = np.where(np.isnan(needed), -np.inf, needed)
        least = max(least, float(needed.max()))
    return least


def _blocks(
    log_pmf: FloatArray, pairs: IntArray, log_masses: FloatArray | None
) -> Iterator[tuple[IntArray, FloatArray, FloatArray, FloatArray]]:
    """Yield some pairs, gaps (pairs, R) and shifts (pairs, 1) whose difference is their loss, and their ln P[r | x]."""
    masses = np.zeros(len(log_pmf)) if log_masses is None else log_masses
    _check(log_pmf, pairs, masses)
    step = max(1, _BLOCK // log_pmf.shape[1])
    for start in range(0, len(pairs), step):
        part = pairs[start : start + step]
        first, second = log_pmf[part[:, 0]], log_pmf[part[:, 1]]
        with np.errstate(invalid="ignore"):
            gaps = np.where(first == -math.inf, -math.inf, first - second)
        own, other = masses[part].T[..., None]
        yield part, gaps, own - other, first - own


def _check(log_pmf: FloatArray, pairs: IntArray, masses: FloatArray) -> None:
    if log_pmf.ndim != 2 or pairs.ndim != 2 or pairs.shape[1] != 2 or log_pmf.shape[1] == 0:
        raise InputError("An audit needs one distribution for every input, and pairs of inputs.")
    if not np.allclose(special.logsumexp(log_pmf, axis=1), masses, rtol=0, atol=1e-9):
        raise InputError("The distributions of an audit must sum to one.")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= len(log_pmf)):
        raise InputError(f"Pairs must name inputs from 0 to {len(log_pmf) - 1}.")
