"""Commands of releases: `release`, `adaptive`, `ledger`, `verify` and `view`.

`python -m dpbayes release --help` describes one of them; each has `--help`.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

from dpbayes.releases.commands.accounts import add_accounts, keep_accounts
from dpbayes.releases.commands.charged import adaptive, add_adaptive, add_release, release
from dpbayes.releases.commands.view import add_check, add_view, check_release, make_view


class Command(NamedTuple):
    """One command: its description, what adds its arguments, and what runs it to its exit code."""

    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


COMMANDS = {
    "release": Command("Make a real release of a table and charge it to the table's budget.", add_release, release),
    "adaptive": Command(
        "Release a graph over all columns and its tables, and charge them to the table's budget.",
        add_adaptive,
        adaptive,
    ),
    "ledger": Command("Manage budgets and list releases.", add_accounts, keep_accounts),
    "verify": Command("Verify a release without its data.", add_check, check_release),
    "view": Command("Write a network, records or a report from a release.", add_view, make_view),
}
