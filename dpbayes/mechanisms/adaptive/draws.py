"""The random steps of an adaptive release: simulated with a generator, or exact from the operating system's randomness.

Both draw the same laws. Measurements get discrete Gaussian noise. Choices follow the exponential mechanism, drawn as
the place of the largest score with Gumbel noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpbayes.base.steps import finished
from dpbayes.base.types import IntArray
from dpbayes.mechanisms.noise.exact import DISCRETE_GAUSSIAN, GUMBEL_MAXIMUM, calibrated, root_above, with_own_noise
from dpbayes.mechanisms.noise.law import gaussian_noise
from dpbayes.mechanisms.parameters import Noise


class Draws(Protocol):
    """The two random steps of an adaptive release."""

    def noisy(self, values: IntArray, rhos: list[Fraction]) -> IntArray:
        """Return whole numbers (N,) plus discrete Gaussian noise; a move by one costs rho of each number at most."""

    def chosen(self, scores: IntArray, sensitivity: int, rho: Fraction) -> int:
        """Return the place of one of the whole scores (k,), by the exponential mechanism at this rho."""


def choice_scale(sensitivity: int, rho: Fraction) -> Fraction:
    """Return the scale b of the exponential mechanism, P[c] ~ exp(score_c / b), that satisfies rho, not rounded down.

    Each score changes by at most `sensitivity`, so that the logarithm of the ratio of two probabilities changes by at
    most 2 sensitivity/b = e. The privacy loss therefore has a range of e, and e^2/8 of zero-concentrated privacy
    follows. [Cesar and Rogers, "Bounding, concentrating, and truncating", 2021, Lemma 3.4] Hence b = s/sqrt(2 rho).
    """
    return root_above(Fraction(sensitivity) ** 2 / (2 * rho))


@dataclass(frozen=True)
class SimulatedDraws:
    """Draws with a generator: for simulations, never for a real release."""

    rng: np.random.Generator

    def noisy(self, values: IntArray, rhos: list[Fraction]) -> IntArray:
        """Return whole numbers plus noise of sd 1/sqrt(2 rho)."""
        scales = {rho: (2 * float(rho)) ** -0.5 for rho in set(rhos)}
        noise = gaussian_noise(Noise.WHOLE, np.array([scales[rho] for rho in rhos]), self.rng, values.shape)
        return values + noise.astype(np.int64)

    def chosen(self, scores: IntArray, sensitivity: int, rho: Fraction) -> int:
        """Return the place of the largest score with Gumbel noise."""
        scale = float(choice_scale(sensitivity, rho))
        return int(np.argmax((scores - scores.max()) / scale + self.rng.gumbel(size=len(scores))))


@dataclass(frozen=True)
class OpenDPDraws:
    """Draws by OpenDP in exact arithmetic. OpenDP's own privacy map confirms every scale before it is used."""

    def noisy(self, values: IntArray, rhos: list[Fraction]) -> IntArray:
        """Return whole numbers plus noise. Errors: InputError without OpenDP, or where it does not confirm a scale."""
        scales = {rho: confirmed_noise(rho) for rho in set(rhos)}
        return np.array(finished(with_own_noise(DISCRETE_GAUSSIAN, values, [scales[rho] for rho in rhos])))

    def chosen(self, scores: IntArray, sensitivity: int, rho: Fraction) -> int:
        """Return the place of the largest score with OpenDP's Gumbel noise. Errors: those of `noisy`."""
        choose: Callable[[list[int]], int] = GUMBEL_MAXIMUM.measurement(confirmed_choice(sensitivity, rho))
        return int(choose([int(score) for score in scores]))


def confirmed_noise(rho: Fraction) -> float:
    """Return the scale of discrete Gaussian noise at which OpenDP's map confirms rho for a move by one.

    Errors: InputError where it does not, or without OpenDP.
    """
    least = DISCRETE_GAUSSIAN.least_scale(1, rho)
    return float(calibrated(lambda scale: DISCRETE_GAUSSIAN.answer(1, scale), least=least, most=rho).scale)


def confirmed_choice(sensitivity: int, rho: Fraction) -> float:
    """Return the scale of Gumbel noise at which OpenDP's map confirms rho for scores of this sensitivity.

    Errors: InputError where it does not, or without OpenDP.
    """
    least = choice_scale(sensitivity, rho)
    return float(calibrated(lambda scale: GUMBEL_MAXIMUM.answer(sensitivity, scale), least=least, most=rho).scale)
