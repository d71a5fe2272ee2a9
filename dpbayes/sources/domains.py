"""The domain description: the declared domains of a table's columns, as a value and as a file of JSON or TOML.

It contains only declarations, and nothing from the records. A column without a declaration has its name, and whether it
is in use.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpbayes.base.validation import InputError, brief, distinct_names
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, Groups, Missing, OwnState
from dpbayes.sources.declarations import declared_in_toml

FORMAT = "dpbayes domain description"
VERSION = 1
MAX_DESCRIPTION = 20_000_000
"""The largest file in bytes; 500 columns of 256 states with 100 letters need 13 million."""


@dataclass(frozen=True)
class DeclaredColumn:
    """The declaration of one column of a table: its domain, None if it was not declared, and whether to use it.

    Errors: InputError for the domain of another column, and for text that a file cannot contain.
    """

    name: str
    domain: Column | None = None
    use: bool = True

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("Every column needs a name.")
        if self.domain is not None and self.domain.name != self.name:
            raise InputError(
                f"The domain of column {brief(self.name)} has the name of another column, {brief(self.domain.name)}."
            )
        _refuse_half_characters(_described(self))


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
                '{"name": …, "use": false}.'
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
    described = [json.dumps(_described(column), ensure_ascii=False, allow_nan=False) for column in declared]
    head = f'"format": {json.dumps(FORMAT)},\n  "version": {VERSION}'
    return "{\n  " + head + ',\n  "columns": [\n    ' + ",\n    ".join(described) + "\n  ]\n}\n"


def _described(column: DeclaredColumn) -> dict[str, object]:
    entry: dict[str, object] = {"name": column.name, "use": column.use}
    if column.domain is None:
        return entry
    shape: dict[str, object]
    match column.domain:
        case Categories(states=states):
            shape = {"kind": "categories", "states": list(states)}
        case Groups(groups=groups):
            shape = {"kind": "groups", "groups": [{"state": label, "values": list(v)} for label, v in groups]}
        case Cuts(points=points, limits=limits):
            shape = {"kind": "cut points", "points": [_number(point) for point in points]}
            shape |= {"limits": [_number(limit) for limit in limits]} if limits else {}
    return entry | {"public": column.domain.public} | shape | _missing(column.domain.missing)


def _number(point: float) -> float | int:
    return int(point) if point.is_integer() and abs(point) < 1e15 else point


def _missing(missing: Missing) -> dict[str, dict[str, str]]:
    """Return the field of the rule; none for a column without missing values."""
    match missing:
        case OwnState(label=label):
            return {"missing": {"rule": "own state", "state": label}}
        case CountAs(state=state):
            return {"missing": {"rule": "count as", "state": state}}
        case None:
            return {}


def _refuse_half_characters(entry: object) -> None:
    """Refuse halves of surrogate pairs, which JSON can express but UTF-8 cannot."""
    try:
        json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise InputError(f"A name or a state contains an unpaired surrogate, {piece!a}. Remove it.") from None


# Reading


def read_domains(text: str | bytes) -> tuple[DeclaredColumn, ...]:
    """Return the columns that a domain description declares, in its order.

    Args:
        text: The description, a file of JSON as `write_domains` returns it, or of TOML with a line for each column,
            such as `smoker = ["no", "yes"]`, where all states are public.

    Returns:
        The columns, each with its domain and whether it is in use.

    Raises:
        InputError: The text is not JSON, is not a domain description, has another version, or has an invalid column.

    Example:
        >>> text = dp.write_domains([])
        >>> dp.read_domains(text)
        ()
    """
    text = _decoded(text)
    if text.lstrip()[:1] not in ("{", "["):
        return tuple(DeclaredColumn(column.name, column) for column in declared_in_toml(text))
    entry = _json(text)
    if not isinstance(entry, dict) or entry.get("format") != FORMAT:
        raise InputError(f'This JSON is not a domain description: its format is not "{FORMAT}".')
    if type(entry.get("version")) is not int or entry["version"] != VERSION:
        version = brief(entry.get("version"))
        raise InputError(f"The description has version {version}; only version {VERSION} is supported.")
    if set(entry) != {"format", "version", "columns"} or not isinstance(entry["columns"], list):
        raise InputError('The description must have the fields "format", "version" and "columns", a list.')
    columns = tuple(map(_column, entry["columns"]))
    distinct_names("column", (column.name for column in columns))
    return columns


def _decoded(text: str | bytes) -> str:
    if len(text) > MAX_DESCRIPTION:
        raise InputError(f"The description has {len(text):,} bytes; the limit is {MAX_DESCRIPTION:,}.")
    try:
        return text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise InputError("The description is not UTF-8 text. Save it as UTF-8.") from None


def _json(text: str) -> object:
    try:
        numbers: Any = {"parse_float": _read_number, "parse_int": _read_number, "parse_constant": _no_constant}
        return json.loads(text, object_pairs_hook=_object, **numbers)
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


def _read_number(text: str) -> float | int:
    return _number(float(text))


def _column(entry: object) -> DeclaredColumn:
    """Return a column that is described exactly as `write_domains` describes it, fields in any order."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError('Every column of the description must be an object with a "name".')
    what, kind = f"Column {brief(entry['name'])} of the description", entry.get("kind")
    is_unused = set(entry) <= {"name", "use"}
    if not is_unused and kind not in tuple(_FORMS):
        raise InputError(f'{what} needs a "kind" that is one of {", ".join(_FORMS)}; {brief(kind)} is none of them.')
    try:
        column = DeclaredColumn(entry["name"], None if is_unused else _domain(entry), use=bool(entry["use"]))
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError):
        column = None
    if column is None or _text(_described(column)) != _text(entry):
        form = "" if is_unused else f', "public": true, "kind": "{kind}", {_FORMS[str(kind)]}'
        rules = "" if is_unused else f", and for missing values perhaps {_MISSING}"
        raise InputError(f'{what} must have the form {{"name": …, "use": true{form}}}{rules}.')
    return column


def _domain(entry: dict[str, Any]) -> Column:
    """Return the domain of a column, whose form may be wrong."""
    name, public, missing = entry["name"], bool(entry["public"]), None
    if "missing" in entry:
        missing = {"own state": OwnState, "count as": CountAs}[entry["missing"]["rule"]](entry["missing"]["state"])
    match entry["kind"]:
        case "categories":
            return Categories(name, tuple(entry["states"]), public=public, missing=missing)
        case "groups":
            groups = tuple((group["state"], tuple(group["values"])) for group in entry["groups"])
            return Groups(name, groups, public=public, missing=missing)
        case _:
            limits: Any = tuple(entry["limits"]) if "limits" in entry else None
            return Cuts(name, tuple(entry["points"]), public=public, missing=missing, limits=limits)


def _text(entry: object) -> str:
    return json.dumps(entry, sort_keys=True)


_FORMS = {
    "categories": '"states": ["no", "yes"]',
    "groups": '"groups": [{"state": "low", "values": ["0", "1"]}]',
    "cut points": '"points": [18, 65], "limits": [0, 120]',
}
"""The field with the domain of a column of each kind."""

_MISSING = '"missing": {"rule": "own state" or "count as", "state": …}'
