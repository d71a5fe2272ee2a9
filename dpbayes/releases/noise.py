"""Integers with exact noise, drawn by OpenDP from the operating system's randomness.

Nothing is drawn before OpenDP's own privacy map has answered, at the scale in use, no more than may be lost: a check of
the calibration by somebody else. OpenDP is imported where it is used, because it takes a third of a second.

Discrete Laplace, P[z] ~ exp(-|z| / b) over the whole numbers, of a sensitivity of Delta in L1: epsilon = Delta / b.

Noisy maximum with Gumbel noise of scale b on whole scores, each chosen on its own: P[g] ~ exp(score_g / b) exactly, the
exponential mechanism's law. Scores that move by Delta in all lose at most 2 Delta / b, and the loss has a range of that
length. OpenDP 0.16 has the law under `make_noisy_max` for zero-concentrated privacy, whose map answers rho =
epsilon^2 / 8 for that range; for pure privacy, and under the old name `make_report_noisy_max_gumbel`, it draws by
permute-and-flip, which is another law. [Cesar and Rogers, "Bounding, concentrating, and truncating", 2021, Lemma 3.4]
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpbayes.base.steps import Work, slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.confirmed import Calibrated, calibrated, opendp

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
    _require_words(values)
    draw = _laplace(float(calibration.scale))
    blocks = list(slices(len(values), BLOCK))
    return _in_blocks(lambda k: draw(values[blocks[k]].tolist()), len(blocks))


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
