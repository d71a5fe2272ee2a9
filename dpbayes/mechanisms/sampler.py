"""Samples from the posterior, private because its prior is trimmed. [Zhang16] Section 4 and Appendix C.2."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from scipy import special

from dpbayes.base.looks import PURPLE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex, numeral
from dpbayes.base.validation import InputError, type_checked
from dpbayes.mechanisms.base import OfCounts, Prior
from dpbayes.mechanisms.parameters import CALIBRATION, EPSILON, Calibration, draws_of
from dpbayes.mechanisms.release import SampledCpts
from dpbayes.model.dataset import Counts
from dpbayes.posteriors.decisions import Decisions, sample_trimmed

DRAWS = draws_of("CPTs")


@type_checked
@dataclass(frozen=True, kw_only=True)
class PosteriorSampler(OfCounts):
    """N samples of all CPTs from the posterior under a trimmed prior. [Zhang16] Appendix C.2, [Dimitrakakis14] Alg. 1.

    Binary rows are trimmed to [omega, 1 - omega]; longer ones decision by decision (see
    `dpbayes.posteriors.decisions`), so that no state's probability is below omega. With |I| binary nodes:

    Proved, omega = 1/(1 + exp(epsilon / (2 |I| N))): one replaced record changes a term of every node in every sample.
    As stated in the paper, omega = exp(-epsilon/2). This omega is at least 1/2, and leaves no interval, for epsilon up
    to 2 ln 2 (for rows of r states, 2 ceil(log2 r) ln 2).

    The paper trims by rejection, whose run time depends on the data. Here, no sample is rejected.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        draws: N, the number of released samples of all CPTs.
        calibration: The trimming: proved, or as stated in the paper.

    Raises:
        InputError: The paper's trimming leaves no interval, the prior is neither a network nor a single `Dirichlets`,
            or a number is outside its range.

    Example:
        >>> mechanism = dp.PosteriorSampler(prior=dp.chain(2), epsilon=1, draws=5)
        >>> counts = dp.Counts(dp.chain(2), np.array([7, 3, 6, 1, 1, 2]), 10)
        >>> mechanism.simulate(counts, np.random.default_rng(1)).numbers.shape
        (5, 6)
    """

    label: ClassVar[str] = "Posterior sampling"
    named: ClassVar[str] = "posterior sampling"
    colour: ClassVar[str] = PURPLE
    summary: ClassVar[str] = "Releases samples of the probabilities."
    facts: ClassVar[tuple[str, ...]] = ("epsilon", "draws", "omega")
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    draws: Annotated[int, DRAWS] = 1
    calibration: Annotated[Calibration, CALIBRATION] = Calibration.CERTIFIED

    def __post_init__(self) -> None:
        super().__post_init__()
        least = 2 * self._depth * math.log(2)
        if self.calibration is Calibration.AS_PRINTED and not (self.epsilon > least and self.log_odds_bound > 0):
            raise InputError(
                f"The paper's omega = exp(-epsilon/2) leaves nothing to sample from at epsilon = "
                f"{numeral(self.epsilon, 6)}. Choose an epsilon above {numeral(least, 4)}, or the proved calibration."
            )

    @property
    def formula(self) -> str:
        """The noise and its scale, as a formula."""
        return (
            f"$N = {self.draws:,}$ samples of every row from its posterior, truncated to probabilities of at least "
            f"$\\omega = {latex(self.omega)}$. One record moves the log density of all samples together by at most "
            f"$2|I|N\\ln\\frac{{1-\\omega}}{{\\omega}} = {latex(self.certified.epsilon)}$ where every node is binary "
            "(longer rows count once for each binary decision that leads to a state)."
        )

    @cached_property
    def _decisions(self) -> Decisions:
        return Decisions(self.prior.network)

    @property
    def _depth(self) -> int:
        return max(1, int(self._decisions.depths.max()))

    @property
    def log_odds_bound(self) -> float:
        """ln((1 - w)/w): the largest absolute log-odds of a decision; binary rows have w = omega."""
        if self.calibration is Calibration.AS_PRINTED:
            return math.log(math.expm1(self.epsilon / (2 * self._depth)))
        return self.epsilon / (2 * max(1, int(self._decisions.depths.sum())) * self.draws)

    @property
    def omega(self) -> float:
        """The smallest probability in a sampled CPT."""
        return math.exp(self._depth * float(special.log_expit(-self.log_odds_bound)))

    @property
    def claimed(self) -> Guarantee:
        """2 ln(1/omega), as [Zhang16] Appendix C.2 states; the paper samples "many times" but charges once."""
        epsilon = -2 * self._depth * float(special.log_expit(-self.log_odds_bound))
        return Guarantee(epsilon, reference=Reference("Zhang16", "Appendix C.2"))

    @property
    def certified(self) -> Guarantee:
        """2 |I| N ln((1 - omega)/omega): a record's largest effect, summed over nodes and samples.

        [Zhang16] Theorem 4(1) with the corrected Lemma 2. The loss approaches this bound as n grows.
        """
        epsilon = 2 * int(self._decisions.depths.sum()) * self.draws * self.log_odds_bound
        return Guarantee(epsilon, reference=Reference("dpbayes", "Theorem 4(1) of Zhang16, per record and sample"))

    def outcome_for(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> SampledCpts:
        """Sample CPTs (*size, ..., N, K)."""
        drawn = sample_trimmed(self.prior.updated(statistic), self.log_odds_bound, rng, (*size, self.draws))
        return SampledCpts(np.moveaxis(drawn, len(size), -2))
