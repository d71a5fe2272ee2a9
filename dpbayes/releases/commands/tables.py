"""The table, the graph and the output of a command, by its arguments."""

import argparse
from pathlib import Path

from dpbayes.base.validation import InputError, brief, utf8_text
from dpbayes.model.counts import Counts, Source, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.bif import read_bif
from dpbayes.sources.columns import Column, encode
from dpbayes.sources.edgelist import network, read_edges
from dpbayes.sources.engines.table import DeclaredTable
from dpbayes.sources.files import read_table


def add_out(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the arguments that name the output, and that permit to replace a file."""
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=about)
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")


def files_read(args: argparse.Namespace) -> list[Path]:
    """Return the files and folders that a command reads, by its arguments.

    Errors: InputError for an invalid address.
    """
    words = vars(args)
    paths = [words[name] for name in ("data", "domains", "file") if words.get(name) is not None]
    text, source = words.get("network"), words.get("source")
    if text is not None and _is_file(text):
        paths.append(Path(text))
    if source is not None:
        from dpbayes.sources.engines.address import parsed

        paths += parsed(source).paths
    return paths


def table_of(args: argparse.Namespace, columns: tuple[Column, ...]) -> Dataset | DeclaredTable:
    """Return the table that was named, a file or an address. Errors: InputError, OSError."""
    if args.data is not None:
        return table_of_file(args.data, columns)
    from dpbayes.sources.engines.table import open_table

    return DeclaredTable(open_table(args.source), columns)


def table_of_file(path: Path, columns: tuple[Column, ...]) -> Dataset:
    """Read a file. Errors: InputError, OSError."""
    return encode(read_table(path.name, path.read_bytes()).frame, columns)


def network_of(text: str, table: Dataset | Source) -> Network:
    """Return the graph of a BIF file, of a list of arrows or of typed edges, over the table's own domains.

    Errors: InputError, also for a node that is not a column; OSError.
    """
    if not _is_file(text):
        drawn = network(text)
    elif text.lower().endswith(".bif"):
        drawn = read_bif(utf8_text(Path(text).read_bytes()))[0]
    else:
        drawn = Network.from_edges(*read_edges(utf8_text(Path(text).read_bytes())))
    domains = dict(zip(table.names, table.states, strict=True))
    missing = next((name for name in drawn.names if name not in domains), None)
    if missing is not None:
        raise InputError(f"The node {brief(missing)} is not a column of the table.")
    return Network.from_edges(drawn.names, drawn.edges, {name: domains[name] for name in drawn.names})


def _is_file(text: str) -> bool:
    """Whether a graph is the name of a file, and not typed edges."""
    name = text.lower()
    return name.endswith(".bif") or (name.endswith((".txt", ".edges")) and "->" not in text)


def counts_of(drawn: Network, table: Dataset | DeclaredTable) -> Counts:
    """Count a table. Errors: InputError, also for an interruption."""
    try:
        return count(drawn, table)
    except KeyboardInterrupt:
        raise InputError("The count was stopped, and nothing was released.") from None
