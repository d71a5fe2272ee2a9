"""The baseline without privacy, with the interface of a mechanism."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpbayes.base.looks import EXACT
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.validation import type_checked
from dpbayes.mechanisms.base import OfCounts, Prior
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.dataset import Counts


@type_checked
@dataclass(frozen=True, kw_only=True)
class Exact(OfCounts):
    """Release the exact posterior, without noise and without a guarantee. Use it only as a baseline.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.

    Raises:
        InputError: The prior is neither a network nor a single `Dirichlets`.

    Example:
        >>> str(dp.Exact(prior=dp.chain(2)).certified)
        'no privacy guarantee'
    """

    label: ClassVar[str] = "Exact (not private)"
    named: ClassVar[str] = "the exact posterior"
    formula: ClassVar[str] = "$Z = \\Delta$: the exact counts, without noise."
    colour: ClassVar[str] = EXACT
    prior: Prior = Prior()

    @property
    def certified(self) -> Guarantee:
        """What is stated and proved: no guarantee."""
        return NON_PRIVATE

    def outcome_for(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> ReleasedPosterior:
        """Return the exact counts, repeated to (*size, ..., K)."""
        updates = np.broadcast_to(statistic.values.astype(np.float64), (*size, *statistic.values.shape))
        return ReleasedPosterior(self.prior, updates)
