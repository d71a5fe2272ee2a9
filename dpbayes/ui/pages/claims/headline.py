"""The finding about a claim's bound at one setting: what the paper states beside what is exact, simulated or proved."""

import math

from dpbayes.base.text import numeral
from dpbayes.base.text import percent as in_percent
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.claims.exhibit import BoundKind
from dpbayes.theory.claims.judgement import ComparedWith, Decision, Judgement, judged
from dpbayes.ui.pages.claims.curve import Evaluation


def finding(evaluation: Evaluation) -> str:
    """Return the sentence at the present setting: the claim, what was decided of it, and two numbers at most."""
    judgement = judged(evaluation.exhibit.says, evaluation.bound, evaluation.measured)
    name, printed = _name(evaluation), float(evaluation.bound.printed[0])
    proved = _number(evaluation, float(evaluation.bound.certified[0]))
    match judgement.decision:
        case Decision.NO_NUMBER:
            return f"{name} gives no number here; {proved} is proved."
        case Decision.EMPTY:
            size = numeral(printed) if math.isfinite(printed) else "above 10³⁰⁸"
            return f"{name} is vacuous here: it bounds a probability{_probability(evaluation)} by {size}."
        case Decision.UNCERTIFIED:
            return f"{name} states {_amount(evaluation, printed)}; no bound is proved here."
        case Decision.UNPROVED:
            return f"{name} states {_amount(evaluation, printed)}, but only {proved} is proved."
    if evaluation.exhibit.says is BoundKind.QUANTILE and judgement.is_exceeded:
        share = percent_or_power(float(evaluation.measured.exceeded[0]))
        allowed = percent_or_power(evaluation.at.knobs.delta)
        return (
            f"{_start(evaluation, judgement)}: {share} of simulated {evaluation.exhibit.trials} exceed its bound, "
            f"which allows {allowed}."
        )
    label, value = _compared_with(evaluation, judgement)
    digits = _digits(evaluation, judgement, printed, value)
    joint = "but" if judgement.is_exceeded else "and"
    return (
        f"{_start(evaluation, judgement)}: it states {_amount(evaluation, printed, digits)}, {joint} {label} is "
        f"{_number(evaluation, value, digits)}."
    )


def _start(evaluation: Evaluation, judgement: Judgement) -> str:
    """Return the claim and what was decided of it at this setting."""
    name, claim = _name(evaluation), evaluation.bound.claim
    match judgement.decision:
        case Decision.REFUTED:
            return f"{name} fails"
        case Decision.UNFOUNDED:
            return f"{name} is exceeded outside its conditions"
        case Decision.OURS_EXCEEDED:
            return f"{name} is exceeded with {claim.ours}, which the paper leaves open"
        case Decision.TIGHT:
            return f"{name} is tight here"
    return f"{name} holds" if claim.verdict in (Verdict.HOLDS, Verdict.LOOSE) else f"{name} is not exceeded here"


def _compared_with(evaluation: Evaluation, judgement: Judgement) -> tuple[str, float]:
    """Return what the stated bound is compared with, and its value: exact, else simulated, else proved."""
    measured, kind = evaluation.measured, evaluation.exhibit.says
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    if judgement.beside is ComparedWith.CERTIFIED:
        return "the proved bound", float(evaluation.bound.certified[0])
    if kind is BoundKind.QUANTILE:
        return "the simulated quantile", simulated
    if kind is BoundKind.CHANCE and not math.isfinite(exact):
        return "the simulated share", simulated
    return f"the {measured.exact_name}", exact


def _probability(evaluation: Evaluation) -> str:
    """Return the probability that is bounded, behind "a probability": exact, else simulated, else nothing."""
    series = (float(evaluation.measured.exact[0]), float(evaluation.measured.value[0]))
    return next((f" of {_number(evaluation, value)}" for value in series if math.isfinite(value)), "")


def shown_as(value: float) -> str:
    """Return a number in words where there is none, or no finite one."""
    if math.isnan(value):
        return "unknown"
    return numeral(value) if math.isfinite(value) else "infinite"


def percent_or_power(share: float, most: int = 3) -> str:
    """Return a probability in percent; a tiny one as a power of ten."""
    if 0 < share < 1e-5:
        return numeral(share, most - 1)
    return in_percent(share, max(most, 4 if share > 0.99 else 3)).replace(" ", "")


def _name(evaluation: Evaluation) -> str:
    part = evaluation.exhibit.part(evaluation.subject)
    return f"{evaluation.bound.claim.reference.in_words}{f', {part},' if part else ''}"


def _number(evaluation: Evaluation, value: float, most: int = 3) -> str:
    is_probability = evaluation.exhibit.says is BoundKind.CHANCE
    if is_probability and value == 0:
        return "less than 10⁻³⁰⁰"
    if not math.isfinite(value):
        return "no finite number"
    return percent_or_power(value, most) if is_probability else numeral(value, most)


def _amount(evaluation: Evaluation, value: float, most: int = 3) -> str:
    text = evaluation.exhibit.amount.format(_number(evaluation, value, most))
    return text.removesuffix("s") if text.endswith(" 1 nats") else text


def _digits(evaluation: Evaluation, judgement: Judgement, printed: float, true: float) -> int:
    """Return how many digits show that what exceeds the stated bound does: three, unless both would read the same."""
    if not judgement.is_exceeded:
        return 3
    return next((k for k in range(3, 6) if _number(evaluation, printed, k) != _number(evaluation, true, k)), 6)
