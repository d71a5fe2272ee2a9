"""A command of a shell: its arguments, its function, and its exit code."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dpbayes.base.validation import InputError

HOLDS, FAILS, REFUSED = 0, 1, 2
"""Exit codes: done, or all checks hold; a release fails a check; a refusal, with a sentence on the error stream."""


class Command(NamedTuple):
    """One command: its description, what adds its arguments, and what runs it to its exit code."""

    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def add_parser(
    named: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, about: str
) -> argparse.ArgumentParser:
    """Add a command whose list entry is `about`, in the style of argparse, and whose description is its sentence."""
    return named.add_parser(name, help=about, description=f"{about[:1].upper()}{about[1:]}.")


def in_help(text: str) -> str:
    """Return a title or a sentence in the style of argparse: with a small first letter and without a period."""
    return f"{text[:1].lower()}{text[1:]}".removesuffix(".")


def run_command(
    commands: Mapping[str, Command], words: Sequence[str] | None, *, program: str, about: str, metavar: str = "command"
) -> int:
    """Run the command that the first word names; a refusal is one sentence on the error stream.

    Without `words`, those of the process. Returns the exit code.
    """
    parser = argparse.ArgumentParser(prog=program, description=about)
    named = parser.add_subparsers(dest="command", required=True, metavar=metavar)
    for name, command in commands.items():
        command.add_arguments(add_parser(named, name, command.about))
    arguments = parser.parse_args(words)
    try:
        return commands[arguments.command].run(arguments)
    except InputError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename or 'A file'} cannot be read or written: {error.strerror or error}.", file=sys.stderr)
    return REFUSED
