"""The Accuracy page's sentences: the best private curve, and where curves cross."""

from dpbayes.base.estimates import Estimate
from dpbayes.base.text import escaped, numeral, share_text
from dpbayes.experiments.accuracy.crossings import Crossing, best_near, overtakes, within
from dpbayes.experiments.accuracy.curves.additive import LAPLACE
from dpbayes.experiments.accuracy.curves.sampler import CERTIFIED, MANY
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import EXACT, MAJORITY
from dpbayes.experiments.accuracy.study import AccuracyStudy

MARGIN = 0.02
"""How far below the exact posterior's accuracy counts as close."""


def verdict(study: AccuracyStudy, epsilon: float) -> str:
    """Return the accuracy of the best curve with a proof near an epsilon, and that without privacy."""
    exact, majority = float(study.mean(EXACT)[0]), float(study.mean(MAJORITY)[0])
    target = escaped(study.plan.target)
    if exact <= majority:
        return f"Even the exact posterior predicts {target} no better than its majority class ({share_text(exact)})."
    best = best_near(study, epsilon)
    if best is None:
        return f"Without privacy, {target} is predicted correctly in {share_text(exact)} of records."
    place, correct = f"At ε = {numeral(best.epsilon)}", share_text(best.accuracy)
    if best.beside:
        highest = f"the highest accuracy for {target} is {correct} ({share_text(exact)} without privacy)"
        return f"{place}, no private curve is clearly best: {highest}."
    name = escaped(best.method.called(study.plan.draws))
    shares = f"correct for {correct} of records, {share_text(exact)} without privacy"
    return f"{place}, {name} predicts {target} best: {shares}."


def comparison_sentence(study: AccuracyStudy, epsilon: float) -> str:
    """Return how far the best curve with a proof is below the exact posterior, and which are not clearly worse."""
    best = best_near(study, epsilon)
    if best is None:
        return ""
    names = [escaped(method.called(study.plan.draws)) for method in best.beside]
    listed = " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])
    tied = f" There is no clear difference from {listed}." if listed else ""
    name = best.method.called(study.plan.draws)
    name = escaped(name[0].upper() + name[1:])
    return f"{name} is {points(best.behind, best.error)} below the exact posterior.{tied}"


def races(study: AccuracyStudy) -> str:
    """Return where posterior sampling overtakes Laplace, by calibration, and where Laplace is close to no privacy."""
    ways = [
        (how, _race(study, method))
        for method, how in ((MANY, "as stated in the paper"), (CERTIFIED, "as proved"))
        if {method, LAPLACE} <= set(study.methods)
    ]
    sentences = [f"Posterior sampling, {how}, {race}." for how, race in ways]
    return " ".join([*sentences, _close(study)]).strip()


def points(behind: float, error: float) -> str:
    """Return a loss of accuracy in points, with two standard errors on either side."""
    return f"{Estimate(100 * behind, 200 * error)} points"


def _race(study: AccuracyStudy, method: Method) -> str:
    crossing = overtakes(study, method, LAPLACE)
    if crossing is not None:
        if crossing.behind is not None:
            return f"overtakes Laplace {_between(crossing.behind, crossing.ahead)}"
        return f"is clearly ahead of Laplace {_stretch(crossing, study)}"
    lost = overtakes(study, LAPLACE, method)
    up_to = _up_to(study)
    if lost is None:
        return f"does not clearly differ from Laplace {up_to}"
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


def _close(study: AccuracyStudy) -> str:
    """Return where the Laplace curve, or else the first private one, comes close to the exact posterior."""
    first = LAPLACE if LAPLACE in study.methods else next(iter(study.plan.private), None)
    if first is None or float(study.mean(EXACT)[0]) <= float(study.mean(MAJORITY)[0]):
        return ""
    name = first.called(study.plan.draws)
    crossing, close = within(study, first, MARGIN), f"within {numeral(100 * MARGIN)} points of the exact posterior"
    if crossing is None:
        return f"{name} is not clearly {close} {_up_to(study)}."
    if crossing.behind is None:
        return f"{name} is clearly {close} {_stretch(crossing, study)}."
    return f"{name} comes {close} {_between(crossing.behind, crossing.ahead)}."
