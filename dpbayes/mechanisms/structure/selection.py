"""The private choice of one of some candidates by their scores: permute-and-flip, simulated and for a real release.

In random order each candidate is offered, and taken with probability exp((s - max s)/scale), where scale =
2 sensitivity/epsilon. That is private at epsilon, and its expected score is never below that of the exponential
mechanism, whose exponent is the same. It is the law of the maximum of scores with exponential noise, and the one which
OpenDP draws exactly and proves in pure epsilon. [McKenna20] Algorithm 1.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.noise.exact import calibrated, opendp, rounded_up


def flip_scale(sensitivity: int, epsilon: Fraction) -> float:
    """Return 2 sensitivity/epsilon, rounded up to a double; 1 where no score depends on the data.

    Errors: InputError for an epsilon so small that no double holds the scale.
    """
    if not sensitivity:
        return 1.0
    exact = 2 * Fraction(sensitivity) / epsilon
    try:
        return rounded_up(exact)
    except OverflowError:
        raise InputError("epsilon is too small for a choice. Use a larger epsilon.") from None


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


def _below_the_best(scores: ArrayLike, scale: float) -> FloatArray:
    values = np.asarray(scores)
    return (values - values.max()) / scale
