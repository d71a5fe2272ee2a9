"""The root of a covariance whose inverse is a sum of factors of few numbers each.

Most residuals are in one family only. Given the residuals that several factors contain, those of different families are
independent. They are eliminated family by family, so that only the shared ones need a large matrix: 247 of the 601
numbers of Alarm.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from dpbayes.base.types import FloatArray, IntArray

_LEAST_SIZE = 100
"""The size below which one matrix of all numbers is faster."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """The order of elimination: first the numbers that are in one factor only, then the shared ones (S,).

    `own` has for every factor the numbers (p,) that only this factor contains, and the places (s,) in `shared` of its
    other numbers.
    """

    own: tuple[tuple[IntArray, IntArray], ...]
    shared: IntArray

    @classmethod
    def of(cls, factors: Sequence[IntArray], size: int) -> "Elimination":
        """Return the order for numbers 0 to size - 1 and factors with these numbers each."""
        uses = np.bincount(np.concatenate(factors), minlength=size)
        is_shared = (uses != 1) if size >= _LEAST_SIZE else np.ones(size, dtype=np.bool_)
        places = np.cumsum(is_shared) - 1
        own = tuple((numbers[~is_shared[numbers]], places[numbers[is_shared[numbers]]]) for numbers in factors)
        return cls(own, np.flatnonzero(is_shared))

    def reach(self, factor: int) -> IntArray:
        """Return the columns of the root in which numbers of a factor have entries other than 0."""
        own, others = self.own[factor]
        return np.concatenate((own, self.shared[others.min(initial=len(self.shared)) :]))

    def root(self, precision: FloatArray) -> FloatArray:
        """Return C (R, R) with C C.T the inverse of a precision matrix; NaN if there is none."""
        if len(self.shared) == len(precision):
            return inverse_root(precision).T
        shared, parts = self.shared, []
        rest = precision[shared[:, None], shared]
        for own, others in self.own:
            if own.size:
                inverse = inverse_root(precision[own[:, None], own])
                along = inverse @ precision[own[:, None], shared[others]]
                rest[others[:, None], others] -= along.T @ along
                parts.append((own, inverse.T, inverse.T @ along, others))
        last = inverse_root(rest).T
        root = np.zeros_like(precision)
        root[shared[:, None], shared] = last
        for own, within, along, others in parts:
            root[own[:, None], own] = within
            root[own[:, None], shared] = -along @ last[others]
        return root


def inverse_root(precision: FloatArray) -> FloatArray:
    """Return L^-1 with L L.T = precision, which may be overwritten; NaN if there is none."""
    if not len(precision):
        return precision
    if not np.isfinite(precision).all():
        return np.full_like(precision, np.nan)
    # LAPACK stores a matrix by columns.
    factor, failed = linalg.lapack.dpotrf(precision.T, lower=1, overwrite_a=1)
    if failed:
        return np.full_like(precision, np.nan)
    inverse, _ = linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
    return np.asarray(inverse)
