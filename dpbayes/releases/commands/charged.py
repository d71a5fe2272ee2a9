"""`release` and `learn`: what looks at a table and is paid for from a dataset's budget."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpbayes.base.command import HOLDS
from dpbayes.base.output import ROOM, require_output, write_output
from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.mechanisms import RELEASABLE, releasable
from dpbayes.mechanisms.noise.shares import LEAST_WEIGHT, MOST_WEIGHT
from dpbayes.mechanisms.structure.choice import StructureChoice
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.releases import ledger
from dpbayes.releases.commands.accounts import MOST_READ, add_ledger, left_of
from dpbayes.releases.commands.tables import (
    ARROWS,
    add_data,
    add_data_or_source,
    add_domains,
    add_network,
    counts_of,
    declared_columns,
    files_read,
    network_of,
    table_of,
    table_of_file,
    told_share,
)
from dpbayes.releases.document import read_document
from dpbayes.releases.document.graph import StructureRequest, read_structure
from dpbayes.releases.document.promises import parsed_epsilon, parsed_promise, parsed_rho
from dpbayes.releases.document.request import DomainChoice, GraphChoice, ReleaseRequest
from dpbayes.releases.publishing import (
    Chargeable,
    Published,
    learnt_as,
    publish,
    publish_structure,
    require_declared,
    shown_again,
)
from dpbayes.sources.columns import Column
from dpbayes.sources.domains import read_domains
from dpbayes.sources.edgelist import write_edges

LONGEST_VALUE = 64
"""Bytes that one cell takes in a document at most: its integer, its prior, and its share of the labels' text."""

# release


def add_release(parser: argparse.ArgumentParser) -> None:
    """Add the words of `release`."""
    _add_charged(parser)
    add_data_or_source(parser)
    parser.add_argument("--epsilon", help="the epsilon that is charged, a decimal")
    parser.add_argument("--rho", help="instead of --epsilon, for Gaussian noise: a decimal; the budget must be in rho")
    parser.add_argument("--delta", help="with --epsilon, for Gaussian noise: (epsilon, delta), charged as zCDP")
    add_network(parser)
    parser.add_argument(
        "--mechanism", required=True, choices=list(RELEASABLE), help="a mechanism whose noise is sampled exactly"
    )
    parser.add_argument("--prior", default="1", help="the Dirichlet parameter of every cell (default: 1)")
    for name, parameter in _settings().items():
        parser.add_argument(f"--{name}", metavar="NUMBER", help=f"{parameter.description} ({_whose(name)})")
    parser.add_argument(
        "--matters",
        action="append",
        default=[],
        metavar="COLUMN",
        help=f"a node whose table has a larger weight; may be repeated ({_who_shares()})",
    )
    parser.add_argument("--weight", default="10", help="the weight of the squared error in these tables (default: 10)")
    parser.add_argument(
        "--graph-unseen",
        action="store_true",
        help="confirm that the graph was chosen without looking at the records",
    )
    parser.add_argument(
        "--graph-learnt",
        action="store_true",
        help="the graph was learnt by `learn` and its cost is in the ledger; one of the two options is required",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="the file for the release, such as release.json"
    )


def _add_charged(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of whatever looks at a table and is paid for."""
    add_ledger(parser)
    parser.add_argument("--dataset", required=True, metavar="ID", help="the name of the table in the ledger")
    add_domains(parser)
    parser.add_argument(
        "--domains-published", action="store_true", help="confirm that the domains are from a published description"
    )
    parser.add_argument("--again", action="store_true", help="sample and pay again for an earlier release")


def release(asked: argparse.Namespace) -> int:
    """Make a release and write its document. Errors: InputError, OSError."""
    if asked.graph_unseen == asked.graph_learnt:
        raise InputError(
            "A graph that was learnt from the records reveals information about them. Add --graph-unseen if "
            "no record was "
            "used, or --graph-learnt if the ledger contains the private learning step."
        )
    path = ledger.ledger_path(asked.ledger)
    require_output(asked.out, [path, *files_read(asked)])
    ledger.account_of(path, asked.dataset)  # before what may take long
    data = table_of(asked, _declared(asked.domains))
    drawn = network_of(asked.network, data)
    counts = counts_of(drawn, data)
    request = ReleaseRequest(
        dataset=asked.dataset,
        network=drawn,
        mechanism=asked.mechanism,
        **_loss(asked),
        n=counts.n,
        prior=(asked.prior,),
        settings={name: getattr(asked, name) for name in _settings() if getattr(asked, name) is not None},
        prices=_prices(asked, drawn),
        domains=_domain_choice(asked),
        **(_stated(path, asked.dataset, drawn) if asked.graph_learnt else {"graph": GraphChoice.UNSEEN}),
    )
    if isinstance(data, Dataset):
        _remember(path, asked.dataset, data)
    else:
        print(ledger.RECORDS_ELSEWHERE, file=sys.stderr)

    def make(after: int) -> Published:
        published = publish(path, request, counts, after=after, progress=told_share("Drawing"))
        print(file=sys.stderr)
        return published

    require_output(asked.out, [path], room=ROOM + LONGEST_VALUE * drawn.cell_count)
    published = _charged(path, request, make, again=asked.again)
    _write(asked.out, published.document, path, published.row)
    print("\n".join(read_document(published.document).told["sentences"]))
    print(f"Written to {asked.out}; row {published.row} of the ledger. {left_of(path, asked.dataset)}")
    return HOLDS


def _loss(asked: argparse.Namespace) -> dict[str, Any]:
    """Return the epsilon, the rho, or the epsilon and delta that were typed. Errors: InputError for other sets."""
    if (asked.epsilon is None) == (asked.rho is None) or (asked.epsilon is None and asked.delta is not None):
        raise InputError(
            "A release has an epsilon or a rho. State either --epsilon or --rho, or --epsilon with --delta "
            "for Gaussian "
            "noise."
        )
    if asked.delta is not None:
        return {"stated": parsed_promise(asked.epsilon, asked.delta)}
    return {"epsilon": parsed_epsilon(asked.epsilon)} if asked.rho is None else {"rho": parsed_rho(asked.rho)}


def _prices(asked: argparse.Namespace, drawn: Network) -> tuple[int, ...]:
    """Return the prices that suit the weights of the tables, none where all count alike. Errors: InputError."""
    if not asked.matters:
        return ()
    priced = releasable(asked.mechanism).priced
    if priced is None:
        raise InputError(
            f"The mechanism {asked.mechanism} has the same noise in all tables; only {_who_shares()} can distribute it."
        )
    weight = finite_number("The weight", asked.weight, low=LEAST_WEIGHT, high=MOST_WEIGHT)
    weights = np.ones(len(drawn.names))
    weights[[drawn.index(name) for name in asked.matters]] = weight
    return priced(drawn, weights)


def _stated(path: Path, dataset: str, drawn: Network) -> dict[str, Any]:
    """Return what a release states of a learnt graph. Errors: InputError where the ledger has no such graph."""
    learnt = learnt_as(path, dataset, drawn)
    if learnt is None:
        raise InputError(
            f"The ledger does not contain this graph as a learnt graph of {brief(dataset)}. Learn it first, or add "
            "--graph-unseen if no record was used."
        )
    return learnt.document.stated


def _domain_choice(asked: argparse.Namespace) -> DomainChoice:
    return DomainChoice.PUBLISHED if asked.domains_published else DomainChoice.CURATOR


def _remember(path: Path, dataset: str, data: Dataset) -> None:
    """Keep the table's print, and tell what is in doubt."""
    for doubt in ledger.remember_table(path, dataset, data):
        print(doubt, file=sys.stderr)


def _declared(path: Path) -> tuple[Column, ...]:
    """Return the domains of the columns in use. Errors: InputError where they betray records; OSError."""
    require_declared(read_domains(path.read_bytes()))
    return declared_columns(path)


def _settings() -> dict[str, Parameter]:
    return {name: parameter for entry in RELEASABLE.values() for name, parameter in entry.settings.items()}


def _whose(name: str) -> str:
    return ", ".join(mechanism for mechanism, entry in RELEASABLE.items() if name in entry.settings)


def _who_shares() -> str:
    return ", ".join(mechanism for mechanism, entry in RELEASABLE.items() if entry.priced is not None)


# learn


def add_learn(parser: argparse.ArgumentParser) -> None:
    """Add the words of `learn`."""
    _add_charged(parser)
    add_data(parser, required=True)
    parser.add_argument("--epsilon", required=True, help="the epsilon that is charged, a decimal")
    parser.add_argument("--parents", default="2", help="the largest number of parents of a node (default: 2)")
    parser.add_argument("--cells", default="500", help="the largest number of cells of a node's table (default: 500)")
    parser.add_argument(
        "--first",
        metavar="COLUMN",
        help="the first node, chosen without looking at the records (default: the first column)",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help=f"a file name that ends in {' or '.join(ARROWS)}"
    )


def learn(asked: argparse.Namespace) -> int:
    """Learn a graph and write its arrows. Errors: InputError, OSError."""
    if asked.out.suffix.lower() not in ARROWS:
        raise InputError(
            "A learnt graph is a list of arrows without probabilities. Its file name must end in "
            f"{' or '.join(ARROWS)}; "
            f"{brief(asked.out.name)} does not."
        )
    path = ledger.ledger_path(asked.ledger)
    require_output(asked.out, [path, *files_read(asked)])
    ledger.account_of(path, asked.dataset)  # before the print is kept
    data = table_of_file(asked.data, _declared(asked.domains))
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
    _write(asked.out, write_edges(document.network).encode(), path, published.row)
    print("\n".join(document.told["sentences"]))
    print(f"Written to {asked.out}; row {published.row} of the ledger. {left_of(path, asked.dataset)}")
    return HOLDS


# Charging


def _charged(path: Path, request: Chargeable, make: Callable[[int], Published], *, again: bool) -> Published:
    """Show what was made before at no cost; else, or `again`, make it after the last that was asked for."""
    before = shown_again(path, request)
    if before is not None and not again:
        print("This release exists already. The same release is written again at no cost.", file=sys.stderr)
        return before
    past = ledger.asked(path, request.dataset, request.question) if again else ()
    return make(past[-1].row if past else 0)


def _write(out: Path, data: bytes, path: Path, row: int) -> None:
    """Write what was paid for. Errors: InputError that says how to get it at no cost, where it cannot be written."""
    try:
        write_output(out, data)
    except OSError as error:
        raise InputError(
            f"The output {out} cannot be written: {error.strerror}. Row {row} of the ledger {path} contains the "
            "release. Run this command again without --again and with another --out, or run "
            f"python -m dpbayes ledger export {row} --out FILE. Neither costs any budget."
        ) from None
