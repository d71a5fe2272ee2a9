"""Checks that a mechanism has exactly a known class, before any statement about its privacy loss.

A subclass may override any part, and a method of one instance may be replaced. A class that was changed as a whole, or
an array that was overwritten, cannot be detected.
"""

import functools
from dataclasses import fields, is_dataclass
from typing import Any


def oddity(value: Any, kind: type[Any]) -> str:
    """Return in words why a value, or one of its parts, is not exactly of this class; empty if it is."""
    if type(value) is not kind:
        return f"of the class {type(value).__name__}"
    parts = _parts(kind)
    for name, part in getattr(value, "__dict__", {}).items() if is_dataclass(kind) else ():
        if name not in parts:
            return f"whose {name} was replaced"
        inside = oddity(part, parts[name]) if is_dataclass(parts[name]) else ""
        if inside:
            return f"with a {name} {inside}"
    return ""


def _parts(kind: type[Any]) -> dict[str, Any]:
    """The attributes that an instance may have, with their declared types: fields and cached properties."""
    declared = (
        {field.name: getattr(field.type, "kind", field.type) for field in fields(kind)} if is_dataclass(kind) else {}
    )
    computed = {
        name: value.func.__annotations__.get("return")
        for parent in kind.__mro__
        for name, value in vars(parent).items()
        if isinstance(value, functools.cached_property)
    }
    return {**declared, **computed}


def described(mechanism: Any) -> str:
    """Return a description of a mechanism for a sentence that refuses it: its label and why it is not exact."""
    kind = type(mechanism)
    label = (
        f'the mechanism "{mechanism.label}"' if isinstance(getattr(mechanism, "label", None), str) else "a mechanism"
    )
    odd = oddity(mechanism, kind) or f"of the class {kind.__name__}"
    return f"{label} {odd}"


def formula(mechanism: Any) -> str:
    """Return the formula of a mechanism as Markdown; for an unknown class, only the name of the class."""
    kind = type(mechanism)
    text: str = mechanism.formula if "formula" in vars(kind) and not oddity(mechanism, kind) else kind.__name__
    return text
