"""`count`: the exact counts of a table, wherever it lies; for the curator alone."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from dpbayes.base.command import HOLDS
from dpbayes.base.output import require_output, write_output
from dpbayes.base.spreadsheet import safe_csv
from dpbayes.model.counts import Counts
from dpbayes.releases.commands.tables import (
    add_data_or_source,
    add_domains,
    add_network,
    counts_of,
    declared_columns,
    files_read,
    network_of,
    table_of,
)

NOT_PRIVATE = (
    "These counts are exact and not private. Only the curator may see them. Use `release` to make a private release."
)


def add_count(parser: argparse.ArgumentParser) -> None:
    """Add the words of `count`."""
    add_data_or_source(parser)
    add_domains(parser)
    add_network(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="a CSV file for the counts (default: the screen)")


def count_table(asked: argparse.Namespace) -> int:
    """Count a table, and print or write how many records are in each cell. Errors: InputError, OSError."""
    if asked.out is not None:
        require_output(asked.out, files_read(asked))
    table = table_of(asked, declared_columns(asked.domains))
    counts = counts_of(network_of(asked.network, table), table)
    table_as_csv = safe_csv(_cells(counts))
    if asked.out is None:
        print(table_as_csv.decode(), end="")
    else:
        write_output(asked.out, table_as_csv)
    where = "" if asked.out is None else f" Written to {asked.out}."
    cells = f"Counted {counts.n:,} records in {counts.network.cell_count:,} cells."
    print(f"{cells}{where} {NOT_PRIVATE}", file=sys.stderr)
    return HOLDS


def _cells(counts: Counts) -> pd.DataFrame:
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
