"""What Figure 2 of [Zhang16] varies and what it holds: prior precisions, the norm bound's rule, repeats and draws."""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.text import duration, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.mechanisms.regression import (
    DRAWS,
    NOISE_VARIANCE,
    PRIOR_PRECISION,
    RegressionSampler,
    norm_bound_for,
    printed_norm_bound,
)

MOST_REPEATS = 1_000_000_000
"""The largest numbers that are accepted; the error for a long experiment states its time."""

MOST_SECONDS = 600.0
MOST_PRECISIONS = 200

_LEAST_DRAWS, _ENOUGH_DRAWS, _DRAWS_TIMES_RECORDS = 2, 50, 20_000
"""Least draws: the error of the truncated posterior's mean needs two, and more if there are few records."""

_SECONDS_PER_REPEAT, _SECONDS_PER_PRODUCT, _SECONDS_PER_COORDINATE = 1e-4, 5e-10, 4e-7
"""Rough costs, for the refusal of long experiments: of a repeat, of an entry of Z'Z per record, of a coordinate."""


@dataclass(frozen=True, kw_only=True)
class RegressionStudy:
    """The design of the experiment: ascending precisions b (P,), sigma^2, training share, repeats, N, and B's rule.

    B is the largest norm bound whose proved epsilon, for all draws, is `epsilon`. Without `epsilon`, B is
    10/sqrt(b), as in [Zhang16] Figure 2. Both depend on public numbers only.

    Errors: InputError for an empty or descending grid and for numbers out of range.
    """

    precisions: tuple[float, ...]
    noise_variance: float = 1.0
    train_share: float = 0.1
    repeats: int = 20
    draws: int = 1
    epsilon: float | None = None

    def __post_init__(self) -> None:
        precisions = tuple(PRIOR_PRECISION.checked("Prior precision", b) for b in self.precisions)
        if (
            not precisions
            or len(precisions) > MOST_PRECISIONS
            or any(a >= b for a, b in itertools.pairwise(precisions))
        ):
            raise InputError(f"The prior precisions must be 1 to {MOST_PRECISIONS} values in increasing order.")
        if self.epsilon is not None:
            EPSILON.checked("The proved epsilon", self.epsilon)
        NOISE_VARIANCE.checked("The noise variance", self.noise_variance)
        DRAWS.checked("The number of draws", self.draws)
        finite_number("The training share", self.train_share, low=0.0, high=1.0)
        whole_number("The number of repeats", self.repeats, low=1, high=MOST_REPEATS)
        object.__setattr__(self, "precisions", precisions)

    @cached_property
    def samplers(self) -> tuple[RegressionSampler, ...]:
        """The sampler at every precision, which states the guarantees."""
        return tuple(
            RegressionSampler(
                prior_precision=b,
                noise_variance=self.noise_variance,
                norm_bound=self._norm_bound(b),
                draws=self.draws,
            )
            for b in self.precisions
        )

    def _norm_bound(self, precision: float) -> float:
        if self.epsilon is None:
            return printed_norm_bound(precision)
        return norm_bound_for(self.epsilon, noise_variance=self.noise_variance, draws=self.draws)

    @property
    def norm_bound_rule(self) -> str:
        """The rule of B, as a text for results."""
        return "10/sqrt(b)" if self.epsilon is None else f"proved epsilon {numeral(self.epsilon, 6)}"

    @property
    def norm_bounds(self) -> FloatArray:
        """B at every precision: (P,)."""
        return np.array([sampler.norm_bound for sampler in self.samplers])

    @property
    def certified(self) -> FloatArray:
        """The certified epsilon of all N draws at every precision: (P,)."""
        return np.array([sampler.certified.epsilon for sampler in self.samplers])

    def claimed(self, n: int, *, features: int) -> FloatArray:
        """The printed 2 L(w) of one draw from n training records at every precision: (P,). [Zhang16] Appendix D."""
        return np.array([sampler.claimed(n, features=features).epsilon for sampler in self.samplers])

    def training_records(self, n: int) -> int:
        """Return how many of n records are training records."""
        return round(self.train_share * n)

    def draws_made(self, train: int) -> int:
        """Return the number of samples from a posterior: N or more, and more if there are fewer records."""
        return max(self.draws, _LEAST_DRAWS, min(_ENOUGH_DRAWS, _DRAWS_TIMES_RECORDS // max(train, 1)))

    def checked_training(self, n: int, *, features: int) -> int:
        """Return how many of n records are training records, if the study can be run.

        Errors: InputError for too few records, and for more work than MOST_SECONDS.
        """
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
        self._check_time(self.seconds(n, features=features))
        return train

    def seconds(self, n: int, *, features: int) -> float:
        """Return about how many seconds all repeats take on n records."""
        train = self.training_records(n)
        products = train * (features + 2) ** 2
        seconds_per_repeat = (
            _SECONDS_PER_REPEAT + products * _SECONDS_PER_PRODUCT + self._seconds_of_draws(train, features)
        )
        return self.repeats * seconds_per_repeat

    def _seconds_of_draws(self, train: int, features: int) -> float:
        return len(self.precisions) * self.draws_made(train) * features * _SECONDS_PER_COORDINATE

    def _check_time(self, seconds: float) -> None:
        if seconds > MOST_SECONDS:
            possible = max(1, int(self.repeats * MOST_SECONDS / seconds))
            raise InputError(
                f"{self.repeats:,} repeats would take about {duration(seconds)}; at most {possible:,} repeats of this "
                "setting fit into ten minutes."
            )


def precision_grid(low: float, high: float, points: int) -> tuple[float, ...]:
    """Return `points` prior precisions from low to high, evenly spaced on a logarithmic scale, in six digits.

    Errors: InputError for a reversed or empty range.
    """
    points = whole_number("The number of prior precisions", points, low=1, high=MOST_PRECISIONS)
    low, high = (PRIOR_PRECISION.checked("The prior precision", end) for end in (low, high))
    if low > high or (points > 1 and low >= high):
        raise InputError(
            f"The lowest prior precision must be below the highest; {numeral(low, 6)} is not below {numeral(high, 6)}."
        )
    return tuple(float(f"{b:.6g}") for b in np.geomspace(low, high, points))
