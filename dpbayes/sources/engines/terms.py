"""Values to codes inside an engine: what each column adds to a record's joint code, as an expression of ibis.

A value is compared as the text that a file's reader would give it, so the same table has the same counts wherever it
lies. A value that has no code takes the joint code below zero, by an amount that tells why.
"""

import math
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

if TYPE_CHECKING:
    import ibis.expr.types as ir

NOT_DECLARED, TO_LEAVE_OUT = -(1 << 32), -(1 << 48)
"""What a value adds that is outside the domain, or missing where the rule is to leave the record out. Joint codes stay
below 2^32, and so do sums of fewer than 2^15 columns below 2^47 and 2^63."""


@dataclass(frozen=True, eq=False)
class Term:
    """What a column adds to the joint code, where `guard` holds; where it does not, the value is not declared.

    One guard of a whole cluster costs an engine far less than a check for each column.
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
    """Return what a column adds, a code times `step`; 0 where its value is NULL and the record is left out for that.

    Errors: InputError for a type of the engine that the domain cannot be compared with.
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
    """Return where the column has a value: no NULL, no NaN, and with `as_text` no text that stands for none."""
    value = table[column.name]
    present = value.notnull()
    if _can_be_nan(value.type(), column):
        present = ~_number(value).isnan() & present
    if as_text and _is_text(value.type()):
        present = present & _as_text(value).strip().notin(_missing_texts(column))
    return present


def as_whole(truth: Any) -> Any:
    """Return 1 where something is true, else 0; PostgreSQL has no way from a truth to 64 bits at once."""
    return truth.cast("int32").cast("int64")


def comparable(value: Any) -> Any:
    """Return a value as it is compared with a domain: as text where its type has one, else as it is."""
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
    for point in column.points:
        least = _least_single(point) if kind.is_float32() else point
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
    """Return the value of this type that a file's reader writes as this text, None if there is none."""
    if kind.is_boolean():
        return {"true": True, "false": False}.get(text)
    try:
        if kind.is_integer():  # only "7" is 7, not "07" or "+7"
            whole = int(text)
            return whole if str(whole) == text and kind.bounds.lower <= whole <= kind.bounds.upper else None
        number = _single(float(text)) if kind.is_float32() else np.float64(text)
        return float(number) if _text_of(number) == text else None
    except ValueError:
        return None


def _text_code(value: Any, column: Categories | Groups, step: int) -> "ir.IntegerValue":
    """Return the code of the text, or else of the text without the space around it, or else of what says missing."""
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
    """Whether values of this type are compared as text; an engine and a file's reader write these alike."""
    return bool(kind.is_string() or kind.is_date() or kind.is_decimal() or kind.is_uuid())


def _as_text(value: Any) -> Any:
    return value if value.type().is_string() else value.cast("string")


def _can_be_nan(kind: Any, column: Column) -> bool:
    """Whether NaN may stand there for a missing value; PostgreSQL has it as a decimal, elsewhere compared as text."""
    return bool(kind.is_floating() or (isinstance(column, Cuts) and kind.is_decimal() and kind.precision is None))


def _number(value: Any) -> Any:
    """Return a value as engines compare it alike: some take 0.7 for a single, some for a double, some for a decimal."""
    return value if value.type().is_integer() or value.type().is_float64() else value.cast("float64")


def _least_single(point: float) -> float:
    """Return the least number of single precision whose text is a number of at least this."""
    least = _single(point)
    while float(_text_of(below := np.nextafter(least, np.float32(-np.inf))) or "-inf") >= point:
        least = below
    while np.isfinite(least) and float(_text_of(least)) < point:
        least = np.nextafter(least, np.float32(np.inf))
    return float(least) if np.isfinite(least) else point


def _single(number: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(number)


def _text_of(number: np.floating[Any]) -> str:
    """Return the text that a file's reader gives a number, "" if it is not finite."""
    import pyarrow as pa

    return str(pa.scalar(number).cast(pa.string()).as_py()) if math.isfinite(number) else ""


def _literal(value: Any, kind: Any) -> Any:
    import ibis

    return ibis.literal(value, kind)


def _whole_literal(value: int) -> Any:
    return _literal(value, "int64")
