"""Whether a mechanism is exactly one that is known, asked before anything is said of what its releases betray.

What is known of a class is known of its own `release` only. A subclass may override any part of it, a method may be
replaced on one instance, and the same holds of the prior, the network and the die inside. None of them is taken for
what it resembles. A class that was changed as a whole, or an array that was written over, cannot be told.
"""

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Generic, ParamSpec, TypeVar

from dpbayes.base.validation import InputError

P = ParamSpec("P")
R = TypeVar("R")
CaseT = TypeVar("CaseT", bound=Callable[..., Any])


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
        f"There is no exact audit of {described(mechanism)}; audit_by_draws bounds what it loses from below, from its "
        "releases alone."
    )


def require_known(mechanism: object, *kinds: type) -> None:
    """Refuse what is not exactly one of these classes, and made of exactly what they declare. Errors: InputError."""
    if all(oddity(mechanism, kind) for kind in kinds):
        raise no_audit(mechanism)


def formula(mechanism: Any) -> str:
    """Return what a mechanism does, as Markdown; a stranger, who may do anything, gets its class's name only."""
    kind = type(mechanism)
    told: str = mechanism.formula if "formula" in vars(kind) and not oddity(mechanism, kind) else kind.__name__
    return told


class ByClass(Generic[P, R]):
    """A function with a case for each class of its first argument, like `functools.singledispatch`.

    It differs in that a subclass, or a value with an oddity, is not taken for the class: it gets the default.
    """

    def __init__(self, default: Callable[P, R]) -> None:
        self._default = default
        self._cases: dict[type, Callable[..., R]] = {}
        functools.update_wrapper(self, default)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the case of the first argument's class, or the default."""
        case = self._cases[type(args[0])] if self.knows(args[0]) else self._default
        return case(*args, **kwargs)

    def knows(self, value: object) -> bool:
        """Return whether a value has a case of its own."""
        return type(value) in self._cases and not oddity(value, type(value))

    def of(self, *kinds: type) -> Callable[[CaseT], CaseT]:
        """Make a function the case of these classes."""

        def registered(case: CaseT) -> CaseT:
            self._cases.update(dict.fromkeys(kinds, case))
            return case

        return registered
