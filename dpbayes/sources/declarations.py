"""Declarations of columns that read like Python."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.columns import Categories, Column, Cuts, Groups, OwnState

MISSING = "missing"
"""The state of missing values in a column whose declaration contains None."""


@dataclass(frozen=True)
class CutPoints:
    """A declaration of numbers that are cut into bins; `cuts` makes it."""

    points: tuple[float, ...]
    has_missing: bool = False


Declaration = Column | CutPoints | Sequence[object] | Mapping[str, Sequence[object]]
"""What declares a column: its values, groups of values by their label, or `cuts`."""


def cuts(*points: float | None) -> CutPoints:
    """Declare a column of numbers by the limits of its bins.

    The first and the last number are the limits of the column; smaller and larger values count in the first and in the
    last bin. A bin contains its lower limit.

    Args:
        points: At least three increasing numbers. None declares that missing values are a state of their own.

    Returns:
        The declaration, for `Table.from_frame`.

    Raises:
        InputError: There are fewer than three numbers.

    Example:
        >>> dp.declare({"age": dp.cuts(0, 30, 50, 120)})[0].states
        ('< 30', '30 to < 50', '>= 50')
    """
    numbers = tuple(point for point in points if point is not None)
    if len(numbers) < 3:
        raise InputError(
            f"cuts needs the lower limit, at least one cut point and the upper limit; it has {len(numbers)} numbers: "
            "write, for example, dp.cuts(0, 30, 50, 120)."
        )
    return CutPoints(numbers, has_missing=None in points)


def declare(declarations: Mapping[str, Declaration]) -> tuple[Column, ...]:
    """Return the public domains of columns from declarations that were made without the records.

    Args:
        declarations: For each column its values, a mapping of labels to the values of each group, `cuts`, or a
            `Categories`, `Groups` or `Cuts`. None (or NaN or "") among the values declares that missing values are a
            state of their own.

    Returns:
        The columns, in the order of the declarations.

    Raises:
        InputError: A declaration is of another kind, or declares no valid domain.

    Example:
        >>> [column.domain for column in dp.declare({"smoker": ["no", "yes"], "blood": ["A", "B", "0", None]})]
        [('no', 'yes'), ('A', 'B', '0', 'missing')]
    """
    if not isinstance(declarations, Mapping):
        raise InputError(
            f"The declarations must be a dictionary of columns, not {brief(declarations)}: write, for example, "
            '{"smoker": ["no", "yes"]}.'
        )
    return tuple(_declared(name, declaration) for name, declaration in declarations.items())


def _declared(name: str, declaration: Declaration) -> Column:
    if isinstance(declaration, Categories | Groups | Cuts):
        if declaration.name != name:
            raise InputError(f"The declaration of column {brief(name)} is that of column {brief(declaration.name)}.")
        return declaration
    if isinstance(declaration, CutPoints):
        low, *points, high = declaration.points
        return Cuts(name, tuple(points), limits=(low, high), public=True, **_rule(declaration.has_missing))
    if isinstance(declaration, Mapping):
        groups = {label: _texts(name, values) for label, values in declaration.items() if label is not None}
        return Groups(name, tuple(groups.items()), public=True, **_rule(None in declaration))
    values = _texts(name, declaration)
    return Categories(name, values, public=True, **_rule(len(values) < len(declaration)))


def _rule(has_missing: bool) -> dict[str, Any]:  # noqa: FBT001
    return {"missing": OwnState(MISSING)} if has_missing else {}


def _texts(name: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str | bytes | Set) or not isinstance(values, Iterable):
        raise InputError(
            f"The declaration of column {brief(name)} must be a list of its values, not {brief(values)}: write, for "
            'example, ["no", "yes"].'
        )
    for value in values:
        if isinstance(value, CutPoints | Collection) and not isinstance(value, str):
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
