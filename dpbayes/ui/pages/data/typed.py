"""A domain as text in the table of columns, and read from the text that a person typed."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, DropRecord, Groups, Missing, OwnState
from dpbayes.sources.domains import DeclaredColumn

CATEGORIES, CUTS, GROUPS = "categories", "cut points", "groups"
OWN, DROP, COUNT_AS = "a state of its own", "drop the record", "count as"

MAX_TEXT = 100_000
"""Most letters of a domain: 256 states of nearly 400 letters."""


def kind_of(domain: Column | None) -> str:
    """Return the kind of a domain; categories without a domain."""
    if isinstance(domain, Cuts):
        return CUTS
    return GROUPS if isinstance(domain, Groups) else CATEGORIES


def text_of(domain: Column | None) -> str:
    """Return the categories or cut points with semicolons between them; "" without a domain."""
    values = map(shortest, domain.points) if isinstance(domain, Cuts) else domain.states if domain else ()
    return "; ".join(map(_quoted, values))


def _quoted(value: str) -> str:
    odd = any(c in value for c in ';"\n\r') or value != value.strip()
    return '"' + value.replace('"', '""') + '"' if odd else value


def missing_text(missing: Missing) -> str:
    """Return the text for the treatment of missing values."""
    if isinstance(missing, CountAs):
        return f"{COUNT_AS}: {missing.state}"
    if isinstance(missing, OwnState):
        return OWN if missing == OwnState() else f"{OWN}: {missing.label}"
    return DROP


def as_typed(column: DeclaredColumn, shown: Column | None, edit: Mapping[str, Any]) -> DeclaredColumn:
    """Return a column as it was typed; what was not typed of its domain stays as it was shown."""
    use = edit.get("use", column.use)
    if set(edit) <= {"use"}:
        return replace(column, use=use)
    try:
        return DeclaredColumn(column.name, _domain(column.name, shown, edit), use)
    except InputError:
        if use:
            raise
        return replace(column, use=False)


def _domain(name: str, shown: Column | None, edit: Mapping[str, Any]) -> Column:
    public = edit.get("public", shown.public if shown else False)
    missing = shown.missing if shown else DropRecord()
    if "missing values" in edit:
        missing = _missing(name, edit["missing values"])
    if shown and not {"kind", "domain"} & set(edit):
        return replace(shown, public=public, missing=missing)
    kind, text = edit.get("kind", kind_of(shown)), edit.get("domain", text_of(shown))
    if kind == CATEGORIES:
        return Categories(name, tuple(_values(name, text)), public=public, missing=missing)
    if kind == CUTS:
        return Cuts(name, _points(name, _values(name, text)), public=public, missing=missing)
    if isinstance(shown, Groups) and text == text_of(shown):
        return replace(shown, public=public, missing=missing)
    raise InputError(f"The groups of {brief(name)} cannot be typed here; load a domain description instead.")


def _values(name: str, text: str) -> list[str]:
    """Return the values between semicolons or line ends; a value with such a character is in quotation marks."""
    if len(text) > MAX_TEXT:
        raise InputError(f"The domain of {brief(name)} has {len(text):,} letters; the limit is {MAX_TEXT:,}.")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", skipinitialspace=True)
    return [value.strip() for row in rows for value in row if value.strip()]


def _points(name: str, values: list[str]) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in values)
    except ValueError:
        raise InputError(f"The cut points of {brief(name)} must be numbers separated by semicolons.") from None


def _missing(name: str, text: str) -> Missing:
    rule, colon, state = (part.strip() for part in text.partition(":"))
    if rule == COUNT_AS and colon:
        return CountAs(state)
    if rule == OWN:
        return OwnState(state) if colon else OwnState()
    if text.strip() == DROP:
        return DropRecord()
    raise InputError(
        f"For missing values of {brief(name)}, type “{OWN}”, “{DROP}”, or “{COUNT_AS}: ” and one of its states."
    )
