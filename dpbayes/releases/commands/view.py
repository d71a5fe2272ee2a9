"""`view`, which writes files from a release, and `verify`, which checks a release without its data."""

import argparse
import secrets
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpbayes.audit.risk import SUSPICION
from dpbayes.base.command import FAILS, HOLDS, say, warn
from dpbayes.base.output import require_output, write_output
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases import ledger
from dpbayes.releases.commands.tables import add_out
from dpbayes.releases.document import ReleaseDocument, read_document, release_of
from dpbayes.releases.document.adaptive import AdaptiveDocument, is_adaptive, read_adaptive
from dpbayes.releases.document.signature import read_public_key, signature_line
from dpbayes.releases.ledger import Spending
from dpbayes.releases.signing import is_signed, ledger_keys, signer_of, unsigned
from dpbayes.releases.verify import verify
from dpbayes.releases.views import files
from dpbayes.releases.views.adaptive_report import adaptive_report
from dpbayes.releases.views.reading import posterior_of
from dpbayes.releases.views.report import html_report
from dpbayes.sources.bif import write_bif
from dpbayes.sources.synthetic import MAX_RECORDS, sample_dataset


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `view`."""
    parser.add_argument("file", type=Path, help="the file of the release, such as release.json")
    add_out(parser, f"the file for the view; the ending of its name selects the view: {', '.join(VIEWS)}")
    parser.add_argument(
        "--records", default="1000", help="the number of synthetic records in a .csv or .parquet file (default: 1000)"
    )
    parser.add_argument("--draws", help="write this number of posterior samples instead of records, in a .parquet file")
    parser.add_argument(
        "--one-draw",
        action="store_true",
        help="sample the records from one posterior sample, not from the posterior mean",
    )
    add_as_real(parser)
    parser.add_argument(
        "--suspicion",
        default=str(SUSPICION),
        help="an attacker's prior belief about one person, for a report (default: %(default)s)",
    )
    parser.add_argument("--seed", help="a seed that makes the samples reproducible; it need not be secret")


def add_as_real(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the naive posterior."""
    parser.add_argument(
        "--as-real",
        dest="reading",
        action="store_const",
        const=Reading.AS_REAL,
        default=Reading.NOISE_AWARE,
        help="compute the naive posterior, as in the paper, instead of the noise-aware posterior",
    )


def make_view(args: argparse.Namespace) -> int:
    """Write the view of a verified release for the ending of the file. Errors: InputError, OSError."""
    if args.out.suffix not in VIEWS:
        raise InputError(f"A view needs a file name that ends in {', '.join(VIEWS)}; {brief(args.out.name)} does not.")
    require_output(args.out, [args.file], force=args.force)
    data = verified(args.file)
    if is_adaptive(data):
        return _make_adaptive_view(read_adaptive(data), args)
    document = read_document(data)
    write_output(args.out, VIEWS[args.out.suffix](document, args), force=args.force)
    if args.out.suffix == ".bif" and (doubt := files.unread_elsewhere(document.request.network)):
        warn(doubt)
    say(f"Written to {args.out}. {signature_line(document.content)}")
    return HOLDS


def verified(file: Path) -> bytes:
    """Return the content of a release file that verifies. Errors: InputError, OSError."""
    data = file.read_bytes()
    failure = next((check.sentence for check in verify(data).checks if not check.holds), None)
    if failure is not None:
        raise InputError(f"The release does not verify: {failure}")
    return data


def _written_records(args: argparse.Namespace, records: Dataset) -> bytes:
    return files.records_csv(records) if args.out.suffix == ".csv" else files.records_parquet(records)


def _make_adaptive_view(document: AdaptiveDocument, args: argparse.Namespace) -> int:
    """Write the report, the network or synthetic records of an adaptive release, and print its signer."""
    if args.out.suffix not in ADAPTIVE_VIEWS or args.draws is not None or args.one_draw:
        raise InputError(
            f"The views of an adaptive release are files that end in {', '.join(ADAPTIVE_VIEWS)}, without posterior "
            "samples."
        )
    write_output(args.out, ADAPTIVE_VIEWS[args.out.suffix](document, args), force=args.force)
    say(f"Written to {args.out}. {signature_line(document.content)}")
    return HOLDS


def _adaptive_network(document: AdaptiveDocument, write: Callable[[Network, FloatArray], str]) -> bytes:
    release = document.release
    return write(release.network, release.probabilities).encode()


def _adaptive_records(document: AdaptiveDocument, args: argparse.Namespace) -> bytes:
    release = document.release
    n = whole_number("The number of records", args.records, low=0, high=MAX_RECORDS)
    return _written_records(args, release.synthetic(n, _generator(args)))


def _records(document: ReleaseDocument, args: argparse.Namespace) -> Dataset:
    n = whole_number("The number of records", args.records, low=0, high=MAX_RECORDS)
    drawn_from = files.DrawnFrom.ONE_DRAW if args.one_draw else files.DrawnFrom.MEAN
    rng = _generator(args)
    return sample_dataset(
        document.request.network, files.cpts_for(release_of(document), drawn_from, rng, args.reading), n, rng
    )


def _document_records(document: ReleaseDocument, args: argparse.Namespace) -> bytes:
    return _written_records(args, _records(document, args))


def _parquet(document: ReleaseDocument, args: argparse.Namespace) -> bytes:
    if args.draws is None:
        return _document_records(document, args)
    draws = whole_number("The number of samples", args.draws, low=1, high=10_000_000)
    return files.draws_parquet(posterior_of(release_of(document), args.reading), draws, _generator(args))


def _suspicion(args: argparse.Namespace) -> float:
    return finite_number("--suspicion", args.suspicion, low=1e-9, high=1 - 1e-9)


def _generator(args: argparse.Namespace) -> np.random.Generator:
    seed = secrets.randbits(128) if args.seed is None else whole_number("The seed", args.seed, low=0, high=2**128)
    return np.random.default_rng(seed)


VIEWS: dict[str, Callable[[ReleaseDocument, argparse.Namespace], bytes]] = {
    ".bif": lambda document, args: files.released_bif(document, args.reading).encode(),
    ".html": lambda document, args: html_report(document, args.reading, suspicion=_suspicion(args)).encode(),
    ".csv": _document_records,
    ".parquet": _parquet,
    ".py": lambda document, args: files.python_script(document, args.file.name, args.reading).encode(),
}
"""The views of a release, by the ending of the file."""


ADAPTIVE_VIEWS: dict[str, Callable[[AdaptiveDocument, argparse.Namespace], bytes]] = {
    ".bif": lambda document, args: _adaptive_network(document, write_bif),
    ".html": lambda document, args: adaptive_report(document, suspicion=_suspicion(args)).encode(),
    ".csv": _adaptive_records,
    ".parquet": _adaptive_records,
}
"""The views of an adaptive release, by the ending of the file."""


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
    verification = verify(data, None if args.key is None else read_public_key(args.key.read_bytes()))
    for check in verification.checks:
        say(f"{'holds' if check.holds else 'FAILS'}  {check.sentence}")
    for sentence in verification.left_out:
        say(f"  -    {sentence}")
    in_ledger = args.ledger is None or _is_in_ledger(ledger.ledger_path(args.ledger), data)
    return HOLDS if verification.holds and in_ledger else FAILS


def _is_in_ledger(path: Path, data: bytes) -> bool:
    ledger.check(path)
    released = [
        (spending, ledger.outcome(path, spending.row))
        for account in ledger.accounts(path)
        for spending in ledger.spendings(path, account.dataset)
        if spending.release
    ]
    own = next((spending for spending, outcome in released if outcome == data), None)
    if own is not None:
        say(f"holds  The ledger is unchanged and contains this release in row {own.row}.")
        return _is_named(path, own, data)
    stripped = next((row.row for row, outcome in released if is_signed(outcome) and unsigned(outcome) == data), None)
    if stripped is not None:
        say(f"FAILS  The ledger contains this release in row {stripped} with a signature, which was removed here.")
    else:
        say("FAILS  The ledger does not contain this release.")
    return False


def _is_named(path: Path, spending: Spending, data: bytes) -> bool:
    """Print whether the ledger names the key of a signed release, and whether the key was replaced."""
    if not is_signed(data):
        return True
    signer = signer_of(data)
    key = next((key for key in ledger_keys(path) if key.signer == signer and key.row < spending.row), None)
    if key is None:
        say("FAILS  The ledger does not name the key that signed this release.")
        return False
    later = "" if key.replaced_in is None else f" Another key replaced it in row {key.replaced_in}."
    say(f"holds  The ledger names the key of {signer} in row {key.row}.{later}")
    return True
