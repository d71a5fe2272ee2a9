"""Whether a mechanism is exactly one that is known, asked before anything is said of what its releases betray.

What is known of a class is known of its own `release` only. A subclass may override any part of it, a method may be
replaced on one instance, and the same holds of the prior, the network and the die inside. None of them is taken for
what it resembles. A class that was changed as a whole, or an array that was written over, cannot be told.
"""

import functools
from dataclasses import fields, is_dataclass
from typing import Any

from dpbayes.base.validation import InputError


def oddity(value: Any, kind: type[Any]) -> str:
    """Return in words what keeps a value from being exactly of this class, parts and all; nothing where it is."""
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
    """What an instance may hold of its own, and the declared type of each: fields, and properties once computed."""
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
    """Return what a mechanism is in a sentence that refuses it: its label, and what is odd about it."""
    kind = type(mechanism)
    label = (
        f'the mechanism "{mechanism.label}"' if isinstance(getattr(mechanism, "label", None), str) else "a mechanism"
    )
    odd = oddity(mechanism, kind) or f"of the class {kind.__name__}"
    return f"{label} {odd}"


def no_audit(mechanism: object) -> InputError:
    """Return the refusal of a mechanism whose law is not known."""
    return InputError(
        f"There is no exact audit of {described(mechanism)}. Use audit_by_draws to estimate a lower bound on the "
        "privacy loss from simulated releases."
    )


def require_exact_class(mechanism: object, *kinds: type) -> None:
    """Refuse what is not exactly one of these classes, and made of exactly what they declare. Errors: InputError."""
    if all(oddity(mechanism, kind) for kind in kinds):
        raise no_audit(mechanism)


def formula(mechanism: Any) -> str:
    """Return what a mechanism does, as Markdown; a stranger, who may do anything, gets its class's name only."""
    kind = type(mechanism)
    text: str = mechanism.formula if "formula" in vars(kind) and not oddity(mechanism, kind) else kind.__name__
    return text
