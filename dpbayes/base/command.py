"""A command of a shell: its arguments, its function, and its exit code."""

import argparse
import os
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

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


def sentence(about: str) -> str:
    """Return the description of a command: the sentence of its entry in a list, which is in the style of argparse."""
    return f"{about[:1].upper()}{about[1:]}."


def run_command(name: str, command: Command, words: Sequence[str]) -> int:
    """Run a command with these words, and return its exit code; a refusal is one sentence on the error stream."""
    parser = Parser(prog=f"{started_as()} {name}", description=sentence(command.about))
    command.add_arguments(parser)
    arguments = parser.parse_args(words)
    try:
        return command.run(arguments)
    except InputError as error:
        warn(error)
    except OSError as error:
        warn(f"{error.filename or 'A file'} cannot be read or written: {error.strerror or error}.")
    return REFUSED
