"""Exact text: canonical JSON, decimals and fractions as typed, and a reader that accepts no other form.

A content has exactly one canonical form: sorted keys, no spaces, UTF-8, and integers only. Other numbers are texts.
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
"""The largest number of commas, and of brackets: the memory of parsed JSON depends on its elements."""

_MOST_DIGITS = 19

_DECIMAL = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?", re.ASCII)
_FRACTION = re.compile(r"(0|[1-9][0-9]{0,59})/([1-9][0-9]{0,59})", re.ASCII)


def canonical(content: object) -> bytes:
    """Return the canonical form of a content. Errors: ValueError for a number that is not finite."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def digest(content: object) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal digits."""
    return hashlib.sha256(canonical(content)).hexdigest()


def hash_of(content: Mapping[str, object]) -> str:
    """Return the hash for the field `hash` of a document: of all fields but this one and the signature."""
    return digest({name: value for name, value in content.items() if name not in ("hash", "signature")})


# Numbers


def decimal(name: str, text: object) -> Fraction:
    """Return a decimal exactly as typed. Errors: InputError except for digits with at most one point."""
    match = _DECIMAL.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"{name} must be a decimal such as 0.5 of at most twenty places, not {brief(text)}.")
    return Fraction(match[0])


def fraction_text(value: Fraction) -> str:
    """Return a fraction in lowest terms, "1/10"."""
    return f"{value.numerator}/{value.denominator}"


def fraction(name: str, text: object) -> Fraction:
    """Return the fraction of a text of `fraction_text`. Errors: InputError for another text."""
    match = _FRACTION.fullmatch(text) if isinstance(text, str) else None
    value = Fraction(int(match[1]), int(match[2])) if match else None
    if value is None or fraction_text(value) != text:
        raise InputError(f"{name} must be a fraction in lowest terms such as 1/10, not {brief(text)}.")
    return value


# Reading


def read_canonical(data: bytes) -> object:
    """Return the content of bytes in canonical form.

    Errors: InputError if the bytes are too many, are not JSON, have a field twice, have a number that is no integer or
    too long, or are not in canonical form. So not even a space can be changed without an error.
    """
    content = _read(data, _not_whole)
    if _written(content, canonical) != data:
        raise InputError("The file is not in the canonical form of a release. It was changed or rewritten.")
    return content


def read_json(data: bytes) -> object:
    """Return the content of bytes that a person may have edited.

    Errors: InputError if the bytes are too many, are not JSON, have a field twice, or have a number that is not finite.
    """
    content = _read(data, _finite)
    _written(content, lambda content: json.dumps(content, ensure_ascii=False).encode())
    return content


def _written(content: object, write: Callable[[object], bytes]) -> bytes:
    """Return the bytes that a function writes for a content that was read. Errors: InputError if it cannot."""
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
