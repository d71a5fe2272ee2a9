"""`verify`: whether a release is what it says, without its data."""

import argparse
from pathlib import Path

from dpbayes.base.command import FAILS, HOLDS
from dpbayes.releases import ledger
from dpbayes.releases.verify import verify


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the words of `verify`."""
    parser.add_argument("file", type=Path, help="a release.json, or a learnt graph from `ledger export`")
    parser.add_argument(
        "--ledger", type=Path, metavar="FILE", help="also check the release against the curator's ledger"
    )


def check_release(asked: argparse.Namespace) -> int:
    """Print what was checked; FAILS unless all of it holds. Errors: InputError, OSError."""
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
        print(f"holds  The ledger is unchanged and contains this release in row {rows[0]}.")
    else:
        print("FAILS  The ledger does not contain this release.")
    return bool(rows)
