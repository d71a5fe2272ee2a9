"""SQL statements from expressions of ibis, without a connection, and common code of the drivers.

The messages of drivers often contain the address, the statement or values of records, so they are never shown.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from dpbayes.base.validation import InputError

if TYPE_CHECKING:
    import ibis.expr.types as ir

CHANGED = "A column of the table was removed after the columns were read. Connect the table again."


def statement(expression: "ir.Table", dialect: str) -> str:
    """Return an expression in a dialect that ibis can write, such as "duckdb" or "bigquery"."""
    compilers = importlib.import_module(f"ibis.backends.sql.compilers.{dialect}")
    _prepare(dialect)
    compiler = compilers.compiler
    text: str = compiler.to_sqlglot(expression).sql(dialect=compiler.dialect)
    return text


def named_table(name: tuple[str, ...], schema: Mapping[str, Any]) -> "ir.Table":
    """Return a table from its name of at most three parts and the types of its columns, without a connection."""
    import ibis

    *_, catalog, database, own = (None, None, *name)
    table: ir.Table = ibis.table(dict(schema), name=own, catalog=catalog, database=database)
    return table


def quoted(name: tuple[str, ...], mark: str = '"') -> str:
    """Return a quoted name for a statement; marks inside a part are doubled."""
    return ".".join(mark + part.replace(mark, mark * 2) + mark for part in name)


def driver(module: str, engine: str, extra: str) -> Any:
    """Import a driver. Errors: InputError that states what to install."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f'{engine} needs a driver that is not installed: pip install "dpbayes[{extra}]".') from None


@cache
def _prepare(dialect: str) -> None:
    """Set the option that ibis's compiler for Spark needs; ibis sets it only if the driver is installed."""
    from ibis import config, options

    class SparkOptions(config.Config):  # type: ignore[misc]
        treat_nan_as_null: bool = False

    if dialect == "pyspark" and options.pyspark is None:
        options.pyspark = SparkOptions()
