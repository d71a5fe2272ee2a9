"""`ledger`: budgets, their use, releases and signing keys."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dpbayes.base.amounts import amount_text, measure_of, number_of
from dpbayes.base.validation import whole_number
from dpbayes.releases import ledger
from dpbayes.releases.document.request import typed_amount
from dpbayes.releases.ledger import Spending
from dpbayes.releases.output import HOLDS, add_out, require_output, say, write_output
from dpbayes.releases.signing import key_file, make_key, named_keys

LEDGER: dict[str, Any] = {
    "type": Path,
    "metavar": "FILE",
    "help": "the file of the ledger (default: DPBAYES_LEDGER, or a ledger in your data folder)",
}
"""The argument `--ledger`."""


def add_accounts(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `ledger` and of its actions."""
    parser.add_argument("--ledger", **LEDGER)
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")

    def add(name: str, about: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=about, description=f"{about[:1].upper()}{about[1:]}.")
        action.add_argument("--ledger", **LEDGER, default=argparse.SUPPRESS)  # keeps the one before the action
        return action

    add("list", "list datasets with their budgets, all releases, and all signing keys")
    for name, about in (("open", "open a dataset with a total budget"), ("raise", "raise a dataset's total budget")):
        action = add(name, about)
        action.add_argument("dataset", help="the name of the dataset in the ledger")
        action.add_argument("--budget", required=True, help="the total epsilon, a decimal")
        action.add_argument(
            "--delta",
            default="0",
            help="the total delta; above 0, the budget is kept in rho, which also pays for Gaussian noise (default: 0)",
        )
        action.add_argument("--reason", required=True, help="the justification, for readers of the ledger")
    export = add("export", "write the document of a release again, at no cost")
    export.add_argument("row", help="the number of the release's row, as printed by `ledger list`")
    add_out(export, "the file for the document")
    check = add("check", "check that version, hash chain, sums and contents are unchanged")
    check.add_argument(
        "--seen",
        action="append",
        default=[],
        metavar="HASH",
        help="the last hash of an earlier check, which must be in the ledger; may be repeated",
    )
    new = add("new-key", "make a signing key, which signs every later release")
    new.add_argument("--name", required=True, help="the name of the signer, which every signed release contains")
    new.add_argument("--reason", required=True, help="the reason for the key, for readers of the ledger")
    add_out(new, "the file for the public key, which may be published, such as key.pem")


def keep_accounts(args: argparse.Namespace) -> int:
    """Run one action. Errors: InputError."""
    path = ledger.ledger_path(args.ledger)
    say("\n".join(_ACTIONS[args.action](path, args)))
    return HOLDS


def _listed(path: Path, args: argparse.Namespace) -> Iterator[str]:
    books = ledger.read_books(path)
    for account in books.accounts.values():
        yield (
            f"{account.dataset}: released {amount_text(account.released)}, "
            f"reserved without a release {amount_text(account.reserved)}. {account.left_text}"
        )
        for spending in books.of(account.dataset):
            time = spending.reservation.time
            yield f"  row {spending.row}, {time}: {_cost(spending)}, {spending.state}"
    for key in named_keys(path):
        yield f"signing key in row {key.row}, {key.time}: {key.signer}. {key.reason}"


def _cost(spending: Spending) -> str:
    promised = f"{measure_of(spending.amount).value} {amount_text(number_of(spending.amount))}"
    return f"{promised}, which costs {spending.measure.value} {amount_text(spending.cost)}"


def _opened(path: Path, args: argparse.Namespace) -> Iterator[str]:
    ledger.open_dataset(path, args.dataset, typed_amount(args.budget, args.delta), reason=args.reason)
    yield f"{args.dataset} is open in {path}. {ledger.read_books(path).account(args.dataset).left_text}"


def _raised(path: Path, args: argparse.Namespace) -> Iterator[str]:
    ledger.raise_budget(path, args.dataset, typed_amount(args.budget, args.delta), reason=args.reason)
    yield ledger.read_books(path).account(args.dataset).left_text


def _exported(path: Path, args: argparse.Namespace) -> Iterator[str]:
    require_output(args.out, [path], force=args.force)
    row = whole_number("The row", args.row, low=1, high=2**53)
    write_output(args.out, ledger.outcome(path, row), force=args.force)
    yield f"Written to {args.out}"


def _checked(path: Path, args: argparse.Namespace) -> Iterator[str]:
    checked = ledger.check(path, seen=args.seen)
    yield f"All {checked.rows:,} rows are unchanged. The hash of the last row is {checked.head}"


def _key_made(path: Path, args: argparse.Namespace) -> Iterator[str]:
    require_output(args.out, [path], force=args.force)
    key, public = make_key(path, args.name, reason=args.reason)
    write_output(args.out, public, force=args.force)
    yield f"{key.signer} signs the releases of this ledger from now on (row {key.row})."
    yield f"The private key is {key_file(path, key.signer.key)}. Keep a copy in a safe place, and do not share it."
    yield f"The public key is {args.out}. Publish it."


_ACTIONS: dict[str, Callable[[Path, argparse.Namespace], Iterator[str]]] = {
    "list": _listed,
    "open": _opened,
    "raise": _raised,
    "export": _exported,
    "check": _checked,
    "new-key": _key_made,
}
