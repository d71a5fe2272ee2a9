"""Tables that are counted in place: in files by DuckDB, in a DuckDB or PostgreSQL database, or in Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dpbayes.base.libraries import pa, pd
from dpbayes.base.validation import InputError, distinct_names
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.sources.columns import Column
from dpbayes.sources.engines.address import Address, parsed
from dpbayes.sources.engines.connect import Backend, opened, table_names, table_of
from dpbayes.sources.engines.count import counts_in, missing_column

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Field:
    """A column in the engine: its name, and its type in the words of ibis."""

    name: str
    type: str


@dataclass(frozen=True)
class Engine:
    """A table at an address, which is counted in place. Each method opens a read-only connection and closes it.

    Only counts leave the engine, except for `values`, `head` and `sample`, which are for the curator. The views of a
    DuckDB file read no file outside of the folder `within`. Errors of all methods: InputError, with one sentence on the
    cause.
    """

    address: Address
    within: Path | None = None

    @property
    def title(self) -> str:
        """The table's name on screen and in a ledger, without a password."""
        return str(self.address)

    @contextmanager
    def _opened(self) -> "Iterator[tuple[Backend, ir.Table]]":
        with opened(self.address, self.within) as connection:
            yield connection, table_of(connection, self.address)

    def fields(self) -> tuple[Field, ...]:
        """Return the table's columns."""
        with self._opened() as (_, table):
            return tuple(Field(str(name), str(kind)) for name, kind in table.schema().items())

    def counts(self, network: Network, columns: tuple[Column, ...]) -> Counts:
        """Count the table for a network over some of the declared columns."""
        with self._opened() as (connection, table):
            return counts_in(connection, table, network, columns)

    def values(self, name: str, most: int) -> "pd.Series":
        """Return up to `most` distinct values of a column as text with their records, the most frequent first.

        The values are the index. A domain made from them leaks information.
        """
        import ibis

        with self._opened() as (connection, table):
            if name not in table.columns:
                raise missing_column(name)
            grouped = table.select(value=table[name]).group_by("value").aggregate(records=lambda rows: rows.count())
            frequent = grouped.order_by([ibis.desc("records"), "value"]).limit(most)
            answer = connection.to_pyarrow(_shown(frequent))
            return pd.Series(answer["records"].to_numpy(), index=pd.Index(_texts(answer["value"])), name=name)

    def head(self, most: int) -> "pd.DataFrame":
        """Return a few records as text."""
        with self._opened() as (connection, table):
            return _frame(connection, table.limit(most))

    def sample(self, most: int) -> "pd.DataFrame":
        """Return a random sample of `most` records without replacement as text; all records if there are no more."""
        import ibis

        with self._opened() as (connection, table):
            return _frame(connection, table.order_by(ibis.random()).limit(most))


def _shown(table: "ir.Table") -> "ir.Table":
    """Return a table whose decimals, dates and the like are text; numbers become text as in a file."""
    plain = [name for name, kind in table.schema().items() if kind.is_primitive() or kind.is_string()]
    return table.mutate(
        **{
            name: table[name].cast("string")
            for name in table.columns
            if name not in plain and not _is_nested(table, name)
        }
    )


def _is_nested(table: "ir.Table", name: str) -> bool:
    return bool(table[name].type().is_nested() or table[name].type().is_binary())


def _frame(connection: Backend, table: "ir.Table") -> "pd.DataFrame":
    answer = connection.to_pyarrow(_shown(table))
    return pd.DataFrame({name: _texts(answer[name]) for name in answer.column_names}, dtype="str")


def _texts(values: "pa.ChunkedArray") -> "pd.Series":
    try:
        text: pd.Series = values.cast(pa.string()).fill_null("").to_pandas()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists and the like
        text = pd.Series(["" if value is None else str(value) for value in values.to_pylist()], dtype="str")
    return text


@dataclass(frozen=True, eq=False)
class DeclaredTable:
    """A table in an engine, with the declared domains of the columns in use. `count` accepts it like a `Dataset`.

    Args:
        engine: The table, as `open_table` returns it.
        columns: The declared domains of the columns in use, such as those of `read_domains`.

    Raises:
        InputError: There is no column, or a column is named twice.

    Example:
        >>> import tempfile, pandas
        >>> folder = tempfile.mkdtemp()
        >>> pandas.DataFrame({"rain": ["yes", "no", "yes"]}).to_parquet(f"{folder}/part.parquet")
        >>> rain = dp.Categories("rain", ("no", "yes"), public=True)
        >>> dp.count(dp.network("rain"), dp.DeclaredTable(dp.open_table(f"parquet:{folder}"), (rain,))).values
        array([1, 2])
    """

    engine: Engine
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if not distinct_names("column", (column.name for column in self.columns)):
            raise InputError("Choose at least one column.")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def states(self) -> tuple[tuple[str, ...], ...]:
        """The declared domain of every column in use."""
        return tuple(column.domain for column in self.columns)

    def counts(self, network: Network) -> Counts:
        """Count the records of every cell. Errors: InputError for an undeclared value, and if the engine fails."""
        return self.engine.counts(network, self.columns)


def open_table(text: str, within: Path | None = None) -> Engine:
    """Return the table that an address names. The table is opened at its first use.

    Args:
        text: The address, such as "duckdb:/data/clinic.duckdb?table=visits".
        within: The folder that must contain all files that the views of a DuckDB file read. With None, the views may
            read every file that this program can read.

    Returns:
        The table, to be used in a `DeclaredTable`.

    Raises:
        InputError: The text is not an address, contains a password, or names no table.

    Example:
        >>> dp.open_table("duckdb:/data/clinic.duckdb")
        Traceback (most recent call last):
        ...
        dpbayes.base.validation.InputError: ...
    """
    address = parsed(text)
    if not address.names_table:
        raise InputError("The address has no table. Add ?table=NAME at its end.")
    return Engine(address, within)


def tables_of(text: str, within: Path | None = None) -> tuple[str, ...]:
    """Return the addresses of all tables at the place of an address. Errors: InputError."""
    address = parsed(text)
    if address.kind == "parquet":
        return (str(address),)
    with opened(address, within) as connection:
        return tuple(str(replace(address, table=name)) for name in table_names(connection, address))
