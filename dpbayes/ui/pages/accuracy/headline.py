"""What the Accuracy page says first: who overtakes whom and what privacy costs, and no more than the curves show."""

from dpbayes.base.estimates import Estimate
from dpbayes.base.text import escaped, numeral, share_text
from dpbayes.experiments.accuracy.best import best_near
from dpbayes.experiments.accuracy.crossings import Crossing, overtakes, within
from dpbayes.experiments.accuracy.curves.laplace import LAPLACE
from dpbayes.experiments.accuracy.curves.sampler import CERTIFIED, MANY
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import EXACT, MAJORITY
from dpbayes.experiments.accuracy.study import AccuracyStudy

MARGIN = 0.02
"""How far below the exact posterior's accuracy counts as close."""


def verdict(study: AccuracyStudy) -> str:
    """Return where posterior sampling overtakes Laplace, printed and certified, and what privacy costs."""
    ways = [
        (how, _race(study, method))
        for method, how in ((MANY, "as printed"), (CERTIFIED, "certified"))
        if {method, LAPLACE} <= set(study.methods)
    ]
    return f"{_both(ways)} {_cost(study)}".strip()


def best_said(study: AccuracyStudy, epsilon: float) -> str:
    """Return how far from non-private the best curve with a proof is, at the epsilon of the grid nearest to another."""
    best = best_near(study, epsilon)
    if best is None:
        return ""
    return (
        f"At ε = {numeral(best.epsilon)} the best proved, {best.method.called(study.plan.draws)}, is "
        f"{points(best.behind, best.error)} short."
    )


def points(behind: float, error: float) -> str:
    """Return a loss of accuracy in points, with two standard errors on either side."""
    return f"{Estimate(100 * behind, 200 * error)} points"


def _both(ways: list[tuple[str, str]]) -> str:
    """Say it of both calibrations in one sentence, without repeating oneself."""
    if not ways:
        return ""
    (how, said), *rest = ways
    if not rest:
        return f"Posterior sampling, {how}, {said}."
    other, also = rest[0]
    if said == also:
        return f"Posterior sampling {said}, {how} and {other} alike."
    if said.startswith("overtakes"):  # the headline has three lines
        also = f"it {also}".replace("it never overtakes Laplace", "never").replace("it overtakes Laplace ", "")
        return f"Posterior sampling {said} {how}; {other}, {also}."
    return f"Posterior sampling {said} {how}; {other}, it {also}."


def _race(study: AccuracyStudy, method: Method) -> str:
    crossing = overtakes(study, method, LAPLACE)
    if crossing is not None:
        if crossing.behind is not None:
            return f"overtakes Laplace {_between(crossing.behind, crossing.ahead)}"
        return f"is clearly ahead of Laplace {_stretch(crossing, study)}"
    lost = overtakes(study, LAPLACE, method)
    up_to = _up_to(study)
    if lost is None:
        return f"is {'nowhere' if len(study.plan.epsilons) > 1 else 'not'} clearly apart from Laplace {up_to}"
    if lost.behind is not None:
        return f"is overtaken by Laplace {_between(lost.behind, lost.ahead)}"
    return f"never overtakes Laplace {up_to}" if len(study.plan.epsilons) > 1 else f"is clearly behind Laplace {up_to}"


def _between(behind: float, ahead: float) -> str:
    return f"between ε = {numeral(behind)} and {numeral(ahead)}"


def _stretch(crossing: Crossing, study: AccuracyStudy) -> str:
    """Say where on the grid it holds without a gap."""
    if crossing.until == crossing.ahead:
        return f"at ε = {numeral(crossing.ahead)}"
    if crossing.until == study.plan.epsilons[-1]:
        return f"from ε = {numeral(crossing.ahead)}"
    return f"from ε = {numeral(crossing.ahead)} to {numeral(crossing.until)}"


def _up_to(study: AccuracyStudy) -> str:
    return f"{'up to' if len(study.plan.epsilons) > 1 else 'at'} ε = {numeral(study.plan.epsilons[-1])}"


def _cost(study: AccuracyStudy) -> str:
    exact, majority = float(study.mean(EXACT)[0]), float(study.mean(MAJORITY)[0])
    target = escaped(study.plan.target)
    if exact <= majority:
        return f"But even the exact posterior tells {target} no better than its majority class: {share_text(exact)}."
    known = f"Without privacy, {target} is predicted rightly in {share_text(exact)} of records"
    first = LAPLACE if LAPLACE in study.methods else next(iter(study.plan.private), None)
    if first is None:
        return f"{known}."
    name = first.called(study.plan.draws)
    crossing, points = within(study, first, MARGIN), f"within {numeral(100 * MARGIN)} points"
    if crossing is None:
        return f"{known}; {name} is not clearly {points} {_up_to(study)}."
    if crossing.behind is None:
        return f"{known}; {name} is clearly {points} {_stretch(crossing, study)}."
    return f"{known}; {name} comes {points} {_between(crossing.behind, crossing.ahead)}."
