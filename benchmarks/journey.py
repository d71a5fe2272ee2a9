"""The code that a release from the command line runs through: `python -m benchmarks.journey`.

The command runs once before it is counted, so that imports and what is computed once are not part of it.
"""

import contextlib
import io
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType

import dpbayes
from dpbayes.__main__ import main as run
from dpbayes.sources.columns import Categories
from dpbayes.sources.domains import DeclaredColumn, write_domains

PACKAGE = str(Path(dpbayes.__file__).parent)

FILES, FUNCTIONS = 25, 200
"""The goals: files and functions of one release."""

RECORDS = "rain,grass\n" + "no,dry\n" * 30 + "yes,wet\n" * 20

STATES = {"rain": ("no", "yes"), "grass": ("dry", "wet")}


def main() -> None:
    """Print the files, functions and calls of one release, and the files with most functions."""
    calls = counted_release()
    files = Counter(file for file, _, _ in calls)
    print(f"dpbayes release: {len(files)} files (goal {FILES}), {len(calls)} functions (goal {FUNCTIONS}), ", end="")
    print(f"{sum(calls.values()):,} calls")
    for file, functions in files.most_common():
        print(f"{functions:>6}  {Path(file).relative_to(PACKAGE)}")


def counted_release() -> Counter[tuple[str, int, str]]:
    """Return the calls of the package's functions in one release of a small table, each by file, line and name."""
    with tempfile.TemporaryDirectory() as folder:
        words = _prepared(Path(folder))
        _run([*words, "--out", f"{folder}/first.json"])
        return _counted([*words, "--again", "--out", f"{folder}/second.json"])


def _prepared(folder: Path) -> list[str]:
    """Write a table, its domains and a ledger, and return the words of the command."""
    table, domains, ledger = folder / "garden.csv", folder / "domains.json", folder / "ledger.sqlite"
    table.write_text(RECORDS, encoding="utf-8")
    columns = [
        DeclaredColumn(name, Categories(name, states, public=True, missing="unknown"))
        for name, states in STATES.items()
    ]
    domains.write_text(write_domains(columns), encoding="utf-8")
    _run(["ledger", "--ledger", str(ledger), "open", "garden", "--budget", "2", "--reason", "to measure"])
    options = {"data": table, "domains": domains, "ledger": ledger, "dataset": "garden", "network": "rain -> grass"}
    options |= {"mechanism": "laplace", "epsilon": "0.5"}
    return [
        "release",
        "--graph-unseen",
        *(word for name, value in options.items() for word in (f"--{name}", str(value))),
    ]


def _counted(words: list[str]) -> Counter[tuple[str, int, str]]:
    calls: Counter[tuple[str, int, str]] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            calls[code.co_filename, code.co_firstlineno, code.co_name] += 1

    sys.setprofile(count)
    try:
        _run(words)
    finally:
        sys.setprofile(None)
    return calls


def _run(words: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        if run(words):
            raise RuntimeError(said.getvalue())


if __name__ == "__main__":
    main()
