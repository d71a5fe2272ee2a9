"""Readable names for the nodes of published networks and the columns of shipped tables."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from dpbayes.sources.data_files import read_data

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
    return read_data("names.toml", _read)


def _read(content: bytes) -> Mapping[str, Mapping[str, ReadableName]]:
    listed = tomllib.loads(content.decode())
    return {key: {name: ReadableName(*said) for name, said in names.items()} for key, names in listed.items()}
