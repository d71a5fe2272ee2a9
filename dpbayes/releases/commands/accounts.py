"""`ledger`: budgets, what was spent of them, and every release; and what other commands say of a budget."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from dpbayes.base.amounts import Amount, PrivacyMeasure, Rho, amount_text, measure_of, number_of
from dpbayes.base.command import HOLDS
from dpbayes.base.output import require_output, write_output
from dpbayes.base.text import numeral_above
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.releases import ledger
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.promises import parsed_promise
from dpbayes.releases.ledger import Account, Spending

MOST_READ = 2**53
"""The largest number that is read; what is too large for a choice, the choice says itself."""


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Add the word that names the ledger."""
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="the ledger (default: DPBAYES_LEDGER, or a ledger in your data folder)",
    )


def left_of(path: Path, dataset: str) -> str:
    """Say what is left of a dataset's budget. Errors: InputError."""
    account = ledger.account_of(path, dataset)
    return f"The remaining budget is {amount_text(account.left)} of {amount_text(account.budget)}{kept_in(account)}."


def kept_in(account: Account) -> str:
    """Say that a budget is kept in rho; nothing of one in epsilon, as most are."""
    return ", in rho" if account.measure is PrivacyMeasure.RHO else ""


def add_accounts(parser: argparse.ArgumentParser) -> None:
    """Add the words of `ledger` and of its actions."""
    add_ledger(parser)
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    actions.add_parser("list", help="list datasets with their budgets, and all releases")
    for name, about in (("open", "open a dataset with a total budget"), ("raise", "raise a dataset's total budget")):
        action = actions.add_parser(name, help=about)
        action.add_argument("dataset", help="the name of the dataset in the ledger")
        action.add_argument("--budget", help="the total epsilon, a decimal")
        action.add_argument("--rho", help="instead of --budget, the total rho of zero-concentrated privacy, a decimal")
        action.add_argument(
            "--delta", help="with --budget, the delta of an (epsilon, delta) budget, which is tracked in rho"
        )
        action.add_argument("--reason", required=True, help="the justification, for readers of the ledger")
    export = actions.add_parser("export", help="write the document of a release again, at no cost")
    export.add_argument("row", help="the row of the release in the output of list")
    export.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file for the document")
    check = actions.add_parser("check", help="check that version, hash chain, sums and contents are unchanged")
    check.add_argument(
        "--seen",
        action="append",
        default=[],
        metavar="HASH",
        help="the last hash of an earlier check, which must be in the ledger; may be repeated",
    )
    actions.add_parser("log", help="print who did what with the ledger by the dashboard, and when")
    sums = actions.add_parser("composed", help="print the privacy loss of all releases of a dataset together")
    sums.add_argument("dataset", help="the name of the dataset in the ledger")
    sums.add_argument("--delta", default="1e-6", help="the delta of the privacy loss (default: %(default)s)")


def keep_accounts(args: argparse.Namespace) -> int:
    """Do one action. Errors: InputError."""
    path = ledger.ledger_path(args.ledger)
    print("\n".join(_ACTIONS[args.action](path, args)))
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
    """Return the budget that was typed. Errors: InputError unless it is one."""
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
    require_output(args.out, [path])
    write_output(args.out, ledger.outcome(path, whole_number("The row", args.row, low=1, high=MOST_READ)))
    yield f"Written to {args.out}"


def _checked(path: Path, args: argparse.Namespace) -> Iterator[str]:
    checked = ledger.check(path, seen=args.seen)
    yield f"All {checked.rows:,} rows are unchanged. The hash of the last row is {checked.head}"
    yield from checked.notes


def _logged(path: Path, args: argparse.Namespace) -> Iterator[str]:
    rows = ledger.accesses(path)
    for row in rows:
        yield "  ".join(text for text in (row.time, row.person, row.act, row.dataset) if text)
    if not rows:
        yield "No dashboard has used this ledger since it has an audit log."


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


_ACTIONS: dict[str, Callable[[Path, argparse.Namespace], Iterator[str]]] = {
    "list": _listed,
    "open": _opened,
    "raise": _raised,
    "export": _exported,
    "check": _checked,
    "log": _logged,
    "composed": _composed,
}
