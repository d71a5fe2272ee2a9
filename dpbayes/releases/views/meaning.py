"""The meaning of a guarantee for one person: sentences and shares for the reports."""

from dpbayes.audit.risk import ceiling
from dpbayes.base.amounts import Amount, Rho, measure_of, number_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import in_hundred, many, numeral, percent
from dpbayes.releases.document.certificate import Composed, likely_loss


def raised(total: Amount, suspicion: float) -> str:
    """Return the limit of a suspicion after releases of this total cost, as the rest of a sentence."""
    most = in_hundred(_most(total, suspicion))
    if most == "100":
        return "can rise to almost 100%"
    if isinstance(total, Rho):
        return f"can rise above {most}% with probability at most 10⁻⁶"
    return f"can rise to at most {most}%"


def together(composed: Composed, cost: Amount, suspicion: float) -> str:
    """Return a sentence on a release and all earlier ones of its dataset; "" if there are none."""
    if not composed.releases:
        return ""
    total = composed.after(cost)
    return (
        f"Together with {many(composed.releases, 'earlier release')} of this dataset the privacy loss is "
        f"{measure_of(total).symbol} = {numeral(float(number_of(total)), 4)}: an attacker's "
        f"{percent(suspicion)} belief about one person {raised(total, suspicion)}."
    )


def belief_before(suspicion: float) -> tuple[str, float]:
    """Return a suspicion before a release, with its description, for the drawing of a report."""
    return f"belief before the release: {percent(suspicion)}", suspicion


def belief_after(when: str, total: Amount, suspicion: float) -> tuple[str, float]:
    """Return the limit of a suspicion after releases of this total cost, with its description, for the same drawing."""
    most, seldom = _most(total, suspicion), " (except with probability 10⁻⁶)" if isinstance(total, Rho) else ""
    return f"{when}: at most {in_hundred(most)}%{seldom}", most


def _most(total: Amount, suspicion: float) -> float:
    """Return the limit of a suspicion: certain for an epsilon, rarely exceeded for a rho."""
    loss = likely_loss(total.value) if isinstance(total, Rho) else float(total)
    return ceiling(suspicion, Guarantee(loss))
