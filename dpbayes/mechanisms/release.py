"""The output of a mechanism: a release, and the outcomes that it may contain."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar, cast

import numpy as np

from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, brief, type_checked, whole_number
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures, DirichletMixtures
from dpbayes.posteriors.noise_aware import noise_aware, noise_aware_cells, noise_aware_means, points_for
from dpbayes.posteriors.noise_model import NoiseModel, Reading

if TYPE_CHECKING:
    from dpbayes.posteriors.joint.posterior import JointPosterior

OutcomeT_co = TypeVar("OutcomeT_co", bound="Outcome", covariant=True)

MOST_JOINT = 1_500
"""The largest number of cells for the joint posterior by default; larger networks take too long."""


class Outcome(Protocol):
    """The content of a release: its numbers, its CPT probabilities (..., K), and parts of a batch of releases."""

    @property
    def numbers(self) -> FloatArray: ...

    @property
    def probabilities(self) -> FloatArray: ...

    def part(self, releases: int | slice | IntArray) -> Self: ...


@dataclass(frozen=True, eq=False)
class ReleasedPosterior:
    """A posterior that is released as updates (..., K) to a public prior; Fourier updates may be negative.

    The posterior is formed from the updates clipped below at zero, which is post-processing and costs no privacy. The
    naive posterior treats the updates as counts. `noise_model`, if the mechanism states it, describes the added noise.
    `noisy` (..., K) are the noisy cells to which the updates were fitted, if any; the release contains them too.
    """

    prior: Dirichlets
    updates: FloatArray
    noise_model: NoiseModel | None = None
    noisy: FloatArray | None = None

    @cached_property
    def posterior(self) -> Dirichlets:
        """The private posterior (..., K)."""
        return self.prior.updated(np.maximum(self.updates, 0.0))

    @property
    def numbers(self) -> FloatArray:
        """All released numbers: the noisy cells or else the updates, (..., K)."""
        return self.updates if self.noisy is None else self.noisy

    @property
    def probabilities(self) -> FloatArray:
        """Posterior mean CPTs (..., K)."""
        return self.posterior.mean

    def part(self, releases: int | slice | IntArray) -> "ReleasedPosterior":
        """Return some of a batch (releases, K)."""
        noisy = None if self.noisy is None else self.noisy[releases]
        return replace(self, updates=self.updates[releases], noisy=noisy)


@dataclass(frozen=True, eq=False)
class SampledCpts:
    """Released CPTs without a posterior: `draws` (..., N, K), N samples in each release."""

    draws: FloatArray

    @property
    def numbers(self) -> FloatArray:
        """All released numbers: (..., N, K)."""
        return self.draws

    @property
    def probabilities(self) -> FloatArray:
        """The mean of the N samples (..., K), the recipient's estimate of the posterior mean."""
        return self.draws.mean(axis=-2)

    def part(self, releases: int | slice | IntArray) -> "SampledCpts":
        """Return some of a batch (releases, N, K)."""
        return SampledCpts(self.draws[releases])


@type_checked
@dataclass(frozen=True, eq=False)
class Release(Generic[OutcomeT_co]):
    """The output of a mechanism for the recipient. It contains no data, no seed and no exact count.

    Args:
        outcome: The numbers that the mechanism releases, such as a `ReleasedPosterior`.
        guarantee: What is proved about the release.
        mechanism: The mechanism's name.
        public: Public facts by name, such as n, epsilon and the noise scale.
        is_simulated: Whether a generator drew the noise. Such a release has no guarantee for real records.

    Example:
        >>> network = dp.chain(2)
        >>> counts = dp.Counts(network, np.array([7, 3, 6, 1, 1, 2]), 10)
        >>> release = dp.LaplaceUpdates(prior=network, epsilon=1).simulate(counts, np.random.default_rng(1))
        >>> release.posterior.mean.shape
        (6,)
    """

    outcome: OutcomeT_co
    guarantee: Guarantee
    mechanism: str
    public: Mapping[str, float | int | str] = field(default_factory=dict)
    is_simulated: bool = True

    def __repr__(self) -> str:
        facts = self._facts()
        return titled_lines(self._title, (f"{name}: {value}" for name, value in facts), len(facts))

    def _repr_html_(self) -> str:
        return html_table(self._title, ("", ""), self._facts(), len(self._facts()))

    @property
    def _title(self) -> str:
        return f"{'Simulated release' if self.is_simulated else 'Release'} by {self.mechanism}"

    def _facts(self) -> list[tuple[str, str]]:
        """Return the public facts of the release by name, without its numbers."""
        public = [(name, str(value)) for name, value in self.public.items()]
        shape = " x ".join(map(str, self.numbers.shape))
        return [("guarantee", self.guarantee.in_full), *public, ("numbers", f"{shape}, {type(self.outcome).__name__}")]

    @property
    def numbers(self) -> FloatArray:
        """All released numbers."""
        return self.outcome.numbers

    @property
    def posterior(self) -> Dirichlets:
        """The private posterior (..., K). Errors: InputError for a release of CPTs, which has no posterior."""
        if not isinstance(self.outcome, ReleasedPosterior):
            raise InputError(
                f"A release of {self.mechanism} contains probabilities, not a posterior. Read them as "
                "release.outcome.probabilities."
            )
        return self.outcome.posterior

    @property
    def tells_noise(self) -> bool:
        """Whether the release states the distribution of the noise on each number."""
        return isinstance(self.outcome, ReleasedPosterior) and self.outcome.noise_model is not None

    def posterior_under(self, reading: Reading, *, most: int = MOST_JOINT) -> Dirichlets | DirichletMixtures:
        """Return the posterior under a reading: the joint noise-aware one for networks of at most `most` cells.

        It is naive if the release does not state its noise. Errors: InputError for a release without a posterior, and
        for too large a network.
        """
        if reading is Reading.AS_REAL or not self.tells_noise:
            return self.posterior
        if self.posterior.network.cell_count <= most:
            with suppress(InputError):
                return self.joint_noise_aware()
        return self.noise_aware()

    @cached_property
    def answering_posterior(self) -> Dirichlets | DirichletMixtures:
        """The posterior of `query`: noise-aware, or naive if the release does not state its noise."""
        return self.posterior_under(Reading.NOISE_AWARE)

    @type_checked
    def query(
        self, target: str, evidence: Mapping[str, str] | None = None, *, interval: float | None = LEVEL, **states: str
    ) -> QueryAnswer:
        """Return P(target | evidence) with intervals of this level, which account for the noise.

        Errors: those of the posterior's `query`.
        """
        law, outcome = self.answering_posterior, cast("ReleasedPosterior", self.outcome)
        prior = outcome.prior if isinstance(law, Dirichlets) else None
        return law.query(target, evidence, interval=interval, prior=prior, **states)

    @type_checked
    def noise_aware(self, *, points: int | None = None) -> DirichletMixtures:
        """Return the noise-aware posterior (..., K) with `points` components. The computation costs no privacy.

        Without `points`, the number of components is `points_for` of the network. Errors: InputError if the release
        does not state the distribution of its noise, and the errors of `points_for`.
        """
        parts = self._noise_parts()
        points = points or points_for(parts[0].network.cell_count)
        return noise_aware(*parts, points=whole_number("points", points, low=1, high=1 << 16))

    def joint_noise_aware(self) -> "JointPosterior":
        """Return the joint noise-aware posterior (..., K). The computation costs no privacy.

        It is nearer to the exact posterior than `noise_aware`, and its draws are of all rows together, so that it has
        intervals of questions. It takes five to ten times as long.

        Returns:
            The posterior.

        Raises:
            InputError: The release does not state the distribution of its noise, or the network is too large.

        Example:
            >>> network = dp.chain(2)
            >>> counts = dp.Counts(network, np.array([70, 30, 60, 10, 10, 20]), 100)
            >>> release = dp.LaplaceUpdates(prior=network, epsilon=1).simulate(counts, np.random.default_rng(1))
            >>> release.joint_noise_aware().query("x2", interval=0.95).low.shape
            (2,)
        """
        from dpbayes.posteriors.joint.posterior import (
            joint_noise_aware,  # late: few pages need it, and its import takes 60 ms
        )

        return joint_noise_aware(*self._noise_parts())

    def noise_aware_cells(self, cells: IntArray, *, points: int | None = None) -> BetaMixtures:
        """Return the marginals (..., S, C) of some cells (C,) under `noise_aware`; other rows are not computed."""
        return noise_aware_cells(*self._noise_parts(), cells=cells, points=points or points_for(len(cells)))

    def noise_aware_means(self, cells: IntArray, *, points: int | None = None) -> FloatArray:
        """Return the means (..., C) of some cells (C,) under `noise_aware`, faster than the whole posterior."""
        return noise_aware_means(*self._noise_parts(), cells=cells, points=points or points_for(len(cells)))

    def _noise_parts(self) -> tuple[Dirichlets, NoiseModel, FloatArray, int]:
        if not isinstance(self.outcome, ReleasedPosterior) or self.outcome.noise_model is None:
            raise InputError(f"A release of {self.mechanism} does not state which noise was added to which numbers.")
        return self.outcome.prior, self.outcome.noise_model, self.outcome.numbers, int(self.public["n"])

    def part(self, releases: int | slice | IntArray) -> "Release[OutcomeT_co]":
        """Return some of a batch of releases; each keeps its own guarantee. Errors: InputError for others."""
        try:
            np.broadcast_to(0, self.numbers.shape[: -2 if isinstance(self.outcome, SampledCpts) else -1])[releases]
        except IndexError:
            raise InputError(f"Numbers of the shape {self.numbers.shape} have no release {brief(releases)}.") from None
        return replace(self, outcome=self.outcome.part(releases))
