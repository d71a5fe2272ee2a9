"""The hypothetical throws of the audits for one die, and pairs of neighbours among them."""

from collections.abc import Callable

from dpbayes.audit.entry import Hypothetical, Numbers
from dpbayes.base.text import many
from dpbayes.mechanisms.die.base import DieMechanism
from dpbayes.posteriors.hellinger import Die

TABLES = "Each table is shown by the number of throws on each side."
"""The description of the tables."""


def die_of(numbers: Numbers) -> Die:
    """Return the die that the numbers describe. Errors: InputError."""
    return Die((numbers["prior"],) * numbers["sides"], numbers["n"])


def throws(label: str, mechanism_at: Callable[[Numbers], DieMechanism], *more: str) -> Hypothetical:
    """Return the hypothetical tables of a mechanism for a die; `more` are further parameters of the mechanism."""
    return Hypothetical(
        title=f"{label} (one die)",
        parameters=("epsilon", "n", "sides", "prior", *more),
        caption="The audit uses a hypothetical die; the open table is not used.",
        mechanism_at=mechanism_at,
        where=lambda numbers: f"{many(numbers['n'], 'throw')} of a die with {numbers['sides']} sides",
    )
