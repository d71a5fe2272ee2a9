"""The Bounds page's one sentence: what is printed, what is true, and how far apart the two are."""

import math

from dpbayes.base.references import PAPERS
from dpbayes.base.text import numeral
from dpbayes.theory.claims.exhibit import Says
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.zhang16.posterior_kl.bounds import ORDER
from dpbayes.ui.pages.bounds.curve import Evaluation

SYMBOLS = {
    Axis.PRIOR: "a",
    Axis.ANSWERS: "k",
    Axis.RUNS: "R",
    Axis.CHANGED: "k",
    Axis.SAMPLES: "n",
    Axis.APART: "ρ",
    Axis.SIZE: "n",
}
"""What an axis is called in a sentence where its name is a word."""

TIGHT = 1.05
"""A printed bound up to this many times the true value is called tight."""


def verdict(evaluation: Evaluation) -> str:
    """Return the sentence at the setting at hand."""
    says = evaluation.exhibit.says
    printed, certified = float(evaluation.bound.printed[0]), float(evaluation.bound.certified[0])
    if math.isnan(printed) or (math.isinf(printed) and says is not Says.CHANCE):
        exact = float(evaluation.measured.exact[0])
        truly = f"exactly it is {_number(evaluation, exact)}, and " if math.isfinite(exact) else ""
        return f"{_start(evaluation)} gives no number; {truly}{_number(evaluation, certified)} is certified."
    if says is Says.QUANTILE:
        if evaluation.measured.violated[0]:
            return _exceeded(evaluation, printed)
        return _stays_below(evaluation, printed, certified)
    if says is Says.MEAN:
        return _mean(evaluation, printed)
    if says is Says.CHANCE:
        return _chance(evaluation, printed, certified)
    if says is Says.ENOUGH:
        return _enough(evaluation, printed, certified)
    return _largest(evaluation, printed, certified)


def percent(share: float) -> str:
    """Return a probability in percent; a tiny one as a power of ten."""
    if 0 < share < 1e-5:
        return numeral(share, 2)
    return f"{numeral(100 * share, 4 if share > 0.99 else 3)}%"


def times(ratio: float) -> str:
    """Return how many times, in two digits or whole."""
    return numeral(ratio) if ratio >= 100 else numeral(ratio, 2)


def _start(evaluation: Evaluation) -> str:
    place, _, detail = evaluation.bound.claim.reference.place.partition(", ")
    name = f"{place} ({detail})" if detail else place
    paper = evaluation.bound.claim.reference.paper
    if paper != "Zhang16":
        name += " of the Notes" if paper == "Notes" else f" of {PAPERS[paper].venue}"
    symbol = SYMBOLS.get(evaluation.axis, evaluation.axis.value)
    part = evaluation.exhibit.part(evaluation.subject)
    return f"At {symbol} = {numeral(evaluation.here)}, {name} as printed{f', {part},' if part else ''}"


def _number(evaluation: Evaluation, value: float) -> str:
    return percent(value) if evaluation.exhibit.says is Says.CHANCE else numeral(value)


def _amount(evaluation: Evaluation, value: float) -> str:
    text = evaluation.exhibit.amount.format(_number(evaluation, value))
    return text.removesuffix("s") if text.endswith(" 1 nats") else text


def _judged(evaluation: Evaluation) -> str:
    """A violated bound is refuted only where its own conditions hold, and where it has no constants of ours."""
    if evaluation.bound.claim == ORDER:
        return "exceeded, with the constant 1 that we put where the paper leaves it open."
    return "refuted." if evaluation.bound.applies else "it fails, though not all of its conditions hold here."


def _compared(printed: float, value: float, what: str) -> str:
    """Return how tight a printed number is that is not violated."""
    if printed <= TIGHT * value:
        return "the printed one is tight."
    if value <= 0:
        return "the printed one is far too large."
    return f"the printed one is {times(printed / value)} times the {what} one."


def _exceeded(evaluation: Evaluation, printed: float) -> str:
    share, error = (float(x[0]) for x in (evaluation.measured.exceeded, evaluation.measured.exceeded_error))
    return (
        f"{_start(evaluation)} lets {percent(evaluation.at.knobs.delta)} of {evaluation.exhibit.trials} exceed "
        f"{_amount(evaluation, printed)}; {percent(share)} (± {numeral(100 * error, 2)}) of simulated ones do: "
        f"{_judged(evaluation)}"
    )


def _stays_below(evaluation: Evaluation, printed: float, certified: float) -> str:
    value, allows = float(evaluation.measured.value[0]), f"{_start(evaluation)} allows {_amount(evaluation, printed)}"
    if not math.isfinite(value):
        return f"{allows}; the certified bound is {numeral(certified)}: {_compared(printed, certified, 'certified')}"
    return (
        f"{allows}; {percent(1 - evaluation.at.knobs.delta)} of simulated {evaluation.exhibit.trials} stay below "
        f"{_interval(evaluation)}, and the certified bound is {numeral(certified)}: {_compared(printed, value, 'true')}"
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


def _mean(evaluation: Evaluation, printed: float) -> str:
    exact = float(evaluation.measured.exact[0])
    says = f"{_start(evaluation)} allows {_amount(evaluation, printed)}; exactly it is {numeral(exact)}"
    return f"{says}: {_judged(evaluation) if evaluation.measured.violated[0] else _compared(printed, exact, 'true')}"


def _chance(evaluation: Evaluation, printed: float, certified: float) -> str:
    measured = evaluation.measured
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    is_exact, is_simulated = math.isfinite(exact), math.isfinite(simulated)
    proved = f"{percent(certified) if certified > 0 else 'less than 10⁻³⁰⁰'} is certified"
    known = f"exactly it is {percent(exact)}" if is_exact else proved
    if is_simulated and not is_exact:
        known = f"simulated it is {_shares(evaluation)}"
    if printed >= 1:
        size = numeral(printed) if math.isfinite(printed) else "above 10³⁰⁸"
        return f"{_start(evaluation)} says nothing, for its probability is {size}; {known}."
    says = f"{_start(evaluation)} allows {_amount(evaluation, printed)}; {known}"
    if measured.violated[0]:
        return f"{says}: {_judged(evaluation)}"
    if not (is_exact or is_simulated):
        return f"{says}: {_compared(printed, certified, 'certified')}"
    # A handful of simulated cases is no basis for a ratio.
    is_sure = is_exact or float(measured.high[0] - measured.low[0]) < simulated
    compared = _compared(printed, exact if is_exact else simulated, "true")
    return f"{says}, and {proved}: {compared if is_sure else _compared(printed, certified, 'certified')}"


def _largest(evaluation: Evaluation, printed: float, certified: float) -> str:
    says, exact = f"{_start(evaluation)} {_amount(evaluation, printed)}", float(evaluation.measured.exact[0])
    if evaluation.measured.violated[0]:
        known = f"the {evaluation.measured.exact_name} is {numeral(exact)}"
        return f"{says}; {known}, and {numeral(certified)} is certified: {_judged(evaluation)}"
    if math.isfinite(exact):
        return f"{says}; the {evaluation.measured.exact_name} is {numeral(exact)}: {_compared(printed, exact, 'true')}"
    if not math.isfinite(certified):
        return f"{says}; nothing can be certified here."
    if printed >= certified:
        return f"{says}; {numeral(certified)} is certified: {_compared(printed, certified, 'certified')}"
    return f"{says}; what is certified is {numeral(certified)}, {times(certified / printed)} times as much."


def _enough(evaluation: Evaluation, printed: float, certified: float) -> str:
    least = f"the {evaluation.measured.exact_name} is {numeral(float(evaluation.measured.exact[0]))}"
    says = f"{_start(evaluation)} {_amount(evaluation, printed)}; {least}, and {numeral(certified)} suffice"
    return f"{says}: {_judged(evaluation)}" if evaluation.measured.violated[0] else f"{says}."
