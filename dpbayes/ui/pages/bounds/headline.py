"""The Bounds page's one sentence: what is printed, what is true, and how far apart the two are."""

import math

from dpbayes.base.text import numeral, times
from dpbayes.base.text import percent as in_percent
from dpbayes.theory.claims.exhibit import BoundKind
from dpbayes.theory.claims.judgement import Decision, Judgement, judged
from dpbayes.ui.pages.bounds.curve import Evaluation


def verdict(evaluation: Evaluation) -> str:
    """Return the sentence at the setting at hand."""
    says = evaluation.exhibit.says
    judgement = judged(says, evaluation.bound, evaluation.measured)
    printed, certified = float(evaluation.bound.printed[0]), float(evaluation.bound.certified[0])
    if judgement.decision is Decision.NO_NUMBER:
        exact = float(evaluation.measured.exact[0])
        truly = f"exactly it is {_number(evaluation, exact)}, and " if math.isfinite(exact) else ""
        return f"{_start(evaluation)} gives no number; {truly}{_number(evaluation, certified)} is certified."
    if says is BoundKind.QUANTILE:
        if judgement.is_exceeded:
            return _exceeded(evaluation, judgement, printed)
        return _stays_below(evaluation, judgement, printed, certified)
    if says is BoundKind.MEAN:
        return _mean(evaluation, judgement, printed)
    if says is BoundKind.CHANCE:
        return _chance(evaluation, judgement, printed, certified)
    if says is BoundKind.ENOUGH:
        return _enough(evaluation, judgement, printed, certified)
    return _largest(evaluation, judgement, printed, certified)


def percent(share: float, most: int = 3) -> str:
    """Return a probability in percent; a tiny one as a power of ten."""
    if 0 < share < 1e-5:
        return numeral(share, most - 1)
    return in_percent(share, max(most, 4 if share > 0.99 else 3)).replace(" ", "")


def _start(evaluation: Evaluation) -> str:
    name = evaluation.bound.claim.reference.in_words
    part = evaluation.exhibit.part(evaluation.subject)
    return f"At {evaluation.axis.symbol} = {numeral(evaluation.here)}, {name} as printed{f', {part},' if part else ''}"


def _number(evaluation: Evaluation, value: float, most: int = 3) -> str:
    return percent(value, most) if evaluation.exhibit.says is BoundKind.CHANCE else numeral(value, most)


def _amount(evaluation: Evaluation, value: float, most: int = 3) -> str:
    text = evaluation.exhibit.amount.format(_number(evaluation, value, most))
    return text.removesuffix("s") if text.endswith(" 1 nats") else text


def _digits(evaluation: Evaluation, judgement: Judgement, printed: float, true: float) -> int:
    """Return how many digits show that what exceeds the printed bound does: three, unless both would read the same."""
    if not judgement.is_exceeded:
        return 3
    return next((k for k in range(3, 6) if _number(evaluation, printed, k) != _number(evaluation, true, k)), 6)


def _worded(evaluation: Evaluation, judgement: Judgement) -> str:
    """Return what was decided, at the end of the sentence."""
    match judgement.decision:
        case Decision.OURS_EXCEEDED:
            return f"exceeded, with {evaluation.bound.claim.ours} that we put where the paper leaves it open."
        case Decision.REFUTED:
            return "refuted."
        case Decision.UNFOUNDED:
            return "it fails, though not all of its conditions hold here."
        case Decision.TIGHT:
            return "the printed one is tight."
        case Decision.FAR:
            return "the printed one is far too large."
        case _:
            return f"the printed one is {times(judgement.ratio)} the {judgement.beside.value} one."


def _exceeded(evaluation: Evaluation, judgement: Judgement, printed: float) -> str:
    share, error = (float(x[0]) for x in (evaluation.measured.exceeded, evaluation.measured.exceeded_error))
    return (
        f"{_start(evaluation)} lets {percent(evaluation.at.knobs.delta)} of {evaluation.exhibit.trials} exceed "
        f"{_amount(evaluation, printed)}; {percent(share)} (± {numeral(100 * error, 2)}) of simulated ones do: "
        f"{_worded(evaluation, judgement)}"
    )


def _stays_below(evaluation: Evaluation, judgement: Judgement, printed: float, certified: float) -> str:
    value, allows = float(evaluation.measured.value[0]), f"{_start(evaluation)} allows {_amount(evaluation, printed)}"
    if not math.isfinite(value):
        return f"{allows}; the certified bound is {numeral(certified)}: {_worded(evaluation, judgement)}"
    return (
        f"{allows}; {percent(1 - evaluation.at.knobs.delta)} of simulated {evaluation.exhibit.trials} stay below "
        f"{_interval(evaluation)}, and the certified bound is {numeral(certified)}: {_worded(evaluation, judgement)}"
    )


def _shares(evaluation: Evaluation) -> str:
    """Return a simulated share with the ends of its interval."""
    low, high = float(evaluation.measured.low[0]), float(evaluation.measured.high[0])
    return f"{percent(float(evaluation.measured.value[0]))} ({percent(low)} to {percent(high)})"


def _interval(evaluation: Evaluation) -> str:
    """Return the simulated value with the ends of its interval."""
    measured = evaluation.measured
    value, low, high = (float(x[0]) for x in (measured.value, measured.low, measured.high))
    if not math.isfinite(low + high) or numeral(low) == numeral(high):
        return numeral(value)
    return f"{numeral(value)} ({numeral(low)} to {numeral(high)})"


def _mean(evaluation: Evaluation, judgement: Judgement, printed: float) -> str:
    exact = float(evaluation.measured.exact[0])
    most = _digits(evaluation, judgement, printed, exact)
    says = f"{_start(evaluation)} allows {_amount(evaluation, printed, most)}; exactly it is {numeral(exact, most)}"
    return f"{says}: {_worded(evaluation, judgement)}"


def _chance(evaluation: Evaluation, judgement: Judgement, printed: float, certified: float) -> str:
    measured = evaluation.measured
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    is_exact, is_simulated = math.isfinite(exact), math.isfinite(simulated)
    proved = f"{percent(certified) if certified > 0 else 'less than 10⁻³⁰⁰'} is certified"
    most = _digits(evaluation, judgement, printed, exact if is_exact else simulated)
    known = f"exactly it is {percent(exact, most)}" if is_exact else proved
    if is_simulated and not is_exact:
        known = f"simulated it is {_shares(evaluation)}"
    if judgement.decision is Decision.EMPTY:
        size = numeral(printed) if math.isfinite(printed) else "above 10³⁰⁸"
        return f"{_start(evaluation)} says nothing, for its probability is {size}; {known}."
    says = f"{_start(evaluation)} allows {_amount(evaluation, printed, most)}; {known}"
    if not judgement.is_exceeded and (is_exact or is_simulated):
        says += f", and {proved}"
    return f"{says}: {_worded(evaluation, judgement)}"


def _largest(evaluation: Evaluation, judgement: Judgement, printed: float, certified: float) -> str:
    exact = float(evaluation.measured.exact[0])
    most = _digits(evaluation, judgement, printed, exact if math.isfinite(exact) else certified)
    says = f"{_start(evaluation)} {_amount(evaluation, printed, most)}"
    if judgement.decision is Decision.UNCERTIFIED:
        return f"{says}; nothing can be certified here."
    if judgement.decision is Decision.UNPROVED:
        return f"{says}; what is certified is {numeral(certified)}, {times(judgement.ratio)} as much."
    known = f"the {evaluation.measured.exact_name} is {numeral(exact, most)}" if math.isfinite(exact) else ""
    proved = f"{numeral(certified, most)} is certified" if judgement.is_exceeded or not known else ""
    return f"{says}; {', and '.join(filter(None, (known, proved)))}: {_worded(evaluation, judgement)}"


def _enough(evaluation: Evaluation, judgement: Judgement, printed: float, certified: float) -> str:
    exact = float(evaluation.measured.exact[0])
    most = _digits(evaluation, judgement, printed, exact)
    least = f"the {evaluation.measured.exact_name} is {numeral(exact, most)}"
    says = f"{_start(evaluation)} {_amount(evaluation, printed, most)}; {least}, and {numeral(certified)} suffice"
    return f"{says}: {_worded(evaluation, judgement)}" if judgement.is_exceeded else f"{says}."
