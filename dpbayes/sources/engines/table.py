"""Tables that are counted in place: in files by DuckDB, in a DuckDB or PostgreSQL database, or in Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError, brief, distinct_names, type_checked
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.sources.columns import Column
from dpbayes.sources.engines.address import Address, parsed
from dpbayes.sources.engines.connect import Backend, opened, table_names, table_of
from dpbayes.sources.engines.count import counts_in, file_texts

if TYPE_CHECKING:
    import ibis.expr.types as ir


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

    def types(self) -> dict[str, str]:
        """Return the type of each column in the words of ibis."""
        with self._opened() as (_, table):
            return {str(name): str(kind) for name, kind in table.schema().items()}

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
                raise InputError(f"The table has no column {brief(name)}.")
            grouped = table.select(value=table[name]).group_by("value").aggregate(records=lambda rows: rows.count())
            frequent = grouped.order_by([ibis.desc("records"), "value"]).limit(most)
            answer = _frame(connection, frequent)
            return pd.Series(answer["records"].astype(np.int64).to_numpy(), index=pd.Index(answer["value"]), name=name)

    def head(self, most: int) -> "pd.DataFrame":
        """Return a few records as text."""
        with self._opened() as (connection, table):
            return _frame(connection, table.limit(most))

    def sample(self, most: int) -> "pd.DataFrame":
        """Return a random sample of `most` records without replacement as text; all records if there are no more."""
        import ibis

        with self._opened() as (connection, table):
            return _frame(connection, table.order_by(ibis.random()).limit(most))


def _frame(connection: Backend, table: "ir.Table") -> "pd.DataFrame":
    kinds = dict(table.schema().items())
    as_text = [name for name, kind in kinds.items() if not (kind.is_nested() or kind.is_binary())]
    answer = connection.to_pyarrow(table.mutate(**{name: table[name].cast("string") for name in as_text}))
    return pd.DataFrame({name: file_texts(answer[name], kind) for name, kind in kinds.items()}, dtype="str")


@type_checked
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
