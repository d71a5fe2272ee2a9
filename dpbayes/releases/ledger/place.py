"""Where a ledger is: a file of this computer, or a database of a PostgreSQL server that a team shares.

A server is named by an address, postgresql://USER@HOST:PORT/DATABASE, which a `Path` may hold as well: it has one slash
less then. No address holds a password.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from dpbayes.base.extras import extra
from dpbayes.releases.ledger.events import LedgerError

if TYPE_CHECKING:
    from dpbayes.sources.engines.postgresql import PostgresServer

_SERVER = re.compile(r"\s*postgres(?:ql)?:")
_SHAPE = "The ledger of a team is written postgresql://USER@HOST:PORT/DATABASE, with the server and the database."


def ledger_path(named: str | os.PathLike[str] | None = None) -> Path:
    """Return where the ledger is: as named, else the environment's DPBAYES_LEDGER, else in the person's data folder.

    Errors: InputError for an address of a server that has a password or lacks a part; it is not repeated.
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

    rest = str(path).strip().partition(":")[2].lstrip("/")
    address = parsed(f"postgresql://{rest}")
    server = server_at(address)
    if address.table or "host" not in server.connection or "dbname" not in server.connection:
        raise LedgerError(_SHAPE)
    return server


def place_text(path: Path) -> str:
    """Return what a ledger is called in sentences: its path or its address."""
    server = server_of(path)
    return str(path) if server is None else server.title
