"""`release` and `learn`: what looks at a table and is paid for from a dataset's budget."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.mechanisms.structure_choice import StructureChoice
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.releases import ledger
from dpbayes.releases.command.shared import HOLDS, MOST_READ, add_ledger, left_of
from dpbayes.releases.document import read_document
from dpbayes.releases.publishing import (
    Chargeable,
    Published,
    learnt_as,
    publish,
    publish_structure,
    require_declared,
    shown_again,
)
from dpbayes.releases.releasable import RELEASABLE
from dpbayes.releases.request import DomainChoice, GraphChoice, ReleaseRequest, parsed_epsilon
from dpbayes.releases.structure import StructureRequest, read_structure
from dpbayes.sources.bif import read_bif
from dpbayes.sources.columns import encode
from dpbayes.sources.domains import read_domains
from dpbayes.sources.edgelist import network, read_edges, write_edges
from dpbayes.sources.files import read_table

ARROWS = (".txt", ".edges")
"""How the file of a list of arrows ends."""


# release


def add_release(parser: argparse.ArgumentParser) -> None:
    """Add the words of `release`."""
    _add_table(parser)
    parser.add_argument(
        "--network", required=True, metavar="FILE|EDGES", help='a file (.bif, .txt, .edges), or "rain -> grass; sun"'
    )
    parser.add_argument("--mechanism", required=True, choices=list(RELEASABLE), help="whose noise can be drawn exactly")
    parser.add_argument("--prior", default="1", help="the Dirichlet parameter of every cell (default: 1)")
    for name, parameter in _settings().items():
        parser.add_argument(f"--{name}", metavar="NUMBER", help=f"{parameter.description} ({_whose(name)})")
    parser.add_argument(
        "--graph-unseen",
        action="store_true",
        help="say that the graph was chosen without looking at the records",
    )
    parser.add_argument(
        "--graph-learnt",
        action="store_true",
        help="the graph is one that `learn` paid for: the ledger says what it cost; without either nothing is released",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="where release.json goes")


def _add_table(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of whatever looks at a table and is paid for."""
    add_ledger(parser)
    parser.add_argument("--dataset", required=True, metavar="ID", help="the name that the ledger has for the table")
    parser.add_argument("--data", required=True, type=Path, metavar="FILE", help="the table: CSV, Parquet or workbook")
    parser.add_argument("--domains", required=True, type=Path, metavar="FILE", help="its domain description, JSON")
    parser.add_argument("--domains-published", action="store_true", help="the domains are from a published description")
    parser.add_argument("--epsilon", required=True, help="a decimal; exactly this is charged")
    parser.add_argument("--again", action="store_true", help="draw and pay once more for what was released before")


def release(asked: argparse.Namespace) -> int:
    """Make a release and write its document. Errors: InputError, OSError."""
    if asked.graph_unseen == asked.graph_learnt:
        raise InputError(
            "A graph that was learnt from these records betrays them; say --graph-unseen if it was not, or "
            "--graph-learnt if the ledger has it as learnt privately."
        )
    path = ledger.ledger_path(asked.ledger)
    data = _table(asked.data, asked.domains)
    drawn = _network(asked.network, data)
    request = ReleaseRequest(
        dataset=asked.dataset,
        network=drawn,
        mechanism=asked.mechanism,
        epsilon=parsed_epsilon(asked.epsilon),
        n=data.n,
        prior=(asked.prior,),
        settings={name: getattr(asked, name) for name in _settings() if getattr(asked, name) is not None},
        domains=_domain_choice(asked),
        **(_stated(path, asked.dataset, drawn) if asked.graph_learnt else {"graph": GraphChoice.UNSEEN}),
    )
    _remember(path, asked.dataset, data)
    counts = count(request.network, data)

    def make(after: int) -> Published:
        published = publish(path, request, counts, after=after, progress=_told_share)
        print(file=sys.stderr)
        return published

    published = _charged(path, request, make, again=asked.again)
    asked.out.write_bytes(published.document)
    print("\n".join(read_document(published.document).told["sentences"]))
    print(f"Written to {asked.out}; row {published.row} of the ledger. {left_of(path, asked.dataset)}")
    return HOLDS


def _stated(path: Path, dataset: str, drawn: Network) -> dict[str, Any]:
    """Return what a release states of a learnt graph. Errors: InputError where the ledger has no such graph."""
    learnt = learnt_as(path, dataset, drawn)
    if learnt is None:
        raise InputError(
            f"The ledger has no learnt graph of {brief(dataset)} that is this one; learn it first, or say "
            "--graph-unseen if no record was looked at."
        )
    return learnt.document.stated


def _domain_choice(asked: argparse.Namespace) -> DomainChoice:
    return DomainChoice.PUBLISHED if asked.domains_published else DomainChoice.CURATOR


def _remember(path: Path, dataset: str, data: Dataset) -> None:
    """Keep the table's print, and tell what is in doubt."""
    ledger.account_of(path, dataset)  # before the print is kept
    for doubt in ledger.remember_table(path, dataset, data):
        print(doubt, file=sys.stderr)


def _told_share(share: float) -> None:
    print(f"\rDrawing … {100 * share:.0f}%", end="", file=sys.stderr, flush=True)


def _table(data: Path, domains: Path) -> Dataset:
    columns = read_domains(domains.read_bytes())
    require_declared(columns)
    frame = read_table(data.name, data.read_bytes()).frame
    return encode(frame, [column.domain for column in columns if column.use and column.domain is not None])


def _network(text: str, data: Dataset) -> Network:
    """Return the graph of a BIF file, of a list of arrows or of typed edges, over the table's own domains."""
    if text.lower().endswith(".bif"):
        drawn = read_bif(Path(text).read_text(encoding="utf-8"))[0]
    elif text.lower().endswith(ARROWS) and "->" not in text:
        drawn = Network.from_edges(*read_edges(Path(text).read_text(encoding="utf-8-sig")))
    else:
        drawn = network(text)
    missing = next((name for name in drawn.names if name not in data.position), None)
    if missing is not None:
        raise InputError(f"The node {brief(missing)} is not a column of the table.")
    return Network.from_edges(drawn.names, drawn.edges, {name: data.domain(name) for name in drawn.names})


def _settings() -> dict[str, Parameter]:
    return {name: parameter for entry in RELEASABLE.values() for name, parameter in entry.settings.items()}


def _whose(name: str) -> str:
    return ", ".join(mechanism for mechanism, entry in RELEASABLE.items() if name in entry.settings)


# learn


def add_learn(parser: argparse.ArgumentParser) -> None:
    """Add the words of `learn`."""
    _add_table(parser)
    parser.add_argument("--parents", default="2", help="the most parents of a node (default: 2)")
    parser.add_argument("--cells", default="500", help="the most cells of a node's table (default: 500)")
    parser.add_argument(
        "--first", metavar="COLUMN", help="the node to begin with, named without looking (default: the first column)"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"ends in {' or '.join(ARROWS)}")


def learn(asked: argparse.Namespace) -> int:
    """Learn a graph and write its arrows. Errors: InputError, OSError."""
    if asked.out.suffix.lower() not in ARROWS:
        raise InputError(
            f"A learnt graph is a list of arrows, without probabilities; let {brief(asked.out.name)} end in "
            f"{' or '.join(ARROWS)}."
        )
    path = ledger.ledger_path(asked.ledger)
    data = _table(asked.data, asked.domains)
    choice = StructureChoice(
        epsilon=parsed_epsilon(asked.epsilon),
        parents=whole_number("The number of parents", asked.parents, low=1, high=MOST_READ),
        most_cells=whole_number("The number of cells", asked.cells, low=1, high=MOST_READ),
        first=asked.first,
    )
    request = StructureRequest.of(asked.dataset, data, choice, _domain_choice(asked))
    _remember(path, asked.dataset, data)
    published = _charged(
        path, request, lambda after: publish_structure(path, request, data, after=after), again=asked.again
    )
    document = read_structure(published.document)
    asked.out.write_text(write_edges(document.network), encoding="utf-8")
    print("\n".join(document.told["sentences"]))
    print(f"Written to {asked.out}; row {published.row} of the ledger. {left_of(path, asked.dataset)}")
    return HOLDS


# Charging


def _charged(path: Path, request: Chargeable, make: Callable[[int], Published], *, again: bool) -> Published:
    """Show what was made before at no cost; else, or `again`, make it after the last that was asked for."""
    before = shown_again(path, request)
    if before is not None and not again:
        print("This was made before: the same is shown again, at no cost.", file=sys.stderr)
        return before
    past = ledger.asked(path, request.dataset, request.question) if again else ()
    return make(past[-1].row if past else 0)
