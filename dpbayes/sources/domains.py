"""The domain description: the declared domains of a table's columns, as a value and as a file of JSON or TOML.

It contains only declarations, and nothing from the records. A column without a declaration has its name, and whether it
is in use.
"""

import json
from collections.abc import Callable, Iterable, Sequence
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
    entry = _fields("The description", _json(text), ("format", "version", "columns"))
    if entry["format"] != FORMAT:
        raise InputError(f'This JSON is not a domain description: its format is not "{FORMAT}".')
    if type(entry["version"]) is not int or entry["version"] != VERSION:
        raise InputError(f"The description has version {brief(entry['version'])}; only version {VERSION} is supported.")
    columns = tuple(_column(column) for column in _list('The description\'s "columns"', entry["columns"]))
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
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
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


def _column(entry: object) -> DeclaredColumn:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError('Every column of the description must be an object with a "name".')
    name = entry["name"]
    what = f"Column {brief(name)} of the description"
    if set(entry) <= {"name", "use"}:
        return DeclaredColumn(name, use=_truth(what, _fields(what, entry, ("name", "use")), "use"))
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise InputError(f'{what} needs a "kind" that is one of {", ".join(_SHAPES)}; {brief(kind)} is none of them.')
    shape, column, value = _SHAPES[kind]
    rule = ("missing",) if "missing" in entry else ()
    limits = ("limits",) if "limits" in entry and column is Cuts else ()
    entry = _fields(what, entry, ("name", "use", "public", "kind", shape, *rule, *limits))
    values = tuple(value(what, part) for part in _list(f"{what}: {brief(shape)}", entry[shape]))
    missing = _rule(what, entry["missing"]) if rule else None
    own = {"limits": _limits(what, entry["limits"])} if limits else {}
    domain = column(name, values, public=_truth(what, entry, "public"), missing=missing, **own)
    return DeclaredColumn(name, domain, use=_truth(what, entry, "use"))


def _text(what: str, entry: object) -> str:
    if not isinstance(entry, str):
        raise InputError(f"{what}: {brief(entry)} must be text.")
    return entry


def _group(what: str, entry: object) -> tuple[str, tuple[str, ...]]:
    group = _fields(f"{what}: every group", entry, ("state", "values"))
    values = _list(f'{what}: the "values" of a group', group["values"])
    return _text(what, group["state"]), tuple(_text(what, value) for value in values)


def _point(what: str, entry: object) -> float:
    if isinstance(entry, bool) or not isinstance(entry, int | float):
        raise InputError(f"{what}: the cut point {brief(entry)} is not a number.")
    return entry


def _limits(what: str, entry: object) -> tuple[float, float]:
    limits = [_point(what, limit) for limit in _list(f'{what}: "limits"', entry)]
    if len(limits) != 2:
        raise InputError(f'{what}: "limits" must be two numbers, the least and the largest.')
    return limits[0], limits[1]


def _rule(what: str, entry: object) -> Missing:
    rule = entry.get("rule") if isinstance(entry, dict) else None
    if rule not in ("own state", "count as"):
        raise InputError(f'{what}: "missing" needs a "rule" that is own state or count as; {brief(rule)} is neither.')
    state = _text(what, _fields(f'{what}: "missing"', entry, ("rule", "state"))["state"])
    return OwnState(state) if rule == "own state" else CountAs(state)


_SHAPES: dict[str, tuple[str, Callable[..., Column], Callable[[str, object], object]]] = {
    "categories": ("states", Categories, _text),
    "groups": ("groups", Groups, _group),
    "cut points": ("points", Cuts, _point),
}
"""Of columns of each kind: the field with the domain, the type, and what reads a part of the domain."""


# Types


def _fields(what: str, entry: object, names: Sequence[str]) -> dict[str, Any]:
    """Return an object that has exactly these fields."""
    if not isinstance(entry, dict):
        raise InputError(f"{what} must be an object with the fields {', '.join(names)}.")
    for name in names:
        if name not in entry:
            raise InputError(f"{what} lacks the field {brief(name)}.")
    for name in entry:
        if name not in names:
            raise InputError(f"{what} has a field {brief(name)}, which is unknown; it has {', '.join(names)}.")
    return entry


def _list(what: str, entry: object) -> list[object]:
    if not isinstance(entry, list):
        raise InputError(f"{what} must be a list, not {brief(entry)}.")
    return entry


def _truth(what: str, entry: dict[str, Any], name: str) -> bool:
    if not isinstance(entry[name], bool):
        raise InputError(f"{what}: {brief(name)} must be true or false, not {brief(entry[name])}.")
    return bool(entry[name])
