"""What counts a table where it lies, and what counting it tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pandas as pd

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
    """A column as the engine has it: its name, its type in the engine's own word, and whether it holds numbers."""

    name: str
    type: str
    is_number: bool = False


@dataclass(frozen=True, eq=False)
class Tally:
    """What counting a table tells of a network: `values` (K,) over its cells, and what was not counted.

    `n` records were counted; `left_out` had a missing value in a column whose rule is to drop the record. `outside`
    has, by column in use, how many of the others had a value that is not declared: no cell counts these.
    """

    values: IntArray
    n: int
    left_out: int
    outside: Mapping[str, int]


class Engine(Protocol):
    """A table that is counted where it lies. Nothing is written to it, and only aggregates of it travel."""

    @property
    def title(self) -> str:
        """What the table is called on screen and in a ledger; it holds no password."""

    def fields(self) -> tuple[Field, ...]:
        """Return the table's columns. Errors: InputError where the table cannot be reached."""

    def tally(self, network: Network, columns: Sequence[Column]) -> Work[Tally]:
        """Count the table, in steps; a step that is not taken ends the scan.

        It takes one scan. An engine may take a second one to leave records out, and one more to say which columns have
        values that are not declared.

        `columns` are all that are in use, by name at least the network's nodes: records are left out for a missing
        value in any of them, and a value that is not declared is told of any of them, as of a table in memory. Errors:
        InputError in one sentence for whatever stands in the way.
        """

    def gram(self, columns: Sequence[NumericColumn]) -> Work[GramMatrix]:
        """Sum up the products of columns mapped to [-1, 1], the target last, in one scan and in steps as `tally` does.

        Errors: InputError for a column that is no numbers, values that are missing or not finite, and as of `tally`.
        """

    def values(self, name: str, most: int) -> Work[pd.Series]:
        """Look up up to `most` different values of a column as text, "" where missing, each with its records.

        The index has the values. It takes a scan of the column, in steps as `tally` does. This looks at the records: a
        domain that is made of it is a leak.
        """

    def head(self, most: int) -> Work[pd.DataFrame]:
        """Look up a few records as text, in steps as `tally` does: a view may take its time; for the curator alone."""

    def sample(self, most: int, rng: np.random.Generator) -> Work[pd.DataFrame]:
        """Draw `most` records at random without replacement, all if there are no more, as text; for the curator alone.

        Any set of so many records is as likely as any other. It takes a scan, in steps as `tally` does; with the same
        generator a table that lies as it did gives the same records. Errors: InputError.
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
