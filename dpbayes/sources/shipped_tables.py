"""Tables that come with the program, each with public domains from its codebook and a network to begin with."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError, brief
from dpbayes.model.network import Network
from dpbayes.model.regression import Bounds, RegressionData
from dpbayes.sources.columns import encode
from dpbayes.sources.data_files import read_data, read_index
from dpbayes.sources.domains import DeclaredColumn, declare, read_domains
from dpbayes.sources.files import read_table
from dpbayes.sources.table import Table


@dataclass(frozen=True)
class ShippedTable:
    """A table of data/tables: its file, what it is, where it is from, and the parents in a network to begin with.

    `regression_bounds` are the public bounds of the columns that a regression reads as numbers, the target last.
    """

    file: str
    title: str
    description: str
    source: str
    parents: Mapping[str, Sequence[str]]
    regression_bounds: Mapping[str, tuple[float, float]] | None = None


SHIPPED = {key: ShippedTable(**entry) for key, entry in read_index("tables").items()}


@functools.lru_cache(maxsize=4)
def load_shipped(key: str) -> Table:
    """Return a table that comes with the package, with every column in use.

    Args:
        key: Its name, such as "house_votes_84" or "adult".

    Returns:
        The table, with the declarations of its columns.

    Raises:
        InputError: There is no such table, or its file cannot be read.

    Example:
        >>> dp.load_shipped("house_votes_84").n
        435
    """
    columns = declare(shipped_domains(key))
    records = encode(shipped_frame(key), columns)
    return Table(records.names, records.states, records.codes, columns)


def shipped_frame(key: str) -> "pd.DataFrame":
    """Return the whole file of a table of SHIPPED as a frame of text, with the columns that are not in use too."""
    return read_table(key, read_data(f"tables/{_shipped(key).file}")).frame


@functools.lru_cache(maxsize=8)
def shipped_domains(key: str) -> tuple[DeclaredColumn, ...]:
    """Return the declared columns of a table of SHIPPED, those in use in the order of the network's nodes."""
    _shipped(key)
    return read_domains(read_data(f"tables/{key}.json"))


def default_network(key: str) -> Network:
    """Return the network to begin with for a shipped table, over all columns in use and their domains.

    Args:
        key: The table, as `load_shipped` takes it.

    Returns:
        The network. Its graph was chosen without the records.

    Raises:
        InputError: No table has this key.

    Example:
        >>> dp.default_network("house_votes_84").names[:2]
        ('party', 'handicapped_infants')
    """
    edges = [(parent, child) for child, parents in _shipped(key).parents.items() for parent in parents]
    domains = {column.name: column.domain for column in declare(shipped_domains(key))}
    return Network.from_edges(tuple(domains), edges, domains)


@functools.lru_cache(maxsize=1)
def shipped_regression(key: str) -> tuple[RegressionData, Bounds]:
    """Return a table of SHIPPED as numbers in their own units, the target last, with their public bounds.

    Fulton County's 25,766 adults, 14 features and annual income, stand in for the census extract of [Zhang16] Section
    5.2, which may not be handed on. Errors: InputError naming its file, or a table without such bounds.
    """
    bounds = _shipped(key).regression_bounds
    if not bounds:
        raise InputError(f"The table {brief(key)} has no public bounds for a regression.")
    values = shipped_frame(key)[list(bounds)].astype(float).to_numpy()
    return RegressionData(values[:, :-1], values[:, -1], tuple(bounds)), bounds


def _shipped(key: str) -> ShippedTable:
    if key not in SHIPPED:
        raise InputError(f"There is no table {brief(key)}; choose one of {', '.join(SHIPPED)}.")
    return SHIPPED[key]
