"""Figure 2 of [Zhang16] and beyond: how well private regression weights predict, against the prior precision.

Every repeat samples a new training set. The posterior at every precision and every error on the rest follow from the
moments of all records and of the training set, so no record is read again. Errors are in squared scaled units.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.steps import Partial, Work
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.regression.design import RegressionStudy
from dpbayes.experiments.regression.result import Errors, RegressionResult
from dpbayes.model.regression import Moments, ScaledRegression, mean_squared_error
from dpbayes.posteriors.gaussian import sample_in_ball, weights_posterior

_ENTRIES = 1 << 20
"""Numbers of training sets, or of samples, in memory at a time."""

_REPEATS_AT_ONCE = 25


@dataclass(frozen=True, eq=False)
class SplitTable:
    """Scaled records as one array (n, d + 2) of features, target and a one, so that one product gives all moments.

    Errors: InputError if the target is constant.
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

        Small training sets share one product; a large training set is a separate product. The rows of the sets are
        sampled in order, so a later set does not change earlier ones.
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
    """Return an empty array aligned to two cache lines, from which random rows are read a quarter faster."""
    size = 8 * math.prod(shape)
    memory = np.empty(size + 128, dtype=np.uint8)
    start = -memory.ctypes.data % 128
    return memory[start : start + size].view(np.float64).reshape(shape)


def regression_curves(table: SplitTable, study: RegressionStudy, rng: np.random.Generator) -> Work[RegressionResult]:
    """Run the repeats in steps.

    The exact curve of a repeat depends only on `rng` and the training share, and not on the number of repeats. Errors,
    before any work: InputError for too few records, and for more work than MOST_SECONDS.
    """
    train = study.checked_training(table.n, features=table.features)
    splits, draws = rng.spawn(2)
    return _blocks(table, study, train, (splits, draws))


def _blocks(
    table: SplitTable, study: RegressionStudy, train: int, rngs: tuple[np.random.Generator, np.random.Generator]
) -> Work[RegressionResult]:
    size = _repeats_at_once(study, train, table.features)

    def block(start: int) -> RegressionResult:
        products = table.split_products(train, rngs[0], min(size, study.repeats - start))
        return _evaluated(study, products, table.products - products, rngs[1])

    result = block(0)
    for start in range(size, study.repeats, size):
        yield Partial(start / study.repeats, result)
        result = result + block(start)
    return result


def _repeats_at_once(study: RegressionStudy, train: int, features: int) -> int:
    entries_per_repeat = len(study.precisions) * study.draws_made(train) * features
    return max(1, min(_REPEATS_AT_ONCE, _ENTRIES // entries_per_repeat))


def _evaluated(
    study: RegressionStudy, products: FloatArray, rest: FloatArray, rng: np.random.Generator
) -> RegressionResult:
    """Return the errors, on records with products `rest`, of training sets with `products`: (R, d + 2, d + 2) each."""
    train, features = round(float(products[0, -1, -1])), products.shape[-1] - 2
    test_records = round(float(rest[0, -1, -1]))
    test = _moments(rest, test_records)
    precisions = np.array(study.precisions)[:, None]
    posterior = weights_posterior(
        _moments(products, train), prior_precision=precisions, noise_variance=study.noise_variance
    )
    draws, n = study.draws_made(train), study.draws
    drawn = sample_in_ball(posterior, study.norm_bounds[:, None], rng, (draws,))
    exact = mean_squared_error(test, posterior.mean)
    single = mean_squared_error(test, drawn).mean(axis=0)
    together = mean_squared_error(test, drawn.mean(axis=0))
    # The mean of M draws has its own variance in addition: a share 1/(M - 1) of the decrease through averaging.
    cut = together - (single - together) / (draws - 1)
    # The same for the mean of N draws, averaged over every choice of N: `single` for N = 1, `together` for N = M.
    share = (draws - n) / (n * (draws - 1))
    several = share * single + (1 - share) * together
    baseline = np.repeat(_mean_baseline(products, rest)[None], len(precisions), axis=0)
    sums = [Errors.of(errors.T) for errors in (exact, cut, single, several, baseline)]
    return RegressionResult(study, train, test_records, features, *sums)


def _moments(products: FloatArray, n: int) -> Moments:
    return Moments(products[..., :-2, :-2], products[..., :-2, -2], products[..., -2, -2], n)


def _mean_baseline(train: FloatArray, test: FloatArray) -> FloatArray:
    """Return the error on the test records of predicting the training mean: (...)."""
    mean = train[..., -2, -1] / train[..., -1, -1]
    squares, total, n = test[..., -2, -2], test[..., -2, -1], test[..., -1, -1]
    return np.maximum(squares - 2 * mean * total + n * mean**2, 0.0) / n
