"""The interface of an engine, which counts a table in place, and the table with its declared domains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.steps import Work, mapped
from dpbayes.base.text import many
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError, brief, distinct_names
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.model.regression import GramMatrix, NumericColumn
from dpbayes.sources.columns import Column


@dataclass(frozen=True)
class Field:
    """A column in the engine: its name, its type in the engine's terms, and whether the type is numeric."""

    name: str
    type: str
    is_number: bool = False


@dataclass(frozen=True, eq=False)
class Tally:
    """The result of counting a table for a network: `values` (K,) over its cells, and the records that do not count.

    `n` records were counted. `left_out` records had a missing value in a column whose rule is to drop the record.
    `outside` is the number of other records with an undeclared value, by column in use; no cell counts them.
    """

    values: IntArray
    n: int
    left_out: int
    outside: Mapping[str, int]


class Engine(Protocol):
    """A table that is counted in place. Engines never write to the table, and only aggregates leave the engine."""

    @property
    def title(self) -> str:
        """The table's name on screen and in a ledger, without a password."""

    def fields(self) -> tuple[Field, ...]:
        """Return the table's columns. Errors: InputError if the table cannot be reached."""

    def tally(self, network: Network, columns: Sequence[Column]) -> Work[Tally]:
        """Count the table, in steps; the scan ends if the caller takes no further step.

        The count takes one scan. An engine may need a second scan to leave out records, and a third to find the columns
        with undeclared values.

        `columns` are all columns in use, by name at least the network's nodes. As for a table in memory, a record with
        a missing value in any of them is left out, and undeclared values of any of them are reported. Errors:
        InputError, with one sentence on the cause.
        """

    def gram(self, columns: Sequence[NumericColumn]) -> Work[GramMatrix]:
        """Sum the products of columns mapped to [-1, 1], the target last, in one scan and in steps, like `tally`.

        Errors: InputError for a column that is not numeric, for missing or infinite values, and those of `tally`.
        """

    def values(self, name: str, most: int) -> "Work[pd.Series]":
        """Return up to `most` distinct values of a column as text ("" if missing), each with its number of records.

        The values are the index. The query scans the column, in steps, like `tally`. It reads the records, so a domain
        made from its result leaks information.
        """

    def head(self, most: int) -> "Work[pd.DataFrame]":
        """Return a few records as text, for the curator only; in steps, like `tally`, because a view can be slow."""

    def sample(self, most: int, rng: np.random.Generator) -> "Work[pd.DataFrame]":
        """Sample `most` records without replacement, as text; all records if there are no more. For the curator only.

        All sets of this size are equally likely. The sample takes one scan, in steps, like `tally`. The same generator
        and an unchanged table give the same records. Errors: InputError.
        """


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
        return tuple(column.name for column in self.columns)

    @cached_property
    def states(self) -> tuple[tuple[str, ...], ...]:
        """The declared domain of every column in use."""
        return tuple(column.domain for column in self.columns)

    def counting(self, network: Network) -> Work[Counts]:
        """Count the records of every cell.

        Errors: InputError for a value that is not declared, and if the engine fails.
        """
        return mapped(self.engine.tally(network, self.columns), lambda tally: self._counts(network, tally))

    def _counts(self, network: Network, tally: Tally) -> Counts:
        wrong = [(name, records) for name, records in tally.outside.items() if records]
        if wrong:
            columns = " and ".join(f"{brief(name)} in {many(records, 'record')}" for name, records in wrong[:3])
            more = f" and {len(wrong) - 3} other columns" if len(wrong) > 3 else ""
            raise InputError(
                f"There are undeclared values in {columns}{more}. Declare them, or group them with others."
            )
        return Counts(network, tally.values, tally.n)
