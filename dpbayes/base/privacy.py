"""A privacy promise as a value."""

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError


class Neighbours(enum.Enum):
    """Which pairs of tables a promise covers."""

    REPLACE_ONE = "tables of the same public size n that differ in one record"


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-differential privacy for the stated neighbours. [Zhang16] Definition 1.

    `epsilon` = infinity promises nothing. Errors: InputError for negative or NaN values and delta above 1.
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    reference: Reference = Reference("Zhang16", "Definition 1")

    def __post_init__(self) -> None:
        if not self.epsilon >= 0 or not 0 <= self.delta <= 1:
            raise InputError(f"({self.epsilon:g}, {numeral(self.delta, 6)}) is not a privacy guarantee.")

    @property
    def is_private(self) -> bool:
        """Whether anything is promised at all."""
        return math.isfinite(self.epsilon) and self.delta < 1

    def __str__(self) -> str:
        if not self.is_private:
            return "no privacy guarantee"
        return f"ε = {numeral(self.epsilon, 4)}" + (f", δ = {numeral(self.delta)}" if self.delta else "")


NON_PRIVATE = Guarantee(math.inf, 0.0, reference=Reference("dpbayes", "no promise"))
"""What an exact value carries: no promise."""


def compose(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the promise for all releases together: epsilons and deltas add ([Dwork06], basic composition).

    Errors: InputError when the promises are about different neighbours.
    """
    guarantees = tuple(guarantees)
    relations = {guarantee.neighbours for guarantee in guarantees}
    if len(relations) > 1:
        raise InputError("Promises about different neighbours do not add up.")
    return Guarantee(
        sum(guarantee.epsilon for guarantee in guarantees),
        min(1.0, sum(guarantee.delta for guarantee in guarantees)),
        relations.pop() if relations else Neighbours.REPLACE_ONE,
        Reference("Dwork06", "basic composition"),
    )


def worst_chain(epsilon: float, *, delta: float, records: int) -> float:
    """Return the delta at k epsilon of tables k = `records` apart, at worst.

    Largest probability of an event that is impossible k tables before: neighbours p, q allow q <= e^epsilon p + delta
    and 1 - p <= e^epsilon (1 - q) + delta, and such a chain is private. [Dimitrakakis14] Remark 1.
    """
    ratio, chance = math.exp(epsilon), 0.0
    for _ in range(records):
        chance = min(ratio * chance + delta, 1 - max(1 - delta - chance, 0.0) / ratio)
    return chance
