"""Laplace noise on whole numbers: as the papers have it, or whole itself, as a real release must have it."""

import math
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.base import Noise


@dataclass(frozen=True)
class NoiseLaw:
    """Noise of scale b: density exp(-|x|/b)/(2b), or whole numbers with P[k] = tanh(1/(2b)) exp(-|k|/b); none at b = 0.

    A whole number that moves by d, itself whole, loses |d|/b at most under both: ln P[k - d] - ln P[k] is
    (|k| - |k - d|)/b, and neither law leaves out a value that the other table allows.
    """

    noise: Noise
    scale: float

    @property
    def sd(self) -> float:
        """Standard deviation: sqrt(2) b, or 1/(sqrt(2) sinh(1/(2b))) for whole numbers."""
        if self.noise is Noise.REAL or not self.scale:
            return math.sqrt(2) * self.scale
        return math.sqrt(2) * math.exp(-0.5 / self.scale) / -math.expm1(-1 / self.scale)

    def drawn(self, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Draw independent noise (*size), for simulations: a real release needs another source of randomness."""
        if self.noise is Noise.REAL:
            return rng.laplace(scale=self.scale, size=size)
        return whole_noise(rng.standard_exponential((*size, 2)), self.scale)

    @property
    def drawn_once(self) -> "NoiseLaw":
        """The law to draw from once for all scales, where noise may be scaled afterwards; else this one."""
        return UNIT if self.noise is Noise.REAL else self

    def scaled_to(self, other: "NoiseLaw") -> float:
        """Return by what noise of this law is to be multiplied to be of the other. Errors: InputError."""
        if self == other:
            return 1.0
        if self.noise is not other.noise or self.noise is not Noise.REAL:
            raise InputError(
                f"Noise of {self.noise.value} at scale {self.scale:g} was drawn, and {other.noise.value} at scale "
                f"{other.scale:g} are asked for; draw it of that law."
            )
        return other.scale / self.scale


UNIT = NoiseLaw(Noise.REAL, 1.0)


def whole_noise(pairs: FloatArray, scale: float | FloatArray) -> FloatArray:
    """Return noise of whole numbers (...) from pairs (..., 2) of standard exponential draws; scales (...) share luck.

    It is the difference of two geometric numbers: P[floor(b E) >= k] = P[E >= k/b] = exp(-k/b).
    """
    whole: FloatArray = np.floor(scale * pairs[..., 0]) - np.floor(scale * pairs[..., 1])
    return whole
