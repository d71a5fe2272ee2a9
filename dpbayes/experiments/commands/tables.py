"""The network and the table that a command names: by a key, a file, or typed arrows."""

import argparse
import json
from pathlib import Path

from dpbayes.base.validation import InputError, utf8_text, whole_number
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.columns import Categories, encode
from dpbayes.sources.edgelist import read_edges
from dpbayes.sources.files import read_table
from dpbayes.sources.named_networks import NAMED, load_named, naive_bayes
from dpbayes.sources.shipped_tables import SHIPPED, default_network, load_shipped


def add_network(parser: argparse._ActionsContainer) -> None:
    """Add the options for a network and a table to a parser."""
    parser.add_argument("--network", metavar="KEY", help=f"a published network: {', '.join(NAMED)}")
    parser.add_argument(
        "--arrows", metavar="TEXT", help="a graph as lines 'parent -> child', or a file with such lines"
    )
    parser.add_argument(
        "--states",
        metavar="JSON",
        help='the states of nodes, such as {"age": ["young", "old"]}; nodes in --arrows have the states ("no", "yes") '
        "if they are left out, and a file needs the states of all nodes",
    )
    parser.add_argument(
        "--table",
        metavar="KEY",
        help=f"a shipped table ({', '.join(SHIPPED)}), or a .csv, .xlsx or .parquet file with --states",
    )


def features_of(args: argparse.Namespace) -> int:
    """Return the number of features of a naive Bayes network: 16 by default."""
    return whole_number("--features", args.features or 16, low=1, high=10**9)


def network_of(args: argparse.Namespace, table: Dataset | None) -> Network:
    """Return the network of a key, of arrows or of a shipped table. Errors: InputError if two are named."""
    given = [name for name in ("features", "network", "arrows") if getattr(args, name, None)]
    if len(given) > 1:
        raise InputError(f"--{given[0]} and --{given[1]} both name a network; give one of them.")
    if args.network:
        return load_named(args.network)[0]
    if args.arrows:
        text = utf8_text(Path(args.arrows).read_bytes()) if _is_file(args.arrows) else args.arrows
        names, edges = read_edges(text)
        return Network.from_edges(names, edges, _stated(args) if table is None else _domains(table))
    if args.table in SHIPPED and not given:
        return default_network(args.table)
    if args.table and not given:
        raise InputError("A table from a file needs a network; give --arrows.")
    return naive_bayes(features_of(args))


def _is_file(text: str) -> bool:
    return "\n" not in text and len(text) < 500 and Path(text).is_file()


def table_of(args: argparse.Namespace) -> Dataset:
    """Return a shipped table, or the columns of a file that --states names, with these states as values."""
    if args.table in SHIPPED or not _is_file(args.table):
        return load_shipped(args.table)
    stated = _stated(args)
    if not stated:
        raise InputError("A table from a file needs --states: the public states of every column that is a node.")
    columns = [Categories(name, states, public=True) for name, states in stated.items()]
    return encode(read_table(args.table, Path(args.table).read_bytes()).frame, columns)


def _domains(table: Dataset) -> dict[str, tuple[str, ...]]:
    return dict(zip(table.names, table.states, strict=True))


def _stated(args: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    try:
        stated = json.loads(args.states or "{}")
        return {str(name): tuple(str(state) for state in states) for name, states in stated.items()}
    except (ValueError, TypeError, AttributeError):
        raise InputError('--states must be JSON such as {"age": ["young", "old"]}.') from None
