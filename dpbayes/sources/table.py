"""A table with the declarations of its columns: from a data frame, and back to one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from dpbayes.base.libraries import nw, pd
from dpbayes.base.randomness import generator
from dpbayes.base.types import Codes, FloatArray
from dpbayes.base.validation import InputError, brief, type_checked, warn_caller
from dpbayes.model.dataset import Dataset
from dpbayes.sources.columns import Column, Cuts, encode, remarks
from dpbayes.sources.domains import Declarations, declare, value_text


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

    def __new__(cls, names: Any = (), *_: Any, **__: Any) -> Self:
        """Refuse a data frame in place of names, before the arguments are counted."""
        if hasattr(names, "columns"):
            raise InputError('dp.Table takes codes. Write dp.Table.from_frame(frame, {"smoker": ["no", "yes"]}).')
        return super().__new__(cls)

    def __post_init__(self) -> None:
        super().__post_init__()
        if [(c.name, c.domain) for c in self.columns] != list(zip(self.names, self.states, strict=True)):
            raise InputError("The declarations are not those of the table's columns.")

    @classmethod
    @type_checked
    def from_frame(cls, frame: Any, declarations: Declarations) -> "Table":
        """Return the table of a data frame over declared domains. Columns without a declaration are left out.

        Args:
            frame: A data frame of pandas, polars or pyarrow, or of another library that narwhals supports.
            declarations: As `declare` takes them: a dictionary, or the file of a domain description.

        Returns:
            The table. A `UserWarning` states what missing values count as, if the declaration does not, and how many
            numbers are outside of their limits.

        Raises:
            InputError: The frame is none, lacks a declared column, or has a value outside its domain; the message names
                the first such record.

        Example:
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"rain": ["no", "yes", None]})
            >>> dp.Table.from_frame(frame, {"rain": ["no", "yes", None]}).states
            (('no', 'yes', 'missing'),)
        """
        columns = declare(declarations)
        try:
            data = nw.from_native(frame, eager_only=True)
        except nw.exceptions.DuplicateError:
            raise InputError("The frame has two columns of one name. Rename one of them.") from None
        except TypeError:
            raise InputError(
                f"frame must be a data frame of pandas, polars or pyarrow, not {brief(type(frame).__name__)}: read a "
                'file first, for example pd.read_csv("clinic.csv").'
            ) from None
        for column in columns:
            if column.name not in data.columns:
                present = brief(", ".join(map(str, data.columns)), 200)
                raise InputError(f"The frame has no column {brief(column.name)}; its columns are {present}.")
        texts = pd.DataFrame({column.name: _as_texts(data[column.name]) for column in columns})
        encoded = encode(texts, columns)
        for remark in remarks(texts, columns):
            warn_caller(remark)
        return cls(encoded.names, encoded.states, encoded.codes, columns, data.select(encoded.names).head(0))

    def select(self, names: Iterable[str]) -> "Table":
        """Return the table with these columns only, in this order."""
        part = super().select(names)
        columns = tuple(self.columns[self.position[name]] for name in part.names)
        return replace(self, names=part.names, states=part.states, codes=part.codes, columns=columns)

    @type_checked
    def to_frame(self, *, seed: int | np.random.Generator = 0) -> Any:
        """Return the records as a data frame of the library and with the types of the original one.

        A number is drawn evenly within its bin. A bin without a limit is as wide as its neighbour. Groups have their
        labels. The state of missing values becomes a missing value, or the first number that stands for missing values.

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
        # Plain lists: polars needs pyarrow to take series of narwhals.
        values = {column.name: self._values(column, like.schema[column.name], rng) for column in self.columns}
        frame = nw.from_dict(values, backend=like.implementation)
        typed = [] if self.like is None else [c.name for c in self.columns if isinstance(c, Cuts) or not c.values]
        if nw.dependencies.is_pandas_like_dataframe(like.to_native()):  # narwhals has one type for int64 and Int64
            kinds = {name: like.to_native().dtypes[name] for name in typed}
            return frame.to_native().astype({name: _type(kind, values[name]) for name, kind in kinds.items()})
        return frame.with_columns(nw.col(name).cast(like.schema[name]) for name in typed).to_native()

    def _values(self, column: Column, dtype: Any, rng: np.random.Generator) -> list[Any]:
        """Return the values of a column, None where they are missing."""
        codes, absent = self.column(column.name), None
        values: Any
        if isinstance(column, Cuts):
            bins = np.minimum(codes, len(column.points))
            values = _within_bins(column, bins, rng, is_whole=dtype.is_integer())
            values = values.astype(np.int64 if dtype.is_integer() else np.float64)
            absent = values.dtype.type(column.codes[0]).item() if column.codes else None
        else:
            states = [state == str(True) if dtype == nw.Boolean else state for state in (*column.states, "")]
            values = np.array(states, dtype=object)[codes]
        is_missing = (codes >= len(column.states)).tolist()
        return [absent if missing else value for value, missing in zip(values.tolist(), is_missing, strict=True)]


def _type(kind: Any, values: list[Any]) -> Any:
    """Return a type of pandas, or one like it that has missing values if some values are missing."""
    return {"i": "Int64", "u": "UInt64", "b": "boolean"}.get(kind.kind, kind) if None in values else kind


def _as_texts(series: Any) -> "pd.Series":
    """Return the values of a column of a frame as text, and None where a value is missing."""
    try:
        index, distinct = pd.factorize(np.asarray(series.to_numpy()), use_na_sentinel=True)
    except TypeError:
        raise InputError(f"A cell of column {brief(series.name)} has several values. Write one in each.") from None
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
