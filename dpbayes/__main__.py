"""The dashboard, and real releases, from the command line: `python -m dpbayes`, `python -m dpbayes release --help`.

An installed package has the command `dpbayes`.
"""

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from dpbayes import __version__
from dpbayes.base.libraries import extra
from dpbayes.base.validation import InputError
from dpbayes.releases.output import REFUSED, terminal_text, warn

if TYPE_CHECKING:
    from dpbayes.releases.commands import Command

COMMANDS = ("release", "adaptive", "ledger", "verify", "view")

PROGRAM = "dpbayes" if Path(sys.argv[0]).stem == "dpbayes" else "python -m dpbayes"
"""How the program was started: by its name, or as a module of Python."""


def main(words: Sequence[str] | None = None) -> int:
    """Run a command of real releases, or serve the dashboard where none is named; each imports only what it needs.

    Args:
        words: The words after the program's name; without them, those of the process.

    Returns:
        The exit code.
    """
    words = sys.argv[1:] if words is None else words
    if words and words[0] in COMMANDS:
        from dpbayes.releases import commands

        return run_command(words[0], commands.COMMANDS[words[0]], words[1:])
    parser = _parser()
    if words and not words[0].startswith("-"):
        near = "".join(f"; did you mean {name}?" for name in get_close_matches(words[0], COMMANDS, 1))
        parser.error(f'there is no command "{words[0]}"{near}; the commands are {", ".join(COMMANDS)}')
    options = parser.parse_args(words)
    try:
        with extra("app", "The dashboard"):
            from dpbayes.ui.server import serve
    except InputError as error:
        warn(error)
        return REFUSED
    return serve.main(options)


def run_command(name: str, command: "Command", words: Sequence[str]) -> int:
    """Run a command with these words, and return its exit code; a refusal is one sentence on the error stream."""
    parser = Parser(prog=f"{PROGRAM} {name}", description=command.about)
    command.add_arguments(parser)
    arguments = parser.parse_args(words)
    try:
        return command.run(arguments)
    except InputError as error:
        warn(error)
    except OSError as error:
        name = next((f"{name}: " for name, given in vars(arguments).items() if str(given) == str(error.filename)), "")
        warn(f"{name}{error.filename or 'A file'} cannot be read or written: {error.strerror or error}.")
    return REFUSED


class Parser(argparse.ArgumentParser):
    """A parser of arguments whose refusals are safe on a terminal."""

    def error(self, message: str) -> NoReturn:
        """End the program with a refusal."""
        super().error(terminal_text(message))


def _parser() -> argparse.ArgumentParser:
    """Return the options of the dashboard: they are shown where it is not installed, too."""
    parser = Parser(
        prog=PROGRAM,
        description="Serve the dashboard on this computer.",
        epilog=f"Other commands, each with --help: {', '.join(COMMANDS)}.",
    )
    parser.add_argument("--version", action="version", version=f"dpbayes {__version__}")
    parser.add_argument("--port", default="8501", help="the port of the server (default: %(default)s)")
    parser.add_argument(
        "--data-root",
        metavar="FOLDER",
        help="the curator may connect Parquet and DuckDB files in this folder; the variable "
        "DPBAYES_DATA_ROOT has the same effect",
    )
    parser.add_argument(
        "--connect",
        action="append",
        default=[],
        metavar="[NAME=]ADDRESS",
        help="the curator may connect this database under this name; may be repeated; the variable "
        "DPBAYES_CONNECT has one address per line",
    )
    parser.add_argument(
        "--class",
        dest="for_class",
        action="store_true",
        help="serve the local network, not only this computer: everybody in the network can then open the dashboard "
        "as a visitor",
    )
    parser.add_argument(
        "--host",
        dest="names",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name of the server that browsers may use, for example behind a proxy; may be repeated",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
