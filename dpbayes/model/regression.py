"""Records for linear regression, scaled by public bounds, and their sufficient statistics. [Zhang16] Appendix D."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, distinct_names

Bounds = Mapping[str, tuple[float, float]]
"""The public bounds (low, high) of every column, in its units. Bounds read off the records would void the guarantee."""

ROUNDING = 1e-12
"""By how much a scaled record may leave the unit ball: what rounding does to sums of squares."""


@dataclass(frozen=True, eq=False)
class RegressionData:
    """n records of `features` (n, d) and a `target` (n,) in their own units; `names` has d + 1, the target's last.

    The arrays are read-only. The model has no intercept: who wants one adds a column of ones with the bounds (-1, 1).
    Errors: InputError for other shapes, repeated names, no feature, and values that are not finite numbers.
    """

    features: FloatArray
    target: FloatArray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", distinct_names("column", self.names))
        try:
            features, target = (np.array(part, dtype=np.float64) for part in (self.features, self.target))
        except (TypeError, ValueError):
            raise InputError("Every value of a regression's columns must be a number.") from None
        if features.ndim != 2 or not features.shape[1] or target.shape != features.shape[:1]:
            raise InputError("A regression needs at least one feature, and one target value for each record.")
        if len(self.names) != features.shape[1] + 1:
            raise InputError(
                f"Give the names of the {features.shape[1]} features and, as the last name, that of the target."
            )
        if not (np.isfinite(features).all() and np.isfinite(target).all()):
            raise InputError("A value is missing or infinite. Drop or complete such records first.")
        for name, part in (("features", features), ("target", target)):
            part.setflags(write=False)
            object.__setattr__(self, name, part)

    @property
    def n(self) -> int:
        """The number of records; public, since neighbours share it."""
        return len(self.target)


@dataclass(frozen=True, eq=False)
class ScaledRegression(RegressionData):
    """Records with ||x|| <= 1 and |y| <= 1: the only kind that `moments`, and so the sampler, takes.

    `scaled` makes them. Errors: those of RegressionData, and InputError for a record outside the unit ball.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        squares = np.einsum("nd,nd->n", self.features, self.features)
        if np.any(squares > 1 + ROUNDING) or np.any(np.abs(self.target) > 1 + ROUNDING):
            raise InputError("A record is outside the unit ball. Scale the table by its public bounds first.")

    def take(self, records: Sequence[int] | NDArray[np.integer] | slice) -> "ScaledRegression":
        """Return the table with these records only."""
        return ScaledRegression(self.features[records], self.target[records], self.names)


def scaled(data: RegressionData, bounds: Bounds) -> ScaledRegression:
    """Map every column from its public bounds to [-1, 1], then divide the features by sqrt(d).

    Every corner of the public box then has ||x|| = 1. Values outside their bounds are clipped to them first. The map
    depends on the bounds alone, so neighbouring tables stay neighbours. Errors: InputError unless the lower bound of
    each column is the first, and both are finite.
    """
    low, high = np.array([bounds[name] for name in data.names]).T
    if not ((low < high) & np.isfinite(high - low)).all():
        raise InputError("Public bounds must be two finite numbers for each column, the lower one first.")
    values = np.column_stack([data.features, data.target])
    np.clip(values, low, high, out=values)  # in place, because the records may be most of the memory in use
    values -= high / 2 + low / 2
    values /= high / 2 - low / 2
    np.clip(values, -1.0, 1.0, out=values)
    d = data.features.shape[1]
    values[:, :d] /= np.sqrt(d)
    return ScaledRegression(values[:, :d], values[:, d], data.names)


@dataclass(frozen=True, eq=False)
class Moments:
    """The sufficient statistics of n records: X'X (..., d, d), X'y (..., d), y'y (...,); all that a sampler sees.

    They are sums: `whole - train` are the moments of the test records. Every member of a batch has the same n.
    Errors: InputError for shapes that do not fit together, values that are not finite, and a negative n.
    """

    gram: FloatArray
    cross: FloatArray
    square: FloatArray
    n: int

    def __post_init__(self) -> None:
        gram, cross, square = (np.asarray(part, dtype=np.float64) for part in (self.gram, self.cross, self.square))
        if cross.ndim == 0 or not cross.shape[-1] or gram.shape != (*cross.shape, cross.shape[-1]):
            raise InputError("Moments need X'X with one row and one column for each of the entries of X'y.")
        if square.shape != cross.shape[:-1] or self.n < 0:
            raise InputError("Moments need one y'y for each X'y, and a number of records that is not negative.")
        if not all(np.isfinite(part).all() for part in (gram, cross, square)):
            raise InputError("Moments must be finite numbers.")
        for name, part in (("gram", gram), ("cross", cross), ("square", square)):
            object.__setattr__(self, name, part)

    @property
    def d(self) -> int:
        return self.cross.shape[-1]

    def __sub__(self, other: "Moments") -> "Moments":
        return Moments(self.gram - other.gram, self.cross - other.cross, self.square - other.square, self.n - other.n)


def moments(data: ScaledRegression) -> Moments:
    """Return the sufficient statistics of scaled records, without batch axes.

    Errors: InputError for a table that has not been scaled.
    """
    if not isinstance(data, ScaledRegression):
        raise InputError("This table is not scaled. Scale it by its public bounds first.")
    x, y = data.features, data.target
    return Moments(x.T @ x, x.T @ y, np.asarray(y @ y), data.n)


def mean_squared_error(part: Moments, weights: ArrayLike) -> FloatArray:
    """Return (y'y - 2 w'X'y + w'X'X w)/n, the mean of (y - x'w)^2, for `weights` (*size, ..., d): (*size, ...).

    In scaled units squared. Errors: InputError when there are no records.
    """
    if part.n == 0:
        raise InputError("There are no test records.")
    w = np.asarray(weights, dtype=np.float64)
    bent = np.einsum("...i,...ij,...j->...", w, part.gram, w, optimize=True)
    total = part.square - 2 * np.einsum("...i,...i->...", w, part.cross) + bent
    # Of a perfect fit only rounding is left, which may be negative.
    return np.maximum(total, 0.0) / part.n
