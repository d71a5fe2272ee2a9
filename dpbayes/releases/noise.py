"""Integers with exact noise, drawn by OpenDP from the operating system's randomness.

Nothing is drawn before OpenDP's own privacy map has answered, at the scale in use, no more than may be lost: a check of
the calibration by somebody else. OpenDP is imported where it is used, because it takes a third of a second.

Discrete Laplace, P[z] ~ exp(-|z| / b) over the whole numbers, of a sensitivity of Delta in L1: epsilon = Delta / b.

Discrete Gaussian, P[z] ~ exp(-z^2 / (2 s^2)) over the whole numbers, of a sensitivity of sqrt(D) in L2, D whole: rho =
D / (2 s^2) of zero-concentrated privacy, as of real noise. [Canonne20] Theorem 14.

Numbers with a scale each: their losses add up. OpenDP's map is asked of every scale what a move by one loses, and the
most of that per price, times what one record is charged at these prices, is what all of them lose together at most.

Noisy maximum with Gumbel noise of scale b on whole scores, each chosen on its own: P[g] ~ exp(score_g / b) exactly, the
exponential mechanism's law. Scores that move by Delta in all lose at most 2 Delta / b, and the loss has a range of that
length. OpenDP 0.16 has the law under `make_noisy_max` for zero-concentrated privacy, whose map answers rho =
epsilon^2 / 8 for that range; for pure privacy, and under the old name `make_report_noisy_max_gumbel`, it draws by
permute-and-flip, which is another law. [Cesar and Rogers, "Bounding, concentrating, and truncating", 2021, Lemma 3.4]
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpbayes.base.steps import Work, slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.noise.confirmed import Calibrated, calibrated, opendp, rounded_up

BLOCK = 4096
"""Values drawn in one step: 60 ms."""

CHOICES = 64
"""Choices made in one step."""

_WORD = 2**62
"""Statistics and scores must stay within it: OpenDP's integers have 64 bits and stop at their ends."""


# Discrete Laplace


def laplace_scale(sensitivity: int, epsilon: Fraction) -> Calibrated:
    """Return the scale Delta / epsilon, rounded up until OpenDP's map answers at most epsilon."""
    return calibrated(partial(laplace_answer, sensitivity), least=sensitivity / epsilon, most=epsilon)


def laplace_answer(sensitivity: int, scale: float) -> float:
    """Return the epsilon that OpenDP's map answers for discrete Laplace noise."""
    return float(_laplace(scale).map(sensitivity))


def _laplace(scale: float) -> Any:
    library = opendp()
    domain = library.vector_domain(library.atom_domain(T="i64"))
    return library.m.make_laplace(domain, library.l1_distance(T="i64"), scale=scale)


def with_laplace(values: IntArray, calibration: Calibrated) -> Work[tuple[int, ...]]:
    """Add discrete Laplace noise to whole numbers (N,), a block at a step; yields the shares done."""
    return _with_noise(values, _laplace(float(calibration.scale)))


def _with_noise(values: IntArray, draw: Any) -> Work[tuple[int, ...]]:
    """Add noise that OpenDP draws for a list of numbers."""
    _require_words(values)
    blocks = list(slices(len(values), BLOCK))
    return _in_blocks(lambda k: draw(values[blocks[k]].tolist()), len(blocks))


# Discrete Gaussian


def gaussian_scale(squared: int, rho: Fraction) -> Calibrated:
    """Return the scale sqrt(D / (2 rho)), D the squared sensitivity, rounded up until OpenDP's map agrees."""
    return calibrated(partial(gaussian_answer, squared), least=_root(squared / (2 * rho)), most=rho)


def gaussian_answer(squared: int, scale: float) -> float:
    """Return the rho that OpenDP's map answers for discrete Gaussian noise, of a sensitivity of sqrt(D) rounded up."""
    return float(_gaussian(scale).map(rounded_up(_root(Fraction(squared)))))


def _root(square: Fraction) -> Fraction:
    """Return a fraction not below the root of another, and above it by less than a part in 2^60; exact where it can."""
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length() + 1) // 2)
    whole_part, rest = divmod(square.numerator << 2 * shift, square.denominator)
    root = math.isqrt(whole_part)
    return Fraction(root + bool(rest or root * root < whole_part), 1 << shift)


def _gaussian(scale: float) -> Any:
    library = opendp()
    domain = library.vector_domain(library.atom_domain(T="i64"))
    return library.m.make_gaussian(domain, library.l2_distance(T="f64"), scale=scale)


def with_gaussian(values: IntArray, calibration: Calibrated) -> Work[tuple[int, ...]]:
    """Add discrete Gaussian noise to whole numbers (N,), a block at a step; yields the shares done."""
    return _with_noise(values, _gaussian(float(calibration.scale)))


# Scales of their own


def unequal_laplace_scale(prices: Collection[int], charge: int, epsilon: Fraction) -> Calibrated:
    """Return the scale charge / epsilon of a price of 1, up to what OpenDP's map is asked of each number's own.

    A number of price p has noise of the scale over p, and one record moves the numbers so that their distances times
    their prices add up to `charge` at most.
    """
    answered = partial(unequal_laplace_answer, prices, charge)
    return calibrated(answered, least=charge / epsilon, most=epsilon)


def unequal_laplace_answer(prices: Collection[int], charge: int, scale: float) -> float:
    """Return an epsilon of all numbers together: what the map answers for each, by the worst of them per price."""
    own = {Fraction(price): laplace_answer(1, own_laplace_scale(Fraction(scale), price)) for price in set(prices)}
    return _together(own, charge)


def own_laplace_scale(scale: Fraction, price: int) -> float:
    """Return the scale of a number of this price, rounded up."""
    return rounded_up(scale / price)


def unequal_gaussian_scale(prices: Collection[Fraction], charge: int, rho: Fraction) -> Calibrated:
    """Return the scale sqrt(charge / (2 rho)) of a price of 1, up to what OpenDP's map is asked of each number's own.

    A number of price q has noise of the scale over sqrt(q), and one record moves the numbers so that their squared
    distances times their prices add up to `charge` at most.
    """
    answered = partial(unequal_gaussian_answer, prices, charge)
    return calibrated(answered, least=_root(charge / (2 * rho)), most=rho)


def unequal_gaussian_answer(prices: Collection[Fraction], charge: int, scale: float) -> float:
    """Return a rho of all numbers together: what the map answers for each, by the worst of them per price."""
    own = {price: gaussian_answer(1, own_gaussian_scale(Fraction(scale), price)) for price in set(prices)}
    return _together(own, charge)


def own_gaussian_scale(scale: Fraction, price: Fraction) -> float:
    """Return the scale of a number of this price, rounded up."""
    return rounded_up(_root(scale**2 / price))


def _together(answers: Mapping[Fraction, float], charge: int) -> float:
    """Return what numbers lose together that lose so much each when they move by one, by price: rounded up."""
    if not all(map(math.isfinite, answers.values())):
        return math.inf
    return rounded_up(charge * max(Fraction(answer) / price for price, answer in answers.items()))


def with_own_laplace(values: IntArray, scales: Sequence[float]) -> Work[tuple[int, ...]]:
    """Add discrete Laplace noise to whole numbers (N,), each of its own scale; yields the shares done."""
    return _each_with_its_own(values, scales, _laplace)


def with_own_gaussian(values: IntArray, scales: Sequence[float]) -> Work[tuple[int, ...]]:
    """Add discrete Gaussian noise to whole numbers (N,), each of its own scale; yields the shares done."""
    return _each_with_its_own(values, scales, _gaussian)


def _each_with_its_own(values: IntArray, scales: Sequence[float], law: Callable[[float], Any]) -> Work[tuple[int, ...]]:
    """Numbers of one scale are drawn together, a block at a step, and put back in their places."""
    _require_words(values)
    own = np.asarray(scales)
    order = np.argsort(own, kind="stable")
    alike = np.split(order, np.flatnonzero(np.diff(own[order])) + 1)
    blocks = [(float(own[same[0]]), same[each]) for same in alike for each in slices(len(same), BLOCK)]

    def draw(k: int) -> list[int]:
        scale, where = blocks[k]
        drawn: list[int] = law(scale)(values[where].tolist())
        return drawn

    drawn = yield from _in_blocks(draw, len(blocks))
    return tuple(drawn[k] for k in np.argsort(order).tolist())


# Noisy maximum


def gumbel_scale(sensitivity: int, epsilon: Fraction) -> Calibrated:
    """Return the scale 2 Delta / epsilon, rounded up until OpenDP's map answers at most rho = epsilon^2 / 8."""
    return calibrated(partial(gumbel_answer, sensitivity), least=2 * sensitivity / epsilon, most=epsilon**2 / 8)


def gumbel_answer(sensitivity: int, scale: float) -> float:
    """Return the rho that OpenDP's map answers for a noisy maximum with Gumbel noise."""
    return float(_gumbel(scale).map(sensitivity))


def _gumbel(scale: float) -> Any:
    library = opendp()
    domain = library.vector_domain(library.atom_domain(T="i64"))
    return library.m.make_noisy_max(
        domain, library.linf_distance(T="i64"), library.zero_concentrated_divergence(), scale=scale
    )


Scores = list[tuple[IntArray, IntArray]]
"""The places that may be chosen and the whole score of each, for several choices."""


def gumbel_choices(scored: Callable[[slice], Scores], number: int, scale: Fraction) -> Work[tuple[int, ...]]:
    """Choose the place of a noisy maximum for each of a number of choices, of which `scored` gives some."""
    draw = _gumbel(float(scale))
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
