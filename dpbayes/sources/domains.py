"""Declarations of columns, in Python and as a file of JSON or TOML, the domain description.

A description contains only declarations, and nothing from the records. A column without a declaration has its name, and
whether it is in use.
"""

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from os import PathLike
from os.path import isfile
from typing import Any

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError, brief, distinct_names, is_writable, utf8_text
from dpbayes.sources.columns import MISSING, Categories, Column, Cuts
from dpbayes.sources.files import read_file

_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)

# In Python


_UNNAMED = "cuts"
"""The name of a column of `cuts`, until it is declared."""

Declaration = Column | Sequence[object] | Mapping[str, object]
"""What declares a column: its values, groups of values by their label, `cuts`, or an entry of a domain description."""

Declarations = Mapping[str, Declaration] | Sequence["Column | DeclaredColumn"] | str | PathLike[str]
"""Declarations by column, declared columns, or the file of a domain description."""


def cuts(*points: float | None, missing: str | float | Sequence[float] | None = None) -> Cuts:
    """Declare a column of numbers by the limits of its bins.

    The first and the last number are the limits of the column; smaller and larger values count in the first and in the
    last bin, and `Table.from_frame` warns of them. A bin contains its lower limit.

    Args:
        points: At least three increasing numbers. None declares that missing values are a state of their own.
        missing: Numbers that stand for missing values, such as -1 or [-1, 99]; missing values are then a state of their
            own. Or a text: the bin that missing values count in, such as "< 30", or the name of their own state.

    Returns:
        The declaration, for `Table.from_frame`.

    Raises:
        InputError: There are fewer than three numbers, or NaN is one of them.

    Example:
        >>> dp.declare({"age": dp.cuts(0, 30, 50, 120)})[0].states
        ('< 30', '30 to < 50', '>= 50')
    """
    return _cut_points(_UNNAMED, points, missing)


def _cut_points(name: str, points: Sequence[float | None], missing: Any = None) -> Cuts:
    """Return what `cuts` returns, or say what is wrong by the name of a column."""
    numbers: tuple[Any, ...] = tuple(point for point in points if point is not None)
    for point in numbers:
        if not isinstance(point, Real) or point != point:
            raise InputError(f"{name} has {brief(point)} among its numbers. Write numbers: dp.cuts(0, 30, 120, None).")
    if len(numbers) < 3:
        raise InputError(f"{name} needs a lower limit, one or more cut points and an upper limit: dp.cuts(0, 30, 120).")
    state = missing if isinstance(missing, str) else MISSING if None in points or missing is True else None
    limits, codes = (numbers[0], numbers[-1]), _codes(missing)
    return Cuts(name, numbers[1:-1], public=True, missing=state, limits=limits, codes=codes)


def _codes(missing: Any) -> tuple[float, ...]:
    """Return the numbers that stand for missing values; none for the name of a state."""
    if missing is None or isinstance(missing, str | bool):
        return ()
    return tuple(missing) if isinstance(missing, Iterable) else (missing,)


def declare(declarations: Declarations) -> tuple[Column, ...]:
    """Return the public domains of columns from declarations that were made without the records.

    Args:
        declarations: For each column its values, a mapping of labels to the values of each group, `cuts`, a
            `Categories` or `Cuts`, or an entry of a domain description, such as {"values": ["no", "yes"]}. None (or
            NaN or "") among the values declares that missing values are a state of their own; in a group, they belong
            to this group. Or the file of a domain description, or what `read_domains` returns.

    Returns:
        The columns in use, in the order of the declarations.

    Raises:
        InputError: A declaration is of another kind, or declares no valid domain.

    Example:
        >>> [column.domain for column in dp.declare({"smoker": ["no", "yes"], "blood": ["A", "B", "0", None]})]
        [('no', 'yes'), ('A', 'B', '0', 'missing')]
    """
    columns = [column for column in _described(declarations) if column.use]
    for column in columns:
        if column.domain is None:
            raise InputError(f'Column {brief(column.name)} has no declared values. Declare them, or add "use": False.')
    return tuple(column.domain for column in columns if column.domain is not None)


def _described(declarations: object) -> "tuple[DeclaredColumn, ...]":
    """Return the columns of declarations in any form. Errors: InputError."""
    if isinstance(declarations, str | PathLike):
        return read_domains(declarations)
    if isinstance(declarations, Mapping):
        return tuple(_declared(name, declaration) for name, declaration in declarations.items())
    columns: Any = declarations if isinstance(declarations, Sequence) else [type(declarations).__name__]
    for column in columns:
        if not isinstance(column, Categories | Cuts | DeclaredColumn):
            raise InputError(
                f"declarations must be a dictionary of columns or the file of one, not {brief(column)}: write, for "
                'example, {"smoker": ["no", "yes"]}.'
            )
    return tuple(c if isinstance(c, DeclaredColumn) else DeclaredColumn(c.name, c) for c in columns)


def _declared(name: str, declaration: object) -> "DeclaredColumn":
    if isinstance(declaration, Mapping):
        # One group alone says nothing, and none is True: they are fields with a mistake.
        is_entry = set(declaration) <= set(_DOMAINS | _RULES | _ABOUT) or len(declaration) == 1
        is_entry = is_entry or any(isinstance(own, bool) for own in declaration.values())
        return _column(name, declaration) if is_entry else DeclaredColumn(name, _grouped(name, declaration))
    return DeclaredColumn(name, _domain_of(name, declaration))


def _domain_of(name: str, declaration: Any) -> Column:
    if isinstance(declaration, Categories | Cuts):
        return replace(declaration, name=name) if declaration.name == _UNNAMED else declaration
    states = _texts(name, declaration)
    return Categories(name, states, public=True, missing=MISSING if len(states) < len(declaration) else None)


def _grouped(name: str, declaration: Mapping[str, Any]) -> Categories:
    groups = {label: _texts(name, values) for label, values in declaration.items()}
    blank = [label for label, values in groups.items() if len(values) < len(declaration[label])]
    if len(blank) > 1:
        raise InputError(f"Missing values of {brief(name)} are in {len(blank)} groups. Write None in one of them.")
    return Categories(name, tuple(groups), values=tuple(groups.values()), public=True, missing=next(iter(blank), None))


def _texts(name: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str | bytes | Set) or not isinstance(values, Iterable):
        raise InputError(
            f"The declaration of column {brief(name)} must be a list of its values, not {brief(values)}: write, for "
            'example, ["no", "yes"].'
        )
    for value in values:
        if isinstance(value, Cuts | Collection) and not isinstance(value, str):
            raise InputError(
                f"The declaration of column {brief(name)} contains {brief(value)}, which is no text or number. "
                "Numbers in bins are dp.cuts(0, 30, 120), and dp.cuts(0, 30, 120, None) with missing values."
            )
    return tuple(value_text(value) for value in values if str(value) and not pd.isna(value))


def value_text(value: object) -> str:
    """Return the text of a value of a data frame: whole floats as integers, and True as "True"."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else shortest(float(value))
    return str(value)


# As a file


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
        distinct_names("column", [self.name])
        if self.domain is not None and self.domain.name != self.name:
            raise InputError(
                f"The domain of column {brief(self.name)} has the name of another column, {brief(self.domain.name)}."
            )
        if not is_writable(self.meaning):
            raise InputError(f"The meaning of column {brief(self.name)} contains half a character. Remove it.")


def write_domains(columns: Iterable[DeclaredColumn | Column] | Mapping[str, Declaration]) -> str:
    """Return a domain description as JSON, which `read_domains` reads.

    Args:
        columns: Declarations as `declare` takes them, or the columns that `read_domains` or `declare` returns.

    Returns:
        The text, a column on each line.

    Example:
        >>> dp.read_domains(dp.write_domains({"rain": ["no", "yes"]}))[0].domain.states
        ('no', 'yes')
    """
    described = _described(columns if isinstance(columns, Mapping) else tuple(columns))
    lines = (f"  {_json(column.name)}: {_json(_entry(column))}" for column in described)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(column: DeclaredColumn) -> object:
    """Return what a file states of a column: the short form of `declare`, and what differs from its defaults."""
    domain = column.domain
    entry: dict[str, object] = {}
    match domain:
        case Categories(states=states, values=()):
            entry["values"] = list(states)
        case Categories(states=states, values=groups):
            entry["groups"] = {label: list(values) for label, values in zip(states, groups, strict=True)}
        case Cuts(points=points, limits=None):
            entry["points"] = [_number(point) for point in points]
        case Cuts(points=points, limits=(low, high)):
            entry["cuts"] = [_number(point) for point in (low, *points, high)]
    if domain is not None:
        codes = [_number(code) for code in domain.codes] if isinstance(domain, Cuts) else []
        entry |= {"missing": codes or domain.missing} if domain.missing else {}
        entry |= {"marks": list(domain.marks)} if isinstance(domain, Cuts) and domain.marks else {}
        entry |= {} if domain.public else {"public": False}
    entry |= {} if column.use else {"use": False}
    entry |= {"meaning": column.meaning} if column.meaning else {}
    return entry["values"] if list(entry) == ["values"] else entry


def _number(point: float) -> float | int:
    return int(point) if point.is_integer() and abs(point) < 1e15 else point


def read_domains(source: str | bytes | PathLike[str]) -> tuple[DeclaredColumn, ...]:
    """Return the columns that a domain description declares, in its order.

    Args:
        source: The file of the description or its text, JSON or TOML with an entry for each column, such as
            `smoker = ["no", "yes"]`. docs/your-table.md shows every form.

    Returns:
        The columns, each with its domain and whether it is in use.

    Raises:
        InputError: The file cannot be read, is neither JSON nor TOML, or declares a column in another form.

    Example:
        >>> dp.read_domains('rain = ["no", "yes"]')[0].domain.states
        ('no', 'yes')
    """
    file, text = None, source
    if isinstance(text, PathLike) or (isinstance(text, str) and (text.endswith((".json", ".toml")) or isfile(text))):
        file, text = source, read_file(text)
    entries = _entries(file, utf8_text(text) if isinstance(text, bytes) else text)
    return tuple(_column(name, entry) for name, entry in entries.items())


def _entries(file: object, text: str) -> dict[str, object]:
    """Return the entries of a description, which is a text if it is no file. Errors: InputError."""
    is_json = text.lstrip().startswith("{")
    try:
        entries: dict[str, object] = json.loads(text, object_pairs_hook=_object) if is_json else tomllib.loads(text)
        problem = "" if entries or is_json else 'declares no column. Write a line for each: smoker = ["no", "yes"]'
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        problem = f"is not {'valid JSON' if is_json else 'JSON or TOML'}: {brief(str(error), 80)}"
    if problem:
        raise InputError(f"The {'description' if file is None else f'file {brief(file, 200)}'} {problem}.")
    return entries


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        twice = next(key for key in entry if sum(key == other for other, _ in pairs) > 1)
        raise InputError(f"The description has the field {brief(twice)} twice in one object. Remove one of them.")
    return entry


_DOMAINS: dict[str, type] = {"values": list, "groups": dict, "cuts": list, "points": list}
_RULES: dict[str, Any] = {"missing": bool | str | int | float | list, "marks": list, "public": bool}
_ABOUT: dict[str, Any] = {"use": bool, "meaning": str}
"""The fields of an entry and their types: one that declares a domain, those that need one, and those that need none."""


def _column(name: str, entry: object) -> DeclaredColumn:
    fields: Any = {"values": entry} if isinstance(entry, list) else entry
    kinds = [key for key in _DOMAINS if key in fields] if isinstance(fields, dict) else []
    types = _ABOUT | (_DOMAINS | _RULES if len(kinds) == 1 else {})
    if not isinstance(fields, dict) or not all(isinstance(own, types.get(key, ())) for key, own in fields.items()):
        raise InputError(
            f"The declaration of column {brief(name)} must be a list of values, or an object with one of the fields "
            "values, groups, cuts and points, and perhaps missing, marks, public, use and meaning."
        )
    domain = _domain(name, kinds[0], fields) if kinds else None
    return DeclaredColumn(name, domain, use=fields.get("use", True), meaning=fields.get("meaning", ""))


def _domain(name: str, kind: str, fields: Mapping[str, Any]) -> Column:
    given = fields[kind]
    if kind == "points":
        column: Column = Cuts(name, tuple(given), public=True)
    elif kind == "groups":
        column = _grouped(name, given)
    else:
        column = _cut_points(name, given) if kind == "cuts" else _domain_of(name, given)
    missing, public, marks = fields.get("missing", False), fields.get("public", True), fields.get("marks", ())
    state = missing if isinstance(missing, str) else MISSING if missing is True else column.missing
    if isinstance(column, Cuts):
        return replace(column, public=public, missing=state, codes=_codes(missing), marks=tuple(map(str, marks)))
    if _codes(missing) or marks:
        raise InputError(
            f"Numbers and marks of missing values, as of {brief(name)}, are for cuts. Gather values that stand for "
            'missing ones in a group: groups = { unknown = ["9"] }.'
        )
    return replace(column, public=public, missing=state)
