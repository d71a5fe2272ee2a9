"""What a curator's board of Explore is computed from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray
from dpbayes.experiments.answers import ROUGH, WHOLE, Span, density_of, means_of, points_of, span_of
from dpbayes.experiments.releases import MechanismAt
from dpbayes.mechanisms import LaplaceUpdates, Mechanism, Outcome, Release
from dpbayes.model.dataset import Counts, Dataset
from dpbayes.model.question import Question
from dpbayes.posteriors.dirichlet import Dirichlets

RELEASES, SHOWN = 400, 50
"""Simulated releases of the answer at each stop; those that are drawn as dots."""

MOST_VALUES, MOST_READ, FEWEST = 600_000, 2_000, 3
"""Released values that are simulated at each stop, noise-aware probabilities that are read, and releases at least."""


def shown_release(mechanism: Mechanism[Outcome], counts: Counts, seed: int) -> Release[Outcome]:
    """Return the simulated release that both seats show first, as a batch of one.

    Args:
        mechanism: The mechanism with its epsilon.
        counts: The true counts.
        seed: The seed of the simulated releases.
    """
    return mechanism.simulate(counts, stream(seed, "release", type(mechanism).__name__), (1,))


def values_in(mechanism: Mechanism[Outcome]) -> int:
    """Return how many values one release contains."""
    return mechanism.prior.network.cell_count * int(getattr(mechanism, "draws", 1))


@dataclass(frozen=True, eq=False)
class CuratorInputs:
    """What a curator's board is computed from.

    Attributes:
        mechanism_at: The mechanism at an epsilon.
        counts: The true counts.
        question: The question that the large picture answers, and whose target is predicted.
        meanings: What nodes mean, by name, where the name does not say it.
        is_noise_aware: Whether the reader of a release accounts for its noise.
        fourier_at: The Fourier mechanism at an epsilon, whose counts are compared; None for nodes that are not binary.
        table: The records, for the accuracy of predictions; None without them.
        seed: The seed of the simulated releases.
        releases: Simulated releases at each stop.
    """

    mechanism_at: MechanismAt
    counts: Counts
    question: Question
    meanings: Mapping[str, str] = field(default_factory=dict)
    is_noise_aware: bool = True
    fourier_at: MechanismAt | None = None
    table: Dataset | None = None
    seed: int = 1
    releases: int = RELEASES

    @cached_property
    def exact(self) -> Dirichlets:
        """The exact posterior."""
        return self.mechanism_at(1.0).prior.updated(self.counts)

    def release_at(self, epsilon: float) -> Release[Outcome]:
        """Return the release at an epsilon that both seats show first, as a batch of one."""
        return shown_release(self.mechanism_at(epsilon), self.counts, self.seed)

    def laplace_at(self, epsilon: float) -> LaplaceUpdates:
        """Return the Laplace mechanism at an epsilon."""
        return LaplaceUpdates(prior=self.mechanism_at(1.0).prior, epsilon=epsilon)

    @cached_property
    def span(self) -> Span:
        """The part of the axis that is shown: that of Laplace for each mechanism whose answers it contains."""
        low, high = span_of(lambda e: shown_release(self.laplace_at(e), self.counts, self.seed), self.question)
        own = means_of(self.release_at(ROUGH), self.question, is_noise_aware=self.is_noise_aware)[0]
        return (low, high) if low <= own <= high else WHOLE

    @cached_property
    def exact_density(self) -> FloatArray:
        """The density of the answer under the exact posterior, where it is shown: (grid,)."""
        return density_of(self.exact, self.question, points_of(self.span))

    @cached_property
    def prior_density(self) -> FloatArray:
        """The density of the answer under the prior: (grid,)."""
        return density_of(self.mechanism_at(1.0).prior, self.question)

    @cached_property
    def answer(self) -> float:
        """The table's own answer."""
        return float(self.question.answers(self.exact.mean))

    @cached_property
    def most_releases(self) -> int:
        """How many releases there is time for: fewer of a large network, or if each has many samples."""
        cells = len(self.question.cells)
        read = MOST_READ // cells if self.is_noise_aware and cells > 1 else self.releases
        return max(FEWEST, min(self.releases, MOST_VALUES // values_in(self.mechanism_at(1.0)), max(SHOWN, read)))
