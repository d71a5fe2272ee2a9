"""Privacy of Laplace noise on numbers that move by unequal steps, where it is not known which of them move.

With a = step/scale one number loses a - min(X, 2a); see `dpbayes.audit.loss.noise`. Of the numbers that one record
moves the losses add up. Two bounds of the curve:

- below: those that lose most together, their losses rounded down to a lattice and composed.
- above: of every Renyi order the largest sum of divergences over all records, and what it gives at the best order
  ([Canonne20] Proposition 12). One number has

    exp((alpha - 1) D) = (alpha e^((alpha - 1) a) + (alpha - 1) e^(-alpha a)) / (2 alpha - 1),

  and with whole noise of scale b that moves by two, q = e^(-1/b) and a = 2/b,

    exp((alpha - 1) D) = (e^((alpha - 1) a) + q (1 - q) + q^2 e^(-(alpha - 1) a)) / (1 + q).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.bisection import turning_point
from dpbayes.base.libraries import fft
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.zcdp import renyi_delta

_LATTICE = 1 << 15
_LARGEST = 700.0
"""Of a larger epsilon e^epsilon is next to what a double holds."""

_ROUND_OFF = 1e-11
_ORDERS = np.logspace(-2, 3.5, 40)
"""alpha - 1, times the pure epsilon."""


@dataclass(frozen=True, eq=False)
class UnequalLoss:
    """Noise of ratios a (M,) on all numbers; `moved` (k,) are the places of those that lose most together.

    `pure_epsilon` is what these lose, or an upper bound for all records, and `most` returns the largest sums of values
    (*batch, M) over what one record moves.
    """

    ratios: FloatArray
    moved: np.ndarray
    pure_epsilon: float
    most: Callable[[FloatArray], FloatArray]
    whole: bool

    @property
    def at_least(self) -> float:
        """What the moved numbers lose together; no more than the pure epsilon, but for the order of a sum."""
        return min(float(self.ratios[self.moved].sum()), self.pure_epsilon)

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return a lower and an upper value of delta at epsilons (...)."""
        values = np.asarray(epsilons, dtype=np.float64)
        upper = self._upper(values)
        return np.minimum(self._lower(values), upper), upper

    def upper_epsilon(self, delta: float) -> float:
        """Return an epsilon at which delta is certain to suffice."""
        if not delta:
            return self.pure_epsilon

        def exceeds(epsilon: FloatArray) -> BoolArray:
            return np.asarray(self._upper(epsilon) > delta)

        if not exceeds(np.asarray(0.0)):
            return 0.0
        return float(turning_point(exceeds, 0.0, self.pure_epsilon)[1])

    def slack(self, epsilon: float, *, delta: float) -> float:
        """Return ln delta less ln of the upper delta at this epsilon, epsilon less the pure one for delta = 0.

        It is not negative exactly where (epsilon, delta) is certain to suffice.
        """
        if not delta:
            return epsilon - self.pure_epsilon
        upper = float(self._upper(np.asarray(epsilon)))
        return math.log(delta) - math.log(upper) if upper else math.inf

    def _upper(self, values: FloatArray) -> FloatArray:
        orders, divergences = self._divergences
        return np.where(values < self.pure_epsilon, renyi_delta(orders, divergences, values), 0.0)

    @cached_property
    def _divergences(self) -> tuple[FloatArray, FloatArray]:
        """alpha - 1, and the largest divergence of each order: (orders,) both."""
        orders = _ORDERS / self.pure_epsilon
        divergences = laplace_divergences(self.ratios, orders, whole=self.whole)
        return orders, self.most(divergences)

    def _lower(self, values: FloatArray) -> FloatArray:
        """delta of the composed law of S, every loss being sum a - S, at epsilons (...)."""
        step, law = self._composed
        short = self.at_least - step * np.arange(len(law))
        # delta = sum over losses above epsilon of P (1 - e^(epsilon - loss)): two running sums.
        masses = np.concatenate(([0.0], np.cumsum(law)))
        places = np.clip(np.ceil((self.at_least - values) / step), 0, len(law)).astype(np.int64)
        # Losses below 0 are above no epsilon; beyond what a double holds delta is not sought, and 0 is below it.
        scaled = np.concatenate(([0.0], np.cumsum(law * np.exp(-np.maximum(short, 0.0)))))
        above = np.exp(np.minimum(values, _LARGEST)) * scaled[places]
        return np.where(values > _LARGEST, 0.0, np.maximum(masses[places] - above - _ROUND_OFF, 0.0))

    @cached_property
    def _composed(self) -> tuple[float, FloatArray]:
        """A lattice's step, and the law of S rounded up to it."""
        ratios = self.ratios[self.moved]
        step = 2 * self.at_least / _LATTICE
        size = fft.next_fast_len(_LATTICE + 2 * len(ratios) + 1, real=True)
        power = np.ones(size // 2 + 1, dtype=np.complex128)
        for ratio, times in zip(*np.unique(ratios, return_counts=True), strict=True):
            law = _whole_law(ratio, step) if self.whole else _real_law(ratio, step)
            power *= fft.rfft(law, size) ** int(times)
        return step, np.maximum(fft.irfft(power, size), 0.0)


def _real_law(ratio: float, step: float) -> FloatArray:
    """P of min(X, 2a), rounded up to a multiple of the step."""
    last = int(np.ceil(2 * ratio / step))
    ends = np.minimum(step * np.arange(last + 1), 2 * ratio)
    below = 1 - np.exp(-ends / 2) / 2  # P[X <= end]
    below[-1] = 1.0
    return np.diff(below, prepend=0.0)


def _whole_law(ratio: float, step: float) -> FloatArray:
    """The same of whole noise that moves by two: S is 0, a or 2a."""
    q = np.exp(-ratio / 2)
    law = np.zeros(int(np.ceil(2 * ratio / step)) + 1)
    law[0] += 1 / (1 + q)
    law[int(np.ceil(ratio / step))] += q * (1 - q) / (1 + q)
    law[-1] += q**2 / (1 + q)
    return law


def laplace_divergences(ratios: FloatArray, orders: FloatArray, *, whole: bool) -> FloatArray:
    """Return the Renyi divergence of noise of every ratio (M,) at alpha - 1 = `orders` (O,): (O, M)."""
    less = orders[:, None]
    if whole:
        q = np.exp(-ratios / 2)
        terms = [less * ratios, np.log(np.maximum(q * (1 - q), 1e-300)) + 0 * less, -(2 + 2 * less) * ratios / 2]
        logs = np.logaddexp(np.logaddexp(terms[0], terms[1]), terms[2]) - np.log1p(q)
    else:
        up, down = np.log((less + 1) / (2 * less + 1)), np.log(less / (2 * less + 1))
        logs = np.logaddexp(up + less * ratios, down - (less + 1) * ratios)
    return np.asarray(np.maximum(logs, 0.0) / less)
