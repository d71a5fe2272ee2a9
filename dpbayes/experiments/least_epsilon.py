"""Errors of one answer against epsilon, by simulated releases with common random numbers, and the least epsilon.

Every epsilon starts from the same seed. Noise that is scaled by epsilon is therefore the same noise, scaled, and the
share of releases within a tolerance is one fixed function of epsilon. The least epsilon is its last crossing of the
required share: every larger epsilon on the grid is sufficient.
The interval follows from binomial ranks (docs/epsilon.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.experiments.releases import MechanismAt, concluded
from dpbayes.model.dataset import Counts
from dpbayes.model.question import Question
from dpbayes.posteriors.noise_model import Reading

CERTAINTY = 0.95
"""The confidence level of the interval of the least epsilon."""


@dataclass(frozen=True)
class LeastEpsilon:
    """The least epsilon for a tolerance and its 95% interval; infinite if no epsilon on the grid is sufficient.

    `high` is also infinite if there are too few releases. A result equal to the smallest epsilon of the grid means that
    this epsilon or a smaller one is sufficient. `note` states why the result may be too small.
    """

    epsilon: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class AnswerErrors:
    """Errors |released answer - exact answer| of R releases at each of E epsilons.

    Attributes:
        epsilons: The grid (E,), rising.
        errors: The errors (E, R); infinite where the mechanism does not allow the epsilon.
        without_data: The errors (R,) of the prior's answer, a guess without data.
    """

    epsilons: FloatArray
    errors: FloatArray
    without_data: FloatArray

    def blind(self, share: float) -> float:
        """Return the error that the prior's answer does not exceed for a share of the tables."""
        return float(np.quantile(self.without_data, share, method="higher"))

    def within(self, share: float) -> FloatArray:
        """Return the error that a share of the releases does not exceed: (E,)."""
        return np.asarray(np.quantile(self.errors, share, axis=1, method="higher"))

    def least(self, tolerance: float, share: float = 0.95) -> LeastEpsilon:
        """Return the least epsilon at which a share of the releases is within a tolerance.

        Args:
            tolerance: The largest acceptable error, above 0 and at most 1.
            share: The share of releases, 0.01 to 0.999.

        Returns:
            The least epsilon with its interval.

        Raises:
            InputError: A number is out of range.
        """
        if not finite_number("The tolerance", tolerance, low=0, high=1):
            raise InputError("The tolerance must be above 0, because no private answer is exact.")
        wanted = finite_number("The share of releases", share, low=0.01, high=0.999)
        passed = (self.errors <= tolerance).mean(axis=1)
        shares = (wanted, *interval_shares(wanted, draws=self.errors.shape[1]))
        epsilon, low, high = (crossing(self.epsilons, passed, one) for one in shares)
        return LeastEpsilon(epsilon, low, high)


def answer_errors(
    mechanism_at: MechanismAt,
    question: Question,
    tables: Counts,
    epsilons: Sequence[float],
    rng: np.random.Generator,
    *,
    reading: Reading = Reading.AS_REAL,
) -> AnswerErrors:
    """Simulate a release of every table at every epsilon, and compare its answer with that of the exact posterior.

    Args:
        mechanism_at: The mechanism at an epsilon.
        question: The question.
        tables: The counts of one table for each release (R, K).
        epsilons: A rising grid.
        rng: The generator of the simulation's seed.
        reading: How a recipient reads a release; one that does not state its noise is read naively.

    Returns:
        The errors.

    Raises:
        InputError: The mechanism cannot be used at any epsilon, and the errors of the answer.
    """
    seed = int(rng.integers(2**63))
    errors = np.full((len(epsilons), len(tables.values)), np.inf)
    blind = errors[0]
    for k, epsilon in enumerate(epsilons):
        try:
            mechanism = mechanism_at(float(epsilon))
        except InputError:
            continue
        exact = question.answers(mechanism.prior.updated(tables).mean)
        blind = np.abs(question.answers(mechanism.prior.mean) - exact)
        release = mechanism.simulate(tables, np.random.default_rng(seed))
        private = concluded(release, reading if release.tells_noise else Reading.AS_REAL, question.cells)
        errors[k] = np.abs(question.answers(private) - exact)
    if np.isinf(errors).all():
        mechanism_at(float(epsilons[-1]))  # raises the reason
    return AnswerErrors(np.array(epsilons, dtype=np.float64), errors, blind)


def crossing(epsilons: FloatArray, shares: FloatArray, wanted: float) -> float:
    """Return the epsilon from which on every share (E,) is at least `wanted`, by log-linear interpolation.

    The result is the first epsilon if all shares are, and infinity if the last share is not.
    """
    lacking = np.flatnonzero(shares < wanted)
    if not len(lacking):
        return float(epsilons[0])
    last = int(lacking[-1])
    if last == len(shares) - 1:
        return math.inf
    part = (wanted - shares[last]) / (shares[last + 1] - shares[last])
    return float(epsilons[last] * (epsilons[last + 1] / epsilons[last]) ** part)


def interval_shares(confidence: float, *, draws: int) -> tuple[float, float]:
    """Return the shares of draws at whose thresholds a quantile's 95% interval ends.

    P[l <= B < u] >= 0.95 for B binomial: the quantile lies from the l-th to the u-th smallest threshold. The upper
    share is above 1 if there are too few draws.
    """
    below = special.bdtr(np.arange(draws + 1.0), draws, confidence)
    low = int(np.searchsorted(below, (1 - CERTAINTY) / 2))
    high = int(np.searchsorted(below, (1 + CERTAINTY) / 2)) + 1
    return low / draws, high / draws
