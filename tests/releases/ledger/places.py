"""Where the ledgers of the tests are: in a file, and in a database of a PostgreSQL that `make engines` installs."""

import itertools
from pathlib import Path

import pytest

from tests.engines.servers import Postgres

ON_BOTH = pytest.mark.parametrize(
    "path", ["sqlite", pytest.param("postgresql", marks=pytest.mark.engines)], indirect=True
)
"""Runs a test with its `path` in a file, and once more in a database."""

IN_POSTGRESQL = pytest.mark.parametrize("path", [pytest.param("postgresql", marks=pytest.mark.engines)], indirect=True)

_NUMBERS = itertools.count()


def database(server: Postgres, template: str = "template1") -> Path:
    """Return the address of a new database, as a path holds it."""
    name = f"ledger_{next(_NUMBERS)}"
    with server.connect() as connection:
        connection.execute(f"create database {name} template {template}")
    return Path(server.address(database=name))
