"""The attacker's seat: which of two neighbouring tables is it, given what has been released?

The attacker knows all records but one and holds prior odds that the record in question is x rather than y. Independent
releases from the same table add their log-likelihood ratios to the log odds; if each is epsilon-private, j of them move
the odds by a factor of e^(j epsilon) at most.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.gaussian import likelihood_difference
from dpbayes.audit.report_regression import BadTables, log_mass_of, widened
from dpbayes.audit.rescaled import log_law
from dpbayes.audit.trimmed_network import cells_of, decisions_of, log_masses, moved_rows, rows_alone
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, MapEstimate, MapExponential, PosteriorSampler
from dpbayes.mechanisms.base import ReleasedPosterior, SampledCpts, simulated
from dpbayes.mechanisms.die import FiniteDieMechanism, ReleasedDie
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth, LaplaceCells, LaplaceOne
from dpbayes.mechanisms.known import ByClass, described, require_known
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.compositions import ranks
from dpbayes.model.counts import Counts
from dpbayes.model.fourier import coefficients

NoisyMechanism = LaplaceUpdates | LaplaceFourier | PosteriorSampler | MapExponential

MOST_SIMULATED = 20_000_000
"""Most numbers that one simulated attack may draw."""

_EVEN = 1e-12
"""Shares so close to 1/2 are 1/2, but for the prior that was added and taken off."""


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
    mechanism: NoisyMechanism,
    *,
    truth: Counts,
    other: Counts,
    prior: float,
    rng: np.random.Generator,
    size: tuple[int, int],
) -> Attack:
    """Release (repeats, releases) times from the counts of the true table and weigh them against another table's.

    Errors: InputError for tables of different size or network, too many draws, and mechanisms whose law is not known.
    """
    if truth.network != other.network or truth.n != other.n:
        raise InputError("An attack compares two tables of the same network and the same number of records.")
    _require_moderate(size, truth.network.cell_count * getattr(mechanism, "draws", 1))
    released = simulated(mechanism, truth, rng, size).outcome
    return Attack(log_ratios(mechanism, released, first=truth.values, second=other.values), prior)


def attack_die(
    mechanism: FiniteDieMechanism | LaplaceCells | LaplaceOne,
    *,
    truth: ArrayLike,
    other: ArrayLike,
    prior: float,
    rng: np.random.Generator,
    size: tuple[int, int],
) -> Attack:
    """Release (repeats, releases) times the posterior of a die from counts (m,), weighed against other counts.

    Errors: those of `attack_network`.
    """
    first, second = mechanism.die.checked(truth), mechanism.die.checked(other)
    _require_moderate(size, mechanism.die.sides)
    return Attack(log_ratios(mechanism, mechanism.release(first, rng, size), first=first, second=second), prior)


def attack_regression(
    mechanism: RegressionSampler, *, pair: BadTables, prior: float, rng: np.random.Generator, size: tuple[int, int]
) -> Attack:
    """Release weights (repeats, releases) times from the first of two tables, weighed against the second.

    Errors: InputError for too many draws, and what is not exactly a `RegressionSampler`.
    """
    require_known(mechanism, RegressionSampler)
    _require_moderate(size, mechanism.draws * (pair.first.d + pair.spare))
    released = mechanism.release(widened(pair.first, pair.spare), rng, size)
    used = released.draws[..., : pair.first.d]
    bend, slope = likelihood_difference(pair.first, pair.second, mechanism.noise_variance)
    told = np.einsum("...i,ij,...j->...", used, bend, used) / 2 + used @ slope
    masses = [log_mass_of(mechanism, table, pair.spare) for table in (pair.first, pair.second)]
    return Attack((told - (masses[0] - masses[1])).sum(axis=-1), prior)


def _require_moderate(size: tuple[int, int], each: int) -> None:
    if size[0] * size[1] * each > MOST_SIMULATED:
        raise InputError(
            f"{size[0]:,} repeats of {size[1]:,} releases with {each:,} numbers each are too many to simulate at once; "
            "use fewer repeats or fewer releases."
        )


# Log-likelihood ratios


@ByClass
def log_ratios(mechanism: Any, released: Any, *, first: IntArray, second: IntArray) -> FloatArray:
    """Return ln p(released | first) - ln p(released | second) of every release: the outcomes' batch shape (...).

    `first` and `second` are the counts of two tables of equal size. Errors: InputError for mechanisms whose law is not
    known.
    """
    raise InputError(f"How probable a release of {described(mechanism)} is, is not known here.")


@log_ratios.of(LaplaceUpdates)
def _laplace(
    mechanism: LaplaceUpdates, released: ReleasedPosterior, *, first: IntArray, second: IntArray
) -> FloatArray:
    # Counts lie in [0, n]. At and beyond either end the ratio of densities is constant, so that it is that of the atoms
    # of the clipped law too: clipping tells the attacker no less.
    moved = np.abs(released.updates - second) - np.abs(released.updates - first)
    told = moved.sum(axis=-1)
    # Without noise there is one table, all columns being constant, and nothing to tell.
    return told / mechanism.noise_scale if mechanism.noise_scale else np.zeros_like(told)


@log_ratios.of(LaplaceFourier)
def _fourier(
    mechanism: LaplaceFourier, released: ReleasedPosterior, *, first: IntArray, second: IntArray
) -> FloatArray:
    # The empty set's coefficient is n plus the lift in both.
    network = mechanism.prior.network
    seen = coefficients(network, released.updates)[..., 1:]
    means = [coefficients(network, np.asarray(counts))[..., 1:] for counts in (first, second)]
    return (np.abs(seen - means[1]) - np.abs(seen - means[0])).sum(axis=-1) / mechanism.noise_scale


@log_ratios.of(PosteriorSampler)
def _sampler(mechanism: PosteriorSampler, released: SampledCpts, *, first: IntArray, second: IntArray) -> FloatArray:
    rows = moved_rows(mechanism.prior.network, first, second)
    cells = cells_of(mechanism.prior.network, rows)
    ends = np.stack([first, second])[:, cells]
    log_theta = np.log(released.draws[..., cells])
    masses = log_masses(rows_alone(mechanism.prior, rows), ends, bound=mechanism.log_odds_bound)
    return (log_theta @ (ends[0] - ends[1]).astype(np.float64) - (masses[0] - masses[1])).sum(axis=-1)


@log_ratios.of(MapExponential)
def _map(mechanism: MapExponential, released: MapEstimate, *, first: IntArray, second: IntArray) -> FloatArray:
    network = mechanism.prior.network
    rows = moved_rows(network, first, second)
    ends = np.stack([first, second])[:, cells_of(network, rows)]
    laws = mechanism.log_pmf_of_rows(rows_alone(mechanism.prior, rows), ends)
    *batch, decisions = released.places.shape
    drawn = released.places.reshape(math.prod(batch), decisions)  # none where all nodes have one state
    places = drawn[:, decisions_of(network, rows)]
    each = laws[:, np.arange(places.shape[-1]), places]
    return (each[0] - each[1]).sum(axis=-1).reshape(batch)


@log_ratios.of(HellingerGlobal, HellingerLocal, HellingerSmooth)
def _finite(mechanism: FiniteDieMechanism, released: ReleasedDie, *, first: IntArray, second: IntArray) -> FloatArray:
    drawn = np.rint(released.alpha - np.asarray(mechanism.die.prior)).astype(np.int64)
    return (mechanism.log_pmf(first) - mechanism.log_pmf(second))[ranks(drawn)]


@log_ratios.of(LaplaceOne)
def _one(mechanism: LaplaceOne, released: ReleasedDie, *, first: IntArray, second: IntArray) -> FloatArray:
    seen = released.alpha[..., 0] - mechanism.die.prior[0]
    return (np.abs(seen - second[0]) - np.abs(seen - first[0])) / mechanism.noise_scale


@log_ratios.of(LaplaceCells)
def _cells(mechanism: LaplaceCells, released: ReleasedDie, *, first: IntArray, second: IntArray) -> FloatArray:
    die = mechanism.die
    if die.sides > 2:
        raise InputError(
            f"How probable rescaled counts of {die.sides} sides are, is not known here; choose a die with two sides."
        )
    updates = released.alpha - np.asarray(die.prior)
    # Shares of n: both numbers are exact where one count is zero, and equal where both were clipped to the same end.
    share = np.where(updates[..., 1] == 0, 1.0, np.where(updates[..., 0] == 0, 0.0, updates[..., 0] / die.n))
    share = np.where(np.abs(share - 0.5) < _EVEN, 0.5, share)
    laws = [log_law(share, first=int(counts[0]), n=die.n, scale=mechanism.noise_scale) for counts in (first, second)]
    return laws[0] - laws[1]
