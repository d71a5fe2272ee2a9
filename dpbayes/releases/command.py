"""Real releases without a browser: `python -m dpbayes release | learn | ledger | verify | view`, each with `--help`."""

import argparse
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.mechanisms.structure_choice import StructureChoice
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.releases import ledger
from dpbayes.releases.canonical import decimal, decimal_text
from dpbayes.releases.document import ReleaseDocument, read_document, release_of
from dpbayes.releases.ledger import amount_text
from dpbayes.releases.publishing import (
    Published,
    learnt_as,
    publish,
    publish_structure,
    require_declared,
    shown_again,
)
from dpbayes.releases.releasable import RELEASABLE
from dpbayes.releases.request import DomainChoice, GraphChoice, ReleaseRequest, parsed_epsilon
from dpbayes.releases.structure import StructureRequest, is_structure, read_structure
from dpbayes.releases.verify import verify
from dpbayes.releases.views.bif import released_bif, unread_elsewhere
from dpbayes.releases.views.draws import draws_parquet
from dpbayes.releases.views.records import DrawnFrom, cpts_for, records_csv, records_parquet
from dpbayes.releases.views.report import html_report
from dpbayes.releases.views.script import python_script
from dpbayes.sources.bif import read_bif
from dpbayes.sources.columns import encode
from dpbayes.sources.domains import read_domains
from dpbayes.sources.edgelist import network, read_edges, write_edges
from dpbayes.sources.files import read_table
from dpbayes.sources.synthetic import MAX_RECORDS, sample_dataset

HOLDS, FAILS, REFUSED = 0, 1, 2
"""Exit codes: done, or all that was checked holds; a release is not what it says; a sentence on the error stream."""


ARROWS = (".txt", ".edges")
"""How the file of a list of arrows ends."""


class ReleaseCommand(NamedTuple):
    """One command: what it is, the words it takes, and how it is run to its exit code."""

    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(words: Sequence[str]) -> int:
    """Run one command; what stands in its way is one sentence on the error stream and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m dpbayes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.about, description=command.about))
    asked = parser.parse_args(words)
    try:
        return COMMANDS[asked.command].run(asked)
    except InputError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename or 'A file'} cannot be read or written: {error.strerror}.", file=sys.stderr)
    return REFUSED


# release


def _add_release(parser: argparse.ArgumentParser) -> None:
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
    _add_ledger(parser)
    parser.add_argument("--dataset", required=True, metavar="ID", help="the name that the ledger has for the table")
    parser.add_argument("--data", required=True, type=Path, metavar="FILE", help="the table: CSV, Parquet or workbook")
    parser.add_argument("--domains", required=True, type=Path, metavar="FILE", help="its domain description, JSON")
    parser.add_argument("--domains-published", action="store_true", help="the domains are from a published description")
    parser.add_argument("--epsilon", required=True, help="a decimal; exactly this is charged")
    parser.add_argument("--again", action="store_true", help="draw and pay once more for what was released before")


def _release(asked: argparse.Namespace) -> int:
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
    published = _published(path, request, count(request.network, data), again=asked.again)
    asked.out.write_bytes(published.document)
    print("\n".join(read_document(published.document).told["sentences"]))
    print(f"Written to {asked.out}; row {published.row} of the ledger. {_left(path, asked.dataset)}")
    return HOLDS


def _published(path: Path, request: ReleaseRequest, counts: Counts, *, again: bool) -> Published:
    before = shown_again(path, request)
    if before is not None and not again:
        print("This was released before: the same release is shown again, at no cost.", file=sys.stderr)
        return before
    past = ledger.asked(path, request.dataset, request.question) if again else ()
    published = publish(path, request, counts, after=past[-1].row if past else 0, progress=_told_share)
    print(file=sys.stderr)
    return published


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


_MOST = 2**53
"""The largest number that is read; what is too large for a choice, the choice says itself."""


def _add_learn(parser: argparse.ArgumentParser) -> None:
    _add_table(parser)
    parser.add_argument("--parents", default="2", help="the most parents of a node (default: 2)")
    parser.add_argument("--cells", default="500", help="the most cells of a node's table (default: 500)")
    parser.add_argument(
        "--first", metavar="COLUMN", help="the node to begin with, named without looking (default: the first column)"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"ends in {' or '.join(ARROWS)}")


def _learn(asked: argparse.Namespace) -> int:
    if asked.out.suffix.lower() not in ARROWS:
        raise InputError(
            f"A learnt graph is a list of arrows, without probabilities; let {brief(asked.out.name)} end in "
            f"{' or '.join(ARROWS)}."
        )
    path = ledger.ledger_path(asked.ledger)
    data = _table(asked.data, asked.domains)
    choice = StructureChoice(
        epsilon=parsed_epsilon(asked.epsilon),
        parents=whole_number("The number of parents", asked.parents, low=1, high=_MOST),
        most_cells=whole_number("The number of cells", asked.cells, low=1, high=_MOST),
        first=asked.first,
    )
    request = StructureRequest.of(asked.dataset, data, choice, _domain_choice(asked))
    _remember(path, asked.dataset, data)
    published = _learnt(path, request, data, again=asked.again)
    document = read_structure(published.document)
    asked.out.write_text(write_edges(document.network), encoding="utf-8")
    print("\n".join(document.told["sentences"]))
    print(f"Written to {asked.out}; row {published.row} of the ledger. {_left(path, asked.dataset)}")
    return HOLDS


def _learnt(path: Path, request: StructureRequest, data: Dataset, *, again: bool) -> Published:
    before = shown_again(path, request)
    if before is not None and not again:
        print("This was learnt before: the same graph is shown again, at no cost.", file=sys.stderr)
        return before
    past = ledger.asked(path, request.dataset, request.question) if again else ()
    return publish_structure(path, request, data, after=past[-1].row if past else 0)


# ledger


def _add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ledger", type=Path, metavar="FILE", help="the ledger; else DPBAYES_LEDGER, else one in your data folder"
    )


def _add_ledger_command(parser: argparse.ArgumentParser) -> None:
    _add_ledger(parser)
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    actions.add_parser("list", help="datasets with their budgets, and every release")
    for name, about in (("open", "open a dataset with a total budget"), ("raise", "raise a dataset's total budget")):
        action = actions.add_parser(name, help=about)
        action.add_argument("dataset")
        action.add_argument("--budget", required=True, help="the total epsilon, a decimal")
        action.add_argument("--reason", required=True, help="why, for whoever reads the ledger")
    export = actions.add_parser("export", help="write a release again; it costs nothing")
    export.add_argument("row", help="the row of its reservation, as list shows it")
    export.add_argument("--out", required=True, type=Path, metavar="FILE")
    check = actions.add_parser("check", help="whether version, chain, sums and contents are as they were written")
    check.add_argument(
        "--seen", action="append", default=[], metavar="HASH", help="a hash that check printed before, kept elsewhere"
    )
    sums = actions.add_parser("composed", help="what all releases of a dataset together really lose at a delta")
    sums.add_argument("dataset")
    sums.add_argument("--delta", default="1e-6")


def _ledger(asked: argparse.Namespace) -> int:
    path = ledger.ledger_path(asked.ledger)
    print("\n".join(_ACTIONS[asked.action](path, asked)))
    return HOLDS


def _listed(path: Path, asked: argparse.Namespace) -> Iterator[str]:
    for account in ledger.accounts(path):
        yield (
            f"{account.dataset}: budget {amount_text(account.budget)}, released {amount_text(account.released)}, "
            f"reserved and never shown {amount_text(account.reserved)}, left {amount_text(account.left)}"
        )
        for spending in ledger.spendings(path, account.dataset):
            time = spending.reservation.time
            yield f"  row {spending.row}, {time}: epsilon {amount_text(spending.epsilon)}, {spending.state}"


def _opened(path: Path, asked: argparse.Namespace) -> Iterator[str]:
    ledger.open_dataset(path, asked.dataset, decimal("The budget", asked.budget), reason=asked.reason)
    yield f"{asked.dataset} is open in {path}. {_left(path, asked.dataset)}"


def _raised(path: Path, asked: argparse.Namespace) -> Iterator[str]:
    ledger.raise_budget(path, asked.dataset, decimal("The budget", asked.budget), reason=asked.reason)
    yield _left(path, asked.dataset)


def _exported(path: Path, asked: argparse.Namespace) -> Iterator[str]:
    asked.out.write_bytes(ledger.outcome(path, whole_number("The row", asked.row, low=1, high=_MOST)))
    yield f"Written to {asked.out}"


def _checked(path: Path, asked: argparse.Namespace) -> Iterator[str]:
    checked = ledger.check(path, seen=asked.seen)
    yield f"All {checked.rows:,} rows are as they were written. The last one's hash: {checked.head}"
    yield from checked.notes


def _composed(path: Path, asked: argparse.Namespace) -> Iterator[str]:
    epsilons = [spending.epsilon for spending in ledger.spendings(path, asked.dataset)]
    total = decimal_text(sum(epsilons, start=decimal("Nothing", "0")))
    bound = ledger.composed(epsilons, float(asked.delta))
    yield f"{len(epsilons):,} releases: epsilon {total} at delta 0; at most {bound:.4g} at delta {asked.delta}."


_ACTIONS: dict[str, Callable[[Path, argparse.Namespace], Iterator[str]]] = {
    "list": _listed,
    "open": _opened,
    "raise": _raised,
    "export": _exported,
    "check": _checked,
    "composed": _composed,
}


def _left(path: Path, dataset: str) -> str:
    account = ledger.account_of(path, dataset)
    return f"{amount_text(account.left)} is left of a budget of {amount_text(account.budget)}."


# verify


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a release.json, or a learnt graph as `ledger export` writes it")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="also ask the curator's ledger for this release")


def _verify(asked: argparse.Namespace) -> int:
    data = asked.file.read_bytes()
    verification = verify(data)
    for check in verification.checks:
        print(f"{'holds' if check.holds else 'FAILS'}  {check.sentence}")
    for sentence in verification.left_out:
        print(f"  -    {sentence}")
    in_ledger = asked.ledger is None or _is_in_ledger(asked.ledger, data)
    return HOLDS if verification.holds and in_ledger else FAILS


def _is_in_ledger(path: Path, data: bytes) -> bool:
    ledger.check(path)
    rows = [
        spending.row
        for account in ledger.accounts(path)
        for spending in ledger.spendings(path, account.dataset)
        if spending.release and ledger.outcome(path, spending.row) == data
    ]
    if rows:
        print(f"holds  The ledger is as it was written, and has this very release in row {rows[0]}.")
    else:
        print("FAILS  The ledger has no such release.")
    return bool(rows)


# view


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a release.json")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"ends in {', '.join(VIEWS)}")
    parser.add_argument("--records", default="1000", help="how many, in a .csv or .parquet file (default: 1000)")
    parser.add_argument("--draws", help="draws from the posterior instead of records, in a .parquet file")
    parser.add_argument(
        "--one-draw", action="store_true", help="records of one draw from the posterior, not of its mean"
    )
    parser.add_argument("--seed", help="to draw the same again; it protects nothing and needs no secrecy")


def _view(asked: argparse.Namespace) -> int:
    if asked.out.suffix not in VIEWS:
        raise InputError(f"A view is written to a file ending in {', '.join(VIEWS)}; {brief(asked.out.name)} does not.")
    data = asked.file.read_bytes()
    if is_structure(data):
        raise InputError(
            f"{brief(asked.file.name)} is a learnt graph, which has no counts; make a release of it first."
        )
    failure = next((check.sentence for check in verify(data).checks if not check.holds), None)
    if failure is not None:
        raise InputError(f"The release does not verify: {failure}")
    document = read_document(data)
    asked.out.write_bytes(VIEWS[asked.out.suffix](document, asked))
    if asked.out.suffix == ".bif" and (remark := unread_elsewhere(document.request.network)):
        print(remark, file=sys.stderr)
    print(f"Written to {asked.out}")
    return HOLDS


def _records(document: ReleaseDocument, asked: argparse.Namespace) -> Dataset:
    n = whole_number("The number of records", asked.records, low=0, high=MAX_RECORDS)
    drawn_from = DrawnFrom.ONE_DRAW if asked.one_draw else DrawnFrom.MEAN
    rng = _generator(asked)
    return sample_dataset(document.request.network, cpts_for(release_of(document), drawn_from, rng), n, rng)


def _parquet(document: ReleaseDocument, asked: argparse.Namespace) -> bytes:
    if asked.draws is None:
        return records_parquet(_records(document, asked))
    draws = whole_number("The number of draws", asked.draws, low=1, high=10_000_000)
    return draws_parquet(release_of(document).posterior, draws, _generator(asked))


def _generator(asked: argparse.Namespace) -> np.random.Generator:
    seed = secrets.randbits(128) if asked.seed is None else whole_number("The seed", asked.seed, low=0, high=2**128)
    return np.random.default_rng(seed)


VIEWS: dict[str, Callable[[ReleaseDocument, argparse.Namespace], bytes]] = {
    ".bif": lambda document, asked: released_bif(document).encode(),
    ".html": lambda document, asked: html_report(document).encode(),
    ".csv": lambda document, asked: records_csv(_records(document, asked)),
    ".parquet": _parquet,
    ".py": lambda document, asked: python_script(document, asked.file.name).encode(),
}
"""What can be made of a release, by the ending of the file."""

COMMANDS = {
    "release": ReleaseCommand("make a real release of a table and charge it to its budget", _add_release, _release),
    "learn": ReleaseCommand("choose a graph privately from a table and charge it to its budget", _add_learn, _learn),
    "ledger": ReleaseCommand("budgets, what was spent of them, and every release", _add_ledger_command, _ledger),
    "verify": ReleaseCommand("check a release without its data", _add_verify, _verify),
    "view": ReleaseCommand("make a network, records, draws, a report or a script of a release", _add_view, _view),
}
