"""`release` and `adaptive`, which are charged to a dataset's budget."""

import argparse
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpbayes.base.validation import InputError, utf8_text
from dpbayes.mechanisms import RELEASABLE
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.model.dataset import Counts, Dataset, Source, count
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule, decimals_of, prior_rule, rule_for
from dpbayes.releases import ledger
from dpbayes.releases.commands.accounts import LEDGER
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.request import (
    AdaptiveRequest,
    Chargeable,
    ReleaseRequest,
    parsed_promise,
)
from dpbayes.releases.output import HOLDS, add_out, require_output, say, warn, write_output
from dpbayes.releases.publishing import publish_once, require_public, states_of_missing, unsigned_note
from dpbayes.sources.bif import read_bif
from dpbayes.sources.columns import Column, encode, remarks
from dpbayes.sources.domains import declare
from dpbayes.sources.edgelist import read_edges
from dpbayes.sources.engines.address import parsed
from dpbayes.sources.engines.table import DeclaredTable, open_table
from dpbayes.sources.files import read_table

# release


def add_release(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `release`."""
    _add_charged(parser)
    table = parser.add_mutually_exclusive_group(required=True)
    table.add_argument("--data", **_FILE, help=_TABLE)
    table.add_argument(
        "--source",
        metavar="ADDRESS",
        help="instead of --data, a connected table: parquet:/data/folder, duckdb:/data/f.duckdb?table=t, "
        "postgresql://user@host/db?table=s.t, without a password",
    )
    parser.add_argument(
        "--network", required=True, metavar="FILE|EDGES", help='a file (.bif, .txt, .edges), or "rain -> grass; sun"'
    )
    parser.add_argument(
        "--graph-unseen",
        action="store_true",
        help="confirm that the graph was chosen without looking at the records, which is required",
    )
    parser.add_argument(
        "--mechanism", required=True, choices=list(RELEASABLE), help="a mechanism whose noise is sampled exactly"
    )
    parser.add_argument(
        "--prior",
        help="capped, bdeu, or the Dirichlet parameter of every cell; capped:8 and bdeu:2 state the equivalent sample "
        "size (default: capped; 1 for map)",
    )
    for name, parameter in _SETTINGS.items():
        whose = ", ".join(mechanism for mechanism, entry in RELEASABLE.items() if name in entry.settings)
        about = parameter.description.removesuffix(".")
        parser.add_argument(f"--{name}", metavar="NUMBER", help=f"{about[:1].lower()}{about[1:]} ({whose})")


_FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
_TABLE = "the table: CSV, Parquet or workbook"
_SETTINGS = {name: parameter for entry in RELEASABLE.values() for name, parameter in entry.settings.items()}


def _add_charged(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `release` and `adaptive` share."""
    parser.add_argument("--ledger", **LEDGER)
    parser.add_argument("--dataset", required=True, metavar="ID", help="the name of the dataset in the ledger")
    parser.add_argument("--domains", **_FILE, required=True, help="the declarations of the columns, as TOML or JSON")
    parser.add_argument("--epsilon", required=True, help="the epsilon of the guarantee, a decimal")
    about = "the delta of the guarantee, such as 1e-5; above 0, rho is charged, and otherwise epsilon (default: 0)"
    parser.add_argument("--delta", default="0", help=about)
    parser.add_argument("--again", action="store_true", help="sample new noise for an earlier release and charge again")
    add_out(parser, "the file for the release, such as release.json")


def release(args: argparse.Namespace) -> int:
    """Make a release and write its document. Errors: InputError, OSError."""
    if not args.graph_unseen:
        raise InputError(
            "A graph that was chosen from the records reveals information about them. Add --graph-unseen if no record "
            "was used, or let an adaptive release choose the graph."
        )
    path, columns, data = _inputs(args)
    counts = count(_network_of(args.network, data), data)
    stated = parsed_promise(args.epsilon, args.delta) if decimal("delta", args.delta) else None
    request = ReleaseRequest(
        dataset=args.dataset,
        network=counts.network,
        mechanism=args.mechanism,
        epsilon=decimal("epsilon", args.epsilon) if stated is None else Fraction(0),
        stated=stated,
        n=counts.n,
        prior=_prior(args, counts.network),
        settings={name: getattr(args, name) for name in _SETTINGS if getattr(args, name) is not None},
        missing=states_of_missing(column for column in columns if column.name in counts.network.names),
    )
    return _charge(args, path, request, data, counts)


def _inputs(args: argparse.Namespace) -> tuple[Path, tuple[Column, ...], Dataset | DeclaredTable]:
    """Return the ledger, the domains of the columns, and the table, which is read last, because it takes long.

    Errors: InputError for an output, an address or a dataset, and for domains that reveal records; OSError.
    """
    path = ledger.ledger_path(args.ledger)
    if args.data is not None and args.data.is_dir():
        raise InputError(
            f"--data {args.data} is a folder. Name a file, or --source parquet:FOLDER for one of Parquet files."
        )
    graph = [Path(args.network)] if _is_file(args.network) else []
    table = parsed(args.source).paths if args.data is None else (args.data,)
    require_output(args.out, [path, args.domains, *table, *graph], force=args.force)
    ledger.read_books(path).account(args.dataset)
    columns = declare(args.domains)
    require_public(columns)
    if args.data is None:
        return path, columns, DeclaredTable(open_table(args.source), columns)
    frame = read_table(args.data.name, args.data.read_bytes()).frame
    data = encode(frame, columns)
    for remark in remarks(frame, columns):
        warn(remark)
    return path, columns, data


def _network_of(text: str, table: Dataset | Source) -> Network:
    """Return the graph of a BIF file, of a list of arrows or of typed edges, over the table's own domains.

    Errors: InputError, OSError; a node that is not a column is refused where the table is counted.
    """
    content = utf8_text(Path(text).read_bytes()) if _is_file(text) else text
    if text.lower().endswith(".bif"):
        drawn = read_bif(content)[0]
        names, edges = drawn.names, drawn.edges
    else:
        names, edges = read_edges(content)
    return Network.from_edges(names, edges, dict(zip(table.names, table.states, strict=True)))


def _is_file(text: str) -> bool:
    """Whether a graph is the name of a file, and not typed edges."""
    name = text.lower()
    return name.endswith(".bif") or (name.endswith((".txt", ".edges")) and "->" not in text)


def _prior(args: argparse.Namespace, drawn: Network) -> tuple[str, ...]:
    """Return the prior of a request: the stated one, or the usual one of the mechanism. Errors: InputError."""
    if args.prior is None:
        kind = RELEASABLE[args.mechanism].kind
        return decimals_of(rule_for(kind, PriorRule()).on(drawn))
    rule = prior_rule(args.prior)
    # A decimal stays as it is typed: a request has it exactly.
    return (args.prior,) if rule.kind is PriorKind.SYMMETRIC else decimals_of(rule.on(drawn))


# adaptive


def add_adaptive(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `adaptive`."""
    _add_charged(parser)
    parser.add_argument("--data", **_FILE, required=True, help=_TABLE)
    parser.add_argument("--target", default="", metavar="COLUMN", help="a column to predict from the others")
    parser.set_defaults(network="")


def adaptive(args: argparse.Namespace) -> int:
    """Make an adaptive release and write its document. Errors: InputError, OSError."""
    path, columns, data = _inputs(args)
    assert isinstance(data, Dataset), "only files are read"
    plan = plan_for(decimal("epsilon", args.epsilon), decimal("delta", args.delta), args.target)
    request = AdaptiveRequest.of(args.dataset, data, plan, states_of_missing(columns))
    return _charge(args, path, request, data, data)


# Charging


def _charge(
    args: argparse.Namespace, path: Path, request: Chargeable, table: Dataset | DeclaredTable, data: Counts | Dataset
) -> int:
    """Write the release of this request at no cost; if there is none, or with `--again`, make and charge a new one.

    The hash of the table is stored in the ledger, and doubts about its name are printed. Errors: InputError that says
    how to get the release at no cost, if it cannot be written.
    """
    doubts: tuple[str, ...] = (ledger.RECORDS_ELSEWHERE,)
    if isinstance(table, Dataset):
        doubts = ledger.table_doubts(path, args.dataset, table, remember=True)
    for doubt in doubts:
        warn(doubt)
    published, is_new = publish_once(path, request, data, again=args.again)
    if not is_new:
        note = unsigned_note(path, published.document)
        warn(f"This release exists already. The same release is written again at no cost. {note}".rstrip())
    try:
        write_output(args.out, published.document, force=args.force)
    except OSError as error:
        raise InputError(
            f"The output {args.out} cannot be written: {error.strerror}. Row {published.row} of the ledger "
            f"{path} contains the release. Run this command again without --again and with another "
            f"--out, or run python -m dpbayes ledger export {published.row} --out FILE. Neither costs any budget."
        ) from None
    left = ledger.read_books(path).account(args.dataset).left_text
    say("\n".join(json.loads(published.document)["sentences"]))
    say(f"Written to {args.out} (row {published.row} of the ledger). {left}")
    return HOLDS
