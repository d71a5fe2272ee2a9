"""`view`, which writes files from a release, and `verify`, which checks a release without its data."""

import argparse
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpbayes.base.display import safe_csv
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.model.synthetic import MAX_RECORDS
from dpbayes.releases import ledger
from dpbayes.releases.document import Document, read_document
from dpbayes.releases.output import FAILS, HOLDS, add_out, require_output, say, write_output
from dpbayes.releases.reading import records_csv, records_of, released_bif
from dpbayes.releases.report import html_report
from dpbayes.releases.signing import named_keys, signature_line, signer_from
from dpbayes.releases.verify import verified, verify


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `view`."""
    parser.add_argument("file", type=Path, help="the file of the release, such as release.json")
    add_out(parser, f"the file for the view; the ending of its name selects the view: {', '.join(VIEWS)}")
    parser.add_argument(
        "--records", default="1000", help="the number of synthetic records in a .csv file (default: 1000)"
    )
    about = "the declarations of the columns: numbers in a .csv file are then drawn within their bins"
    parser.add_argument("--domains", type=Path, metavar="FILE", help=about)
    parser.add_argument("--seed", help="a seed that makes the records reproducible; it need not be secret")


def make_view(args: argparse.Namespace) -> int:
    """Write the view of a verified release for the ending of the file. Errors: InputError, OSError."""
    if args.out.suffix not in VIEWS:
        raise InputError(f"A view needs a file name that ends in {', '.join(VIEWS)}; {brief(args.out.name)} does not.")
    require_output(args.out, [args.file, *filter(None, [args.domains])], force=args.force)
    document = verified(args.file.read_bytes())
    write_output(args.out, VIEWS[args.out.suffix](document, args), force=args.force)
    say(f"Written to {args.out}. {signature_line(document.content)}")
    return HOLDS


def _records(document: Document, args: argparse.Namespace) -> bytes:
    n = whole_number("The number of records", args.records, low=0, high=MAX_RECORDS)
    seed = secrets.randbits(128) if args.seed is None else whole_number("The seed", args.seed, low=0, high=2**128)
    rng = np.random.default_rng(seed)
    if args.domains is None:
        return records_csv(records_of(document, n, rng))
    from dpbayes.releases.real import load  # late: no other view needs what makes releases

    table: Any = load(args.file, args.domains).synthetic(n, seed=rng)
    return safe_csv(table.to_frame(seed=rng))


VIEWS: dict[str, Callable[[Document, argparse.Namespace], bytes]] = {
    ".bif": lambda document, args: released_bif(document).encode(),
    ".html": lambda document, args: html_report(document).encode(),
    ".csv": _records,
}
"""The views of a release, by the ending of the file."""


# verify


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.add_argument("file", type=Path, help="the file of a release, such as release.json")
    parser.add_argument(
        "--ledger", type=Path, metavar="FILE", help="also check the release against the curator's ledger"
    )
    parser.add_argument(
        "--key", type=Path, metavar="PUBLIC.pem", help="also check that the release was signed with this public key"
    )


def check_release(args: argparse.Namespace) -> int:
    """Print the checks, and return FAILS unless all of them hold. Errors: InputError, OSError."""
    data = args.file.read_bytes()
    if args.ledger is not None:  # before the checks are printed
        ledger.check(ledger.ledger_path(args.ledger))
    verification = verify(data, args.key)
    for check in verification.checks:
        say(f"{'holds' if check.holds else 'FAILS'}  {check.sentence}")
    for sentence in verification.left_out:
        say(f"  -    {sentence}")
    in_ledger = args.ledger is None or _is_in_ledger(ledger.ledger_path(args.ledger), data)
    return HOLDS if verification.holds and in_ledger else FAILS


def _is_in_ledger(path: Path, data: bytes) -> bool:
    """Print that the ledger is unchanged, whether it contains the release, and names the key that signed it."""
    released = [spending.row for spending in ledger.read_books(path).spendings.values() if spending.release]
    row = next((row for row in released if ledger.outcome(path, row) == data), None)
    if row is None:
        say("FAILS  The ledger does not contain this release.")
        return False
    say(f"holds  The ledger is unchanged and contains this release in row {row}.")
    content = read_document(data).content
    if "signature" not in content:
        return True
    signer = signer_from(content["signer"])
    key = next((key for key in named_keys(path) if key.signer == signer and key.row < row), None)
    if key is None:
        say("FAILS  The ledger does not name the key that signed this release.")
        return False
    say(f"holds  The ledger names the key of {signer} in row {key.row}.")
    return True
