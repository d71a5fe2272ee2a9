"""Exact text: JSON with one form for each content, decimals and fractions as typed, and a reader that trusts nobody.

A content has one canonical form: keys sorted, no space, UTF-8, no number but a whole one. What is not whole is text.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise

from dpbayes.base.validation import InputError, brief

MAX_BYTES = 40_000_000
"""Most bytes of a document: a million cells with a prior of their own, and long names."""

_MOST_PLACES = 3_000_000
"""Most commas, and most brackets: what is made of a text takes memory by its parts, not by its letters."""

_MOST_DIGITS = 19

_DECIMAL = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?", re.ASCII)
_FRACTION = re.compile(r"(0|[1-9][0-9]{0,59})/([1-9][0-9]{0,59})", re.ASCII)


def canonical(content: object) -> bytes:
    """Return the one form of a content. Errors: ValueError for a number that is not finite."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def digest(content: object) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal digits."""
    return hashlib.sha256(canonical(content)).hexdigest()


def hash_of(content: Mapping[str, object]) -> str:
    """Return the hash that a document with the field `hash` has: of all but this field and the signature."""
    return digest({name: value for name, value in content.items() if name not in ("hash", "signature")})


# Numbers


def decimal(name: str, text: object) -> Fraction:
    """Return a decimal exactly as typed. Errors: InputError for anything but digits with at most one point."""
    match = _DECIMAL.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"{name} must be a decimal such as 0.5 of at most twenty places, not {brief(text)}.")
    return Fraction(match[0])


def fraction_text(value: Fraction) -> str:
    """Return a fraction in lowest terms, "1/10"."""
    return f"{value.numerator}/{value.denominator}"


def fraction(name: str, text: object) -> Fraction:
    """Return what `fraction_text` wrote. Errors: InputError for anything else."""
    match = _FRACTION.fullmatch(text) if isinstance(text, str) else None
    value = Fraction(int(match[1]), int(match[2])) if match else None
    if value is None or fraction_text(value) != text:
        raise InputError(f"{name} must be a fraction in lowest terms such as 1/10, not {brief(text)}.")
    return value


# Reading


def read_canonical(data: bytes) -> object:
    """Return the content of which these bytes are the canonical form.

    Errors: InputError for what is too large, is not JSON, says a thing twice, holds a number that is not whole or is
    too long, or is written in another form: so that not even a space can be changed unnoticed.
    """
    content = _read(data, _not_whole)
    if _written(content, canonical) != data:
        raise InputError("The file is not in the canonical form of a release. It was changed or rewritten.")
    return content


def read_json(data: bytes) -> object:
    """Return the content of bytes that a person may have edited.

    Errors: InputError for what is too large, is not JSON, says a thing twice, or holds a number that is not finite.
    """
    content = _read(data, _finite)
    _written(content, lambda content: json.dumps(content, ensure_ascii=False).encode())
    return content


def _written(content: object, write: Callable[[object], bytes]) -> bytes:
    """Return what a function writes of a content that was read. Errors: InputError where it cannot be written."""
    try:
        return write(content)
    except UnicodeEncodeError:
        raise InputError("A text in the file contains an unpaired surrogate character. Remove it.") from None
    except RecursionError:
        raise InputError(_TOO_DEEP) from None


_TOO_DEEP = "The file is not readable JSON: its lists are nested too deeply."


def _read(data: bytes, parse_float: Callable[[str], object]) -> object:
    """Return the content of JSON. Errors: InputError."""
    if len(data) > MAX_BYTES:
        raise InputError(f"The file has {len(data):,} bytes; the limit is {MAX_BYTES:,}.")
    if max(data.count(b","), data.count(b"[") + data.count(b"{")) > _MOST_PLACES:
        raise InputError(f"The file has more than {_MOST_PLACES:,} JSON elements, which is the limit for a release.")
    try:
        return json.loads(
            data.decode(),
            object_pairs_hook=_object,
            parse_constant=_not_whole,
            parse_float=parse_float,
            parse_int=_short_integer,
        )
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        raise InputError(f"The file is not JSON: {error.msg}, at character {error.pos + 1:,}.") from None
    except RecursionError:
        raise InputError(_TOO_DEEP) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = sorted(key for key, _ in pairs)
        twice = next(key for key, following in pairwise(keys) if key == following)
        raise InputError(f"The file has the field {brief(twice)} twice in one object. Remove one of them.")
    return fields


def _not_whole(token: str) -> object:
    raise InputError(f"The file contains the number {brief(token)}; all numbers must be integers.")


def _finite(token: str) -> object:
    number = float(token)
    if not math.isfinite(number):
        raise InputError(f"The file contains the number {brief(token)}, which is too large.")
    return number


def _short_integer(token: str) -> int:
    if len(token.lstrip("-")) > _MOST_DIGITS:
        raise InputError(f"The file contains a number of {len(token):,} digits; the limit is {_MOST_DIGITS}.")
    return int(token)
