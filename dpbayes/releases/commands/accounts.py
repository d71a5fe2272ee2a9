"""`ledger`: budgets, their use, and all releases; and the sentences of other commands about a budget."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from dpbayes.base.amounts import Amount, PrivacyMeasure, Rho, amount_text, measure_of, number_of
from dpbayes.base.command import HOLDS, add_parser, say
from dpbayes.base.text import numeral_above
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.releases import ledger
from dpbayes.releases.commands.tables import add_out
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.request import parsed_promise
from dpbayes.releases.ledger import Account, Spending
from dpbayes.releases.output import require_output, write_output
from dpbayes.releases.signing import key_file, make_key

MOST_READ = 2**53
"""The largest number that is read; each use has its own limit."""


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the ledger."""
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="the file of the ledger (default: DPBAYES_LEDGER, or a ledger in your data folder)",
    )


def left_of(path: Path, dataset: str) -> str:
    """Return a sentence on the remaining budget of a dataset. Errors: InputError."""
    account = ledger.account_of(path, dataset)
    return f"The remaining budget is {amount_text(account.left)} of {amount_text(account.budget)}{kept_in(account)}."


def kept_in(account: Account) -> str:
    """Return ", in rho" for a budget in rho, and "" for a budget in epsilon."""
    return ", in rho" if account.measure is PrivacyMeasure.RHO else ""


def add_accounts(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `ledger` and of its actions."""
    add_ledger(parser)
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    add_parser(actions, "list", "list datasets with their budgets, and all releases")
    for name, about in (("open", "open a dataset with a total budget"), ("raise", "raise a dataset's total budget")):
        action = add_parser(actions, name, about)
        action.add_argument("dataset", help="the name of the dataset in the ledger")
        action.add_argument("--budget", help="the total epsilon, a decimal")
        action.add_argument("--rho", help="instead of --budget, the total rho of zero-concentrated privacy, a decimal")
        action.add_argument(
            "--delta", help="with --budget, the delta of an (epsilon, delta) budget, which is tracked in rho"
        )
        action.add_argument("--reason", required=True, help="the justification, for readers of the ledger")
    export = add_parser(actions, "export", "write the document of a release again, at no cost")
    export.add_argument("row", help="the number of the release's row, as printed by `ledger list`")
    add_out(export, "the file for the document")
    check = add_parser(actions, "check", "check that version, hash chain, sums and contents are unchanged")
    check.add_argument(
        "--seen",
        action="append",
        default=[],
        metavar="HASH",
        help="the last hash of an earlier check, which must be in the ledger; may be repeated",
    )
    _add_keys(actions)
    sums = add_parser(actions, "composed", "print the privacy loss of all releases of a dataset together")
    sums.add_argument("dataset", help="the name of the dataset in the ledger")
    sums.add_argument("--delta", default="1e-6", help="the delta of the privacy loss (default: %(default)s)")


def _add_keys(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the actions on signing keys."""
    new = add_parser(actions, "new-key", "make a signing key; every later release is signed")
    new.add_argument("--name", required=True, help="the name of the signer, which every signed release contains")
    new.add_argument("--reason", required=True, help="the reason for the key, for readers of the ledger")
    new.add_argument("--replaces", metavar="ROW", help="the row of the signing key that the new key replaces")
    add_parser(actions, "keys", "list the signing keys that the ledger names")
    public = add_parser(actions, "public-key", "write a signer's public key to a file, which may be published")
    public.add_argument("row", help="the number of the key's row, as printed by `ledger keys`")
    add_out(public, "the file for the key, such as key.pem")


def keep_accounts(args: argparse.Namespace) -> int:
    """Run one action. Errors: InputError."""
    path = ledger.ledger_path(args.ledger)
    say("\n".join(_ACTIONS[args.action](path, args)))
    return HOLDS


def _listed(path: Path, args: argparse.Namespace) -> Iterator[str]:
    for account in ledger.accounts(path):
        yield (
            f"{account.dataset}: budget {amount_text(account.budget)}{kept_in(account)}, "
            f"released {amount_text(account.released)}, reserved without a release {amount_text(account.reserved)}, "
            f"left {amount_text(account.left)}"
        )
        for spending in ledger.spendings(path, account.dataset):
            time = spending.reservation.time
            yield f"  row {spending.row}, {time}: {_cost(spending)}, {spending.state}"


def _cost(spending: Spending) -> str:
    promised = measure_of(spending.amount)
    text = f"{promised.value} {amount_text(number_of(spending.amount))}"
    other = f", which costs {spending.measure.value} {amount_text(spending.cost)}"
    return text if promised is spending.measure else text + other


def _budget(args: argparse.Namespace) -> Amount:
    """Return the budget that was typed. Errors: InputError unless it is exactly one."""
    if (args.budget is None) == (args.rho is None):
        raise InputError("A budget is an epsilon or a rho. State either --budget or --rho.")
    if args.delta is not None:
        if args.budget is None:
            raise InputError("A delta belongs to a total epsilon. State it with --budget.")
        return Rho(parsed_promise(args.budget, args.delta).rho)
    return Rho(decimal("The budget", args.rho)) if args.budget is None else decimal("The budget", args.budget)


def _opened(path: Path, args: argparse.Namespace) -> Iterator[str]:
    ledger.open_dataset(path, args.dataset, _budget(args), reason=args.reason)
    yield f"{args.dataset} is open in {path}. {left_of(path, args.dataset)}"


def _raised(path: Path, args: argparse.Namespace) -> Iterator[str]:
    ledger.raise_budget(path, args.dataset, _budget(args), reason=args.reason)
    yield left_of(path, args.dataset)


def _exported(path: Path, args: argparse.Namespace) -> Iterator[str]:
    require_output(args.out, [path], force=args.force)
    write_output(args.out, ledger.outcome(path, _row(args.row)), force=args.force)
    yield f"Written to {args.out}"


def _checked(path: Path, args: argparse.Namespace) -> Iterator[str]:
    checked = ledger.check(path, seen=args.seen)
    yield f"All {checked.rows:,} rows are unchanged. The hash of the last row is {checked.head}"
    yield from checked.notes


def _composed(path: Path, args: argparse.Namespace) -> Iterator[str]:
    account, spendings = ledger.account_of(path, args.dataset), ledger.spendings(path, args.dataset)
    amounts = [spending.amount for spending in spendings]
    bound = ledger.composed(amounts, finite_number("delta", args.delta, low=1e-10, high=1.0))
    total = f"{account.measure.value} {amount_text(account.spent)}"
    together = f"{numeral_above(bound, 4)} at delta {args.delta}"
    if account.measure is PrivacyMeasure.RHO:
        yield f"{len(amounts):,} releases: the exact sum is {total}; the composed loss is at most epsilon {together}."
    else:
        yield f"{len(amounts):,} releases: {total} at delta 0; the composed loss is at most {together}."


def _key_made(path: Path, args: argparse.Namespace) -> Iterator[str]:
    replaces = None if args.replaces is None else _row(args.replaces)
    key = make_key(path, args.name, reason=args.reason, replaces=replaces)
    yield f"{key.signer} signs the releases of this ledger from now on (row {key.row})."
    yield f"The private key is {key_file(path, key.signer.key)}. Keep a copy in a safe place, and do not share it."
    yield f"Publish the public key: python -m dpbayes ledger public-key {key.row} --out key.pem"


def _keys(path: Path, args: argparse.Namespace) -> Iterator[str]:
    keys = ledger.named_keys(path)
    if not keys:
        yield "The ledger names no signing key. Its releases are not signed."
    for key in keys:
        state = "in use" if key.replaced_in is None else f"replaced in row {key.replaced_in}"
        yield f"row {key.row}, {key.time}: {key.signer}, {state}. {key.reason}"


def _public_key(path: Path, args: argparse.Namespace) -> Iterator[str]:
    require_output(args.out, [path], force=args.force)
    row = _row(args.row)
    key = next((key for key in ledger.named_keys(path) if key.row == row), None)
    if key is None:
        raise InputError(f"Row {row} of the ledger does not name a signing key. List the keys with ledger keys.")
    write_output(args.out, key.signer.key.pem, force=args.force)
    yield f"Written to {args.out}"


def _row(text: str) -> int:
    return whole_number("The row", text, low=1, high=MOST_READ)


_ACTIONS: dict[str, Callable[[Path, argparse.Namespace], Iterator[str]]] = {
    "list": _listed,
    "open": _opened,
    "raise": _raised,
    "export": _exported,
    "check": _checked,
    "composed": _composed,
    "new-key": _key_made,
    "keys": _keys,
    "public-key": _public_key,
}
