"""The hypothetical throws of the audits for one die."""

from dpbayes.audit.entry import Hypothetical, Numbers
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import many
from dpbayes.mechanisms.die.base import DieMechanism
from dpbayes.posteriors.hellinger import MOST_PAIRED, Die

TABLES = "Each table is shown by the number of throws on each side."
"""The description of the tables."""


def throws(kind: type[DieMechanism], *, are_listed: bool = True) -> Hypothetical:
    """Return the hypothetical tables of a mechanism for a die; an audit may need a list of them all."""
    own = tuple(parameters_of(kind))

    def mechanism_at(numbers: Numbers) -> DieMechanism:
        die = Die((numbers["prior"],) * numbers["sides"], numbers["n"])
        if are_listed:
            die.require_listable(MOST_PAIRED)  # what an audit needs; a release would do with more
        return kind(die=die, **{name: numbers[name] for name in own})

    return Hypothetical(
        title=f"{kind.label.removesuffix(' (not private)')} (one die)",
        parameters=(own[0], "n", "sides", "prior", *own[1:]),
        caption="The audit uses a hypothetical die; the open table is not used.",
        mechanism_at=mechanism_at,
        where=lambda numbers: f"{many(numbers['n'], 'throw')} of a die with {numbers['sides']} sides",
    )
