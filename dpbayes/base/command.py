"""What a command prints, and its exit codes."""

import os
import sys
import unicodedata

HOLDS, FAILS, REFUSED = 0, 1, 2
"""Exit codes: done, or all checks hold; a release fails a check; a refusal, with a sentence on the error stream."""

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


def sentence(about: str) -> str:
    """Return the description of a command: the sentence of its entry in a list, which is in the style of argparse."""
    return f"{about[:1].upper()}{about[1:]}."
