"""Noise on whole numbers, Laplace or Gaussian: real as the papers have it, or whole as a real release must have it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.analytic_gaussian import gaussian_shift
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.base.zcdp import zcdp_rho
from dpbayes.mechanisms.parameters import Noise


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
                f"The noise consists of {self.noise.value} with scale {numeral(self.scale, 6)}, but "
                f"{other.noise.value} with scale {numeral(other.scale, 6)} are required. Sample the "
                f"noise from the required distribution."
            )
        return other.scale / self.scale


UNIT = NoiseLaw(Noise.REAL, 1.0)


def whole_noise(pairs: FloatArray, scale: float | FloatArray) -> FloatArray:
    """Return noise of whole numbers (...) from pairs (..., 2) of standard exponential draws; scales (...) share luck.

    It is the difference of two geometric numbers: P[floor(b E) >= k] = P[E >= k/b] = exp(-k/b).
    """
    whole: FloatArray = np.floor(scale * pairs[..., 0]) - np.floor(scale * pairs[..., 1])
    return whole


def laplace_noise(noise: Noise, scales: ArrayLike, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
    """Draw independent Laplace noise (*size) of scales b that broadcast to it, for simulations; none at b = 0."""
    if noise is Noise.REAL:
        return rng.laplace(size=size) * np.asarray(scales, dtype=np.float64)
    return whole_noise(rng.standard_exponential((*size, 2)), np.asarray(scales, dtype=np.float64))


def laplace_sds(noise: Noise, scales: ArrayLike) -> FloatArray:
    """Return the standard deviations of Laplace noise of scales b (...): (...)."""
    b = np.asarray(scales, dtype=np.float64)
    if noise is Noise.REAL:
        return np.asarray(math.sqrt(2) * b)
    safe = np.where(b > 0, b, 1.0)
    return np.where(b > 0, math.sqrt(2) * np.exp(-0.5 / safe) / -np.expm1(-1 / safe), 0.0)


def inverse(scales: FloatArray) -> FloatArray:
    """Return 1/s of scales (...), and 0 where there is no noise because nothing moves."""
    return np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0)


# Gaussian noise

_SMOOTH = 3.0
"""From this s on the variance of whole Gaussian noise is s^2 in double precision: it falls short by about
4 pi^2 s^4 exp(-2 pi^2 s^2)."""


@dataclass(frozen=True)
class GaussianLaw:
    """Noise of parameter s: N(0, s^2), or whole numbers with P[k] ~ exp(-k^2/(2 s^2)); none at s = 0. [Canonne20].

    A whole number that moves by d, itself whole, has Renyi divergence alpha d^2/(2 s^2) under the first, and no more
    under the second: both are d^2/(2 s^2)-zCDP.
    """

    noise: Noise
    scale: float

    @property
    def sd(self) -> float:
        """Standard deviation: s, or a little less for whole numbers."""
        return float(gaussian_sds(self.noise, self.scale))

    def drawn(self, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Draw independent noise (*size), for simulations: a real release needs another source of randomness."""
        return gaussian_noise(self.noise, self.scale, rng, size)


def gaussian_shift_of(noise: Noise, epsilon: float, *, delta: float) -> float:
    """Return by how many s a vector may move, in length, for (epsilon, delta)-privacy: mu, certified for either noise.

    Real noise by its exact curve, `gaussian_shift`; whole noise by the rho = mu^2/2 that both have, which asks for a
    little more noise.
    """
    return (
        gaussian_shift(epsilon, delta=delta) if noise is Noise.REAL else math.sqrt(2 * zcdp_rho(epsilon, delta=delta))
    )


def gaussian_guarantee(noise: Noise, epsilon: float, *, delta: float, shift: float) -> Guarantee:
    """Return (epsilon, delta), and rho = mu^2/2, of a vector that moves by at most `shift` = mu times s."""
    place = ("Balle18", "Theorem 8") if noise is Noise.REAL else ("Canonne20", "discrete Gaussian mechanism")
    return Guarantee(epsilon, delta, reference=Reference(*place), rho=shift**2 / 2)


def gaussian_sds(noise: Noise, scales: ArrayLike) -> FloatArray:
    """Return the standard deviations of Gaussian noise of parameters s (...): (...)."""
    s = np.asarray(scales, dtype=np.float64)
    if noise is Noise.REAL or np.all(s >= _SMOOTH):
        return s
    k = np.arange(1, 40)
    small = np.clip(s, 1e-3, _SMOOTH)[..., None]
    weights = np.exp(-((k / small) ** 2) / 2)
    variances = 2 * (weights * k**2).sum(axis=-1) / (1 + 2 * weights.sum(axis=-1))
    return np.where(s >= _SMOOTH, s, np.where(s > 0, np.sqrt(variances), 0.0))


def gaussian_noise(noise: Noise, scales: ArrayLike, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
    """Draw independent Gaussian noise (*size) of parameters s that broadcast to it, for simulations.

    Whole numbers by rejection from Laplace ones of scale t = floor(s) + 1, each kept with probability
    exp(-(|k| - s^2/t)^2 / (2 s^2)). [Canonne20] Algorithm 3.
    """
    s = np.broadcast_to(np.asarray(scales, dtype=np.float64), size)
    if noise is Noise.REAL:
        return rng.standard_normal(size) * s
    flat, drawn = s.ravel(), np.zeros(s.size)
    left = np.flatnonzero(flat)
    while left.size:
        own = flat[left]
        t = np.floor(own) + 1
        k = whole_noise(rng.standard_exponential((left.size, 2)), t)
        kept = rng.standard_exponential(left.size) >= (np.abs(k) - own**2 / t) ** 2 / (2 * own**2)
        drawn[left[kept]] = k[kept]
        left = left[~kept]
    return drawn.reshape(size)
