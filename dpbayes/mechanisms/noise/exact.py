"""Integers with exact noise, drawn by OpenDP from the operating system's randomness.

Nothing is drawn before OpenDP's own privacy map has answered, at the scale in use, no more than may be lost: a check of
the calibration by somebody else. OpenDP is imported where it is used, because it takes a third of a second.

Numbers with a scale each: their losses add up. OpenDP's map is asked of every scale what a move by one loses, and the
most of that per price, times what one record is charged at these prices, is what all of them lose together at most.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from dpbayes.base.amounts import PrivacyMeasure
from dpbayes.base.extras import extra
from dpbayes.base.steps import Work, slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError

BLOCK = 4096
"""Values drawn in one step: 60 ms."""

CHOICES = 64
"""Choices made in one step."""

_WORD = 2**62
"""Statistics and scores must stay within it: OpenDP's integers have 64 bits and stop at their ends."""

_MOST_ULPS = 64
"""Most steps from one double to the next until the map agrees; one or two are enough."""


# Calibration


@dataclass(frozen=True)
class Calibrated:
    """A scale at which OpenDP's map was asked, and its answer: both are doubles, as the fractions that they are."""

    scale: Fraction
    answer: Fraction


def opendp() -> SimpleNamespace:
    """Return the functions of OpenDP that the noise needs. Errors: InputError where it is not installed.

    OpenDP's prelude has all of them, but it also imports scikit-learn and Polars where they are installed: 160 MB.
    """
    with extra("release", "A real release"):
        import opendp.measurements as measurements
        from opendp.domains import atom_domain, vector_domain
        from opendp.measures import max_divergence, zero_concentrated_divergence
        from opendp.metrics import l1_distance, l2_distance, linf_distance
        from opendp.mod import enable_features
    enable_features("contrib")
    return SimpleNamespace(
        m=measurements,
        atom_domain=atom_domain,
        vector_domain=vector_domain,
        l1_distance=l1_distance,
        l2_distance=l2_distance,
        linf_distance=linf_distance,
        max_divergence=max_divergence,
        zero_concentrated_divergence=zero_concentrated_divergence,
    )


def calibrated(answered: Callable[[float], float], *, least: Fraction, most: Fraction) -> Calibrated:
    """Return the first double from `least` on at which the map, a function of the scale, answers at most `most`.

    Errors: InputError where it still answers more a little above: then the calibration is wrong.
    """
    scale = rounded_up(least)
    for _ in range(_MOST_ULPS):
        answer = answered(scale)
        if not math.isfinite(answer):
            break
        if Fraction(answer) <= most:
            return Calibrated(Fraction(scale), Fraction(answer))
        scale = math.nextafter(scale, math.inf)
    raise InputError("OpenDP does not confirm that this noise satisfies epsilon, so no noise was sampled.")


def rounded_up(exact: Fraction) -> float:
    """Return the least double that is not below a fraction. Errors: OverflowError where there is none."""
    nearest = float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def root_above(square: Fraction) -> Fraction:
    """Return a fraction not below the root of another, and above it by less than a part in 2^60; exact where it can."""
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length() + 1) // 2)
    whole_part, rest = divmod(square.numerator << 2 * shift, square.denominator)
    root = math.isqrt(whole_part)
    return Fraction(root + bool(rest or root * root < whole_part), 1 << shift)


# The laws


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactNoise:
    """A law that OpenDP draws; what it promises is a number of `measure`.

    make(library, domain, scale) -> OpenDP's measurement; distance(sensitivity) -> the input of its privacy map, which
    returns a number of what is `answered`, at most allowed(promised). loss(sensitivity, scale) -> what is lost,
    exactly; least_scale(sensitivity, promised) -> the scale that loses that, not rounded down; share(scale, price) ->
    the scale of a number of a price, of that of a price of 1, not rounded down.
    """

    law: str
    answered: str
    measure: PrivacyMeasure
    make: Callable[[Any, Any, float], Any]
    distance: Callable[[int], float] = lambda sensitivity: sensitivity
    allowed: Callable[[Fraction], Fraction] = lambda promised: promised
    loss: Callable[[int, Fraction], Fraction]
    least_scale: Callable[[int, Fraction], Fraction]
    share: Callable[[Fraction, Fraction], Fraction]

    def measurement(self, scale: float) -> Any:
        """Return OpenDP's measurement."""
        library = opendp()
        return self.make(library, library.vector_domain(library.atom_domain(T="i64")), scale)

    def answer(self, sensitivity: int, scale: float) -> float:
        """Return what OpenDP's map answers."""
        return float(self.measurement(scale).map(self.distance(sensitivity)))

    def own_scale(self, scale: Fraction, price: Fraction) -> float:
        """Return the scale of a number of a price, of that of a price of 1, rounded up."""
        return rounded_up(self.share(scale, price))


DISCRETE_LAPLACE = ExactNoise(
    law="discrete Laplace: P[z] proportional to exp(-|z| / scale) over the whole numbers",
    answered="epsilon of pure privacy",
    measure=PrivacyMeasure.EPSILON,
    make=lambda library, domain, scale: library.m.make_laplace(domain, library.l1_distance(T="i64"), scale=scale),
    loss=lambda sensitivity, scale: sensitivity / scale,
    least_scale=lambda sensitivity, epsilon: sensitivity / epsilon,
    share=lambda scale, price: scale / price,
)
"""P[z] ~ exp(-|z| / b), of a sensitivity of Delta in L1: epsilon = Delta / b."""

DISCRETE_GAUSSIAN = ExactNoise(
    law="discrete Gaussian: P[z] proportional to exp(-z^2 / (2 scale^2)) over the whole numbers",
    answered="rho of zero-concentrated privacy",
    measure=PrivacyMeasure.RHO,
    make=lambda library, domain, scale: library.m.make_gaussian(domain, library.l2_distance(T="f64"), scale=scale),
    distance=lambda squared: rounded_up(root_above(Fraction(squared))),
    loss=lambda squared, scale: squared / (2 * scale**2),
    least_scale=lambda squared, rho: root_above(squared / (2 * rho)),
    share=lambda scale, price: root_above(scale**2 / price),
)
"""P[z] ~ exp(-z^2 / (2 s^2)), of a sensitivity of sqrt(D) in L2, D whole: rho = D / (2 s^2) of zero-concentrated
privacy, as of real noise. [Canonne20] Theorem 14."""

GUMBEL_MAXIMUM = ExactNoise(
    law="exponential mechanism: P[cell] proportional to its prior mass times exp(score / scale), by Gumbel noise",
    answered=(
        "rho of zero-concentrated privacy, at most epsilon^2 / 8: the loss of this law has a range of epsilon, and is "
        "itself at most epsilon"
    ),
    measure=PrivacyMeasure.EPSILON,
    make=lambda library, domain, scale: library.m.make_noisy_max(
        domain, library.linf_distance(T="i64"), library.zero_concentrated_divergence(), scale=scale
    ),
    allowed=lambda epsilon: epsilon**2 / 8,
    loss=lambda sensitivity, scale: 2 * sensitivity / scale,
    least_scale=lambda sensitivity, epsilon: 2 * sensitivity / epsilon,
    share=lambda scale, price: scale / price,
)
"""The place of the maximum of whole scores with Gumbel noise of scale b: P[g] ~ exp(score_g / b) exactly.

That is the exponential mechanism's law. Scores that move by Delta in all lose at most 2 Delta / b, and the loss has a
range of that length. OpenDP 0.16 has the law under `make_noisy_max` for zero-concentrated privacy, whose map answers
rho = epsilon^2 / 8 for that range; for pure privacy, and under the old name `make_report_noisy_max_gumbel`, it draws by
permute-and-flip, which is another law. [Cesar and Rogers, "Bounding, concentrating, and truncating", 2021, Lemma 3.4]
"""


def shared_answer(noise: ExactNoise, prices: Collection[Fraction], charge: int, scale: float) -> float:
    """Return what numbers of these prices lose together: what the map answers for each, by the worst of them per price.

    It is rounded up; `charge` is what one record costs at these prices.
    """
    answers = {price: noise.answer(1, noise.own_scale(Fraction(scale), price)) for price in set(prices)}
    if not all(map(math.isfinite, answers.values())):
        return math.inf
    return rounded_up(charge * max(Fraction(answer) / price for price, answer in answers.items()))


# Drawing


def with_noise(noise: ExactNoise, values: IntArray, scale: Fraction) -> Work[tuple[int, ...]]:
    """Add noise to whole numbers (N,), a block at a step; yields the shares done."""
    _require_words(values)
    draw = noise.measurement(float(scale))
    blocks = list(slices(len(values), BLOCK))
    return _in_blocks(lambda k: draw(values[blocks[k]].tolist()), len(blocks))


def with_own_noise(noise: ExactNoise, values: IntArray, scales: Sequence[float]) -> Work[tuple[int, ...]]:
    """Add noise to whole numbers (N,), each of its own scale; yields the shares done.

    Numbers of one scale are drawn together, a block at a step, and put back in their places.
    """
    _require_words(values)
    own = np.asarray(scales)
    order = np.argsort(own, kind="stable")
    alike = np.split(order, np.flatnonzero(np.diff(own[order])) + 1)
    blocks = [(float(own[same[0]]), same[part]) for same in alike for part in slices(len(same), BLOCK)]

    def draw(k: int) -> list[int]:
        scale, where = blocks[k]
        drawn: list[int] = noise.measurement(scale)(values[where].tolist())
        return drawn

    drawn = yield from _in_blocks(draw, len(blocks))
    return tuple(drawn[k] for k in np.argsort(order).tolist())


Scores = list[tuple[IntArray, IntArray]]
"""The places that may be chosen and the whole score of each, for several choices."""


def gumbel_choices(scored: Callable[[slice], Scores], number: int, scale: Fraction) -> Work[tuple[int, ...]]:
    """Choose the place of a noisy maximum for each of a number of choices, of which `scored` gives some."""
    draw = GUMBEL_MAXIMUM.measurement(float(scale))
    blocks = list(slices(number, CHOICES))

    def choose(k: int) -> list[int]:
        chosen = []
        for places, scores in scored(blocks[k]):
            _require_words(scores)
            chosen.append(int(places[draw(scores.tolist())]))
        return chosen

    return _in_blocks(choose, len(blocks))


def whole(values: FloatArray) -> IntArray:
    """Round to whole numbers. Errors: InputError where they are too large for exact noise."""
    if np.any(np.abs(values) > _WORD):
        raise _too_large()
    return np.rint(values).astype(np.int64)


def _require_words(values: IntArray) -> None:
    if values.dtype != np.int64 or np.any(values > _WORD) or np.any(values < -_WORD):
        raise _too_large()


def _too_large() -> InputError:
    return InputError("The numbers are too large for exact noise; choose a larger epsilon.")


def _in_blocks(draw: Callable[[int], Sequence[int]], number: int) -> Work[tuple[int, ...]]:
    """Draw a block at a step. Shares alone are yielded: a part of a release is none."""
    values: list[int] = []
    for k in range(number):
        values += draw(k)
        yield (k + 1) / number
    return tuple(values)
