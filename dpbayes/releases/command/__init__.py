"""Real releases without a browser: `python -m dpbayes release | learn | ledger | verify | view | count`.

Each has `--help`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dpbayes.base.validation import InputError
from dpbayes.releases.command.accounts import add_accounts, keep_accounts
from dpbayes.releases.command.charged import add_learn, add_release, learn, release
from dpbayes.releases.command.check import add_check, check_release
from dpbayes.releases.command.counted import add_count, count_table
from dpbayes.releases.command.shared import REFUSED
from dpbayes.releases.command.view import add_view, make_view


class ReleaseCommand(NamedTuple):
    """One command: what it is, the words it takes, and how it is run to its exit code."""

    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(words: Sequence[str]) -> int:
    """Run one command; what stands in its way is one sentence on the error stream and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m dpbayes", description=__doc__.partition("\n")[0])
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


COMMANDS = {
    "release": ReleaseCommand("make a real release of a table and charge it to its budget", add_release, release),
    "learn": ReleaseCommand("choose a graph privately from a table and charge it to its budget", add_learn, learn),
    "ledger": ReleaseCommand("budgets, what was spent of them, and every release", add_accounts, keep_accounts),
    "verify": ReleaseCommand("check a release without its data", add_check, check_release),
    "view": ReleaseCommand("make a network, records, draws, a report or a script of a release", add_view, make_view),
    "count": ReleaseCommand("count a table where it lies, exactly; for the curator alone", add_count, count_table),
}
