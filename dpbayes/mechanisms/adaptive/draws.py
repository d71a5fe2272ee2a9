"""The random steps of an adaptive release: simulated with a generator, or exact by OpenDP, with equal laws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpbayes.base.amounts import Amount, Rho, number_of
from dpbayes.base.types import IntArray
from dpbayes.mechanisms.exact_form import (
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    GUMBEL_MAXIMUM,
    ExactNoise,
    calibrated,
    root_above,
    with_noise,
)
from dpbayes.mechanisms.noise.law import gaussian_noise, laplace_noise
from dpbayes.mechanisms.parameters import Noise


class Draws(Protocol):
    """The two random steps of an adaptive release."""

    def noisy(self, values: IntArray, costs: Sequence[Amount]) -> IntArray:
        """Return whole numbers (N,) plus noise; a move of a number by one costs its amount. All are of one measure."""

    def chosen(self, scores: IntArray, sensitivity: int, cost: Amount) -> int:
        """Return the place of one of the whole scores (k,), by the exponential mechanism at this cost."""


def noise_at(cost: Amount) -> ExactNoise:
    """Return the distribution of a measurement's noise at an amount."""
    return DISCRETE_GAUSSIAN if isinstance(cost, Rho) else DISCRETE_LAPLACE


def choice_scale(sensitivity: int, cost: Amount) -> Fraction:
    """Return the scale b of the exponential mechanism, P[c] ~ exp(score_c / b), at this cost, not rounded down.

    The loss has a range of 2 s/b for scores that change by s: see docs/proofs.md.
    """
    if isinstance(cost, Rho):
        return root_above(Fraction(sensitivity) ** 2 / (2 * cost.value))
    return 2 * sensitivity / cost


@dataclass(frozen=True)
class SimulatedDraws:
    """Draws with a generator: for simulations, never for a real release."""

    rng: np.random.Generator

    def noisy(self, values: IntArray, costs: Sequence[Amount]) -> IntArray:
        """Return whole numbers plus noise of sd 1/sqrt(2 rho), or of scale 1/epsilon."""
        scales = {cost: scale_at(cost) for cost in set(costs)}
        own = np.array([scales[cost] for cost in costs])
        law = gaussian_noise if isinstance(costs[0], Rho) else laplace_noise
        return values + law(Noise.WHOLE, own, self.rng, values.shape).astype(np.int64)

    def chosen(self, scores: IntArray, sensitivity: int, cost: Amount) -> int:
        """Return the place of the largest score with Gumbel noise."""
        scale = float(choice_scale(sensitivity, cost))
        return int(np.argmax((scores - scores.max()) / scale + self.rng.gumbel(size=len(scores))))


def scale_at(cost: Amount) -> float:
    """Return the scale of a measurement's noise: the sd 1/sqrt(2 rho), or 1/epsilon."""
    return (2 * float(cost.value)) ** -0.5 if isinstance(cost, Rho) else 1 / float(cost)


@dataclass(frozen=True)
class OpenDPDraws:
    """Draws by OpenDP in exact arithmetic. OpenDP's own privacy map confirms every scale before it is used."""

    def noisy(self, values: IntArray, costs: Sequence[Amount]) -> IntArray:
        """Return whole numbers plus noise. Errors: InputError without OpenDP, or where it does not confirm a scale."""
        scales = {cost: confirmed_noise(cost) for cost in set(costs)}
        return np.array(with_noise(noise_at(costs[0]), values, [scales[cost] for cost in costs]))

    def chosen(self, scores: IntArray, sensitivity: int, cost: Amount) -> int:
        """Return the place of the largest score with OpenDP's Gumbel noise. Errors: those of `noisy`."""
        choose: Callable[[list[int]], int] = GUMBEL_MAXIMUM.measurement(confirmed_choice(sensitivity, cost))
        return int(choose([int(score) for score in scores]))


def confirmed_noise(cost: Amount) -> float:
    """Return the scale at which OpenDP's map confirms the cost of a move by one. Errors: InputError if none."""
    noise, most = noise_at(cost), number_of(cost)
    return float(calibrated(lambda scale: noise.answer(1, scale), least=noise.least_scale(1, most), most=most).scale)


def confirmed_choice(sensitivity: int, cost: Amount) -> float:
    """Return the scale of Gumbel noise at which OpenDP's map confirms the cost. Errors: InputError where it does not.

    The map returns the rho e^2/8 of a range of e; at a pure epsilon, e must be at most epsilon.
    """
    least = choice_scale(sensitivity, cost)
    most = cost.value if isinstance(cost, Rho) else GUMBEL_MAXIMUM.allowed(cost)
    return float(calibrated(lambda scale: GUMBEL_MAXIMUM.answer(sensitivity, scale), least=least, most=most).scale)
