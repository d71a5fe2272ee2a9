"""The files that come with the program: their folder, how they are read, and the readable names that they contain."""

import functools
import gzip
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpbayes.base.validation import InputError

_INSIDE = Path(__file__).resolve().parents[1] / "data"
DATA = _INSIDE if _INSIDE.is_dir() else _INSIDE.parents[1] / "data"
"""The shipped tables and networks: inside an installed package, next to the package in a checkout."""


def read_data(file: str) -> bytes:
    """Return the content of a file in DATA, decompressed if its name ends in ".gz". Errors: InputError."""
    try:
        content = (DATA / file).read_bytes()
        return gzip.decompress(content) if file.endswith(".gz") else content
    except OSError as error:
        raise InputError(f"data/{file} is missing or damaged: install dpbayes again or restore the file.") from error


def read_index(folder: str) -> dict[str, dict[str, Any]]:
    """Return the entries of the index of a folder in DATA, by file. Errors: those of `read_data`."""
    return tomllib.loads(read_data(f"{folder}/index.toml").decode())


# Readable names of the nodes of published networks and the columns of shipped tables

BINARY = "_binary"
"""The suffix of the key of a shipped table with the columns of another table, in two states each."""


@dataclass(frozen=True)
class ReadableName:
    """The name of a node or column inside a sentence, and its meaning in one sentence."""

    name: str
    meaning: str


def readable_names(key: str) -> Mapping[str, ReadableName]:
    """Return the readable names in a network of NAMED or a table of SHIPPED, by published name.

    A table with fewer states has the names of the complete table. The result is empty if there are no readable names.
    Errors: those of `read_data`.
    """
    return _all_names().get(key.removesuffix(BINARY), {})


@functools.cache
def _all_names() -> Mapping[str, Mapping[str, ReadableName]]:
    listed = tomllib.loads(read_data("names.toml").decode())
    return {key: {name: ReadableName(*said) for name, said in names.items()} for key, names in listed.items()}
