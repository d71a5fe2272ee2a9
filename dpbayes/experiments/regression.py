"""Figure 2 of [Zhang16] and beyond: how well private regression weights predict, against the prior precision.

Every repeat samples a new training set. The posterior at every precision and every error on the rest follow from the
moments of all records and of the training set, so no record is read again. Errors are in squared scaled units.

    scenario = RegressionScenario(records=Records.FULTON, repeats=100)
    regression_study(records_of(scenario, seed=1).table, scenario, stream(1)).exact.mean
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.regression_scenario import CENSUS_BOUNDS, Records, RegressionScenario, census_like
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.regression import Bounds, Moments, RegressionData, ScaledRegression, mean_squared_error, scaled
from dpbayes.posteriors.gaussian import sample_in_ball, weights_posterior

_ENTRIES = 1 << 20
"""Numbers of training sets, or of samples, in memory at a time."""

_REPEATS_AT_ONCE = 25

LOOKS = {
    "best": Look("best without privacy", EXACT, width=5),
    "private": Look("private prediction", RegressionSampler.colour, width=3),
    "baseline": Look("always the mean", BOUND, "dash", width=2),
}
"""The predictors, by the fields of a result."""


# Records


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
        for part in slices(splits, _ENTRIES // (train * width)):
            rows = [rng.choice(self.n, train, replace=False, shuffle=False) for _ in range(part.start, part.stop)]
            chosen = self.joint.take(np.concatenate(rows), axis=0).reshape(len(rows), train, width)
            if len(rows) == 1:  # the same array twice: half the work, by symmetry
                products[part] = chosen[0].T @ chosen[0]
            else:
                np.matmul(chosen.swapaxes(-1, -2), chosen, out=products[part])
        return products


def _aligned(shape: tuple[int, int]) -> FloatArray:
    """Return an empty array aligned to two cache lines, from which random rows are read a quarter faster."""
    size = 8 * math.prod(shape)
    memory = np.empty(size + 128, dtype=np.uint8)
    start = -memory.ctypes.data % 128
    return memory[start : start + size].view(np.float64).reshape(shape)


@dataclass(frozen=True, eq=False)
class StudyRecords:
    """Records ready for the experiment; their target is called `target`, and a scaled error of 1 is `half_width`."""

    table: SplitTable
    target: str
    half_width: float

    def root(self, error: float) -> float:
        """Return the root of a mean squared error, in the target's units."""
        return float(max(error, 0.0) ** 0.5) * self.half_width


def study_records(data: RegressionData, bounds: Bounds) -> StudyRecords:
    """Scale records by their public bounds. Errors: InputError for a constant target."""
    target = data.names[-1]
    low, high = bounds[target]
    return StudyRecords(SplitTable.of(scaled(data, bounds)), target, (high - low) / 2)


Read = Callable[[str], tuple[RegressionData, Bounds]]
"""Reads the records of a census by its key, with their public bounds: `sources.shipped_tables.shipped_regression`."""


def records_of(scenario: RegressionScenario, *, seed: int, read: Read | None = None) -> StudyRecords:
    """Return the records that a scenario names, whose target is in US dollars. A census needs `read`."""
    if scenario.records is Records.FULTON:
        if read is None:
            raise InputError("Records of a census are read from a file: pass read=shipped_regression.")
        return study_records(*read("fulton"))
    census = census_like(scenario.n, features=scenario.features, rng=stream(seed, "regression", "records"))
    return study_records(census, CENSUS_BOUNDS)


# Errors


@dataclass(frozen=True, eq=False)
class Errors:
    """The mean of errors over repeats and its standard error: (P,) each.

    Test sets overlap, so the standard error only describes the variation between runs on the same records.
    """

    mean: FloatArray
    standard_error: FloatArray

    @classmethod
    def of(cls, errors: FloatArray) -> "Errors":
        """Summarise the errors of repeats: (R, P). A single repeat has no standard error."""
        spread = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.full(errors.shape[1], np.nan)
        return cls(errors.mean(axis=0), spread / math.sqrt(len(errors)))


@dataclass(frozen=True, eq=False)
class RegressionResult:
    """Mean squared errors on the test records at every precision; curator only on real data.

    `exact`: ridge regression, the mean of the whole posterior. `private`: the mean of N samples, averaged over all
    samples. `baseline`: the training mean for every record.
    """

    study: RegressionScenario
    train: int
    test: int
    features: int
    exact: Errors
    private: Errors
    baseline: Errors

    def curves(self, half_width: float) -> list[Curve]:
        """Return the roots of the errors, in the target's units, against epsilon; the first and the last are flat."""
        nowhere, least = np.full((2, len(self.exact.mean)), [[np.nan], [self.exact.mean.min()]])
        flat = [("best", Errors(least, nowhere)), ("baseline", Errors(self.baseline.mean, nowhere))]
        return [
            Curve(LOOKS[name], self.study.certified, half_width * root, half_width * of.standard_error / (2 * root))
            for name, of in (flat[0], ("private", self.private), flat[1])
            for root in [np.sqrt(of.mean)]
        ]


def regression_study(table: SplitTable, scenario: RegressionScenario, rng: np.random.Generator) -> RegressionResult:
    """Run the repeats, each with a new split.

    The exact curve of a repeat depends only on `rng` and the training share, and not on the number of repeats. Errors,
    before any work: InputError for too few records, and for too many samples.
    """
    train = scenario.checked_training(table.n, features=table.features)
    splits, draws = rng.spawn(2)
    entries = len(scenario.precisions) * scenario.draws_made(train) * table.features
    parts = []
    for part in slices(scenario.repeats, min(_REPEATS_AT_ONCE, _ENTRIES // entries)):
        products = table.split_products(train, splits, part.stop - part.start)
        parts.append(_evaluated(scenario, products, table.products - products, draws))
    errors = map(Errors.of, np.concatenate(parts, axis=-1).swapaxes(-1, -2))
    return RegressionResult(scenario, train, table.n - train, table.features, *errors)


def _evaluated(
    study: RegressionScenario, products: FloatArray, rest: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return all errors (3, P, R), on records with products `rest`, of training sets with `products` (R, d+2, d+2)."""
    train, test = (_moments(part) for part in (products, rest))
    precisions = np.array(study.precisions)[:, None]
    posterior = weights_posterior(train, prior_precision=precisions, noise_variance=study.noise_variance)
    draws, n = study.draws_made(train.n), study.draws
    drawn = sample_in_ball(posterior, study.norm_bounds[:, None], rng, (draws,))
    exact = mean_squared_error(test, posterior.mean)
    single = mean_squared_error(test, drawn).mean(axis=0)
    together = mean_squared_error(test, drawn.mean(axis=0))
    # The mean of N of the M draws, averaged over every choice of N: `single` for N = 1, `together` for N = M.
    share = (draws - n) / (n * (draws - 1))
    private = share * single + (1 - share) * together
    baseline = np.broadcast_to(_mean_baseline(products, rest), exact.shape)
    return np.stack([exact, private, baseline])


def _moments(products: FloatArray) -> Moments:
    n = round(float(products[0, -1, -1]))
    return Moments(products[..., :-2, :-2], products[..., :-2, -2], products[..., -2, -2], n)


def _mean_baseline(train: FloatArray, test: FloatArray) -> FloatArray:
    """Return the error on the test records of predicting the training mean: (...)."""
    mean = train[..., -2, -1] / train[..., -1, -1]
    squares, total, n = test[..., -2, -2], test[..., -2, -1], test[..., -1, -1]
    return np.maximum(squares - 2 * mean * total + n * mean**2, 0.0) / n
