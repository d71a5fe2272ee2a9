"""Laplace or Gaussian noise on integers: real-valued as in the papers, or integer-valued as in a real release.

One class describes each noise on one number; functions sample noise of many scales. All sampling is for simulations: a
real release needs another source of randomness.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.zcdp import gaussian_shift, zcdp_rho
from dpbayes.mechanisms.parameters import Noise


@dataclass(frozen=True)
class NoiseLaw:
    """Noise of scale b: density exp(-|x|/b)/(2b), or whole numbers with P[k] = tanh(1/(2b)) exp(-|k|/b); none at b = 0.

    If an integer changes by an integer d, the loss is at most |d|/b under both distributions.
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
        """Sample independent noise (*size)."""
        return laplace_noise(self.noise, self.scale, rng, size)

    @property
    def drawn_once(self) -> "NoiseLaw":
        """The distribution of scale 1 if its samples may be scaled afterwards; otherwise this distribution."""
        return UNIT if self.noise is Noise.REAL else self


UNIT = NoiseLaw(Noise.REAL, 1.0)


def laplace_noise(noise: Noise, scales: ArrayLike, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
    """Sample independent Laplace noise (*size) with broadcast scales b; none at b = 0."""
    if noise is Noise.REAL:
        return rng.laplace(size=size) * np.asarray(scales, dtype=np.float64)
    return whole_noise(rng.standard_exponential((*size, 2)), np.asarray(scales, dtype=np.float64))


def whole_noise(pairs: FloatArray, scale: float | FloatArray) -> FloatArray:
    """Return integer noise (...) from pairs (..., 2) of standard exponential samples, which all scales (...) share.

    The noise is the difference of two geometric variables: P[floor(b E) >= k] = P[E >= k/b] = exp(-k/b).
    """
    whole: FloatArray = np.floor(scale * pairs[..., 0]) - np.floor(scale * pairs[..., 1])
    return whole


def inverse(scales: FloatArray) -> FloatArray:
    """Return 1/s of scales (...), and 0 where there is no noise because nothing changes."""
    return np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0)


# Gaussian noise

_SMOOTH = 3.0
"""From this s on, the variance of integer Gaussian noise equals s^2 in double precision: the difference is about 4 pi^2
s^4 exp(-2 pi^2 s^2)."""


@dataclass(frozen=True)
class GaussianLaw:
    """Noise of parameter s: N(0, s^2), or whole numbers with P[k] ~ exp(-k^2/(2 s^2)); none at s = 0. [Canonne20].

    If an integer changes by an integer d, both noises are d^2/(2 s^2)-zCDP.
    """

    noise: Noise
    scale: float

    @property
    def sd(self) -> float:
        """Standard deviation: s, or a little less for whole numbers."""
        if self.noise is Noise.REAL or self.scale >= _SMOOTH or not self.scale:
            return self.scale
        k = np.arange(1, 40)
        weights = np.exp(-((k / max(self.scale, 1e-3)) ** 2) / 2)
        return math.sqrt(2 * float(weights @ k**2) / (1 + 2 * float(weights.sum())))

    def drawn(self, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Sample independent noise (*size)."""
        return gaussian_noise(self.noise, self.scale, rng, size)


def gaussian_shift_of(noise: Noise, epsilon: float, *, delta: float) -> float:
    """Return mu, the largest change of a vector in units of s for (epsilon, delta)-privacy, proved for both noises.

    For real-valued noise, mu follows from the exact curve, for integer noise from rho = mu^2/2.
    """
    if noise is Noise.REAL:
        return gaussian_shift(epsilon, delta=delta)
    return math.sqrt(2 * zcdp_rho(epsilon, delta=delta))


def gaussian_guarantee(noise: Noise, epsilon: float, *, delta: float, shift: float) -> Guarantee:
    """Return (epsilon, delta) and rho = mu^2/2 for a vector that changes by at most `shift` = mu, in units of s."""
    place = ("Balle18", "Theorem 8") if noise is Noise.REAL else ("Canonne20", "discrete Gaussian mechanism")
    return Guarantee(epsilon, delta, reference=Reference(*place), rho=shift**2 / 2)


def gaussian_noise(noise: Noise, scales: ArrayLike, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
    """Sample independent Gaussian noise (*size) with broadcast parameters s.

    Integer noise is sampled by rejection from integer Laplace noise of scale t = floor(s) + 1, kept with probability
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
