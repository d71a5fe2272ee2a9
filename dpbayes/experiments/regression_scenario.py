"""The settings of Figure 2 of [Zhang16], what they guarantee at every prior precision, and a synthetic census."""

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from dpbayes.base.parameters import Choice, Parameter, check_parameters
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.mechanisms.parameters import MOST_DRAWS
from dpbayes.mechanisms.regression import (
    DRAWS,
    NOISE_VARIANCE,
    PRIOR_PRECISION,
    RegressionSampler,
    norm_bound_for,
    printed_norm_bound,
)
from dpbayes.model.regression import Bounds, RegressionData

# A synthetic census

MOST_RECORDS = 1_000_000
TARGET = "income"

_NUMBERS = {"schooling": (0.0, 20.0), "age": (18.0, 98.0), "hours": (0.0, 80.0), "household": (1.0, 9.0)}
_FLAGS = {
    "employed": (0.6, 0.3, -0.3),
    "married": (0.0, 0.2, 0.6),
    "woman": (0.0, 0.0, 0.0),
    "migrant": (-1.8, -0.2, -0.2),
    "disability": (-1.6, -0.3, 0.6),
    "children": (-0.6, 0.0, -0.5),
    "owner": (0.4, 0.5, 0.8),
    "urban": (0.9, 0.3, -0.1),
    "veteran": (-2.0, 0.0, 0.6),
    "divorced": (-2.0, -0.1, 0.3),
}
"""For each flag: intercept, and slopes on schooling and age, of its log-odds."""

CENSUS_FEATURES = (*_NUMBERS, *_FLAGS)
CENSUS_BOUNDS: Bounds = dict(_NUMBERS) | dict.fromkeys(_FLAGS, (0.0, 1.0)) | {TARGET: (0.0, 100_000.0)}


def census_like(n: int, *, features: int = len(CENSUS_FEATURES), rng: np.random.Generator) -> RegressionData:
    """Return n synthetic adults: the first `features` of CENSUS_FEATURES, and annual income, within CENSUS_BOUNDS.

    The records replace the census extract of [Zhang16] Section 5.2 and have its size. Most columns depend on schooling
    and age; income is log-normal around them, and less unequal than real incomes. The rows do not depend on `features`.
    Errors: InputError.
    """
    n = whole_number("The number of records", n, low=2, high=MOST_RECORDS)
    d = whole_number("The number of features", features, low=1, high=len(CENSUS_FEATURES))
    school, age = rng.standard_normal((2, n))
    flags = {
        name: (rng.random(n) < 1 / (1 + np.exp(-(at + by_school * school + by_age * age)))).astype(float)
        for name, (at, by_school, by_age) in _FLAGS.items()
    }
    hours = 38 * flags["employed"] + 9 * np.abs(rng.standard_normal(n))
    household = 1 + rng.poisson(0.8 + flags["married"] + flags["children"], n)
    columns = {"schooling": 12 + 3 * school, "age": 46 + 16 * age, "hours": hours, "household": household} | flags
    gain = 0.33 * school + 0.12 * age + 0.022 * (hours - 30) + 0.15 * flags["married"] - 0.25 * flags["woman"]
    gain += 0.15 * flags["owner"] - 0.15 * flags["migrant"] - 0.2 * flags["disability"]
    log_income = 10.77 + 0.32 * gain + 0.148 * rng.standard_normal(n)
    values = np.column_stack([columns[name] for name in CENSUS_FEATURES[:d]])
    return RegressionData(values, np.exp(log_income), (*CENSUS_FEATURES[:d], TARGET))


# Settings

PRECISIONS = tuple(float(f"{10 ** (k / 3):.2g}") for k in range(-6, 19))
"""The usual prior precisions, 0.01 to 1,000,000."""

MOST_SAMPLES = 1_000_000
"""Most samples from the posterior at one precision, which take a few minutes."""

_LEAST_DRAWS, _ENOUGH_DRAWS, _DRAWS_TIMES_RECORDS = 2, 50, 20_000
"""Least draws: their average needs two, and more if there are few records."""


class Records(enum.Enum):
    """Where the records come from."""

    SYNTHETIC = "synthetic records"
    FULTON = "Fulton census"


def _whole(symbol: str, title: str, description: str = "", *, low: int, high: int, typical: int) -> Parameter:
    return Parameter(symbol, low, high, typical, log=high > 1000, whole=True, title=title, description=description)


_SOURCE = "The source of the records."
_FEATURES = "The number of features from which the target is predicted."
_REPEATS = "Each repeat uses a new split into training and test records, and new samples."
_SAMPLES = "The number of posterior samples of the weights in one release."
_TRAINING = "The share of the records that each repeat trains on."


@dataclass(frozen=True, kw_only=True)
class RegressionScenario:
    """Records and all settings of the experiment except its seed.

    The norm bound is 10/sqrt(b), as in [Zhang16] Figure 2; it depends on public numbers only. The errors are those at
    all `precisions` b (P,). Errors: InputError for values out of range, and for precisions in another order.
    """

    records: Annotated[Records, Choice(Records, title="records", description=_SOURCE)] = Records.SYNTHETIC
    n: Annotated[int, _whole("n", "synthetic records", low=2, high=MOST_RECORDS, typical=370_000)] = 370_000
    features: Annotated[
        int, _whole("d", "features", _FEATURES, low=1, high=len(CENSUS_FEATURES), typical=len(CENSUS_FEATURES))
    ] = len(CENSUS_FEATURES)
    noise_variance: Annotated[float, NOISE_VARIANCE] = 1.0
    train_share: Annotated[
        float, Parameter("", low=0.001, high=0.999, typical=0.1, title="training share", description=_TRAINING)
    ] = 0.1
    repeats: Annotated[int, _whole("", "repeats", _REPEATS, low=1, high=10_000, typical=20)] = 20
    draws: Annotated[
        int, _whole("N", "posterior samples", _SAMPLES, low=int(DRAWS.low), high=MOST_DRAWS, typical=1)
    ] = 1
    precisions: tuple[float, ...] = PRECISIONS

    def __post_init__(self) -> None:
        check_parameters(self)
        precisions = tuple(PRIOR_PRECISION.checked("Prior precision", b) for b in self.precisions)
        if not precisions or any(a >= b for a, b in itertools.pairwise(precisions)):
            raise InputError("The prior precisions must be one or more values in increasing order.")
        object.__setattr__(self, "precisions", precisions)

    @cached_property
    def samplers(self) -> tuple[RegressionSampler, ...]:
        """The sampler at every precision, which states the guarantees."""
        return tuple(
            RegressionSampler(
                prior_precision=b,
                noise_variance=self.noise_variance,
                norm_bound=printed_norm_bound(b),
                draws=self.draws,
            )
            for b in self.precisions
        )

    def at_epsilons(self, epsilons: Sequence[float]) -> "RegressionScenario":
        """Return the scenario at the precisions whose proved epsilons, with the paper's norm bound, are these.

        Epsilon increases with the bound 10/sqrt(b), so there is one b for each; those out of its range are left out.
        """
        bounds = [norm_bound_for(at, noise_variance=self.noise_variance, draws=self.draws) for at in epsilons]
        precisions = sorted((10 / bound) ** 2 for bound in bounds)
        fit = tuple(b for b in precisions if PRIOR_PRECISION.low <= b <= PRIOR_PRECISION.high)
        return replace(self, precisions=fit)

    @property
    def norm_bounds(self) -> FloatArray:
        """B at every precision: (P,)."""
        return np.array([sampler.norm_bound for sampler in self.samplers])

    @property
    def certified(self) -> FloatArray:
        """The certified epsilon of all N draws at every precision: (P,)."""
        return np.array([sampler.certified.epsilon for sampler in self.samplers])

    def training_records(self, n: int) -> int:
        """Return how many of n records are training records."""
        return round(self.train_share * n)

    def draws_made(self, train: int) -> int:
        """Return the number of samples from a posterior: N or more, and more if there are fewer records."""
        return max(self.draws, _LEAST_DRAWS, min(_ENOUGH_DRAWS, _DRAWS_TIMES_RECORDS // max(train, 1)))

    def checked_training(self, n: int, *, features: int) -> int:
        """Return how many of n records are training records. Errors: InputError if the study cannot be run."""
        train = self.training_records(n)
        if not 0 < train < n:
            raise InputError(
                f"A share of {numeral(self.train_share)} of {many(n, 'record')} leaves no training or no test records. "
                "Use more records or another share."
            )
        if train < features:
            raise InputError(
                f"There are more features ({features:,}) than training records ({train:,}); take more records, a "
                "larger share or fewer features."
            )
        if self.repeats * self.draws_made(train) > MOST_SAMPLES:
            raise InputError(
                f"{self.repeats:,} repeats of {self.draws_made(train):,} posterior samples are too many. Use fewer "
                "repeats or fewer samples."
            )
        return train
