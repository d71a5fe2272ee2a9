"""The plan of an adaptive release: its budget, how the stages share it, and what each step cost."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpbayes.base.amounts import Amount, EpsilonDelta, PrivacyMeasure, Rho, amount_in, measure_of, number_of, rho_of
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError, brief, finite_number, whole_number

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 1000), 1000

_MANY = 200
"""From so many columns on, their first measurement has half of rho in addition: later ones of them need less."""


@dataclass(frozen=True, kw_only=True)
class AdaptivePlan:
    """The public settings of an adaptive release. All defaults were chosen on made-up tables.

    The budget is a rho of zero-concentrated privacy, or the pure epsilon if delta is 0. `plan_for` has the defaults
    for both.

    Args:
        epsilon: The epsilon of the guarantee, exact, at most 1000.
        delta: The delta of the guarantee, exact, below 1; 0 for pure privacy.
        one_way: The share of the budget for the first measurement of all columns. Under a rho, it grows with the number
            of columns, up to 1/2 more at 200 columns.
        forest: The share of the budget for the choice of the forest.
        pairs: The share of the budget up to which the columns and the forest are measured before parents are added; a
            little more than that of the columns if they are many.
        parents: The share of the budget for the choice of more parents. What the choices leave goes to the last
            measurement.
        batches: How often parents are chosen and measured.
        most_parents: The largest number of parents of a node.
        target: The name of a column that will be predicted from the others. Half of the share of the parents is for
            the choice of its tables with one or two others. "" for none.

    Raises:
        InputError: A number is outside its range, or no rho gives this epsilon and a delta above 0.

    Example:
        >>> plan = AdaptivePlan(epsilon=Fraction(1), delta=Fraction(1, 10**5))
        >>> float(plan.rho)
        0.0305565
    """

    epsilon: Fraction
    delta: Fraction
    one_way: Fraction = Fraction(1, 5)
    forest: Fraction = Fraction(13, 100)
    pairs: Fraction = Fraction(2, 5)
    parents: Fraction = Fraction(2, 25)
    batches: int = 3
    most_parents: int = 3
    target: str = ""

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta", "one_way", "forest", "pairs", "parents"):
            value = getattr(self, name)
            if type(value) not in (int, Fraction) or value < 0 or (not value and name != "delta"):
                raise InputError(f'{name} must be an exact number above 0, such as Fraction("0.5").')
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON or self.delta >= 1:
            raise InputError(
                f"epsilon must be from {numeral(float(LEAST_EPSILON))} to {MOST_EPSILON}, and delta below 1."
            )
        measured = self.pairs_limit(_MANY) / self.total
        if self.one_way >= self.pairs or self.forest + measured + self.parents >= 1:
            raise InputError(f"The shares need one_way < pairs, and for {_MANY} columns forest + pairs + parents < 1.")
        whole_number("The number of batches", self.batches, low=1, high=20)
        whole_number("The number of parents", self.most_parents, low=1, high=8)

    @cached_property
    def budget(self) -> Amount:
        """What the steps add up to at most: a rho that gives (epsilon, delta), or the pure epsilon."""
        if not self.delta:
            return Fraction(self.epsilon)
        return Rho(EpsilonDelta(Fraction(self.epsilon), Fraction(self.delta)).rho)

    @property
    def measure(self) -> PrivacyMeasure:
        """Whether the budget is a rho or an epsilon."""
        return measure_of(self.budget)

    @property
    def total(self) -> Fraction:
        """The number of the budget."""
        return number_of(self.budget)

    @cached_property
    def rho(self) -> Fraction:
        """The rho of zero-concentrated privacy that the whole release satisfies: of a pure epsilon, what it implies."""
        return self.total if self.delta else rho_of(self.total)

    def columns_limit(self, columns: int) -> Fraction:
        """Return the most that the first measurement of all columns costs."""
        more = Fraction(min(columns, _MANY), 2 * _MANY) if self.delta else 0
        return (self.one_way + more) * self.total

    def pairs_limit(self, columns: int) -> Fraction:
        """Return the most that measurements of the columns and the forest cost: a twentieth more than the columns."""
        return max(self.pairs * self.total, Fraction(21, 20) * self.columns_limit(columns))

    def forest_cost(self, columns: int) -> Amount:
        """Return the cost of every choice of a pair by a tree."""
        return amount_in(self.measure, self.forest * self.total / max(columns - 1, 1))

    def rounds(self, columns: int) -> int:
        """Return the most choices of parents in a batch."""
        return -(-columns // self.batches)

    def parent_cost(self, columns: int) -> Amount:
        """Return the cost of every choice of a parent."""
        share = self.parents / (2 if self.target else 1)
        return amount_in(self.measure, share * self.total / (self.rounds(columns) * self.batches))

    @property
    def target_cost(self) -> Amount:
        """The cost of the choice of a table with the target in every batch."""
        return amount_in(self.measure, self.parents * self.total / (2 * self.batches))


def plan_for(epsilon: float | Fraction | str, delta: float | Fraction | str, target: str = "") -> AdaptivePlan:
    """Return the plan with the default shares for a pure epsilon, or for an epsilon at a delta above 0.

    A float means the decimal that it is written as. Errors: InputError.
    """
    exact = _exact("delta", delta, low=0, high=1 - 1e-12)
    loss = _exact("epsilon", epsilon, low=float(LEAST_EPSILON), high=MOST_EPSILON)
    return AdaptivePlan(epsilon=loss, delta=exact, target=target, **({} if exact else PURE))


def _exact(name: str, value: float | Fraction | str, *, low: float, high: float) -> Fraction:
    try:
        exact = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{name} must be a number; {brief(value)} is not.") from None
    finite_number(name, float(exact), low=low, high=high)
    return exact


PURE: dict[str, Any] = {
    "one_way": Fraction(3, 20),
    "forest": Fraction(3, 20),
    "pairs": Fraction(7, 20),
    "parents": Fraction(1, 10),
    "batches": 1,
    "most_parents": 2,
}
"""Shares and sizes at a pure epsilon. Costs add up linearly, so that there are fewer choices and measurements."""
