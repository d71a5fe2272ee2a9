"""The question about the network: the target whose probability is wanted, and the states that are given."""

from contextlib import suppress

from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.plan import default_target
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import kept


def target_and_evidence(chosen: Chosen) -> tuple[str, dict[str, str]]:
    """Return the target, a telling one where none is chosen, and what is given: states by node."""
    net, settings = chosen.network, chosen.settings
    target = settings.target if settings.target in net.names else telling_target(chosen)
    states = dict(zip(net.names, net.states, strict=True))
    given = {name: state for name, state in settings.evidence if name != target and state in states.get(name, ())}
    return target, given


def has_question(chosen: Chosen) -> bool:
    """Return whether the question is the person's: she chose a target or what is given."""
    settings = chosen.settings
    return settings.target in chosen.network.names or bool(settings.evidence and target_and_evidence(chosen)[1])


def telling_target(chosen: Chosen) -> str:
    """Return a node that is not nearly constant, as `default_target` picks it.

    Records take part only where everybody may have them: the choice would tell something of private ones.
    """
    table = None
    if chosen.has_public_records:
        with suppress(InputError):  # a table that is gone: the graph decides alone
            table = chosen.dataset
    return kept("telling_target", (chosen.network, table), lambda: default_target(chosen.network, table))
