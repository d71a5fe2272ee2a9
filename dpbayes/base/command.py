"""A command of a shell: its arguments, its function, and its exit code."""

import argparse
import os
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from dpbayes.base.validation import InputError

HOLDS, FAILS, REFUSED = 0, 1, 2
"""Exit codes: done, or all checks hold; a release fails a check; a refusal, with a sentence on the error stream."""


class Command(NamedTuple):
    """One command: its description, what adds its arguments, and what runs it to its exit code."""

    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of characters that a terminal obeys or that turn the direction of text."""


def terminal_text(text: object) -> str:
    """Return text for a terminal, with control and direction characters escaped; lines and tabs stay."""
    return "".join(
        letter.encode("unicode_escape").decode()
        if letter not in "\n\t" and unicodedata.category(letter) in _CONTROLS
        else letter
        for letter in str(text)
    )


def say(text: object) -> None:
    """Print a result of a command, unless the reader of a pipe has ended, such as `head`."""
    try:
        print(terminal_text(text), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(text: object) -> None:
    """Print a refusal, or a remark on a result, on the error stream."""
    print(terminal_text(text), file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """A parser of arguments whose refusals are safe on a terminal."""

    def error(self, message: str) -> NoReturn:
        """End the program with a refusal."""
        super().error(terminal_text(message))


def started_as() -> str:
    """Return how the program was started: by its name, or as a module of Python."""
    return "dpbayes" if Path(sys.argv[0]).stem == "dpbayes" else "python -m dpbayes"


def add_parser(named: "argparse._SubParsersAction[Any]", name: str, about: str) -> argparse.ArgumentParser:
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
    parser = Parser(prog=program, description=about)
    named = parser.add_subparsers(dest="command", required=True, metavar=metavar)
    words = sys.argv[1:] if words is None else words
    for name, command in commands.items():
        own = add_parser(named, name, command.about)
        if name in words[:1]:
            command.add_arguments(own)
    arguments = parser.parse_args(words)
    try:
        return commands[arguments.command].run(arguments)
    except InputError as error:
        warn(error)
    except OSError as error:
        warn(f"{error.filename or 'A file'} cannot be read or written: {error.strerror or error}.")
    return REFUSED
