"""A simulated number with its standard error, as a sentence shows it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.text import near_one
from dpbayes.base.types import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A simulated mean and its standard error, as text "32.4 ± 0.8"; the error of a single sample is NaN."""

    value: float
    error: float

    @classmethod
    def of(cls, values: ArrayLike) -> "Estimate":
        """Return the mean of independent draws (draws,)."""
        drawn = np.asarray(values, dtype=np.float64).ravel()
        return cls(float(drawn.mean()), float(standard_error(drawn)))

    def __str__(self) -> str:
        if not self.error > 1e-9 * abs(self.value):
            return f"{self.value:,.0f}" if abs(self.value) >= 1000 else near_one(self.value)
        digits = max(0, -math.floor(math.log10(self.error / 2)))  # two of the error that starts with 1, else one
        return f"{round(self.value, digits) + 0.0:,.{digits}f} ± {self.error:,.{digits}f}"


def standard_error(values: FloatArray) -> FloatArray:
    """Return the standard error of the mean over the first axis: (n, ...) to (...), NaN if n is 1."""
    n = len(values)
    return values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[1:], np.nan)
