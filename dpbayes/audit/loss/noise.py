"""Exact privacy of Laplace noise on k values that one record moves by one step each, between two certified bounds.

dp_accounting's distribution of the loss is as tight, but its lower bound on delta is not certified against rounding.
delta(epsilon) = E[(1 - e^(S - x))_+] with x = k a - epsilon, where S is a sum of k copies of min(X, 2a) on a lattice:
docs/proofs.md has the proof. For k = 1 and 2 there are closed forms in `dpbayes.audit.die`.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.loss.law import epsilon_at
from dpbayes.base.libraries import fft
from dpbayes.base.quadrature import turning_point
from dpbayes.base.types import BoolArray, ComplexArray, FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number

MOST_MOVED = 100_000
"""Most values that may move."""

MOST_STEP = 16
"""Farthest that whole numbers may move."""

_LATTICE = 1 << 16
_LEAST_STEPS = 8
_TILTS = 3
_APART = 5.0
"""Tilts are made for S at its mean and so many standard deviations below it, twice."""

_ROUND_OFF = 2.0**-53


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise on values of which one record moves `moved` (k), each by `ratio` (a = step/scale).

    Where the noise is of whole numbers, `whole` is the step (s); 0 stands for real numbers.
    Errors: InputError for a number of values that is negative or above MOST_MOVED, a ratio out of [1e-9, 1e9], and a
    step that is no whole number up to MOST_STEP.
    """

    moved: int
    ratio: float
    whole: int = 0

    def __post_init__(self) -> None:
        moved = whole_number("The number of moved values", self.moved, low=0, high=MOST_MOVED)
        object.__setattr__(self, "moved", moved)
        object.__setattr__(self, "ratio", finite_number("The step over the scale", self.ratio, low=1e-9, high=1e9))
        object.__setattr__(self, "whole", whole_number("The step of whole numbers", self.whole, low=0, high=MOST_STEP))

    @property
    def pure_epsilon(self) -> float:
        """The number moved times the ratio: the exact pure epsilon, which is attained."""
        return self.moved * self.ratio

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return a lower and an upper value of delta at every epsilon (...): two arrays (...).

        Errors: InputError for negative epsilons.
        """
        values = np.asarray(epsilons, dtype=np.float64)
        if not np.all(values >= 0):
            raise InputError("epsilon must not be negative.")
        short = np.maximum(self.pure_epsilon - values, 0.0)
        if not self.moved:
            return np.zeros(short.shape), np.zeros(short.shape)
        below, above = self._bounds
        low, high = [part.below(short) for part in below], [part.above(short) for part in above]
        return np.where(short > 0, np.max(low, axis=0), 0.0), np.where(short > 0, np.min(high, axis=0), 0.0)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return a lower and an upper value of the smallest epsilon >= 0 at which delta suffices.

        Errors: InputError for a delta out of [0, 1].
        """
        target = finite_number("delta", delta, low=0, high=1)
        if target == 0 or not self.moved:
            return self.pure_epsilon, self.pure_epsilon
        return epsilon_at(self, target, self.pure_epsilon)

    @cached_property
    def _bounds(self) -> "tuple[list[_LatticeLaw], list[_LatticeLaw]]":
        """The laws of S below and above; whole numbers are on the lattice as they are."""
        if self.whole:
            exact = _compositions(self.moved, *_whole(self.ratio, self.whole))
            return exact, exact
        steps = _steps(self.moved)
        below, above = (_compositions(self.moved, *lattice(self.ratio, steps)) for lattice in (_joined, _spread))
        return below, above


def _steps(moved: int) -> int:
    """An even number of lattice steps from no loss to a whole one, of one value."""
    return max(_LEAST_STEPS, 2 * (_LATTICE // (2 * moved)))


def _cells(ratio: float, cells: int) -> FloatArray:
    """Mass of X in (0, 2a), cut into even cells: (cells,)."""
    width = 2 * ratio / cells
    return np.exp(-np.arange(cells) * width / 2) * (-math.expm1(-width / 2) / 2)


def _spread(ratio: float, steps: int) -> tuple[FloatArray, float]:
    """The law of min(X, 2a) with every cell's mass moved to its ends: (steps + 1,), and the lattice's step."""
    law, g, mass = _atoms(ratio, steps), 2 * ratio / steps, _cells(ratio, steps)
    far = mass / (math.exp(min(g / 2, 700.0)) + 1)
    law[:-1] += mass - far
    law[1:] += far
    return law, g


def _joined(ratio: float, steps: int) -> tuple[FloatArray, float]:
    """The law of min(X, 2a) with cells of two steps joined at their midpoints."""
    law = _atoms(ratio, steps)
    law[1::2] += _cells(ratio, steps // 2)
    return law, 2 * ratio / steps


def _atoms(ratio: float, steps: int) -> FloatArray:
    law = np.zeros(steps + 1)
    law[0], law[-1] = 0.5, math.exp(-ratio) / 2
    return law


def _whole(ratio: float, step: int) -> tuple[FloatArray, float]:
    """The law of the steps that a whole number falls short: (step + 1,), and what each of them takes off the loss."""
    rate = ratio / step
    law = np.exp(-rate * np.arange(step + 1.0))
    law[1:-1] *= -math.expm1(-rate)
    return law / (1 + math.exp(-rate)), 2 * rate


# Composition


@dataclass(frozen=True, eq=False)
class _LatticeLaw:
    """The law of S on a lattice of step g, delta, and how far both may be off: (points,), up to where a tilt helps."""

    step: float
    whole: bool
    levels: FloatArray
    deltas: FloatArray
    errors: FloatArray

    def below(self, short: FloatArray) -> FloatArray:
        """A lower value of delta at x = `short` (...): (...)."""
        value, error, is_computed = self._at(short)
        return np.where(is_computed, np.maximum(value - error, 0.0), 0.0)

    def above(self, short: FloatArray) -> FloatArray:
        """An upper value of delta at x = `short` (...): (...)."""
        value, error, is_computed = self._at(short)
        return np.where(is_computed, np.minimum(value + error, 1.0), 1.0)

    def _at(self, short: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        last = len(self.levels) - 1
        place = np.floor(short / self.step)
        is_computed = (place <= last) | self.whole
        i = np.minimum(place, last).astype(np.int64)
        rest = short - i * self.step
        near = np.exp(-rest)
        return self.levels[i] * -np.expm1(-rest) + self.deltas[i] * near, self.errors[i], is_computed


def _compositions(moved: int, law: FloatArray, step: float) -> list[_LatticeLaw]:
    places: FloatArray = step * np.arange(len(law), dtype=np.float64)
    mean = float(law @ places)
    spread = math.sqrt(float(law @ (places - mean) ** 2) / moved)
    targets = [mean - k * _APART * spread for k in range(1, _TILTS)]
    tilts = [0.0, *(_tilt(law, places, target) for target in targets if target > 0)]
    return [_composed(moved, law, step, tilt) for tilt in tilts]


def _tilt(law: FloatArray, places: FloatArray, target: float) -> float:
    """The s at which the tilted mean is `target`, below the mean and above the smallest place, which has mass."""

    def mean(s: float) -> float:
        weights = law * np.exp(-s * places)
        return float(weights @ places / weights.sum())

    high = 1 / places[-1]
    while mean(high) > target and high * places[1] < 700:
        high *= 2
    return float(turning_point(lambda s: np.asarray(mean(float(s)) > target), 0.0, high, halvings=30)[1])


def _composed(moved: int, law: FloatArray, step: float, tilt: float) -> _LatticeLaw:
    """Compose `moved` copies: each tilted by e^(-s S), transformed, raised to the power, and transformed back."""
    from scipy import signal  # here, because it brings scipy.stats: `import dpbayes` would take twice as long

    weights = law * np.exp(-tilt * step * np.arange(len(law)))
    total = float(weights.sum())
    points = moved * (len(law) - 1) + 1
    size = fft.next_fast_len(points, real=True)
    spectrum = fft.rfft(weights / total, size)
    powers = _power(spectrum, moved)
    law_of_sum = np.maximum(fft.irfft(powers, size)[:points], 0.0)
    # Rounding: an output of a transform is a sum of terms that pass through log2(size) butterflies each.
    passes = 8 * _ROUND_OFF * math.log2(size)
    modulus = np.abs(spectrum) + passes
    off = (moved * (passes + 4 * _ROUND_OFF) * modulus ** (moved - 1) + passes * np.abs(powers)).mean()
    # The tilted law is known up to `off` in every point; untilting must not blow that up.
    most = points if tilt == 0 else min(points, 1 + int(-moved * math.log(total) / (tilt * step)))
    back = np.exp(moved * math.log(total) + tilt * step * np.arange(most))
    levels = np.cumsum(law_of_sum[:most] * back)
    decay = math.exp(-step)
    # delta at lattice points: a sum of positive terms, (1 - e^-g) sum_t e^(-g (i-1-t)) levels_t.
    rising = -math.expm1(-step) * signal.lfilter([1.0], [1.0, -decay], levels)
    deltas = np.concatenate([[0.0], rising[:-1]])
    errors = 2 * off * np.cumsum(back) + 8 * most * _ROUND_OFF * levels + 1e-300
    return _LatticeLaw(step, most == points, levels, deltas, errors)


def _power(values: ComplexArray, exponent: int) -> ComplexArray:
    power = np.ones_like(values)
    base = values
    while exponent:
        if exponent & 1:
            power = power * base
        base = base * base
        exponent >>= 1
    return power
