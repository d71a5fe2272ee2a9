"""The Bounds page's one sentence: what is printed, what is true, and how far apart the two are."""

import math

from dpbayes.ui.bounds_exhibits import Says
from dpbayes.ui.bounds_options import Axis
from dpbayes.ui.bounds_work import Shown
from dpbayes.ui.show import short

TIGHT = 1.05
"""A printed bound up to this many times the true value is called tight."""


def verdict(found: Shown) -> str:
    """Return the sentence at the setting at hand."""
    says = found.exhibit.says
    printed, certified = float(found.bound.printed[0]), float(found.bound.certified[0])
    if not math.isfinite(printed):
        return f"{_start(found)} gives no number; {short(certified)} is certified."
    if says is Says.QUANTILE:
        return _exceeded(found, printed) if found.measured.violated[0] else _stays_below(found, printed, certified)
    if says is Says.MEAN:
        return _mean(found, printed)
    if says is Says.CHANCE:
        return _chance(found, printed, certified)
    return _largest(found, printed, certified)


def percent(share: float) -> str:
    """Return a probability in percent; a tiny one as a power of ten."""
    if 0 < share < 1e-5:
        return f"{share:.1e}"
    return f"{100 * share:.{4 if share > 0.99 else 3}g}\N{NO-BREAK SPACE}%"


def times(ratio: float) -> str:
    """Return how many times, in two digits or whole."""
    return short(ratio) if ratio >= 100 else f"{ratio:.2g}"


def _start(found: Shown) -> str:
    place, _, detail = found.bound.claim.reference.place.partition(", ")
    name = f"{place} ({detail})" if detail else place
    symbol = "a" if found.axis is Axis.PRIOR else found.axis.value
    return f"At {symbol} = {short(found.here)}, {name} as printed"


def _amount(found: Shown, value: float) -> str:
    text = found.exhibit.amount.format(percent(value) if found.exhibit.says is Says.CHANCE else short(value))
    return text.removesuffix("s") if text.endswith(" 1 nats") else text


def _judged(found: Shown) -> str:
    """A violated bound is refuted only where its own conditions hold."""
    return "refuted." if found.bound.applies else "it fails, though not all of its conditions hold here."


def _compared(printed: float, value: float, what: str) -> str:
    """Return how tight a printed number is that is not violated."""
    if printed < TIGHT * value:
        return "the printed one is tight."
    if value <= 0:
        return "the printed one is far too large."
    return f"the printed one is {times(printed / value)} times the {what} one."


def _exceeded(found: Shown, printed: float) -> str:
    return (
        f"{_start(found)} lets {percent(found.at.delta)} of releases exceed {_amount(found, printed)}; "
        f"{percent(float(found.measured.exceeded[0]))} of simulated ones do: {_judged(found)}"
    )


def _stays_below(found: Shown, printed: float, certified: float) -> str:
    value, allows = float(found.measured.value[0]), f"{_start(found)} allows {_amount(found, printed)}"
    if not math.isfinite(value):
        return f"{allows}; the certified bound is {short(certified)}: {_compared(printed, certified, 'certified')}"
    return (
        f"{allows}; {percent(1 - found.at.delta)} of simulated releases stay below {short(value)}, and the certified "
        f"bound is {short(certified)}: {_compared(printed, value, 'true')}"
    )


def _mean(found: Shown, printed: float) -> str:
    exact = float(found.measured.exact[0])
    says = f"{_start(found)} allows {_amount(found, printed)}; exactly it is {short(exact)}"
    return f"{says}: {_judged(found) if found.measured.violated[0] else _compared(printed, exact, 'true')}"


def _chance(found: Shown, printed: float, certified: float) -> str:
    measured = found.measured
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    is_exact = math.isfinite(exact)
    known = f"exactly it is {percent(exact)}" if is_exact else f"simulated it is {percent(simulated)}"
    if printed >= 1:
        return f"{_start(found)} says nothing, for its probability is {short(printed)}; {known}."
    says = f"{_start(found)} allows {_amount(found, printed)}; {known}"
    if measured.violated[0]:
        return f"{says}: {_judged(found)}"
    # A handful of simulated cases is no basis for a ratio.
    is_sure = is_exact or float(measured.high[0] - measured.low[0]) < simulated
    compared = _compared(printed, exact if is_exact else simulated, "true")
    return (
        f"{says}, and {percent(certified)} is certified: "
        f"{compared if is_sure else _compared(printed, certified, 'certified')}"
    )


def _largest(found: Shown, printed: float, certified: float) -> str:
    says = f"{_start(found)} {_amount(found, printed)}"
    if found.measured.violated[0]:
        exact = short(float(found.measured.exact[0]))
        return f"{says}; two tables are known that lose {exact}, and {short(certified)} is certified: refuted."
    if not math.isfinite(certified):
        return f"{says}; nothing can be certified here."
    if printed >= certified:
        return f"{says}; {short(certified)} is certified: {_compared(printed, certified, 'certified')}"
    return f"{says}; what is certified is {short(certified)}, {times(certified / printed)} times as much."
