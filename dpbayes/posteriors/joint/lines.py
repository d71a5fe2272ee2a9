"""Levels spread evenly over a unit cube, and the places of levels in discrete distributions."""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray, IntArray


def spread_levels(dimensions: int, number: int) -> FloatArray:
    """Return points spread evenly over the unit cube (dimensions, number), by powers of a generalised golden ratio."""
    root = 2.0
    for _ in range(40):
        root = (1 + root) ** (1 / (dimensions + 1))
    return (0.5 + np.arange(1, number + 1) * root ** -np.arange(1.0, dimensions + 1)[:, None]) % 1


@dataclass(frozen=True, eq=False)
class StepLines:
    """Distribution functions of many discrete distributions of `size` places, each shifted by its index, on one line.

    A level is found by one binary search on this line, without a comparison with every place.
    """

    line: FloatArray
    size: int

    @classmethod
    def of(cls, weights: FloatArray) -> "StepLines":
        """Return the distribution functions of weights (..., size); for weights that are not finite, they are zero."""
        steps = np.cumsum(weights, axis=-1)
        shares = np.nan_to_num(steps / np.maximum(steps[..., -1:], np.finfo(float).tiny)).reshape(-1, weights.shape[-1])
        return cls((shares + np.arange(len(shares))[:, None]).ravel(), weights.shape[-1])

    def picked(self, law: IntArray, shares: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the places of levels (...) in their distributions, and the relative position within each place."""
        first = law * self.size
        chosen = np.clip(np.searchsorted(self.line, law + shares) - first, 0, self.size - 1)
        end = self.line[first + chosen] - law
        start = np.where(chosen > 0, self.line[first + np.maximum(chosen, 1) - 1] - law, 0.0)
        return chosen, np.clip((shares - start) / np.maximum(end - start, np.finfo(float).tiny), 0.0, 1.0)
