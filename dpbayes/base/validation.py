"""The error for invalid input, whose message states the given value and the rule."""

import functools
import inspect
import math
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.text import numeral, visible

T = TypeVar("T", bound=Any)


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
    return tuple(whole_number("size", own, low=0, high=2**62) for own in np.ravel(size).tolist())


def warn_caller(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, perhaps through scikit-learn."""
    depth, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in ("dpbayes", "sklearn", "joblib"):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=depth)


def finite_number(name: str, value: object, *, low: float, high: float) -> float:
    """Return `value` as a float within [low, high].

    Errors: InputError with a sentence for text, NaN, infinities and values out of range.
    """
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]  # or a TypeError
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise InputError(f"{name} must be a number, not {brief(value)}.")
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


def distinct_names(kind: str, names: Iterable[object], *, of: str = "") -> tuple[str, ...]:
    """Return `names` as a tuple of distinct, non-empty texts, or say which one is wrong; `of` is what has them."""
    seen: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str) or not name.strip() or name in seen or not is_writable(name):
            kind = f"{kind} of {brief(of)}" if of else kind
            if not isinstance(name, str) or not name.strip():
                raise InputError(f"Every {kind} needs a name; {brief(name)} is empty or not text.")
            if name in seen:
                raise InputError(f"The name {brief(name)} is used twice for a {kind}; use each name once.")
            raise InputError(f"The name {brief(name)} of a {kind} contains half a character. Remove it.")
        seen[name] = None
    return tuple(seen)


# Calls of public functions

_NOUNS: dict[Any, str] = {int: "number", float: "number", str: "text", Mapping: "dictionary"}
_NOUNS |= {np.ndarray: "array", PathLike: "path", type: "class"}
"""What a message calls a type, if not by its name; the types of several values are "list"."""

_CURES = tomllib.loads(Path(__file__).with_name("cures.toml").read_text(encoding="utf-8"))
"""How to make a value of a type, by what a message calls it."""

_STARRED, _FIRST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD), ("self", "cls")
"""The parameters of which no argument is checked: several in one, and the object of a method."""


def type_checked(what: T, name: str = "") -> T:
    """Return a public function, or a class, which refuses arguments of other types than those that it declares.

    `name` is what a person calls it by, if not its own name.
    Errors: InputError with the argument, its value or type, and the cure; or with all arguments if one is missing or
    unknown, or if two of them are interchanged.
    """
    if isinstance(what, type):
        what.__init__ = type_checked(what.__init__, what.__name__)  # type: ignore[misc]  # the way to every instance of a dataclass
        return what
    signature = inspect.signature(what)
    words = _written(name or what.__qualname__.removesuffix(".__init__").rpartition(".")[2], signature)
    named = [at for at in signature.parameters.values() if at.kind not in _STARRED and at.name not in _FIRST]
    hints = {at.name: at.annotation for at in named}

    @functools.wraps(what)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            reason = f"{str(error)[0].upper()}{str(error)[1:]}"
            raise InputError(f"{reason}. Write {words}.") from None
        try:
            for name in filter(hints.get, given):
                _require(name, given[name], hints[name])
        except InputError:
            wrong = [name for name in filter(hints.get, given) if not _allows(hints[name], given[name])]
            if len(wrong) == 2 and all(_allows(hints[name], given[other]) for name, other in (wrong, wrong[::-1])):
                raise InputError(f"{wrong[0]} and {wrong[1]} are interchanged. Write {words}.") from None
            raise
        return what(*args, **kwargs)

    return call  # type: ignore[return-value]  # a function of the same signature


def _written(name: str, signature: inspect.Signature) -> str:
    """Return a call with the names of its arguments, as a person writes it."""
    words = (f"{word}=..." if at.kind is at.KEYWORD_ONLY else word for word, at in signature.parameters.items())
    return f"{name}({', '.join(word for word in words if word not in _FIRST)})"


def _require(name: str, value: object, hint: Any) -> None:
    """Refuse a value, or a part of a list, that an annotation does not allow."""
    if not _allows(hint, value):
        nouns = list(dict.fromkeys(_noun(part) for part in _parts(hint) if part is not NoneType))
        wanted = " or ".join(f"{'an' if noun[0] in 'Aa' else 'a'} {noun}" for noun in nouns)
        given = brief(f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__)
        given = f"{brief(value)} of type {given}" if isinstance(value, str | Real) else given
        cure = next((sentence for noun, sentence in _CURES.items() if noun in nouns), "")
        raise InputError(f"{name} must be {wanted}, not {given}. {cure}".strip())
    for part in _parts(hint):
        for place, item in enumerate(value if _is_list(part) and isinstance(value, list | tuple) else ()):
            if type(item) is not (own := get_args(part)[0]):  # for speed: most lists have texts
                _require(f"{name}[{place}]", item, own)
        for key in value if _kind(part) is Mapping and isinstance(value, Mapping) else ():
            if type(key) is not (own := get_args(part)[0]):
                _require(f"A name in {name}", key, own)


def _allows(hint: Any, value: object) -> bool:
    """Return whether an annotation allows a value. Descriptors and quoted names allow every value."""
    kind = _kind(hint)
    if kind in (Union, UnionType):
        return any(_allows(part, value) for part in get_args(hint))
    if kind is np.ndarray:
        return _is_array(value)
    if kind in (int, float):
        return isinstance(value, Real)
    if kind is np.random.Generator:
        return hasattr(value, "random")
    if _is_list(hint):
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)
    is_open = not isinstance(kind, type) or kind in (Any, Annotated, inspect.Parameter.empty)
    return is_open or hasattr(kind, "__set__") or isinstance(value, kind)


def _is_array(value: object) -> bool:
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except ValueError:  # rows of several lengths
        return False


@functools.cache
def _is_list(hint: Any) -> bool:
    return get_origin(hint) in (tuple, Sequence, Iterable)


@functools.cache
def _kind(hint: Any) -> Any:
    return np.ndarray if hint == ArrayLike else get_origin(hint) or hint


@functools.cache
def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if _kind(hint) in (Union, UnionType) else (hint,)


def _noun(hint: Any) -> str:
    if _is_list(hint):
        own = get_args(hint)[0]
        return f"list of {_NOUNS[own]}s" if own in (int, float, str) else "list"
    return _NOUNS.get(_kind(hint)) or _kind(hint).__name__
