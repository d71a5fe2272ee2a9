"""The required accuracy of a released answer, and the least epsilon that satisfies it."""

from dataclasses import dataclass, replace

from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.experiments.least_epsilon.answers import AS_REAL, Answer, Question
from dpbayes.mechanisms.base import Mechanism, require_own_counts
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts

LEAST_DRAWS, MOST_DRAWS = 20, 100_000

MOST_NUMBERS = 50_000_000
"""Most numbers of all draws at one epsilon."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Wish:
    """The requirement: within `tolerance` in a share `confidence` of `draws` simulated releases.

    The error is the distance from the exact posterior's answer. `tables` has the counts of one table (K,), or of a
    planned table for each draw (draws, K). The epsilon of the `mechanism` does not matter. Errors: InputError for
    numbers out of range, counts of another network or number of draws, and a mechanism without an epsilon.
    """

    mechanism: Mechanism[Outcome]
    question: Question
    tables: Counts
    tolerance: float
    confidence: float = 0.95
    draws: int = 2000
    answer: Answer = AS_REAL

    def __post_init__(self) -> None:
        if not finite_number("The tolerance", self.tolerance, low=0, high=1):
            raise InputError("The tolerance must be above 0, because no private answer is exact.")
        finite_number("The confidence", self.confidence, low=0.01, high=0.999)
        whole_number("The number of draws", self.draws, low=LEAST_DRAWS, high=MOST_DRAWS)
        require_own_counts(self.mechanism.prior, self.tables)
        if self.question.network != self.mechanism.prior.network:
            raise InputError(
                "The question and the prior have different networks. Choose a node of the prior’s network."
            )
        if self.tables.values.shape[:-1] not in ((), (self.draws,)):
            raise InputError(f"Planning needs one table for each of the {self.draws:,} simulated releases.")
        if self.draws * self.numbers > MOST_NUMBERS:
            raise InputError(
                f"{self.draws:,} releases of {self.numbers:,} numbers each are too many to simulate; choose fewer."
            )
        if not isinstance(parameters_of(type(self.mechanism)).get("epsilon"), Parameter):
            raise InputError(f"{self.mechanism.label} has no epsilon, so there is no least epsilon to find.")

    @property
    def numbers(self) -> int:
        """The number of values of a release."""
        return self.mechanism.prior.network.cell_count * int(getattr(self.mechanism, "draws", 1))

    @property
    def is_planned(self) -> bool:
        """Whether every draw has another table."""
        return self.tables.values.ndim > 1

    def at(self, epsilon: float) -> Mechanism[Outcome]:
        """Return the mechanism at an epsilon. Errors: InputError if the mechanism does not allow it."""
        turned: Mechanism[Outcome] = replace(self.mechanism, epsilon=float(epsilon))  # type: ignore[type-var]
        return turned


@dataclass(frozen=True, eq=False)
class LeastEpsilon:
    """The least epsilon of a wish, its 95% interval, and the shares that passed (E,) at all tried epsilons (E,).

    `high` is infinite if there are too few draws, or if more than the largest epsilon can be necessary. A result equal
    to the smallest possible epsilon means that this epsilon or a smaller one is sufficient.
    """

    wish: Wish
    epsilon: float
    low: float
    high: float
    epsilons: FloatArray
    shares: FloatArray

    @property
    def mechanism(self) -> Mechanism[Outcome]:
        """The mechanism at the least epsilon."""
        return self.wish.at(self.epsilon)
