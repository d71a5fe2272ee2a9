"""The files and addresses that the owner of a server has named. A visitor cannot make the server read others.

The owner names them at the start, by `--data-root` and `--connect` or in the environment. Settings, links and messages
contain only the public name of a connection, and the path of a file below the folder.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from dpbayes.base.validation import InputError, brief
from dpbayes.ui.session.roles import Act, person

DATA_ROOT, CONNECT = "DPBAYES_DATA_ROOT", "DPBAYES_CONNECT"
"""Variables of the environment: a folder; and addresses, one per line, with an optional `name=` before each."""

FILES = "files"
"""The public name of the files below the folder."""

HOW = (
    "The owner of the server names its connections: python -m dpbayes --data-root FOLDER for files below a folder, "
    "--connect NAME=ADDRESS for a database."
)

MOST_LISTED, MOST_LOOKED_AT = 200, 5_000
"""The number of files and folders that a list offers, and that are searched for the list."""

PARQUET, DUCKDB = (".parquet", ".pq"), (".duckdb", ".ddb", ".db")

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,39})=(.+)", re.DOTALL)
_SIGNS = re.compile(r"[%?#*\x00-\x1f]")
"""Characters that have a meaning in an address, and are refused in a path."""


@dataclass(frozen=True)
class Connections:
    """The places that a server may read: files below `root`, if there is one, and `addresses` by public name."""

    root: Path | None = None
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The public names of all connections."""
        return (*self.addresses, *((FILES,) if self.root else ()))

    def address(self, name: str, path: str = "") -> str:
        """Return the address of a connection; for FILES, the address of a path below the folder.

        Errors: InputError for an unknown name, and for a path that is not below the folder. The message does not
        reveal whether such a file exists elsewhere.
        """
        if name == FILES and self.root is not None:
            return _address_below(self.root, path)
        if name not in self.addresses:
            raise InputError(f"This server has no connection called {brief(name)}. {HOW}")
        return self.addresses[name]

    def within(self, name: str) -> Path | None:
        """Return the folder that a connection must not leave, also by views in its file.

        None for an address that the owner gave: it may name any place.
        """
        return self.root if name == FILES else None


def connections() -> Connections:
    """Return the connections that this person may open. Errors: InputError for an invalid entry."""
    named = named_connections()
    return named if person().may(Act.CONNECT) else Connections()


def named_connections() -> Connections:
    """Return the connections that the environment names. Errors: InputError for an invalid entry."""
    lines = os.environ.get(CONNECT, "").splitlines()
    return read_connections(os.environ.get(DATA_ROOT, ""), lines)


def connection_names() -> tuple[str, ...]:
    """Return the public names that a link of this person may contain; none if an entry is invalid."""
    try:
        return connections().names
    except InputError:
        return ()


def read_connections(root: str, lines: Iterable[str]) -> Connections:
    """Return the connections that texts of the owner name.

    Errors: InputError for a folder that does not exist, a repeated name, and an invalid address or one with a password.
    """
    folder = Path(root).resolve() if root.strip() else None
    if folder is not None and not folder.is_dir():
        raise InputError(f"The data root {brief(root)} is not a folder.")
    addresses: dict[str, str] = {}
    for number, text in enumerate((line.strip() for line in lines if line.strip()), start=1):
        named = _NAMED.fullmatch(text)
        name, address = named.groups() if named else (str(number), text)
        if name in addresses or name == FILES:
            raise InputError(f"Two connections are called {brief(name)}; give them different names.")
        try:
            from dpbayes.sources.engines.address import parsed  # late: a server without connections starts faster

            addresses[name] = str(parsed(address))
        except InputError as error:
            raise InputError(f"The connection {brief(name)} cannot be used. {error}") from None
    return Connections(folder, addresses)


# Files below the folder


def _address_below(root: Path, path: str) -> str:
    place = _below(root, path)
    if place.is_dir():
        for inside in place.rglob("*"):
            if inside.is_symlink() and not _lies_below(root, inside):
                raise InputError(f"{brief(path)} contains a link that leads out of the data root; remove the link.")
    elif place.suffix.lower() in DUCKDB:
        return f"duckdb:{place}"
    elif place.suffix.lower() not in PARQUET:
        raise InputError(
            f"{brief(path)} cannot be connected: only files that end in {', '.join((*PARQUET, *DUCKDB))} and folders "
            "of Parquet files can. Upload other tables instead."
        )
    return f"parquet:{place}"


def _below(root: Path, path: str) -> Path:
    """Return the target of a path, with links resolved. Errors: InputError unless it exists below the folder."""
    text = path.strip()
    if _SIGNS.search(text):
        raise InputError(
            f"The path {brief(path)} has a character that an address cannot contain; rename the file or the folder."
        )
    try:
        if not text or text.startswith(("~", "-")) or Path(text).is_absolute():
            raise ValueError
        place = (root / text).resolve(strict=True)
        if not place.is_relative_to(root):
            raise ValueError
    except (OSError, ValueError, RuntimeError):  # the same message for a missing file and a file elsewhere
        raise InputError(
            f"The data root does not contain {brief(path)}. Type a path relative to the data root, such as "
            "2026/visits.parquet."
        ) from None
    if _SIGNS.search(str(place)):
        raise InputError(
            f"The path {brief(path)} leads to a name with a character that an address cannot contain; rename the file "
            "or the folder."
        )
    return place


def _lies_below(root: Path, place: Path) -> bool:
    try:
        return place.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def listed_files(root: Path) -> tuple[str, ...]:
    """Return files and folders that can be connected, as sorted paths below the folder; links are left out."""
    offered = set[Path]()
    for place in islice(root.rglob("[!.]*"), MOST_LOOKED_AT):  # `rglob` follows no link
        ending = place.suffix.lower()
        if ending not in (*PARQUET, *DUCKDB) or place.is_symlink() or not place.is_file():
            continue
        offered |= {place, place.parent} if ending in PARQUET else {place}
    return tuple(sorted(place.relative_to(root).as_posix() for place in offered - {root}))[:MOST_LISTED]
