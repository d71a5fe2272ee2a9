"""Text that a person reads: numbers in few digits, never in e-notation, and names shown literally."""

import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALL = {"^": "⁰¹²³⁴⁵⁶⁷⁸⁹", "_": "₀₁₂₃₄₅₆₇₈₉"}
_GREEK = {"alpha": "α", "delta": "δ", "epsilon": "ε", "lambda": "λ", "omega": "ω", "rho": "ρ", "sigma": "σ"}

_CONTROLS = frozenset({"Cc", "Cs"})
_REORDERS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""The Unicode categories of controls and unpaired surrogates, and the classes of controls of the writing direction."""

_ADDRESS, _JOINER = re.compile(r"https?:(?=//)|www(?=\.)|@", re.IGNORECASE), "\u2060"
"""How what Markdown makes a link of begins, or what is within."""

LEAST_POWER, MOST_POWER = -5, 9
"""Powers of ten from which on down, and up, a number is written as a multiple of one."""


def numeral(number: float, most: int = 3) -> str:
    """Return a number in `most` significant digits: "0.000015", "1.5 × 10⁻⁷"; a long one is whole: "38,824"."""
    mantissa, power = _parts(number, most)
    if power is None:
        return mantissa
    return _factor(mantissa, " × ") + power_of_ten(power)


def power_of_ten(power: int) -> str:
    """Return a power of ten: "10⁻⁷"."""
    return f"10{str(power).translate(_RAISED)}"


def numeral_above(number: float, most: int = 3) -> str:
    """Return `numeral` of a number rounded up, for what is at most so much; near 1, with two digits of the excess."""
    rounded = Decimal(repr(float(number))) if math.isfinite(number) else None
    if not rounded:
        return numeral(number, most)
    most -= min((rounded - 1).adjusted() + 1, 0) if rounded > 1 else 0
    place = rounded.adjusted() - most + 1
    unit = Decimal(1).scaleb(min(place, 0) if rounded.adjusted() < MOST_POWER else place)
    return numeral(float(rounded.quantize(unit, rounding=ROUND_CEILING)), most)


MOST_LOSS = 700.0
"""A privacy loss above which its factor is given as a power of ten."""


def factor_text(loss: float) -> str:
    """Return a privacy loss as the factor between two probabilities, e to its power, rounded up: "2.72"."""
    if loss > MOST_LOSS:
        return "infinitely many" if math.isinf(loss) else power_of_ten(math.ceil(loss / math.log(10)))
    return numeral_above(math.exp(loss))


def near_one(number: float, most: int = 4) -> str:
    """Return a number in `most` digits, a probability in more where they would round it to 1."""
    return numeral(number, _short_of_one(number, most))


def probability_text(probability: float, decimals: int = 2) -> str:
    """Return a probability with these decimals, or with as many digits if it is near 0 or 1."""
    near = 0.5 * 10**-decimals
    return f"{probability:.{decimals}f}" if near <= probability <= 1 - near else near_one(probability)


def range_text(low: float, high: float, decimals: int) -> str:
    """Return a range of probabilities, or the one that both ends are in these decimals."""
    first, last = f"{low:.{decimals}f}", f"{high:.{decimals}f}"
    return probability_text(low, decimals) if first == last else f"{first} to {last}"


def many(number: int, noun: str) -> str:
    """Return a number of things: "1 release", "1,000 releases"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names as a list in words: "a, b and c"."""
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def percent(probability: float, most: int = 4) -> str:
    """Return a probability in percent in `most` digits, in more where they would round it to 100."""
    return f"{numeral(100 * probability, _short_of_one(probability, most))}%"


def whole_percent(share: float) -> str:
    """Return a probability in whole percent; what is not quite all or none does not look so."""
    return _not_quite(100 * share, 1) or f"{100 * share:.0f}%"


def in_hundred(probability: float) -> str:
    """Return a probability in percent, rounded up in the first digit behind the point; near 100 in more digits."""
    for digits in range(1, 7):
        shown = math.ceil(100 * probability * 10**digits - 1e-6) / 10**digits
        if shown < 100:
            return f"{shown:.{digits}f}"
    return "100"


def share_text(share: float) -> str:
    """Return a probability in percent; what is not quite all or none does not look so."""
    return _not_quite(100 * share, 0.1) or f"{numeral(100 * share)}%"


def latex(number: float, most: int = 4) -> str:
    """Return `numeral` as LaTeX for a formula."""
    if not math.isfinite(number):
        return r"\text{unknown}" if math.isnan(number) else r"\infty" if number > 0 else r"-\infty"
    mantissa, power = _parts(number, most)
    if power is None:
        return mantissa.replace(",", "{,}")
    return _factor(mantissa, r" \cdot ") + f"10^{{{power}}}"


def letters(symbol: str) -> str:
    """Return a symbol in LaTeX as letters, for where no formula can stand: "ε", "σ²", "ε₁", "|I|"."""
    text = re.sub(r"\\([a-z]+) ?", lambda name: _GREEK.get(name[1], ""), symbol)
    return re.sub(r"([\^_])(\d)", lambda small: _SMALL[small[1]][int(small[2])], text)


def interval_texts(low: float, high: float, most: int = 3) -> tuple[str, str]:
    """Return the ends of a range of probabilities in `most` digits, in more where it is narrow or an end near 1."""
    width, size = high - low, max(abs(low), abs(high))
    count = 2 + math.floor(math.log10(size)) - math.floor(math.log10(width)) if width > 0 else most
    count = max(most, min(count, 8))
    return near_one(low, count), near_one(high, count)


def typed(number: float) -> str:
    """Return a number in twelve digits as a box takes it back: in full, without separators."""
    return format(Decimal(f"{number + 0.0:.12g}"), "f")


def shortest(number: float) -> str:
    """Return the shortest text that is exactly a number, without ".0" below 10¹⁵: "3", "0.1"."""
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def visible(text: str) -> str:
    """Return a text with its control characters as escapes: one such as U+202E would reorder the text around it."""
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.category(c) in _CONTROLS or unicodedata.bidirectional(c) in _REORDERS else c
        for c in text
    )


def escaped(name: str) -> str:
    """Return a name from a file as text that Markdown shows literally, and makes no link of.

    Markdown's extension of GitHub links addresses also where their signs are escaped, so a word joiner, which nobody
    sees, stands in them.
    """
    words = _ADDRESS.sub(lambda start: f"{start[0]}{_JOINER}", visible(" ".join(name.split())))
    return "".join(f"\\{c}" if c in r"\`*_{}[]()#+-.!|~$:<>&" else c for c in words)


def _not_quite(percent: float, step: float) -> str:
    """Return what is said of a percentage within a step of all or none, which it is not; else nothing."""
    if 0 < percent < step:
        return f"less than {numeral(step)}%"
    return f"more than {numeral(100 - step)}%" if 100 - step < percent < 100 else ""


def _short_of_one(probability: float, most: int) -> int:
    """Return the digits, `most` or more, that tell a probability from 1, unless only rounding may do so."""
    return max(most, 1 - math.floor(math.log10(1 - probability))) if 1 - probability > 1e-13 else most


def _parts(number: float, most: int) -> tuple[str, int | None]:
    """Return the text of a number, or a multiple and its power of ten where that is shorter."""
    if not math.isfinite(number):
        return ("unknown" if math.isnan(number) else "∞" if number > 0 else "-∞"), None
    number += 0.0  # of zeros the one without a sign
    text = f"{number:.{most}g}"
    mantissa, _, exponent = text.partition("e")
    power = int(exponent or 0)
    if power >= MOST_POWER or power < LEAST_POWER:
        return mantissa, power
    exact = Decimal(text) if power <= 0 else Decimal(f"{number:.0f}")
    return f"{exact:,f}", None


def _factor(mantissa: str, sign: str) -> str:
    """Return a multiple of a power of ten with its sign of multiplication; of 1, nothing."""
    return {"1": "", "-1": "-"}.get(mantissa, f"{mantissa}{sign}")
