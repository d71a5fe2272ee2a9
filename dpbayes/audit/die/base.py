"""The hypothetical throws of the audits for one die, and pairs of neighbours among them."""

from collections.abc import Callable

import numpy as np

from dpbayes.audit.entry import Hypothetical, Numbers, TablePair
from dpbayes.audit.report.types import WorstCase
from dpbayes.audit.report.words import counts_text
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
        chosen=("first",),
        attacked=_attacked,
        drawn=_drawn,
    )


def sides(mechanism: DieMechanism, *, n: int) -> int:
    """Return the number of released numbers."""
    return mechanism.die.sides


def _attacked(mechanism: DieMechanism, worst: WorstCase | None, *, n: int, first: int) -> TablePair:
    """Return the true throws, the others spread evenly, and a neighbour with one throw moved to or from side 1."""
    die = mechanism.die
    rest = np.full(die.sides - 1, (die.n - first) // (die.sides - 1))
    rest[: (die.n - first) % (die.sides - 1)] += 1
    truth = np.concatenate([[first], rest])
    other = truth.copy()
    other[:2] += (-1, 1) if first else (1, -1)
    description = f"The throws on each side are {counts_text(truth)} (true) against {counts_text(other)}."
    return TablePair(truth, other, description, "of the true throws", ("throws", first))


def _drawn(mechanism: DieMechanism, *, n: int) -> TablePair:
    rest = [0] * (mechanism.die.sides - 2)
    one, none = (np.array([k, n - k, *rest]) for k in (1, 0))
    return TablePair(one, none, f"The throws on each side are {counts_text(one)} and {counts_text(none)}.")
