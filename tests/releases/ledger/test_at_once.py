"""Threads and processes that spend at the same time."""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from threading import Barrier

import pytest

from dpbayes.releases import ledger
from tests.releases.ledger.drawing import Drawing
from tests.test_docs import ROOT

THREADS = 20


def at_once(path: Path, questions: list[bytes], *, after: int = 0) -> tuple[Counter[str], int]:
    """Spend a tenth on each question, all from threads that start together: how it ended, and how often was drawn."""
    draw, barrier = Drawing(), Barrier(len(questions))

    def ask(question: bytes) -> str:
        barrier.wait()
        try:
            ledger.spend(path, "votes", Fraction(1, 10), question, draw, after=after)
        except ledger.LedgerError as refusal:
            return type(refusal).__name__
        return "released"

    with ThreadPoolExecutor(len(questions)) as pool:
        return Counter(pool.map(ask, questions)), len(draw.calls)


def test_twenty_threads_never_spend_more_than_the_budget(path: Path) -> None:
    ends, draws = at_once(path, [b"%d" % k for k in range(THREADS)])
    assert (ends, draws) == ({"released": 10, "OverBudgetError": 10}, 10)
    account = ledger.read_books(path).account("votes")
    assert (account.released, account.left) == (1, 0)
    assert ledger.check(path).rows == 22


def test_twenty_threads_with_one_question_draw_once(path: Path) -> None:
    assert at_once(path, [b"q"] * THREADS) == ({"released": 1, "RepeatedRequestError": 19}, 1)
    assert at_once(path, [b"q"] * THREADS, after=3) == ({"released": 1, "RepeatedRequestError": 19}, 1)
    assert ledger.read_books(path).account("votes").released == Fraction(1, 5)


def test_twenty_threads_that_begin_a_ledger_begin_one(tmp_path: Path) -> None:
    path, barrier = tmp_path / "ledger", Barrier(THREADS)

    def begin(k: int) -> str:
        barrier.wait()
        ledger.open_dataset(path, f"votes {k}", Fraction(1), reason="At once.")
        return f"votes {k}"

    with ThreadPoolExecutor(THREADS) as pool:
        names = set(pool.map(begin, range(THREADS)))
    assert {account.dataset for account in ledger.read_books(path).accounts.values()} == names
    assert ledger.check(path).rows == THREADS + 1


SPEND = """
import sys
from fractions import Fraction
from pathlib import Path
from dpbayes.releases import ledger

path, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for k in range(20):
    for question in (f"{k} of {name}", f"{k} of both"):
        def draw():
            print("drawn", question, flush=True)
            return question.encode()
        try:
            ledger.spend(path, "votes", Fraction(1, 45), question.encode(), draw)
            print("shown", question, flush=True)
        except ledger.LedgerError as refusal:
            print(type(refusal).__name__, question, flush=True)
"""


def test_two_processes_never_spend_more_than_the_budget_nor_draw_one_question_twice(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SPEND, str(path), name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    lines = [line for process in processes for line in process.communicate()[0].splitlines()]
    drawn = Counter(line.removeprefix("drawn ") for line in lines if line.startswith("drawn "))
    kinds = Counter(line.split()[0] for line in lines)
    assert set(drawn.values()) == {1}
    assert kinds["drawn"] == kinds["shown"] == 45  # of 60 questions
    assert kinds["RepeatedRequestError"] > 0
    assert kinds["OverBudgetError"] > 0
    assert sum(kinds[end] for end in ("shown", "RepeatedRequestError", "OverBudgetError")) == 80
    assert ledger.read_books(path).account("votes").left == 0
    assert ledger.check(path).rows == 2 + 2 * 45


ALONE = """
import sys
from fractions import Fraction
from pathlib import Path
from dpbayes.releases import ledger

for k in range(12):
    try:
        ledger.spend(Path(sys.argv[1]), "votes", Fraction(1, 10), f"{k} of {sys.argv[1]}".encode(), lambda: b"drawn")
        print("released")
    except ledger.LedgerError as refusal:
        print(type(refusal).__name__, "hard links" in str(refusal))
"""


def spent_under(names: list[Path]) -> Counter[str]:
    """Spend a tenth twelve times in a process of its own under each name, and return how often it ended how."""
    command = [sys.executable, "-c", ALONE]
    processes = [subprocess.Popen([*command, str(name)], cwd=ROOT, stdout=subprocess.PIPE, text=True) for name in names]
    return Counter(line for process in processes for line in process.communicate()[0].splitlines())


def test_a_ledger_with_two_names_is_refused_by_every_operation(path: Path, tmp_path: Path) -> None:
    """Each name would have its own write-ahead log, in which the other program's spending is missing."""
    other = tmp_path / "another name"
    os.link(path, other)
    assert spent_under([path, other]) == {"LedgerError True": 24}
    for name in (path, other):
        for act in (
            ledger.check,
            ledger.read_books,
            lambda name: ledger.raise_budget(name, "votes", Fraction(2), reason="More."),
            lambda name: ledger.open_dataset(name, "clinic", Fraction(1), reason="A second table."),
        ):
            with pytest.raises(ledger.LedgerError, match="hard links"):
                act(name)
    other.unlink()
    assert ledger.read_books(path).account("votes").spent == 0
    ledger.spend(path, "votes", Fraction(1, 10), b"q", Drawing())


def test_symbolic_links_name_one_ledger_with_one_budget(path: Path, tmp_path: Path) -> None:
    other, folder = tmp_path / "a link", tmp_path / "folder"
    other.symlink_to(path)
    folder.symlink_to(path.parent)
    ends = spent_under([other, folder / path.name])
    assert ends == {"released": 10, "OverBudgetError False": 14}
    assert ledger.check(other).rows == 22
