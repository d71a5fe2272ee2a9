"""What all mechanisms share that add noise to the counts or to numbers that follow from them."""

from typing import Any, ClassVar

import numpy as np

from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import generator
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.base import check_mechanism, count_table, public_facts, require_own_counts
from dpbayes.mechanisms.release import Release, ReleasedPosterior
from dpbayes.model.counts import Counts


class AdditiveNoise:
    """A release is `outcome_of` noisy numbers; by default every count has noise of `noise_law`, and is not clipped."""

    facts: ClassVar[tuple[str, ...]] = ("epsilon", "noise", "noise_scale")
    """The fields that a release states beside n."""

    def __post_init__(self) -> None:
        check_mechanism(self)

    @property
    def claimed(self: Any) -> Guarantee:
        """The proved guarantee, unless a paper states another one."""
        guarantee: Guarantee = self.certified
        return guarantee

    @property
    def node_noise_sd(self: Any) -> FloatArray:
        """Standard deviation of the noise in the cells of every node's table before clipping, in counts: (|I|,)."""
        return np.full(len(self.prior.network.names), self.noise_law.sd)

    statistic = count_table

    def simulate(
        self: Any, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()
    ) -> Release[ReleasedPosterior]:
        """Sample updates (*size, ..., K)."""
        require_own_counts(self.prior, statistic)
        outcome = self.outcome_of(self.noisy(statistic, generator(rng), size), statistic.n)
        return Release(outcome, self.certified, self.label, public_facts(self, statistic, *self.facts))

    def noisy(self: Any, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Return the numbers with noise, before they are read: (*size, ..., numbers)."""
        return np.asarray(statistic.values + self.noise_law.drawn(rng, (*size, *statistic.values.shape)))

    def outcome_of(self: Any, noisy: FloatArray, n: int) -> ReleasedPosterior:
        """Return the outcome that a recipient reads from noisy numbers (..., numbers) of n records."""
        return ReleasedPosterior(self.prior, noisy, self.noise_model)
