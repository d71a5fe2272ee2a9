"""A program that does a step of the ledger over and over, in a process that is killed a statement later each time.

`python -m tests.releases.ledger.killed FOLDER (open|spend)` copies FOLDER/start to FOLDER/0, FOLDER/1, …, and in
copy k kills a process of its own with SIGKILL before its k-th statement to SQLite, or when it draws or shows. It ends
with the first copy in which the process came to its end, and prints how many there are.
"""

import os
import shutil
import signal
import sqlite3
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpbayes.releases import ledger
from dpbayes.releases.ledger import store

left = 0


def step() -> None:
    """Come one step nearer to the end."""
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)


class Mortal(sqlite3.Connection):
    """A connection to SQLite every statement of which may be the last."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        step()
        return super().execute(*arguments)

    def close(self) -> None:
        step()
        super().close()


def written(folder: Path, name: str, content: bytes) -> bytes:
    """Put a file beside the ledger, as proof that the process came here."""
    with open(folder / name, "ab") as file:
        file.write(content)
    step()
    return content


def open_dataset(folder: Path, path: Path) -> None:
    ledger.open_dataset(path, "votes", Fraction(1), reason="A budget.")
    written(folder, "shown", b"opened")


def spend(folder: Path, path: Path) -> None:
    step()
    ledger.spend(path, "votes", Fraction(1, 10), b"q", lambda: written(folder, "drawn", b"outcome"))
    written(folder, "shown", b"outcome")


def main(start: Path, kind: str) -> None:
    global left
    connect = sqlite3.connect
    store.sqlite3.connect = lambda *a, **k: connect(*a, factory=Mortal, **k)  # type: ignore[attr-defined]
    replace = os.replace
    os.replace = lambda *a: (step(), replace(*a), step())  # type: ignore[assignment, return-value]
    for k in range(10_000):
        folder = start / str(k)
        shutil.copytree(start / "start", folder)
        process = os.fork()
        if process == 0:
            left = k
            {"open": open_dataset, "spend": spend}[kind](folder, folder / "ledger")
            os._exit(0)
        _, status = os.waitpid(process, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            print(k + 1)
            return
        assert os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
