"""The domain description: the declared domains of a table's columns, as a value and as a file of JSON or TOML.

It contains only declarations, and nothing from the records. A column without a declaration has its name, and whether it
is in use.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpbayes.base.validation import InputError, brief
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, Groups, Missing, OwnState
from dpbayes.sources.declarations import MISSING, cuts, declare

MAX_DESCRIPTION = 20_000_000
"""The largest file in bytes; 500 columns of 256 states with 100 letters need 13 million."""


@dataclass(frozen=True)
class DeclaredColumn:
    """The declaration of one column of a table: its domain, None if it was not declared, and whether to use it.

    `meaning` says in words what the column records.
    Errors: InputError for the domain of another column, and for text that a file cannot contain.
    """

    name: str
    domain: Column | None = None
    use: bool = True
    meaning: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("Every column needs a name.")
        if self.domain is not None and self.domain.name != self.name:
            raise InputError(
                f"The domain of column {brief(self.name)} has the name of another column, {brief(self.domain.name)}."
            )
        _refuse_half_characters(self.name, _entry(self))


def for_table(columns: Iterable[DeclaredColumn], names: Sequence[str]) -> tuple[DeclaredColumn, ...]:
    """Return the columns in the order of a table's names. Errors: InputError unless exactly these are described."""
    by_name = {column.name: column for column in columns}
    for name in by_name:
        if name not in names:
            raise InputError(f"The description has a column {brief(name)}, which the table does not have.")
    for name in names:
        if name not in by_name:
            raise InputError(
                f"The description lacks the table's column {brief(name)}; add it, at least as "
                f'{json.dumps(name)}: {{"use": false}}.'
            )
    return tuple(by_name[name] for name in names)


# Writing


def write_domains(columns: Iterable[DeclaredColumn | Column]) -> str:
    """Return a domain description as JSON, which `read_domains` reads.

    Args:
        columns: The columns, as `read_domains` or `declare` returns them.

    Returns:
        The text, a column on each line.

    Example:
        >>> dp.read_domains(dp.write_domains(dp.declare({"rain": ["no", "yes"]})))[0].domain.states
        ('no', 'yes')
    """
    declared = (c if isinstance(c, DeclaredColumn) else DeclaredColumn(c.name, c) for c in columns)
    lines = (f"  {_json(column.name)}: {_json(_entry(column))}" for column in declared)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _entry(column: DeclaredColumn) -> object:
    """Return what a file states of a column: the short form of `declare`, and what differs from its defaults."""
    domain = column.domain
    entry: dict[str, object] = {}
    match domain:
        case Categories(states=states):
            entry["values"] = list(states)
        case Groups(groups=groups):
            entry["groups"] = {label: list(values) for label, values in groups}
        case Cuts(points=points, limits=None):
            entry["points"] = [_number(point) for point in points]
        case Cuts(points=points, limits=(low, high)):
            entry["cuts"] = [_number(point) for point in (low, *points, high)]
    if domain is not None:
        entry |= _missing(domain.missing) | ({} if domain.public else {"public": False})
    entry |= {} if column.use else {"use": False}
    entry |= {"meaning": column.meaning} if column.meaning else {}
    return entry["values"] if list(entry) == ["values"] else entry


def _number(point: float) -> float | int:
    return int(point) if point.is_integer() and abs(point) < 1e15 else point


def _missing(missing: Missing) -> dict[str, object]:
    """Return the field of the rule; none for a column without missing values."""
    if isinstance(missing, OwnState):
        return {"missing": missing.label}
    return {} if missing is None else {"count_missing_as": missing.state}


def _refuse_half_characters(*texts: object) -> None:
    """Refuse halves of surrogate pairs, which JSON can express but UTF-8 cannot."""
    try:
        _json(texts).encode()
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise InputError(f"A name or a state contains an unpaired surrogate, {piece!a}. Remove it.") from None


# Reading


def read_domains(text: str | bytes) -> tuple[DeclaredColumn, ...]:
    """Return the columns that a domain description declares, in its order.

    Args:
        text: The description, a file of JSON or TOML with an entry for each column, such as `smoker = ["no", "yes"]`.
            docs/your-table.md shows every form.

    Returns:
        The columns, each with its domain and whether it is in use.

    Raises:
        InputError: The text is neither JSON nor TOML, or declares a column in another form.

    Example:
        >>> text = dp.write_domains([])
        >>> dp.read_domains(text)
        ()
    """
    text = _decoded(text)
    entries = _from_json(text) if text.lstrip().startswith("{") else _from_toml(text)
    return tuple(_column(name, entry) for name, entry in entries.items())


def _decoded(text: str | bytes) -> str:
    if len(text) > MAX_DESCRIPTION:
        raise InputError(f"The description has {len(text):,} bytes; the limit is {MAX_DESCRIPTION:,}.")
    try:
        return text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise InputError("The description is not UTF-8 text. Save it as UTF-8.") from None


def _from_json(text: str) -> dict[str, object]:
    try:
        return dict(json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        raise InputError(f"The description is not JSON: {error.msg}, line {error.lineno}.") from None
    except InputError:
        raise
    except (ValueError, RecursionError):  # a number with thousands of digits, deeply nested lists
        raise InputError("The description is not readable JSON: its numbers or lists are too long.") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        twice = next(key for key in entry if sum(key == other for other, _ in pairs) > 1)
        raise InputError(f"The description has the field {brief(twice)} twice in one object. Remove one of them.")
    return entry


def _no_constant(token: str) -> object:
    raise InputError(f"The description contains {token}; its numbers must be finite.")


def _from_toml(text: str) -> dict[str, object]:
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"The description is neither JSON nor TOML: {brief(str(error), 80)}.") from None
    if not entries:
        raise InputError('The description declares no column. Write a line for each, such as smoker = ["no", "yes"].')
    return entries


_DOMAINS: dict[str, type] = {"values": list, "groups": dict, "cuts": list, "points": list}
_ABOUT: dict[str, type] = {"use": bool, "meaning": str}
_FIELDS: dict[str, Any] = _DOMAINS | _ABOUT | {"missing": bool | str, "count_missing_as": str, "public": bool}
"""The fields of an entry and their types: those that declare a domain, and those that need none."""


def _column(name: str, entry: object) -> DeclaredColumn:
    fields: Any = {"values": entry} if isinstance(entry, list) else entry
    if not isinstance(fields, dict) or not _has_form(fields):
        raise InputError(
            f"The declaration of column {brief(name)} must be a list of values, or an object with one of the fields "
            "values, groups, cuts and points, and perhaps missing, count_missing_as, public, use and meaning."
        )
    domain = _domain(name, fields) if set(fields) - set(_ABOUT) else None
    return DeclaredColumn(name, domain, use=fields.get("use", True), meaning=fields.get("meaning", ""))


def _has_form(fields: Mapping[str, Any]) -> bool:
    if not all(key in _FIELDS and isinstance(value, _FIELDS[key]) for key, value in fields.items()):
        return False
    kinds = [key for key in fields if key in _DOMAINS]
    if len(kinds) != 1 or {"missing", "count_missing_as"} <= set(fields):
        return set(fields) <= set(_ABOUT)
    values = fields[kinds[0]]
    if kinds[0] in ("cuts", "points"):
        return all(type(value) in (int, float) for value in values)
    lists = list(values.values()) if kinds[0] == "groups" else [values]
    return all(isinstance(own, list) and not any(isinstance(v, list | dict) for v in own) for own in lists)


def _domain(name: str, fields: Mapping[str, Any]) -> Column:
    if "points" in fields:
        column: Column = Cuts(name, tuple(fields["points"]), public=True)
    else:
        shape = cuts(*fields["cuts"]) if "cuts" in fields else fields.get("values", fields.get("groups"))
        (column,) = declare({name: shape})
    missing = column.missing
    if fields.get("missing", False) is not False:
        missing = OwnState(MISSING if fields["missing"] is True else fields["missing"])
    elif "count_missing_as" in fields:
        missing = CountAs(fields["count_missing_as"])
    return replace(column, public=fields.get("public", True), missing=missing)
