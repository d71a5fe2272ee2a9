"""The table of a command, in a file or an engine; and `count`, which prints its exact counts."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dpbayes.base.command import HOLDS, warn
from dpbayes.base.libraries import pd
from dpbayes.base.output import require_output, write_output
from dpbayes.base.spreadsheet import safe_csv
from dpbayes.base.text import done
from dpbayes.base.validation import InputError, brief, utf8_text
from dpbayes.model.counts import Counts, Source, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.bif import read_bif
from dpbayes.sources.columns import Column, encode
from dpbayes.sources.domains import read_domains
from dpbayes.sources.edgelist import network, read_edges
from dpbayes.sources.engines.table import DeclaredTable
from dpbayes.sources.files import read_table

ARROWS = (".txt", ".edges")
"""The endings of files with a list of arrows."""

LINE = 32
"""The length of the line with the progress; a line of fixed length covers the previous one."""


def add_data(parser: argparse._ActionsContainer, *, required: bool) -> None:
    """Add the argument that names the file of a table."""
    parser.add_argument(
        "--data", required=required, type=Path, metavar="FILE", help="the table: CSV, Parquet or workbook"
    )


def add_data_or_source(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a table, of which one is required."""
    group = parser.add_mutually_exclusive_group(required=True)
    add_data(group, required=False)
    group.add_argument(
        "--source",
        metavar="ADDRESS",
        help="instead of --data, a connected table: parquet:/data/folder, duckdb:/data/f.duckdb?table=t, "
        "postgresql://user@host/db?table=s.t, without a password",
    )


def add_domains(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the domain description."""
    parser.add_argument(
        "--domains",
        required=True,
        type=Path,
        metavar="FILE",
        help="a JSON file with the domains of the table's columns",
    )


def add_network(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the graph."""
    parser.add_argument(
        "--network",
        required=True,
        metavar="FILE|EDGES",
        help='a file (.bif, .txt, .edges), or "rain -> grass; sun"',
    )


def add_given(parser: argparse.ArgumentParser) -> None:
    """Add the argument that states the evidence of a question."""
    parser.add_argument(
        "--given",
        action="append",
        default=[],
        metavar="NODE=STATE",
        help="the state of another node; may be repeated",
    )


def evidence_of(args: argparse.Namespace, network: Network) -> dict[str, str]:
    """Return the evidence of a question, by node. Errors: InputError for an argument that names no node."""
    return dict(_node_and_state(text, network.names) for text in args.given)


def _node_and_state(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the node and the state of an argument. Both may contain the sign =."""
    parts = text.split("=")
    for k in range(1, len(parts)):
        if (name := "=".join(parts[:k]).strip()) in names:
            return name, "=".join(parts[k:]).strip()
    raise InputError(f"--given takes a node and its state, such as smoke=yes. {brief(text)} names no node.")


def add_out(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the arguments that name the output, and that permit to replace a file."""
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=about)
    add_force(parser)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the argument that permits to replace a file."""
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


def declared_columns(path: Path) -> tuple[Column, ...]:
    """Return the domains of the columns in use. Errors: InputError for a column without a domain; OSError."""
    columns = [column for column in read_domains(path.read_bytes()) if column.use]
    for column in columns:
        if column.domain is None:
            raise InputError(f"The column {brief(column.name)} has no declared states. Declare its states.")
    return tuple(column.domain for column in columns if column.domain is not None)


def table_of_file(path: Path, columns: tuple[Column, ...]) -> Dataset:
    """Read a file. Errors: InputError, OSError."""
    return encode(read_table(path.name, path.read_bytes()).frame, columns)


def table_of(args: argparse.Namespace, columns: tuple[Column, ...]) -> Dataset | DeclaredTable:
    """Return the table that was named, a file or an address. Errors: InputError, OSError."""
    if args.source is None:
        return table_of_file(args.data, columns)
    from dpbayes.sources.engines.table import open_table

    return DeclaredTable(open_table(args.source), columns)


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
    return name.endswith(".bif") or (name.endswith(ARROWS) and "->" not in text)


def counts_of(drawn: Network, table: Dataset | DeclaredTable) -> Counts:
    """Count a table. Errors: InputError, also for an interruption."""
    try:
        return count(drawn, table)
    except KeyboardInterrupt:
        raise InputError("The count was stopped, and nothing was released.") from None


def share_line(doing: str) -> Callable[[float], None]:
    """Return a function that prints progress on the error stream, in one line: the share, or else seconds."""
    begun = time.perf_counter()

    def print_share(share: float) -> None:
        state = done(share) if share else f"{time.perf_counter() - begun:.0f} seconds"
        print(f"\r{f'{doing} … {state}':<{LINE}}", end="", file=sys.stderr, flush=True)

    return print_share


# count


NOT_PRIVATE = (
    "These counts are exact and not private. Only the curator may see them. Use `release` to make a private release."
)


def add_count(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `count`."""
    add_data_or_source(parser)
    add_domains(parser)
    add_network(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="a CSV file for the counts (default: print them)")
    add_force(parser)


def count_table(args: argparse.Namespace) -> int:
    """Count a table, and print or write the number of records in each cell. Errors: InputError, OSError."""
    if args.out is not None:
        require_output(args.out, files_read(args), force=args.force)
    table = table_of(args, declared_columns(args.domains))
    counts = counts_of(network_of(args.network, table), table)
    table_as_csv = safe_csv(_cells(counts))
    if args.out is None:
        print(table_as_csv.decode(), end="")
    else:
        write_output(args.out, table_as_csv, force=args.force)
    where = "" if args.out is None else f" Written to {args.out}."
    cells = f"Counted {counts.n:,} records in {counts.network.cell_count:,} cells."
    warn(f"{cells}{where} {NOT_PRIVATE}")
    return HOLDS


def _cells(counts: Counts) -> "pd.DataFrame":
    network, labels = counts.network, counts.network.row_labels()
    rows = network.row_of_cell.tolist()
    return pd.DataFrame(
        {
            "row": [labels[row] for row in rows],
            "state": [state for node in range(len(network.names)) for state in _states(counts, node)],
            "records": counts.values,
        }
    )


def _states(counts: Counts, node: int) -> tuple[str, ...]:
    """Return the state of each of a node's cells."""
    return counts.network.states[node] * int(counts.network.rows_per_node[node])
