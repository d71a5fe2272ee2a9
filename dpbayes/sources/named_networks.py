"""Networks to start from: published ones with their tables, and binary templates of any size."""

import functools
import gzip
import itertools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.model.network import Network
from dpbayes.sources.bif import read_bif

Content = TypeVar("Content")


def data_folder(package: Path) -> Path:
    """Return where the data of a package should be: inside an installed one, beside it in a checkout."""
    inside = package / "data"
    return inside if inside.is_dir() else package.parent / "data"


DATA = data_folder(Path(__file__).resolve().parents[1])
"""The shipped tables and networks."""

MAX_NODES = 500
MAX_FEATURES = 200
MAX_FULL = 12
"""A complete graph on k binary nodes has 2^(k+1) - 2 cells and a closure of 2^k sets."""


@dataclass(frozen=True)
class NamedNetwork:
    """A published network that comes with its tables: what it is about and where it is from."""

    key: str
    title: str
    description: str
    source: str


_BNLEARN = "Copy of the bnlearn Bayesian network repository (CC BY-SA 3.0)."

NAMED: dict[str, NamedNetwork] = {
    network.key: network
    for network in (
        NamedNetwork(
            "asia",
            "Asia",
            "Chest clinic: smoking, a visit to Asia, three illnesses and their signs. 8 binary nodes.",
            f"Lauritzen and Spiegelhalter 1988. {_BNLEARN}",
        ),
        NamedNetwork(
            "cancer",
            "Cancer",
            "Lung cancer with two causes and two signs. 5 binary nodes.",
            f"Korb and Nicholson 2010. {_BNLEARN}",
        ),
        NamedNetwork(
            "earthquake",
            "Earthquake",
            "A burglar alarm that earthquakes also set off, and two neighbours who call. 5 binary nodes.",
            f"Korb and Nicholson 2010, after Pearl 1988. {_BNLEARN}",
        ),
        NamedNetwork(
            "sprinkler",
            "Sprinkler",
            "Clouds, a sprinkler, rain and wet grass. 4 binary nodes.",
            "Russell and Norvig, Artificial Intelligence: A Modern Approach (after Pearl 1988).",
        ),
        NamedNetwork(
            "survey",
            "Survey",
            "How people travel, by age, sex, education, occupation and residence. 6 nodes, 2 or 3 states.",
            f"Scutari and Denis 2014. {_BNLEARN}",
        ),
        NamedNetwork(
            "sachs",
            "Sachs",
            "Signalling proteins in human immune cells. 11 nodes with 3 states.",
            f"Sachs, Perez, Pe'er, Lauffenburger and Nolan 2005. {_BNLEARN}",
        ),
        NamedNetwork(
            "child",
            "Child",
            "Diagnosis of congenital heart disease in newborn babies. 20 nodes, 2 to 6 states.",
            f"Spiegelhalter, Dawid, Lauritzen and Cowell 1993. {_BNLEARN}",
        ),
        NamedNetwork(
            "insurance",
            "Insurance",
            "The risk of insuring a car and its driver. 27 nodes, 2 to 5 states.",
            f"Binder, Koller, Russell and Kanazawa 1997. {_BNLEARN}",
        ),
        NamedNetwork(
            "alarm",
            "Alarm",
            "Monitoring of patients in intensive care. 37 nodes, 2 to 4 states.",
            f"Beinlich, Suermondt, Chavez and Cooper 1989. {_BNLEARN}",
        ),
        NamedNetwork(
            "win95pts",
            "Windows 95 printing",
            "Troubleshooting of a printer. 76 binary nodes, up to 7 parents.",
            f"Microsoft Research (Heckerman, Breese). {_BNLEARN}",
        ),
        NamedNetwork(
            "andes",
            "Andes",
            "A tutor's model of what a student of physics knows. 223 binary nodes, up to 6 parents.",
            f"Conati, Gertner, VanLehn and Druzdzel 1997. {_BNLEARN}",
        ),
    )
}


@functools.cache
def load_named(key: str) -> tuple[Network, FloatArray]:
    """Return a network of NAMED and its published probabilities (K,), read-only.

    Errors: InputError naming an unknown key, and those of `read_shipped`.
    """
    if key not in NAMED:
        raise InputError(f"There is no network {brief(key)}; choose one of {', '.join(NAMED)}.")
    network, probabilities = read_shipped(f"networks/{key}.bif.gz", lambda content: read_bif(content.decode()))
    probabilities.setflags(write=False)
    return network, probabilities


def read_shipped(file: str, read: Callable[[bytes], Content]) -> Content:
    """Return what `read` makes of a packed file of DATA.

    Errors: InputError that names a file which is missing, cannot be read, or is not what was shipped.
    """
    try:
        return read(gzip.decompress((DATA / file).read_bytes()))
    except FileNotFoundError as error:
        raise _unusable(file, "is missing") from error
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError, KeyError) as error:  # InputError is a ValueError
        raise _unusable(file, "is damaged") from error
    except OSError as error:
        raise _unusable(file, "cannot be read") from error


def _unusable(file: str, fault: str) -> InputError:
    return InputError(f"data/{file} {fault}: install dpbayes again or restore the file.")


# Templates. All nodes are binary, with the states "no" and "yes".


def naive_bayes(d: int) -> Network:
    """The node `class` with arrows to the features x1, ..., xd; d from 1 to MAX_FEATURES."""
    features = _numbered(whole_number("The number of features", d, low=1, high=MAX_FEATURES))
    return Network.from_edges(("class", *features), [("class", feature) for feature in features])


def chain(k: int) -> Network:
    """x1 -> x2 -> ... -> xk; k from 1 to MAX_NODES."""
    names = _nodes(k)
    return Network.from_edges(names, itertools.pairwise(names))


def tree(k: int, *, branching: int = 2) -> Network:
    """k nodes filled in level by level, each with `branching` children; x1 is the root. Branching from 1 to 50."""
    names = _nodes(k)
    branching = whole_number("The number of children", branching, low=1, high=50)
    return Network.from_edges(names, [(names[(j - 1) // branching], names[j]) for j in range(1, len(names))])


def full(k: int) -> Network:
    """Every earlier node is a parent of every later one; k from 1 to MAX_FULL."""
    names = _numbered(whole_number("The number of nodes of a complete network", k, low=1, high=MAX_FULL))
    return Network.from_edges(names, itertools.combinations(names, 2))


def empty(k: int) -> Network:
    """k nodes and no arrows; k from 1 to MAX_NODES."""
    return Network.from_edges(_nodes(k), [])


def _nodes(k: int) -> tuple[str, ...]:
    return _numbered(whole_number("The number of nodes", k, low=1, high=MAX_NODES))


def _numbered(k: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(1, k + 1))
