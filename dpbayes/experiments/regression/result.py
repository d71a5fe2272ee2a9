"""Errors of predictors over repeats, as sums that can be extended, with their names and looks."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.looks import BOUND, EXACT, Curve, Look
from dpbayes.base.types import FloatArray
from dpbayes.experiments.regression.design import RegressionStudy
from dpbayes.mechanisms.regression import RegressionSampler

EXACT_NAME = "exact"
CUT_NAME = "exact, truncated"
ONE_NAME = "one private sample"
MEAN_NAME = "training mean"
_SUMS = ("exact", "cut", "one", "several", "baseline")


def several_name(draws: int) -> str:
    """Return the name of the mean of N samples."""
    return ONE_NAME if draws == 1 else f"mean of {draws:,} private samples"


def _look(name: str) -> Look:
    looks = {
        EXACT_NAME: Look(name, EXACT, width=3),
        CUT_NAME: Look(name, EXACT, "dot", width=2),
        ONE_NAME: Look(name, RegressionSampler.colour, width=3),
        MEAN_NAME: Look(name, BOUND, "dash", width=2),
    }
    return looks.get(name, Look(name, RegressionSampler.colour, "dot", width=3))


@dataclass(frozen=True, eq=False)
class Errors:
    """Mean squared errors over repeats as sums that can be extended: `mean` and `squares` around it (P,)."""

    repeats: int
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, errors: FloatArray) -> "Errors":
        """Sum up the errors of repeats: (R, P)."""
        mean = errors.mean(axis=0)
        return cls(len(errors), mean, ((errors - mean) ** 2).sum(axis=0))

    def __add__(self, other: "Errors") -> "Errors":
        repeats, apart = self.repeats + other.repeats, other.mean - self.mean
        mean = self.mean + apart * other.repeats / repeats
        squares = self.squares + other.squares + apart**2 * (self.repeats * other.repeats / repeats)
        return Errors(repeats, mean, squares)

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of the mean: (P,), NaN for a single repeat.

        Test sets overlap, so it only describes the variation between runs on the same records.
        """
        if self.repeats < 2:
            return np.full(self.mean.shape, np.nan)
        return np.sqrt(self.squares / (self.repeats - 1) / self.repeats)


@dataclass(frozen=True, eq=False)
class RegressionResult:
    """Mean squared errors on the test records at every precision; curator only on real data.

    `exact`: ridge regression, the mean of the whole posterior. `cut`: the mean of the posterior inside the ball; its
    estimate is unbiased and can therefore be negative, see `shown_cut`. `one`: one sample. `several`: the mean of N
    samples. Both are averages over all samples. `baseline`: the training mean for every record. If `test` is 0, there
    were no test records, and the errors are those on the training records.
    """

    study: RegressionStudy
    train: int
    test: int
    features: int
    exact: Errors
    cut: Errors
    one: Errors
    several: Errors
    baseline: Errors

    @property
    def repeats(self) -> int:
        """The number of repeats so far."""
        return self.exact.repeats

    @property
    def claimed(self) -> FloatArray:
        """The printed 2 L(w) of one draw at every precision: (P,)."""
        return self.study.claimed(self.train, features=self.features)

    @property
    def shown_cut(self) -> Errors:
        """`cut`, NaN if at most twice its standard error, because it is then very uncertain and can be negative."""
        drawn = self.study.draws_made(self.train)
        # The correction for the variance of the samples, as an error: a single repeat has no other error.
        taken_off = (self.one.mean - self.cut.mean) / drawn / math.sqrt(self.repeats)
        is_clear = self.cut.mean > 2 * np.fmax(self.cut.standard_error, taken_off)
        return replace(self.cut, mean=np.where(is_clear, self.cut.mean, np.nan))

    @property
    def errors(self) -> dict[str, Errors]:
        """The errors by their names in the frame; none is negative, and NaN stands for unknown errors."""
        errors = {EXACT_NAME: self.exact, CUT_NAME: self.shown_cut, ONE_NAME: self.one}
        if self.study.draws > 1:
            errors[several_name(self.study.draws)] = self.several
        return errors | {MEAN_NAME: self.baseline}

    @property
    def curves(self) -> list[Curve]:
        """The errors as curves over the prior precisions; the baseline has no band, which would cover other curves."""
        precisions, nowhere = np.array(self.study.precisions), np.full(len(self.study.precisions), np.nan)
        return [
            Curve(_look(name), precisions, errors.mean, nowhere if name == MEAN_NAME else errors.standard_error)
            for name, errors in self.errors.items()
        ]

    def __add__(self, later: "RegressionResult") -> "RegressionResult":
        """Return these repeats and the later ones of the same study."""
        sums = {name: getattr(self, name) + getattr(later, name) for name in _SUMS}
        return replace(self, **sums)

    def frame(self) -> "pd.DataFrame":
        """Return one row for each predictor and precision: error, standard error, B, both epsilons, and the settings.

        Predictors without a guarantee have no epsilon. One sample of N has a share 1/N of epsilon.
        """
        study = self.study
        shares = {ONE_NAME: 1 / study.draws, several_name(study.draws): 1.0}
        lines = [
            pd.DataFrame(
                {
                    "predictor": name,
                    "prior_precision": study.precisions,
                    "mse": errors.mean,
                    "standard_error": errors.standard_error,
                    "norm_bound": np.nan if name in (EXACT_NAME, MEAN_NAME) else study.norm_bounds,
                    "certified_epsilon": study.certified * shares.get(name, np.nan),
                    "printed_epsilon_of_one_draw": self.claimed if name in shares else np.nan,
                }
            )
            for name, errors in self.errors.items()
        ]
        return pd.concat(lines, ignore_index=True).assign(
            repeats=self.repeats,
            training_records=self.train,
            test_records=self.test,
            features=self.features,
            noise_variance=study.noise_variance,
            draws=study.draws,
            norm_bound_rule=study.norm_bound_rule,
        )
