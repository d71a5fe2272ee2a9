"""The error for invalid input, whose message states the given value and the rule."""

import math
from collections.abc import Iterable

from dpbayes.base.text import numeral, visible


class InputError(ValueError):
    """The error for invalid input. Its message can be shown to a person without changes.

    Example:
        >>> try:
        ...     dp.chain(0)
        ... except dp.InputError as refusal:
        ...     print(refusal)
        The number of nodes must be between 1 and 1,000; 0 is not.
    """


def brief(value: object, limit: int = 40) -> str:
    """Return `value` as short quoted text, so that hostile or huge input stays readable."""
    text = visible(str(value)[: limit + 1].replace("\n", " "))
    return f'"{text}"' if len(text) <= limit else f'"{text[: limit - 1]}…"'


def require_type(name: str, value: object, kind: type | tuple[type, ...], cure: str) -> None:
    """Refuse a value of another type. Errors: InputError with the argument, the type that it has, and the cure."""
    if not isinstance(value, kind):
        kinds = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        raise InputError(f"{name} must be a {kinds}, not {brief(type(value).__name__)}. {cure}")


def is_writable(text: str) -> bool:
    """Return whether a text has no unpaired surrogate; JSON may contain one, but pages and files cannot."""
    return text == text.encode(errors="ignore").decode()


def utf8_text(content: bytes) -> str:
    """Return the text of a file, without a byte-order mark. Errors: InputError for bytes that are not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text; save it as UTF-8 and load it again.") from None


def leading(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return leading axes as NumPy takes them: a number is one axis."""
    return (size,) if isinstance(size, int) else size


def finite_number(name: str, value: object, *, low: float, high: float) -> float:
    """Return `value` as a float within [low, high].

    Errors: InputError with a sentence for text, NaN, infinities and values out of range.
    """
    if isinstance(value, bool) or value is None:
        raise InputError(f"{name} must be a number, not {brief(value)}.")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, not {brief(value)}.") from None
    if math.isnan(number):
        raise InputError(f"{name} must be a number, not NaN.")
    if not low <= number <= high:
        raise InputError(
            f"{name} must be between {numeral(low, 12)} and {numeral(high, 12)}; {numeral(number, 12)} is not."
        )
    return number


def whole_number(name: str, value: object, *, low: int, high: int) -> int:
    """Return `value` as an int within [low, high]; the errors are those of `finite_number`."""
    number = finite_number(name, value, low=low, high=high)
    if isinstance(value, int):  # a float would round it beyond 2^53
        return value
    if number != int(number):
        raise InputError(f"{name} must be a whole number; {numeral(number, 12)} is not.")
    return int(number)


def distinct_names(kind: str, names: Iterable[object]) -> tuple[str, ...]:
    """Return `names` as a tuple of distinct, non-empty texts, or say which one is wrong."""
    if isinstance(names, str):
        raise InputError(f"Every {kind} is a text of a list, not a letter of {brief(names)}: write [{brief(names)}].")
    seen: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"Every {kind} needs a name; {brief(name)} is empty or not text.")
        if name in seen:
            raise InputError(f"The name {brief(name)} is used twice for a {kind}; give each {kind} its own name.")
        seen[name] = None
    return tuple(seen)
