"""Simulated releases of one table along a grid of epsilons: their KL divergence from the exact posterior, their signs.

For the curator only: all results are computed from true counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.steps import Work, in_parts, mapped
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy, study_release
from dpbayes.mechanisms import Mechanism, Outcome, ReleasedPosterior
from dpbayes.model.counts import Counts


@dataclass(frozen=True, eq=False)
class EpsilonCurves:
    """Results of R simulated releases at each of E epsilons.

    Attributes:
        epsilons: The grid (E,), rising.
        divergence: KL(exact || private) in nats, summed over the rows: (E, R). It is the divergence of the posteriors
            if the mechanism releases one, and otherwise of the predictive probabilities.
        of_posteriors: Whether `divergence` is that of the posteriors.
        limited: Share of the released counts that are at or beyond the limits of a count, 0 and n: (E, R). NaN if no
            counts are released.
        non_negative: Whether all released counts are non-negative: (E, R). False if no counts are released.
    """

    epsilons: FloatArray
    divergence: FloatArray
    of_posteriors: bool
    limited: FloatArray
    non_negative: BoolArray

    @property
    def has_counts(self) -> bool:
        """Whether the mechanism releases counts, which can be negative."""
        return bool(np.isfinite(self.limited).all())

    @cached_property
    def divergence_spread(self) -> FloatArray:
        """The mean of the divergence over the releases, and its quantiles at 5% and 95%: (3, E)."""
        return np.stack([self.divergence.mean(axis=1), *np.quantile(self.divergence, (0.05, 0.95), axis=1)])

    @property
    def releases(self) -> int:
        """The number of simulated releases at each epsilon, R."""
        return self.divergence.shape[1]


def epsilon_curves(
    mechanism_at: Callable[[float], Mechanism[Outcome]],
    counts: Counts,
    epsilons: Sequence[float],
    rng: np.random.Generator,
    *,
    releases: int,
) -> Work[EpsilonCurves]:
    """Simulate releases at every epsilon, from the same seed at each, so that neighbouring points share their noise.

    Args:
        mechanism_at: The mechanism at an epsilon.
        counts: The true counts of its network.
        epsilons: A rising grid of at least one epsilon.
        rng: The generator of the simulation's seed.
        releases: The number of simulated releases at each epsilon.

    Returns:
        The curves, after steps of one epsilon each; every step has the curves up to its epsilon.

    Raises:
        InputError: For an empty grid, and if the mechanism cannot be used.
    """
    if not len(epsilons):
        raise InputError("The grid must have at least one value of epsilon.")
    seed = int(rng.integers(2**63))

    def at(k: int) -> EpsilonCurves:
        epsilon = float(epsilons[k])
        study = study_release(mechanism_at(epsilon), counts, np.random.default_rng(seed), releases)
        return _point(epsilon, study, counts.n)

    return mapped(in_parts(at, len(epsilons)), _joined)


def _point(epsilon: float, study: ReleaseStudy, n: int) -> EpsilonCurves:
    divergence = study.kl if study.is_posterior else study.predictive_kl
    outcome = study.release.outcome
    if isinstance(outcome, ReleasedPosterior):
        limited: FloatArray = ((outcome.updates <= 0) | (outcome.updates >= n)).mean(axis=-1)
        non_negative = np.all(outcome.updates >= 0, axis=-1)
    else:
        limited, non_negative = np.full(study.count, np.nan), np.zeros(study.count, dtype=np.bool_)
    return EpsilonCurves(np.array([epsilon]), divergence[None], study.is_posterior, limited[None], non_negative[None])


def _joined(parts: Sequence[EpsilonCurves]) -> EpsilonCurves:
    return EpsilonCurves(
        np.concatenate([part.epsilons for part in parts]),
        np.concatenate([part.divergence for part in parts]),
        parts[0].of_posteriors,
        np.concatenate([part.limited for part in parts]),
        np.concatenate([part.non_negative for part in parts]),
    )
