"""The Bounds page's one sentence: what is printed, what is true, and how far apart the two are."""

import math

from dpbayes.base.references import PAPERS
from dpbayes.base.text import numeral
from dpbayes.theory.claims.exhibit import Says
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.zhang16.posterior_kl import ORDER
from dpbayes.ui.pages.bounds.curve import Shown

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


def verdict(found: Shown) -> str:
    """Return the sentence at the setting at hand."""
    says = found.exhibit.says
    printed, certified = float(found.bound.printed[0]), float(found.bound.certified[0])
    if math.isnan(printed) or (math.isinf(printed) and says is not Says.CHANCE):
        exact = float(found.measured.exact[0])
        truly = f"exactly it is {_number(found, exact)}, and " if math.isfinite(exact) else ""
        return f"{_start(found)} gives no number; {truly}{_number(found, certified)} is certified."
    if says is Says.QUANTILE:
        return _exceeded(found, printed) if found.measured.violated[0] else _stays_below(found, printed, certified)
    if says is Says.MEAN:
        return _mean(found, printed)
    if says is Says.CHANCE:
        return _chance(found, printed, certified)
    if says is Says.ENOUGH:
        return _enough(found, printed, certified)
    return _largest(found, printed, certified)


def percent(share: float) -> str:
    """Return a probability in percent; a tiny one as a power of ten."""
    if 0 < share < 1e-5:
        return numeral(share, 2)
    return f"{numeral(100 * share, 4 if share > 0.99 else 3)}\N{NO-BREAK SPACE}%"


def times(ratio: float) -> str:
    """Return how many times, in two digits or whole."""
    return numeral(ratio) if ratio >= 100 else numeral(ratio, 2)


def _start(found: Shown) -> str:
    place, _, detail = found.bound.claim.reference.place.partition(", ")
    name = f"{place} ({detail})" if detail else place
    paper = found.bound.claim.reference.paper
    if paper != "Zhang16":
        name += " of the Notes" if paper == "Notes" else f" of {PAPERS[paper].venue}"
    symbol = SYMBOLS.get(found.axis, found.axis.value)
    part = found.exhibit.part(found.subject)
    return f"At {symbol} = {numeral(found.here)}, {name} as printed{f', {part},' if part else ''}"


def _number(found: Shown, value: float) -> str:
    return percent(value) if found.exhibit.says is Says.CHANCE else numeral(value)


def _amount(found: Shown, value: float) -> str:
    text = found.exhibit.amount.format(_number(found, value))
    return text.removesuffix("s") if text.endswith(" 1 nats") else text


def _judged(found: Shown) -> str:
    """A violated bound is refuted only where its own conditions hold, and where it has no constants of ours."""
    if found.bound.claim == ORDER:
        return "exceeded, with the constant 1 that we put where the paper leaves it open."
    return "refuted." if found.bound.applies else "it fails, though not all of its conditions hold here."


def _compared(printed: float, value: float, what: str) -> str:
    """Return how tight a printed number is that is not violated."""
    if printed <= TIGHT * value:
        return "the printed one is tight."
    if value <= 0:
        return "the printed one is far too large."
    return f"the printed one is {times(printed / value)} times the {what} one."


def _exceeded(found: Shown, printed: float) -> str:
    return (
        f"{_start(found)} lets {percent(found.at.knobs.delta)} of {found.exhibit.trials} exceed "
        f"{_amount(found, printed)}; "
        f"{percent(float(found.measured.exceeded[0]))} (± {numeral(100 * float(found.measured.exceeded_error[0]), 2)}) "
        f"of simulated ones do: {_judged(found)}"
    )


def _stays_below(found: Shown, printed: float, certified: float) -> str:
    value, allows = float(found.measured.value[0]), f"{_start(found)} allows {_amount(found, printed)}"
    if not math.isfinite(value):
        return f"{allows}; the certified bound is {numeral(certified)}: {_compared(printed, certified, 'certified')}"
    return (
        f"{allows}; {percent(1 - found.at.knobs.delta)} of simulated {found.exhibit.trials} stay below "
        f"{_interval(found)}, and the certified bound is {numeral(certified)}: {_compared(printed, value, 'true')}"
    )


def _shares(found: Shown) -> str:
    """Return a simulated share with the ends of its interval."""
    low, high = float(found.measured.low[0]), float(found.measured.high[0])
    return f"{percent(float(found.measured.value[0]))} ({percent(low)} to {percent(high)})"


def _interval(found: Shown) -> str:
    """Return the simulated value with the ends of its interval."""
    value, low, high = (float(x[0]) for x in (found.measured.value, found.measured.low, found.measured.high))
    if not math.isfinite(low + high) or numeral(low) == numeral(high):
        return numeral(value)
    return f"{numeral(value)} ({numeral(low)} to {numeral(high)})"


def _mean(found: Shown, printed: float) -> str:
    exact = float(found.measured.exact[0])
    says = f"{_start(found)} allows {_amount(found, printed)}; exactly it is {numeral(exact)}"
    return f"{says}: {_judged(found) if found.measured.violated[0] else _compared(printed, exact, 'true')}"


def _chance(found: Shown, printed: float, certified: float) -> str:
    measured = found.measured
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    is_exact, is_simulated = math.isfinite(exact), math.isfinite(simulated)
    proved = f"{percent(certified) if certified > 0 else 'less than 10⁻³⁰⁰'} is certified"
    known = f"exactly it is {percent(exact)}" if is_exact else proved
    if is_simulated and not is_exact:
        known = f"simulated it is {_shares(found)}"
    if printed >= 1:
        size = numeral(printed) if math.isfinite(printed) else "above 10³⁰⁸"
        return f"{_start(found)} says nothing, for its probability is {size}; {known}."
    says = f"{_start(found)} allows {_amount(found, printed)}; {known}"
    if measured.violated[0]:
        return f"{says}: {_judged(found)}"
    if not (is_exact or is_simulated):
        return f"{says}: {_compared(printed, certified, 'certified')}"
    # A handful of simulated cases is no basis for a ratio.
    is_sure = is_exact or float(measured.high[0] - measured.low[0]) < simulated
    compared = _compared(printed, exact if is_exact else simulated, "true")
    return f"{says}, and {proved}: {compared if is_sure else _compared(printed, certified, 'certified')}"


def _largest(found: Shown, printed: float, certified: float) -> str:
    says, exact = f"{_start(found)} {_amount(found, printed)}", float(found.measured.exact[0])
    if found.measured.violated[0]:
        known = f"the {found.measured.exact_name} is {numeral(exact)}"
        return f"{says}; {known}, and {numeral(certified)} is certified: {_judged(found)}"
    if math.isfinite(exact):
        return f"{says}; the {found.measured.exact_name} is {numeral(exact)}: {_compared(printed, exact, 'true')}"
    if not math.isfinite(certified):
        return f"{says}; nothing can be certified here."
    if printed >= certified:
        return f"{says}; {numeral(certified)} is certified: {_compared(printed, certified, 'certified')}"
    return f"{says}; what is certified is {numeral(certified)}, {times(certified / printed)} times as much."


def _enough(found: Shown, printed: float, certified: float) -> str:
    least = f"the {found.measured.exact_name} is {numeral(float(found.measured.exact[0]))}"
    says = f"{_start(found)} {_amount(found, printed)}; {least}, and {numeral(certified)} suffice"
    return f"{says}: {_judged(found)}" if found.measured.violated[0] else f"{says}."
