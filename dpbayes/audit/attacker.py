"""The simulated attacker, who infers from releases which of two neighbouring tables is the true one.

The attacker knows all records but one and has prior odds that this record is x rather than y. Independent
releases from the same table add their log-likelihood ratios to the log odds; if each is epsilon-private, j of them move
the odds by a factor of e^(j epsilon) at most.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.entry import TablePair
from dpbayes.audit.registry import audit_of
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.base import Mechanism, simulated
from dpbayes.mechanisms.die.base import DieMechanism
from dpbayes.mechanisms.exact_class import described
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts

MOST_SIMULATED = 20_000_000
"""The largest number of sampled numbers of one simulated attack."""


@dataclass(frozen=True, eq=False)
class Attack:
    """Simulated attacks, the truth being x: `ratios` (repeats, releases) are ln p(release | x) - ln p(release | y).

    `prior` is the attacker's prior probability of x.
    """

    ratios: FloatArray
    prior: float

    @property
    def log_odds(self) -> FloatArray:
        """The log odds of x against y before any release and after each: (repeats, releases + 1)."""
        return log_odds(self.ratios, prior=self.prior)

    @property
    def probabilities(self) -> FloatArray:
        """The attacker's probability of x: (repeats, releases + 1)."""
        return np.asarray(special.expit(self.log_odds))


def log_odds(ratios: ArrayLike, *, prior: float) -> FloatArray:
    """Return prior log odds plus the running sum of log-likelihood ratios (..., releases): (..., releases + 1).

    Errors: InputError for a prior probability that is not strictly between 0 and 1.
    """
    values = np.asarray(ratios, dtype=np.float64)
    start = np.full((*values.shape[:-1], 1), _prior_log_odds(prior))
    return np.cumsum(np.concatenate([start, values], axis=-1), axis=-1)


def probability_ceiling(epsilon: float, *, releases: int, prior: float) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest probability of x that epsilon-privacy allows after 0 .. releases of them.

    Two arrays (releases + 1,): odds within a factor of e^(j epsilon) of the prior odds.
    """
    count = whole_number("The number of releases", releases, low=0, high=MOST_SIMULATED)
    moved = np.arange(count + 1) * epsilon if epsilon < np.inf else np.where(np.arange(count + 1) > 0, np.inf, 0.0)
    start = _prior_log_odds(prior)
    least, greatest = special.expit(start + np.stack([-moved, moved]))
    return least, greatest


def _prior_log_odds(prior: float) -> float:
    value = finite_number("The prior probability", prior, low=1e-12, high=1 - 1e-12)
    return float(special.logit(value))


# Simulated attacks


def attack_network(
    mechanism: Mechanism[Outcome],
    *,
    truth: Counts,
    other: Counts,
    prior: float,
    rng: np.random.Generator,
    size: tuple[int, int],
) -> Attack:
    """Simulate (repeats, releases) releases of the true table, with their log ratios to another table.

    Errors: InputError for tables of different size or network, for too many releases, and for a mechanism whose output
    distribution is not known.
    """
    if truth.network != other.network or truth.n != other.n:
        raise InputError("An attack compares two tables of the same network and the same number of records.")
    _require_moderate(size, truth.network.cell_count * getattr(mechanism, "draws", 1))
    released = simulated(mechanism, truth, rng, size).outcome
    return Attack(log_ratios(mechanism, released, first=truth.values, second=other.values), prior)


def attack_die(
    mechanism: DieMechanism,
    *,
    truth: ArrayLike,
    other: ArrayLike,
    prior: float,
    rng: np.random.Generator,
    size: tuple[int, int],
) -> Attack:
    """Simulate (repeats, releases) releases for a die from counts (m,), with their log ratios to other counts.

    Errors: those of `attack_network`.
    """
    first, second = mechanism.die.checked(truth), mechanism.die.checked(other)
    _require_moderate(size, mechanism.die.sides)
    return Attack(log_ratios(mechanism, mechanism.release(first, rng, size), first=first, second=second), prior)


def ratios_of_pair(mechanism: Any, pair: TablePair, rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    """Return the log ratios of simulated releases (repeats, releases) of the first of two tables.

    Errors: those of `attack_network`.
    """
    tables = audit_of(mechanism).hypothetical
    if tables is not None and tables.attack is not None:
        return tables.attack(mechanism, pair, rng, size)
    attack: Callable[..., Attack] = attack_network if isinstance(pair.first, Counts) else attack_die
    return attack(mechanism, truth=pair.first, other=pair.second, prior=0.5, rng=rng, size=size).ratios


def _require_moderate(size: tuple[int, int], numbers_per_release: int) -> None:
    if size[0] * size[1] * numbers_per_release > MOST_SIMULATED:
        raise InputError(
            f"{size[0]:,} repeats of {size[1]:,} releases with {numbers_per_release:,} numbers each are too many to "
            "simulate at once; use fewer repeats or fewer releases."
        )


# Log-likelihood ratios


def log_ratios(mechanism: Any, released: Any, *, first: IntArray, second: IntArray) -> FloatArray:
    """Return ln p(released | first) - ln p(released | second) of every release: the outcomes' batch shape (...).

    `first` and `second` are the counts of two tables of equal size. Errors: InputError for a mechanism whose output
    distribution is not known.
    """
    entry = audit_of(mechanism)
    if entry.log_ratios is None:
        raise InputError(f"The probability of a release of {described(mechanism)} is not known.")
    return entry.log_ratios(mechanism, released, first=first, second=second)
