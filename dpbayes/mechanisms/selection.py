"""The private choice of one of some candidates by their scores: permute-and-flip, simulated and for a real release.

In random order each candidate is offered, and taken with probability exp((s - max s)/scale), where scale =
2 sensitivity/epsilon. That is private at epsilon, and its expected score is never below that of the exponential
mechanism, whose exponent is the same. It is the law of the maximum of scores with exponential noise, and the one which
OpenDP draws exactly and proves in pure epsilon. [McKenna20] Algorithm 1.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import panel_rule
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.confirmed import calibrated, opendp, rounded_up

_BLOCK = 1 << 20
"""Refusals held at once, over times and candidates."""


def flip_scale(sensitivity: int | float, epsilon: Fraction) -> float:
    """Return 2 sensitivity/epsilon, rounded up to a double; 1 where no score depends on the data.

    Errors: InputError for an epsilon so small that no double holds the scale.
    """
    if not sensitivity:
        return 1.0
    exact = 2 * Fraction(sensitivity) / epsilon
    try:
        return rounded_up(exact)
    except OverflowError:
        raise InputError("epsilon is too small for a choice; choose a larger one.") from None


def flip_log_pmf(scores: ArrayLike, scale: float) -> FloatArray:
    """Return ln of the probability of every candidate (k,), exactly: for audits.

    P[k] = p_k times the integral over t in (0, 1) of prod_j!=k (1 - t p_j), with p = exp((s - max s)/scale): t is when
    k is offered, if each candidate is at a uniform time of its own. The integrand is a polynomial, for which Gauss'
    quadrature is exact up to 150 candidates; beyond, its nodes lie closer than the integrand bends.
    """
    logits = _below_the_best(scores, scale)
    count = len(logits)
    places, weights = panel_rule(nodes=min(count // 2 + 1, 40 + 4 * math.isqrt(count)))
    times, log_weights = places[:, None], np.log(weights[:, None])
    blocks = np.array_split(logits, -(-count * len(places) // _BLOCK))
    refusals = np.sum([_log_refused(block, times).sum(axis=1) for block in blocks], axis=0)[:, None]
    return np.concatenate(
        [block + special.logsumexp(refusals - _log_refused(block, times) + log_weights, axis=0) for block in blocks]
    )


def simulate_flip(scores: ArrayLike, scale: float, rng: np.random.Generator) -> int:
    """Return a candidate drawn with the generator, in doubles: for showing, never for a real release."""
    logits = _below_the_best(scores, scale)
    order = rng.permutation(len(logits))
    taken = rng.random(len(logits)) < np.exp(logits[order])
    return int(order[int(np.argmax(taken))])


def draw_flip(scores: IntArray, *, sensitivity: int, epsilon: Fraction) -> int:
    """Return a candidate drawn by OpenDP in exact arithmetic from the operating system's randomness.

    Scores are whole numbers, so that nothing is rounded before the draw. Errors: those of `confirmed_chooser`.
    """
    return int(confirmed_chooser(sensitivity, epsilon)([int(score) for score in scores]))


def confirmed_chooser(sensitivity: int, epsilon: Fraction) -> Any:
    """Return what draws from a list of scores, once OpenDP's own privacy map has confirmed it; nothing is drawn here.

    The scale grows until the map's answer is at most epsilon, exactly. Errors: InputError if it never is, or without
    OpenDP.
    """
    library = opendp()
    space = library.vector_domain(library.atom_domain(T="i64")), library.linf_distance(T="i64")

    def chooser(scale: float) -> Any:
        return library.m.make_noisy_max(*space, library.max_divergence(), scale=scale)

    least = Fraction(flip_scale(sensitivity, epsilon))
    confirmed = calibrated(lambda scale: float(chooser(scale).map(sensitivity)), least=least, most=epsilon)
    return chooser(float(confirmed.scale))


def _log_refused(logits: FloatArray, times: FloatArray) -> FloatArray:
    """ln of the probability that a candidate has not been taken by a time: (times, candidates)."""
    return np.log1p(-times * np.exp(logits))


def _below_the_best(scores: ArrayLike, scale: float) -> FloatArray:
    values = np.asarray(scores)
    return (values - values.max()) / scale
