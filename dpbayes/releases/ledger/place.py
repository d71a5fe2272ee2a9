"""The place of a ledger: a file of this computer, or a database of a PostgreSQL server that a team shares.

A server has an address, postgresql://USER@HOST:PORT/DATABASE, which a `Path` can contain too, with one slash less. No
address contains a password.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from dpbayes.base.libraries import extra
from dpbayes.releases.ledger.events import LedgerError

if TYPE_CHECKING:
    from dpbayes.sources.engines.postgresql import PostgresServer

_SERVER = re.compile(r"\s*(?:postgres(?:ql)?:|[A-Za-z][A-Za-z0-9+.-]+:/)")
r"""The beginning of an address; C:\ is a drive."""

_SHAPE = "Write the address of a shared ledger as postgresql://USER@HOST:PORT/DATABASE."


def ledger_path(named: str | os.PathLike[str] | None = None) -> Path:
    """Return the place of the ledger: as named, else that of DPBAYES_LEDGER, else in the person's data folder.

    Errors: InputError for the address of a server with a password or without a part; it does not repeat the address.
    """
    given = named or os.environ.get("DPBAYES_LEDGER")
    if given:
        server = server_of(Path(given))
        return Path(given) if server is None else Path(server.title)
    return user_folder() / "ledger.sqlite"


def user_folder() -> Path:
    """Return the person's data folder."""
    with extra("release", "The default path of the ledger"):
        from platformdirs import user_data_path  # late: starting the program costs nothing

    return user_data_path("dpbayes", appauthor=False)


def is_server(path: Path) -> bool:
    """Whether a path holds the address of a server."""
    return bool(_SERVER.match(str(path)))


def server_of(path: Path) -> "PostgresServer | None":
    """Return the server whose address a path holds; None for a file. Errors: InputError, as of `ledger_path`."""
    if not is_server(path):
        return None
    from dpbayes.sources.engines.address import parsed, server_at  # late: most ledgers are files

    kind, _, rest = str(path).strip().partition(":")
    if kind not in ("postgres", "postgresql"):
        raise LedgerError(_SHAPE)
    address = parsed(f"postgresql://{rest.lstrip('/')}")
    server = server_at(address)
    if address.table or "host" not in server.connection or "dbname" not in server.connection:
        raise LedgerError(_SHAPE)
    return server


def place_text(path: Path) -> str:
    """Return the name of a ledger in sentences: its path or its address."""
    server = server_of(path)
    return str(path) if server is None else server.title
