"""Whatever is done to a ledger in whatever order, it says what a plain list of it says."""

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dpbayes.releases import ledger
from dpbayes.releases.ledger.books import content_hash
from tests.conftest import IS_THOROUGH
from tests.releases.ledger.drawing import Drawing, raising

names = st.sampled_from(["votes", "clinic"])
amounts = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(2, 5), Fraction(1), Fraction(7, 6)])
questions = st.sampled_from([b"first", b"second", b"third"])


class LedgerMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "ledger"
        self.budgets: dict[str, Fraction] = {}
        self.requests: list[tuple[str, Fraction, bytes, bytes | None]] = []
        self.rows = 0
        self.draws = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def spent(self, name: str) -> Fraction:
        return sum((epsilon for dataset, epsilon, _, _ in self.requests if dataset == name), Fraction(0))

    def may(self, name: str, epsilon: Fraction) -> bool:
        return name in self.budgets and self.spent(name) + epsilon <= self.budgets[name]

    def newest(self, name: str, question: bytes) -> int:
        spendings = ledger.read_books(self.path).on(name, question)
        return spendings[-1].row if spendings else 0

    @rule(name=names, budget=amounts)
    def open(self, name: str, budget: Fraction) -> None:
        self.rows = self.rows or 1
        if name in self.budgets:
            with pytest.raises(ledger.LedgerError, match="is already open"):
                ledger.open_dataset(self.path, name, budget, reason="Again.")
            return
        ledger.open_dataset(self.path, name, budget, reason="First.")
        self.budgets[name] = budget
        self.rows += 1

    @precondition(lambda self: self.budgets)
    @rule(name=names, budget=amounts)
    def raise_budget(self, name: str, budget: Fraction) -> None:
        if budget <= self.budgets.get(name, Fraction(9)):
            with pytest.raises(ledger.LedgerError, match=r"can only be raised|has no dataset"):
                ledger.raise_budget(self.path, name, budget, reason="More.")
            return
        ledger.raise_budget(self.path, name, budget, reason="More.")
        self.budgets[name] = budget
        self.rows += 1

    @precondition(lambda self: self.budgets)
    @rule(name=names, epsilon=amounts, question=questions)
    def spend(self, name: str, epsilon: Fraction, question: bytes) -> None:
        draw = Drawing(b"outcome %d" % len(self.requests))
        before = any((dataset, earlier) == (name, question) for dataset, _, earlier, _ in self.requests)
        if before or not self.may(name, epsilon):
            refusal = ledger.RepeatedRequestError if before else ledger.LedgerError
            with pytest.raises(refusal):
                ledger.spend(self.path, name, epsilon, question, draw)
            assert draw.calls == []
            return
        ledger.spend(self.path, name, epsilon, question, draw)
        self.done(name, epsilon, question, draw.outcome)

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), epsilon=amounts)
    def spend_again(self, data: st.DataObject, epsilon: Fraction) -> None:
        name, _, question, _ = data.draw(st.sampled_from(self.requests))
        draw = Drawing(b"outcome %d" % len(self.requests))
        after = self.newest(name, question)
        if not self.may(name, epsilon):
            with pytest.raises(ledger.OverBudgetError):
                ledger.spend(self.path, name, epsilon, question, draw, after=after)
            assert draw.calls == []
            return
        ledger.spend(self.path, name, epsilon, question, draw, after=after)
        self.done(name, epsilon, question, draw.outcome)

    @precondition(lambda self: self.budgets)
    @rule(name=names, epsilon=amounts, question=questions, error=st.sampled_from([ValueError, KeyboardInterrupt]))
    def fail(self, name: str, epsilon: Fraction, question: bytes, error: type[BaseException]) -> None:
        if name not in self.budgets or not self.may(name, epsilon) or self.newest(name, question):
            return
        with pytest.raises(ledger.EpsilonLostError if error is ValueError else error):
            ledger.spend(self.path, name, epsilon, question, raising(error()))
        self.done(name, epsilon, question, None)

    @precondition(lambda self: self.budgets)
    @rule()
    def move(self) -> None:
        """The file alone is carried elsewhere, and read there."""
        moved = self.folder / "elsewhere"
        shutil.copy(self.path, moved)
        assert ledger.read_books(moved).events == ledger.read_books(self.path).events

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def find(self, data: st.DataObject) -> None:
        name, _, question, _ = data.draw(st.sampled_from(self.requests))
        outcomes = [entry[3] for entry in self.requests if (entry[0], entry[2]) == (name, question) and entry[3]]
        newest = ledger.read_books(self.path).newest(name, question)
        assert (ledger.outcome(self.path, newest.row) if newest else None) == (outcomes or [None])[-1]
        assert newest is None or newest.reservation.content_hash == content_hash(question)

    def done(self, name: str, epsilon: Fraction, question: bytes, outcome: bytes | None) -> None:
        self.requests.append((name, epsilon, question, outcome))
        self.rows += 2 if outcome else 1

    @invariant()
    def the_accounts_are_those_of_the_list(self) -> None:
        if not self.budgets:
            return
        accounts = ledger.read_books(self.path).accounts.values()
        assert {account.dataset: account.budget for account in accounts} == self.budgets
        for account in accounts:
            mine = [entry for entry in self.requests if entry[0] == account.dataset]
            assert account.spent == self.spent(account.dataset) <= account.budget
            assert account.released == sum((epsilon for _, epsilon, _, outcome in mine if outcome), Fraction(0))
            spendings = ledger.read_books(self.path).of(account.dataset)
            hashes = [(s.reservation.content_hash, s.release and s.release.content_hash) for s in spendings]
            assert hashes == [(content_hash(entry[2]), entry[3] and content_hash(entry[3])) for entry in mine]
            assert [s.amount for s in spendings] == [entry[1] for entry in mine]

    @invariant()
    def the_chain_is_whole(self) -> None:
        if self.budgets:
            assert ledger.check(self.path).rows == self.rows


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(stateful_step_count=20, max_examples=1000 if IS_THOROUGH else 25)
