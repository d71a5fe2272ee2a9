"""What a command puts out: an exit code, lines on the terminal, and a file, which is replaced only by force."""

import argparse
import os
import secrets
import stat
import sys
import tempfile
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dpbayes.base.validation import InputError

HOLDS, FAILS, REFUSED = 0, 1, 2
"""Exit codes: done, or all checks hold; a release fails a check; a refusal, with a sentence on the error stream."""

_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of characters that a terminal obeys or that turn the direction of text."""

ROOM = 1 << 16
"""The number of bytes that must be free on the disk of an output before the work begins."""

_KEPT = {b"SQLite format 3\0": "a database, perhaps a ledger,", b"-----BEGIN PRIVATE KEY-----": "a private key"}
"""Beginnings of files that no command replaces, even by force."""

_COMPANIONS = ("-wal", "-shm", "-journal")
"""The endings of further files that SQLite keeps for a database."""


# The terminal


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


# The file


def add_out(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the arguments of a command that name its output, and that permit to replace a file."""
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=about)
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")


def require_output(out: Path, inputs: Iterable[Path], *, force: bool) -> None:
    """Refuse an output before anything is read, computed or charged for it.

    Args:
        out: The file to be written.
        inputs: Files and folders that the command reads or keeps: data, domain description, ledger.
        force: Whether a file may be replaced.

    Raises:
        InputError: For an output that is an input under any name, lies in a folder that is read, is a database, a
            private key or a folder, exists and may not be replaced, or cannot be written.
    """
    for path in inputs:
        if _is_same(out, path) or any(_is_same(out, Path(f"{path}{end}")) for end in _COMPANIONS):
            raise InputError(f"The output {out} is {path}, which this command reads. Name another file.")
        if path.is_dir() and path.resolve() in out.resolve().parents:
            raise InputError(f"The output {out} is inside {path}, which this command reads. Name a file elsewhere.")
    if out.exists() and not out.is_file():
        raise InputError(f"The output {out} is a folder, a device or a pipe. Name a file.")
    if out.exists():
        _require_replaceable(out, force=force)
    try:
        with tempfile.NamedTemporaryFile(dir=out.resolve().parent, prefix=".dpbayes-") as probe:
            probe.write(bytes(ROOM))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        cure = "Name a file in a folder that exists and can be written to."
        raise InputError(f"The output {out} cannot be written: {error.strerror}. {cure}") from None


def write_output(out: Path, data: bytes, *, force: bool) -> None:
    """Write a file in the folder of the output and rename it, so that the output is never incomplete.

    A link stays a link, and the file it names is written. A file that is replaced keeps its permissions.

    Args:
        out: The file to be written.
        data: Its content.
        force: Whether a file may be replaced.

    Raises:
        OSError: It cannot be written, or exists and may not be replaced; the former file is then unchanged.
    """
    place = out.resolve()
    new = place.parent / f".dpbayes-{secrets.token_hex(8)}"
    try:
        with new.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            new.chmod(stat.S_IMODE(place.stat().st_mode))
        if not force:  # takes the place, so that a file that was made meanwhile is not replaced
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        new.replace(place)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _is_same(out: Path, other: Path) -> bool:
    """Whether two paths name one file, by links of either kind, or would do so if both existed."""
    try:
        return out.samefile(other)
    except OSError:
        return out.resolve() == other.resolve()


def _require_replaceable(out: Path, *, force: bool) -> None:
    with suppress(OSError), out.open("rb") as file:  # a file that cannot be read can be replaced
        begins = file.read(max(map(len, _KEPT)))
        kind = next((kind for beginning, kind in _KEPT.items() if begins.startswith(beginning)), None)
        if kind is not None:
            raise InputError(f"The output {out} is {kind} and is not replaced. Name another file.")
    if not force:
        raise InputError(
            f"The output {out} exists already. Name another file, or replace it (--force, or force=True in Python)."
        )
