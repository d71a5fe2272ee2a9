"""The files that come with the program: their folder, how they are read, and the readable names that they contain."""

import functools
import gzip
import tomllib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dpbayes.base.validation import InputError

Content = TypeVar("Content")


class DataFileError(InputError):
    """A shipped file that is missing or damaged."""


def data_folder(package: Path) -> Path:
    """Return the data folder of a package: inside an installed package, next to the package in a checkout."""
    inside = package / "data"
    return inside if inside.is_dir() else package.parent / "data"


DATA = data_folder(Path(__file__).resolve().parents[1])
"""The shipped tables and networks."""


def read_data(file: str, read: Callable[[bytes], Content]) -> Content:
    """Return the result of `read` for the content of a file in DATA, decompressed if its name ends in ".gz".

    Errors: DataFileError, which names the file, if it is missing, cannot be read, or is damaged.
    """
    try:
        content = (DATA / file).read_bytes()
        return read(gzip.decompress(content) if file.endswith(".gz") else content)
    except DataFileError:  # from another file that `read` needs
        raise
    except FileNotFoundError as error:
        raise _unusable(file, "is missing") from error
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError, KeyError) as error:  # InputError is a ValueError
        raise _unusable(file, "is damaged") from error
    except OSError as error:
        raise _unusable(file, "cannot be read") from error


def read_index(folder: str) -> dict[str, dict[str, Any]]:
    """Return the entries of the index of a folder in DATA, by file. Errors: those of `read_data`."""
    return read_data(f"{folder}/index.toml", lambda content: tomllib.loads(content.decode()))


def _unusable(file: str, fault: str) -> DataFileError:
    return DataFileError(f"data/{file} {fault}: install dpbayes again or restore the file.")


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
    return read_data("names.toml", _read)


def _read(content: bytes) -> Mapping[str, Mapping[str, ReadableName]]:
    listed = tomllib.loads(content.decode())
    return {key: {name: ReadableName(*said) for name, said in names.items()} for key, names in listed.items()}
