"""Readable names of the nodes of published networks and of the columns of shipped tables, kept beside their own."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from dpbayes.sources.data_files import read_data

BINARY = "_binary"
"""Ends the key of a table of SHIPPED whose columns are those of another one, in two states each."""


@dataclass(frozen=True)
class ReadableName:
    """What a node or column is called in a sentence, and in one sentence what it says of a record."""

    name: str
    meaning: str


def readable_names(key: str) -> Mapping[str, ReadableName]:
    """Return the readable names in a network of NAMED or a table of SHIPPED, by published name.

    A table in fewer states has the names of its whole one. It is empty where the published names have none. Errors:
    those of `read_data`.
    """
    return _all_names().get(key.removesuffix(BINARY), {})


@functools.cache
def _all_names() -> Mapping[str, Mapping[str, ReadableName]]:
    return read_data("names.toml", _read)


def _read(content: bytes) -> Mapping[str, Mapping[str, ReadableName]]:
    listed = tomllib.loads(content.decode())
    return {key: {name: ReadableName(*said) for name, said in names.items()} for key, names in listed.items()}
