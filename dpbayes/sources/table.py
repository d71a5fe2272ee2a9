"""A table with the declarations of its columns: from a data frame, and back to one."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpbayes.base.libraries import nw, pd
from dpbayes.base.randomness import generator
from dpbayes.base.text import shortest
from dpbayes.base.types import Codes, FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.dataset import Dataset
from dpbayes.sources.columns import Categories, Column, Cuts, Groups, OwnState, encode

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
            `Categories`, `Groups` or `Cuts`. None among the values declares that missing values are a state of their
            own.

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
    return Categories(name, values, public=True, **_rule(None in declaration))


def _columns(declarations: Sequence[Column]) -> tuple[Column, ...]:
    columns = tuple(declarations)
    for column in columns:
        if not isinstance(column, Categories | Groups | Cuts):
            raise InputError(f"A declared column must be a Categories, Groups or Cuts, not {brief(column)}.")
    return columns


def _rule(has_missing: bool) -> dict[str, Any]:  # noqa: FBT001
    return {"missing": OwnState(MISSING)} if has_missing else {}


def _texts(name: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(
            f"The declaration of column {brief(name)} must be a list of its values, not {brief(values)}: write, for "
            'example, ["no", "yes"].'
        )
    return tuple(value_text(value) for value in values if value is not None)


def value_text(value: object) -> str:
    """Return the text of a value of a data frame: whole floats as integers, and True as "True"."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else shortest(float(value))
    return str(value)


@dataclass(frozen=True, eq=False, repr=False)
class Table(Dataset):
    """Records over declared columns. It is a `Dataset` that also has the declarations and the types of a data frame.

    Args:
        names: The columns.
        states: Every column's *public* domain.
        codes: The records (n, d), as indices into the domains.
        columns: The declarations, in the order of the names.
        like: A data frame without records that has the columns' types; None for pandas' own types.

    Raises:
        InputError: The declarations are not those of the columns, and the errors of `Dataset`.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"age": [25, 61, 43], "smoker": [True, False, False]})
        >>> table = dp.Table.from_frame(frame, {"age": dp.cuts(0, 30, 50, 120), "smoker": [False, True]})
        >>> table.n, table.domain("age"), table.column("age").tolist()
        (3, ('< 30', '30 to < 50', '>= 50'), [0, 2, 1])
    """

    columns: tuple[Column, ...] = ()
    like: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if [(c.name, c.domain) for c in self.columns] != list(zip(self.names, self.states, strict=True)):
            raise InputError("The declarations are not those of the table's columns.")

    @classmethod
    def from_frame(cls, frame: Any, declarations: Mapping[str, Declaration] | Sequence[Column]) -> "Table":
        """Return the table of a data frame over declared domains. Columns without a declaration are left out.

        Args:
            frame: A data frame of pandas, polars or pyarrow, or of another library that narwhals supports.
            declarations: As `declare` takes them, or the columns that `read_domains` returns.

        Returns:
            The table.

        Raises:
            InputError: The frame is none, lacks a declared column, or has a value outside its domain; the message names
                the first such record.

        Example:
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"rain": ["no", "yes", None]})
            >>> dp.Table.from_frame(frame, {"rain": ["no", "yes", None]}).states
            (('no', 'yes', 'missing'),)
        """
        columns = declare(declarations) if isinstance(declarations, Mapping) else _columns(declarations)
        try:
            data = nw.from_native(frame, eager_only=True)
        except TypeError:
            raise InputError(
                f"frame must be a data frame of pandas, polars or pyarrow, not {brief(type(frame).__name__)}: read a "
                'file first, for example pd.read_csv("clinic.csv").'
            ) from None
        if not columns:
            raise InputError("Declare at least one column.")
        for column in columns:
            if column.name not in data.columns:
                raise InputError(
                    f"The frame has no column {brief(column.name)}; its columns are {brief(', '.join(data.columns))}."
                )
        texts = pd.DataFrame({column.name: _as_texts(data[column.name]) for column in columns})
        encoded = encode(texts, columns)
        return cls(encoded.names, encoded.states, encoded.codes, columns, data.select(encoded.names).head(0))

    def with_codes(self, codes: Codes) -> "Table":
        """Return other records, such as synthetic ones, over the same columns."""
        return replace(self, codes=codes)

    def take(self, records: Any) -> "Table":
        """Return the table with these records only."""
        return self.with_codes(self.codes_of(records))

    def select(self, names: Iterable[str]) -> "Table":
        """Return the table with these columns only, in this order."""
        part = super().select(names)
        columns = tuple(self.columns[self.position[name]] for name in part.names)
        return replace(self, names=part.names, states=part.states, codes=part.codes, columns=columns)

    def to_frame(self, *, seed: int | np.random.Generator = 0) -> Any:
        """Return the records as a data frame of the library and with the types of the original one.

        A number is drawn evenly within its bin. A bin without a limit is as wide as its neighbour. Groups have their
        labels. The state of missing values becomes a missing value.

        Args:
            seed: A generator or a seed, for the numbers within their bins.

        Returns:
            The data frame.

        Raises:
            InputError: The library of the frame is not installed.

        Example:
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"age": [25, 61], "smoker": [True, False]})
            >>> table = dp.Table.from_frame(frame, {"age": dp.cuts(0, 30, 50, 120), "smoker": [False, True]})
            >>> table.to_frame().dtypes.astype(str).tolist()
            ['int64', 'bool']
        """
        rng = generator(seed)
        like = nw.from_native(pd.DataFrame(columns=self.names)) if self.like is None else self.like
        series = [self._series(column, like, rng) for column in self.columns]
        frame = nw.from_dict({one.name: one for one in series}, backend=like.implementation)
        typed = [] if self.like is None else [c.name for c in self.columns if not isinstance(c, Groups)]
        if nw.dependencies.is_pandas_like_dataframe(like.to_native()):  # narwhals has one type for int64 and Int64
            return frame.to_native().astype(like.to_native().dtypes[typed].to_dict())
        return frame.with_columns(nw.col(name).cast(like.schema[name]) for name in typed).to_native()

    def _series(self, column: Column, like: Any, rng: np.random.Generator) -> Any:
        codes, dtype = self.column(column.name), like.schema[column.name]
        values: Any
        if isinstance(column, Cuts):
            bins = np.minimum(codes, len(column.points))
            values = _within_bins(column, bins, rng, is_whole=dtype.is_integer())
            values = values.astype(np.int64 if dtype.is_integer() else np.float64)
        else:
            states = [state == str(True) if dtype == nw.Boolean else state for state in (*column.states, "")]
            values = np.array(states, dtype=object)[codes]
        is_missing = codes >= len(column.states)
        shown = [
            None if missing else value for value, missing in zip(values.tolist(), is_missing.tolist(), strict=True)
        ]
        return nw.new_series(column.name, shown, backend=like.implementation)


def _as_texts(series: Any) -> "pd.Series":
    """Return the values of a column of a frame as text, and None where a value is missing."""
    index, distinct = pd.factorize(np.asarray(series.to_numpy()), use_na_sentinel=True)
    texts = np.array([*map(value_text, distinct.tolist()), None], dtype=object)
    return pd.Series(texts[index], dtype="str")


def _within_bins(column: Cuts, codes: Codes, rng: np.random.Generator, *, is_whole: bool) -> FloatArray:
    """Return a number (n,) drawn evenly within each record's bin."""
    points = np.array(column.points)
    if column.limits is not None:
        low, high = column.limits
    else:
        first, last = (
            (points[1] - points[0], points[-1] - points[-2]) if len(points) > 1 else (abs(points[0]) or 1,) * 2
        )
        low, high = points[0] - first, points[-1] + last
    edges = np.array([low, *points, high])
    below, above = edges[codes], edges[codes + 1]
    if not is_whole:
        return below + rng.random(len(codes)) * (above - below)
    first_whole, beyond = np.ceil(below), np.maximum(np.ceil(above), np.ceil(below) + 1)
    return first_whole + np.floor(rng.random(len(codes)) * (beyond - first_whole))


# The short form of a domain description


def declarations_from_toml(text: str) -> tuple[Column, ...]:
    """Return the columns that a TOML file declares; docs/your-table.md shows one. Errors: InputError."""
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The declarations are not TOML: {error}.") from None
    return declare({name: _from_entry(name, entry) for name, entry in entries.items()})


def _from_entry(name: str, entry: object) -> Declaration:
    """Return the declaration in one line of the file: a list of values, or {cuts = …}, {groups = …}, {values = …}."""
    if isinstance(entry, list):
        return entry
    kinds = {"cuts", "groups", "values"}
    if not isinstance(entry, dict) or len(kinds & set(entry)) != 1 or set(entry) - kinds - {"missing"}:
        raise InputError(
            f"The declaration of column {brief(name)} must be a list of values, or one of {{cuts = [0, 30, 120]}}, "
            '{groups = {north = ["a", "b"]}} and {values = ["no", "yes"], missing = true}.'
        )
    missing = [None] if entry.get("missing") is True else []
    if "cuts" in entry:
        return cuts(*entry["cuts"], *missing)
    if "groups" in entry:
        return entry["groups"] | dict.fromkeys(missing, ())
    return [*entry["values"], *missing]
