"""Values to codes inside an engine: the term of each column in a record's joint code, as an expression of ibis.

A value is compared as the text that a file reader converts it to, so a table has the same counts in an engine and in a
file. A value without a code makes the joint code negative, by an amount that identifies the reason.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.validation import InputError, brief
from dpbayes.sources.columns import (
    LEFT_OUT,
    MISSING_TEXTS,
    Categories,
    Column,
    Cuts,
    Groups,
    code_of_missing,
    codes_of_declared,
)
from dpbayes.sources.engines.written_numbers import least_at_or_above, parsed_number, whole_number_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

NOT_DECLARED, TO_LEAVE_OUT = -(1 << 32), -(1 << 48)
"""The terms of a value outside the domain, and of a missing value whose record is left out. Joint codes are below 2^32.
Sums over fewer than 2^15 columns are therefore below 2^47 and 2^63 in absolute value."""


@dataclass(frozen=True, eq=False)
class Term:
    """The term of a column in the joint code if `guard` holds; otherwise the value is not declared.

    One guard for a whole cluster is much faster in an engine than a check for each column.
    """

    value: "ir.IntegerValue"
    guard: "ir.BooleanValue | None" = None


def joint_code(terms: "list[Term]") -> "ir.IntegerValue":
    """Return the sum of terms, NOT_DECLARED where a guard fails."""
    import ibis

    total: Any = terms[0].value
    for term in terms[1:]:
        total = total + term.value
    guards = [term.guard for term in terms if term.guard is not None]
    return ibis.and_(*guards).ifelse(total, _whole_literal(NOT_DECLARED)) if guards else total


def term(table: "ir.Table", column: Column, step: int) -> Term:
    """Return the term of a column, a code times `step`; 0 for a NULL value for which the record is left out.

    Errors: InputError if the domain cannot be compared with the column's type in the engine.
    """
    value = table[column.name]
    kind = value.type()
    if isinstance(column, Cuts):
        plain = _cut(value, column, step)
    elif _is_text(kind):
        return Term(_text_code(value, column, step))
    else:
        plain = _looked_up(value, column, step)
    missing = code_of_missing(column)
    if missing == LEFT_OUT:
        return plain
    null = value.isnull() | _number(value).isnan() if _can_be_nan(kind, column) else value.isnull()
    guard = None if plain.guard is None else null | plain.guard
    return Term(null.ifelse(_whole_literal(missing * step), plain.value), guard)


def can_say_missing(table: "ir.Table", column: Column) -> bool:
    """Whether a text of the column, and not only NULL, can leave a record out."""
    return code_of_missing(column) == LEFT_OUT and _is_text(table[column.name].type())


def is_there(table: "ir.Table", column: Column, *, as_text: bool) -> "ir.BooleanValue":
    """Return whether the column has a value: no NULL, no NaN, and with `as_text` no text for a missing value."""
    value = table[column.name]
    present = value.notnull()
    if _can_be_nan(value.type(), column):
        present = ~_number(value).isnan() & present
    if as_text and _is_text(value.type()):
        present = present & _as_text(value).strip().notin(_missing_texts(column))
    return present


def as_whole(truth: Any) -> Any:
    """Return 1 for true and 0 for false; PostgreSQL cannot cast a truth value to 64 bits directly."""
    return truth.cast("int32").cast("int64")


def comparable(value: Any) -> Any:
    """Return a value as it is compared with a domain: as text for text types, else unchanged."""
    return _as_text(value) if _is_text(value.type()) else value


# Codes of one column


def _cut(value: Any, column: Cuts, step: int) -> Term:
    kind = value.type()
    if not kind.is_numeric():
        raise InputError(
            f"The cut points of {brief(column.name)} need a numeric column, but its type in the engine is {kind}. "
            "Create a view that casts it."
        )
    number, code = _number(value), _whole_literal(0)
    reached = least_at_or_above(column.points, np.dtype(np.float32)).tolist() if kind.is_float32() else []
    for least in (*reached, *column.points[len(reached) :]):
        code = code + as_whole(number >= least) * _whole_literal(step)
    largest = 1.7976931348623157e308
    return Term(code, None if kind.is_integer() else number.between(-largest, largest))


def _looked_up(value: Any, column: Categories | Groups, step: int) -> Term:
    kind = value.type()
    if not (kind.is_boolean() or kind.is_integer() or kind.is_floating()):
        raise InputError(
            f"The values of {brief(column.name)} cannot be compared with states: the type in the engine is "
            f"{brief(getattr(kind, 'raw_type', kind))}. Create a view that casts it to text."
        )
    pairs = [
        (said, code) for text, code in codes_of_declared(column).items() if (said := _said(kind, text)) is not None
    ]
    if not pairs:
        return Term(_whole_literal(NOT_DECLARED))
    low = pairs[0][0]
    if kind.is_integer() and pairs == [(low + k, k) for k in range(len(pairs))]:
        whole = value.cast("int64") - _whole_literal(low)
        return Term(whole * _whole_literal(step), value.between(low, low + len(pairs) - 1))
    exact = _number(value) if kind.is_floating() else value
    cases = [(_literal(said, exact.type()), _whole_literal(code * step)) for said, code in pairs]
    return Term(exact.cases(*cases, else_=_whole_literal(NOT_DECLARED)))


def _said(kind: Any, text: str) -> Any:
    """Return the value of this type that a file reader converts to this text, None if there is none."""
    if kind.is_boolean():
        return {"true": True, "false": False}.get(text)
    if kind.is_integer():
        whole = whole_number_of(text)
        return whole if whole is not None and kind.bounds.lower <= whole <= kind.bounds.upper else None
    number = parsed_number(text, np.dtype(np.float32 if kind.is_float32() else np.float64))
    return float(number) if number is not None and np.isfinite(number) else None


def _text_code(value: Any, column: Categories | Groups, step: int) -> "ir.IntegerValue":
    """Return the code of the text; failing that, of the text without surrounding space; failing that, if missing."""
    text = _as_text(value)
    codes, missing = codes_of_declared(column), code_of_missing(column)
    cases = [(_literal(said, "string"), _whole_literal(code * step)) for said, code in codes.items()]
    none = _whole_literal(TO_LEAVE_OUT if missing == LEFT_OUT else missing * step)
    trimmed = text.strip()
    left = [(_literal(said, "string"), none) for said in _missing_texts(column)]
    code = text.cases(*cases, else_=trimmed.cases(*cases, *left, else_=_whole_literal(NOT_DECLARED)))
    return code if missing == LEFT_OUT else value.isnull().ifelse(none, code)


def _missing_texts(column: Column) -> list[str]:
    declared = {} if isinstance(column, Cuts) else codes_of_declared(column)
    return sorted(text for text in MISSING_TEXTS if text not in declared)


# Types


def _is_text(kind: Any) -> bool:
    """Whether values of this type are compared as text; engines and file readers give them the same text."""
    return bool(kind.is_string() or kind.is_date() or kind.is_decimal() or kind.is_uuid())


def _as_text(value: Any) -> Any:
    return value if value.type().is_string() else value.cast("string")


def _can_be_nan(kind: Any, column: Column) -> bool:
    """Whether NaN can be a missing value. In PostgreSQL a decimal can be NaN; other decimals are compared as text."""
    return bool(kind.is_floating() or (isinstance(column, Cuts) and kind.is_decimal() and kind.precision is None))


def _number(value: Any) -> Any:
    """Return a value in a type that all engines compare alike: they read 0.7 as a single, a double or a decimal."""
    return value if value.type().is_integer() or value.type().is_float64() else value.cast("float64")


def _literal(value: Any, kind: Any) -> Any:
    import ibis

    return ibis.literal(value, kind)


def _whole_literal(value: int) -> Any:
    return _literal(value, "int64")
