"""Exact text: canonical JSON, decimals and fractions as typed, and a reader that accepts no other form.

A content has exactly one canonical form: sorted keys, no spaces, UTF-8, and integers only. Other numbers are texts.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpbayes.base.validation import InputError, brief

MAX_BYTES = 40_000_000
"""Most bytes of a document: a million cells with a prior of their own, and long names."""

_MOST_PLACES = 3_000_000
"""The largest number of commas, and of brackets: the memory of parsed JSON depends on its elements."""

_MOST_DIGITS, _MOST_LETTERS = 19, 2000

_DECIMAL = re.compile(r"(?=\.?[0-9])[0-9]{0,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?", re.ASCII)
_FRACTION = re.compile(r"(0|[1-9][0-9]{0,59})/([1-9][0-9]{0,59})", re.ASCII)


def canonical(content: object) -> bytes:
    """Return the canonical form of a content. Errors: ValueError for a number that is not finite."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def hash_of(content: Mapping[str, object]) -> str:
    """Return the hash for the field `hash` of a document: of all fields but this one and the signature, SHA-256."""
    rest = {name: value for name, value in content.items() if name not in ("hash", "signature")}
    return hashlib.sha256(canonical(rest)).hexdigest()


def one_line(what: str, text: object, most: int = 200) -> str:
    """Return a name. Errors: InputError unless it is one printable line of 1 to `most` letters without outer spaces."""
    if not isinstance(text, str) or text != text.strip() or not 0 < len(text) <= most or not text.isprintable():
        raise InputError(
            f"{what} {brief(text)} must be one line of 1 to {most} letters that does not begin or end with a space."
        )
    return text


# Numbers


def decimal(name: str, text: object) -> Fraction:
    """Return a decimal exactly as typed, such as 0.5 or 1e-5. Errors: InputError for another text."""
    match = _DECIMAL.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"{name} must be a decimal such as 0.5 or 1e-5, without a sign, not {brief(text)}.")
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

    Errors: InputError if the bytes are too many, are not JSON, have a number that is no integer or too long, or are not
    in canonical form. The content is written again and compared, so not even a space or a second field of the same name
    can be added without an error.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"The file has {len(data):,} bytes; the limit is {MAX_BYTES:,}.")
    if max(data.count(b","), data.count(b"[") + data.count(b"{")) > _MOST_PLACES:
        raise InputError(f"The file has more than {_MOST_PLACES:,} JSON elements, which is the limit for a release.")
    try:
        content: object = json.loads(
            data.decode(), parse_constant=_not_whole, parse_float=_not_whole, parse_int=_short_integer
        )
        written = canonical(content)
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text.") from None
    except UnicodeEncodeError:
        raise InputError("A text in the file contains an unpaired surrogate character. Remove it.") from None
    except json.JSONDecodeError as error:
        raise InputError(f"The file is not JSON: {error.msg}, at character {error.pos + 1:,}.") from None
    except RecursionError:
        raise InputError("The file is not readable JSON: its lists are nested too deeply.") from None
    if written != data:
        raise InputError("The file is not in the canonical form of a release. It was changed or rewritten.")
    return content


def _not_whole(token: str) -> object:
    raise InputError(f"The file contains the number {brief(token)}; all numbers must be integers.")


def _short_integer(token: str) -> int:
    if len(token.lstrip("-")) > _MOST_DIGITS:
        raise InputError(f"The file contains a number of {len(token):,} digits; the limit is {_MOST_DIGITS}.")
    return int(token)


# Shapes: which fields an object has, and their types


def require_shape(what: str, content: object, shape: Any) -> None:
    """Check fields and types; fields of a shape with a question mark may be missing.

    Errors: InputError that names the place with other fields or another type.
    """
    if isinstance(shape, dict):
        present = content if isinstance(content, dict) else {}
        shape = {name.rstrip("?"): inner for name, inner in shape.items() if name[-1] != "?" or name[:-1] in present}
        if not isinstance(content, dict) or set(content) != set(shape):
            raise InputError(f"{what} must be an object with exactly these fields: {', '.join(shape)}.")
        for name, inner in shape.items():
            require_shape(f'{what}\'s "{name}"', content[name], inner)
    elif isinstance(shape, list):
        if not isinstance(content, list):
            raise InputError(f"{what} must be a list.")
        for item in content:
            require_shape(what, item, shape[0])
    elif type(content) is not shape:  # a bool is an int to `isinstance`
        raise InputError(f"{what} has {brief(content)}, which has the wrong type.")
    elif isinstance(content, str) and len(content) > _MOST_LETTERS:
        raise InputError(f"{what} has a text of {len(content):,} letters; the limit is {_MOST_LETTERS:,}.")
