"""The shapes of documents: which fields an object has, and their types."""

from collections.abc import Mapping
from typing import Any

from dpbayes.base.validation import InputError, brief
from dpbayes.releases.document.request import SHARES, SIZES

_MOST_LETTERS = 2000

_COMMON: Mapping[str, Any] = {
    "format": str,
    "version": int,
    "composed": {"releases": int, "epsilon?": str, "rho?": str},
    "drawn": dict.fromkeys(("time", "dpbayes", "opendp", "python"), str),
    "sentences": [str],
    "hash": str,
    "signer?": {"algorithm": str, "name": str, "public_key": str},
    "signature?": str,
}
"""The types of the fields of every document; fields with a question mark may be missing."""

RELEASE: Mapping[str, Any] = {
    **_COMMON,
    "request": {
        "dataset": str,
        "network": [{"name": str, "states": [str], "parents": [str]}],
        "mechanism": str,
        "settings": Mapping,
        "prices?": [int],
        "n": int,
        "prior": [str],
        "domains": str,
        "epsilon?": str,
        "rho?": str,
        "stated?": {"epsilon": str, "delta": str},
    },
    "noise": dict.fromkeys(("law", "integers", "scale", "of", "lemma", "answer", "answered"), str)
    | {"sensitivity": int},
    "integers": [int],
    "certificate": Mapping,
}

ADAPTIVE: Mapping[str, Any] = {
    **_COMMON,
    "request": {
        "dataset": str,
        "columns": [{"name": str, "states": [str]}],
        "n": int,
        "domains": str,
        "epsilon": str,
        "delta?": str,
        "rho?": str,
        "shares": dict.fromkeys(SHARES, str),
        "sizes": dict.fromkeys(SIZES, int),
    },
    "steps": [Mapping],
}
"""The types of the fields of a document of each kind. The types within a step are in `adaptive`."""


def require_shape(what: str, content: object, shape: Any) -> None:
    """Check fields and types. Errors: InputError that names the place with other fields or another type."""
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
    else:
        _require_value(what, content, shape)


def _require_value(what: str, content: object, shape: Any) -> None:
    if shape is Mapping:
        if not isinstance(content, dict):
            raise InputError(f"{what} must be an object.")
    elif type(content) not in (shape if isinstance(shape, tuple) else (shape,)):  # a bool is an int to `isinstance`
        raise InputError(f"{what} has {brief(content)}, which has the wrong type.")
    elif isinstance(content, str) and len(content) > _MOST_LETTERS:
        raise InputError(f"{what} has a text of {len(content):,} letters; the limit is {_MOST_LETTERS:,}.")
