"""Scaled records, and what splits of them into training and test records come to: products, of which all follows."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.model.regression import ScaledRegression

_ENTRIES = 1 << 20
"""Numbers of training sets held at a time."""


@dataclass(frozen=True, eq=False)
class SplitTable:
    """Scaled records as one array (n, d + 2) of features, target and a one, so that one product gives all moments.

    Errors: InputError where the target never varies.
    """

    joint: FloatArray

    @classmethod
    def of(cls, data: ScaledRegression) -> "SplitTable":
        """Copy scaled records."""
        if data.n and data.target.min() == data.target.max():
            raise InputError("The target is the same in every record, so there is nothing to predict.")
        joint = _aligned((data.n, data.features.shape[1] + 2))
        joint[:, :-2], joint[:, -2], joint[:, -1] = data.features, data.target, 1.0
        joint.setflags(write=False)
        return cls(joint)

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.joint)

    @property
    def features(self) -> int:
        """The number of features d."""
        return self.joint.shape[1] - 2

    @cached_property
    def products(self) -> FloatArray:
        """Z'Z of all records: (d + 2, d + 2)."""
        return self.joint.T @ self.joint

    def split_products(self, train: int, rng: np.random.Generator, splits: int) -> FloatArray:
        """Return Z'Z of `splits` training sets of `train` records, each drawn without replacement: (splits, d+2, d+2).

        Small training sets go through one product together; a large one is a product of its own, nothing smaller to
        share. The rows of a set are drawn one set after another: a later one does not change those before.
        """
        width = self.joint.shape[1]
        products = np.empty((splits, width, width))
        at_once = max(1, _ENTRIES // (train * width))
        for start in range(0, splits, at_once):
            stop = min(splits, start + at_once)
            rows = [rng.choice(self.n, train, replace=False, shuffle=False) for _ in range(start, stop)]
            chosen = self.joint.take(np.concatenate(rows), axis=0).reshape(stop - start, train, width)
            if stop - start == 1:  # the same array twice: half the work, by symmetry
                products[start] = chosen[0].T @ chosen[0]
            else:
                np.matmul(chosen.swapaxes(-1, -2), chosen, out=products[start:stop])
        return products


def _aligned(shape: tuple[int, int]) -> FloatArray:
    """Return an empty array that starts where two cache lines do: random rows are then read a quarter faster."""
    size = 8 * math.prod(shape)
    memory = np.empty(size + 128, dtype=np.uint8)
    start = -memory.ctypes.data % 128
    return memory[start : start + size].view(np.float64).reshape(shape)
