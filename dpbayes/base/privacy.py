"""A privacy promise as a value."""

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError, type_checked
from dpbayes.base.zcdp import rho_of_pure, zcdp_epsilon


class Neighbours(enum.Enum):
    """Which pairs of tables a promise covers."""

    REPLACE_ONE = "tables of the same public size n that differ in one record"


@type_checked
@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-differential privacy for the stated neighbours. [Zhang16] Definition 1.

    Args:
        epsilon: The privacy loss in nats; infinity means no guarantee.
        delta: The probability with which a larger loss is allowed.
        neighbours: The pairs of tables that the guarantee covers.
        reference: The source of the proof.
        rho: If finite, the release also satisfies rho-zCDP ([Bun16] Definition 1.1), which gives epsilon at any delta.

    Raises:
        InputError: A value is negative or not a number, delta is above 1, or rho is finite without an epsilon.

    Example:
        >>> str(dp.Guarantee(1.0, 1e-6))
        'ε = 1, δ = 10⁻⁶'
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    reference: Reference = Reference("Zhang16", "Definition 1")
    rho: float = math.inf

    def __post_init__(self) -> None:
        if not self.epsilon >= 0 or not 0 <= self.delta <= 1:
            raise InputError(f"({numeral(self.epsilon, 6)}, {numeral(self.delta, 6)}) is not a privacy guarantee.")
        if not self.rho >= 0:
            raise InputError(f"ρ = {numeral(self.rho, 6)} is not a privacy guarantee.")
        if math.isfinite(self.rho) and not math.isfinite(self.epsilon):
            raise InputError(f"A guarantee with ρ = {numeral(self.rho, 4)} also needs a finite ε.")

    @property
    def is_private(self) -> bool:
        """Whether there is any guarantee."""
        return math.isfinite(self.epsilon) and self.delta < 1

    @property
    def zcdp(self) -> float:
        """The least known rho: the stated one, or the one that pure epsilon implies; infinity if neither exists.

        See `rho_of_pure`.
        """
        return min(self.rho, math.inf if self.delta else rho_of_pure(self.epsilon))

    def __str__(self) -> str:
        if not self.is_private:
            return "no privacy guarantee"
        delta = f", δ = {numeral(self.delta)}" if self.delta else ""
        return f"ε = {numeral(self.epsilon, 4)}{delta}"

    @property
    def in_full(self) -> str:
        """The guarantee as text, with its rho if it has one."""
        return f"{self}, ρ = {numeral(self.rho, 4)}" if math.isfinite(self.rho) else str(self)


NON_PRIVATE = Guarantee(math.inf, 0.0, reference=Reference("dpbayes", "no promise"))
"""What an exact value carries: no promise."""


def compose(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the guarantee for all releases together.

    Deltas add up, and so do epsilons ([Dwork06], basic composition). Rhos also add up ([Bun16] Lemma 1.7); for a pure
    guarantee, the rho that it implies is added. The result states a rho if at least one guarantee states a rho and
    every guarantee has or implies one. The epsilon is the smallest of three values: the sum of all epsilons, and two
    values that replace a part of this sum by the epsilon that the summed rho implies at the summed delta. The first
    such part is all guarantees with a rho, and the second is those with a rho and a positive delta.

    Args:
        guarantees: The guarantees of releases of one table.

    Returns:
        One guarantee that covers all releases.

    Raises:
        InputError: The guarantees have different definitions of neighbours.

    Example:
        >>> str(dp.compose([dp.Guarantee(0.5), dp.Guarantee(0.25)]))
        'ε = 0.75'
    """
    guarantees = tuple(guarantees)
    relations = {guarantee.neighbours for guarantee in guarantees}
    if len(relations) > 1:
        raise InputError("Guarantees for different definitions of neighbours cannot be composed.")
    concentrated = [guarantee for guarantee in guarantees if math.isfinite(guarantee.zcdp)]
    rho = sum(guarantee.zcdp for guarantee in guarantees)
    epsilon = min(
        _lost(guarantees, together=()),
        _lost(guarantees, together=concentrated),
        _lost(guarantees, together=[guarantee for guarantee in concentrated if guarantee.delta]),
    )
    return Guarantee(
        epsilon,
        min(1.0, sum(guarantee.delta for guarantee in guarantees)),
        relations.pop() if relations else Neighbours.REPLACE_ONE,
        Reference("Dwork06", "basic composition"),
        rho if any(math.isfinite(guarantee.rho) for guarantee in guarantees) else math.inf,
    )


def _lost(guarantees: Sequence[Guarantee], *, together: Sequence[Guarantee]) -> float:
    """The epsilon of all: some by their rhos together at the sum of their deltas, the others one by one."""
    apart = list(guarantees)
    for guarantee in together:
        apart.remove(guarantee)
    rho, delta = sum(promise.zcdp for promise in together), sum(promise.delta for promise in together)
    joint = zcdp_epsilon(rho, delta=min(1.0, delta))
    return joint + sum(guarantee.epsilon for guarantee in apart)
