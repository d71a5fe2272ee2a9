"""What commands say alike of a budget: where its ledger is, and what is left of it."""

import argparse
from pathlib import Path

from dpbayes.releases import ledger
from dpbayes.releases.ledger import Account, PrivacyMeasure, amount_text

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
    return f"{amount_text(account.left)} is left of a budget of {amount_text(account.budget)}{kept_in(account)}."


def kept_in(account: Account) -> str:
    """Say that a budget is kept in rho; nothing of one in epsilon, as most are."""
    return ", in rho" if account.measure is PrivacyMeasure.RHO else ""
