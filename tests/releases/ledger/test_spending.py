from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from dpbayes.base.validation import InputError
from dpbayes.releases import ledger
from dpbayes.releases.ledger import EventKind, spending, store
from dpbayes.releases.ledger.books import content_hash
from dpbayes.releases.ledger.spending import CheckedLedger
from tests.releases.ledger.drawing import Drawing, raising

TENTH = Fraction(1, 10)


def test_a_release_is_reserved_before_it_is_drawn_and_written_before_it_is_shown(path: Path) -> None:
    at_the_draw = []

    def draw() -> bytes:
        (spending,) = ledger.read_books(path).of("votes")
        at_the_draw.append((spending.state, ledger.read_books(path).account("votes")))
        return b"[1, 2]"

    release = ledger.spend(path, "votes", TENTH, b"{}", draw)
    ((state, account),) = at_the_draw
    assert (state, account.reserved, account.released, account.left) == (
        "reserved, no release",
        TENTH,
        0,
        Fraction(9, 10),
    )
    assert release.kind is EventKind.RELEASED
    (spending,) = ledger.read_books(path).of("votes")
    assert (spending.state, spending.amount, spending.release) == ("released", TENTH, release)
    assert ledger.outcome(path, spending.row) == b"[1, 2]"
    assert spending.reservation.content_hash == content_hash(b"{}")
    account = ledger.read_books(path).account("votes")
    assert (account.budget, account.spent, account.released, account.reserved) == (1, TENTH, TENTH, 0)
    assert ledger.read_books(path).accounts == {account.dataset: account}
    assert [event.row for event in ledger.read_books(path).events] == [1, 2, 3, 4]
    assert all(later.previous == earlier.hash for earlier, later in pairwise(ledger.read_books(path).events))
    assert ledger.check(path) == CheckedLedger(4, release.hash)


def test_ten_tenths_are_one_and_nothing_more_is_drawn(path: Path) -> None:
    for k in range(10):
        ledger.spend(path, "votes", TENTH, b"%d" % k, Drawing())
    assert ledger.read_books(path).account("votes").left == 0
    draw = Drawing()
    with pytest.raises(
        ledger.OverBudgetError, match=r'^The budget of "votes" has ε = 0 left of 1, less than ε = 0\.0{19}1\. Choose'
    ):
        ledger.spend(path, "votes", Fraction(1, 10**20), b"more", draw)
    assert draw.calls == []
    assert ledger.check(path).rows == 22


def test_a_budget_is_raised_with_a_reason_and_never_lowered(path: Path) -> None:
    ledger.spend(path, "votes", Fraction(1), b"all", Drawing())
    event = ledger.raise_budget(path, "votes", Fraction(3, 2), reason="A second year.")
    assert (event.kind, event.amount, event.reason) == (EventKind.RAISED, Fraction(3, 2), "A second year.")
    assert ledger.read_books(path).account("votes").left == Fraction(1, 2)
    for budget in (Fraction(3, 2), Fraction(1)):
        with pytest.raises(ledger.LedgerError, match=r"can only be raised. .* is ε = 1\.5, and ε = 1(\.5)? is not"):
            ledger.raise_budget(path, "votes", budget, reason="Less.")
    with pytest.raises(ledger.LedgerError, match=r'"votes" is already open, with a budget of ε = 1\.5'):
        ledger.open_dataset(path, "votes", Fraction(9), reason="Once more.")
    assert ledger.check(path).rows == 5


def test_the_same_question_offers_what_was_released(path: Path) -> None:
    assert ledger.read_books(path).newest("votes", b"q") is None
    release = ledger.spend(path, "votes", TENTH, b"q", Drawing(b"first"))
    draw = Drawing(b"second")
    with pytest.raises(
        ledger.RepeatedRequestError, match=r"made before, in row 3\. Its release can be shown again at no cost"
    ):
        ledger.spend(path, "votes", TENTH, b"q", draw)
    assert draw.calls == []
    entry = ledger.read_books(path).newest("votes", b"q")
    assert entry is not None
    assert (entry.release, ledger.outcome(path, entry.row), entry.row) == (release, b"first", 3)
    assert ledger.read_books(path).newest("votes", b"another") is None
    assert ledger.read_books(path).account("votes").spent == TENTH


def test_asking_again_is_a_choice_of_its_own_and_made_once(path: Path) -> None:
    ledger.spend(path, "votes", TENTH, b"q", Drawing(b"first"))
    ledger.spend(path, "votes", TENTH, b"q", Drawing(b"second"), after=3)
    draw = Drawing()
    for after in (3, 4, 6):  # a second click, and rows that are no reservation for it
        with pytest.raises(ledger.RepeatedRequestError, match="in row 5"):
            ledger.spend(path, "votes", TENTH, b"q", draw, after=after)
    with pytest.raises(ledger.LedgerError, match="Row 3 of the ledger is not a reservation for this request"):
        ledger.spend(path, "votes", TENTH, b"never asked", draw, after=3)
    assert draw.calls == []
    assert [spending.row for spending in ledger.read_books(path).on("votes", b"q")] == [3, 5]
    entry = ledger.read_books(path).newest("votes", b"q")
    assert entry is not None
    assert ledger.outcome(path, entry.row) == b"second"
    assert ledger.read_books(path).account("votes").spent == 2 * TENTH


@pytest.mark.parametrize("kind", ["error", "text", "nothing"])
def test_a_drawing_that_fails_costs_epsilon_and_says_so(path: Path, kind: str) -> None:
    draws = {"error": raising(ValueError("alice voted yes")), "text": Drawing(instead=str), "nothing": Drawing(b"")}
    draw = draws[kind]
    lost_at = r"failed .*Nothing was released, and the ε = 0\.1 .* row 3 stays"
    with pytest.raises(ledger.EpsilonLostError, match=lost_at) as lost:
        ledger.spend(path, "votes", TENTH, b"q", draw)
    assert "alice" not in str(lost.value)  # an error may tell what was in the table
    assert "in row 3 stays charged" in str(lost.value)
    (spending,) = ledger.read_books(path).of("votes")
    assert (spending.state, spending.release) == ("reserved, no release", None)
    account = ledger.read_books(path).account("votes")
    assert (account.reserved, account.released, account.left) == (TENTH, 0, Fraction(9, 10))
    with pytest.raises(ledger.RepeatedRequestError, match=r"in row 3\. .* or it failed"):
        ledger.spend(path, "votes", TENTH, b"q", draw)
    assert len(draw.calls) == 1
    with pytest.raises(ledger.LedgerError, match="row 3 has no release"):
        ledger.outcome(path, 3)


def test_a_ledger_that_is_replaced_while_drawing_does_not_take_the_outcome(path: Path) -> None:
    def replace() -> bytes:
        for file in path.parent.iterdir():
            file.unlink()
        ledger.open_dataset(path, "votes", Fraction(1), reason="Another file.")
        # A reservation in the same row, still open, for another question.
        spending._reserve(path, "votes", TENTH, b"another", after=0)
        return b"outcome"

    with pytest.raises(
        ledger.EpsilonLostError, match=r"does not contain the open reservation of ε\. Nothing was released"
    ):
        ledger.spend(path, "votes", TENTH, b"q", replace)
    assert ledger.check(path).rows == 3


def test_a_reservation_is_closed_once(path: Path) -> None:
    ledger.spend(path, "votes", TENTH, b"q", Drawing(b"first"))
    (spent,) = ledger.read_books(path).of("votes")
    with pytest.raises(ledger.LedgerError, match="does not contain the open reservation"):
        spending._release(path, spent.reservation, b"second")
    assert ledger.outcome(path, spent.row) == b"first"


def test_the_rows_keep_their_order_when_the_clock_is_set_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "TIME", "2001-01-01T00:00:00.000000Z")
    ledger.spend(path, "votes", TENTH, b"q", Drawing())
    assert [event.kind for event in ledger.read_books(path).events][2:] == [EventKind.RESERVED, EventKind.RELEASED]
    assert ledger.check(path).rows == 4


@pytest.mark.parametrize("epsilon", [0.1, "1/10", True, None, Fraction(0), Fraction(-1), Fraction(1, 10**200)])
def test_epsilon_is_an_exact_fraction_above_0(path: Path, epsilon: Fraction) -> None:
    draw = Drawing()
    with pytest.raises(ledger.LedgerError, match=r"^Epsilon (must be|has too many)"):
        ledger.spend(path, "votes", epsilon, b"q", draw)
    assert (draw.calls, ledger.check(path).rows) == ([], 2)


@pytest.mark.parametrize("name", ["", " ", " votes", "vo\ntes", "v" * 201, "\ud800", 5])
def test_a_dataset_has_a_name_that_can_be_read(path: Path, name: str) -> None:
    with pytest.raises(InputError, match="The dataset's name"):
        ledger.open_dataset(path, name, Fraction(1), reason="None.")
    assert ledger.check(path).rows == 2


def test_two_spellings_of_one_name_are_one_dataset(path: Path) -> None:
    ledger.open_dataset(path, "Bu\u0308rger", Fraction(1), reason="Two code points for ü.")
    with pytest.raises(ledger.LedgerError, match="already open"):
        ledger.open_dataset(path, "B\u00fcrger", Fraction(1), reason="One code point.")


@pytest.mark.parametrize(
    "reason", ["", "  ", "\0", "\u200b", "\u202e \u2028", "r" * 2001, "\ud800", None, "approved\x1b[2J"]
)
def test_a_budget_has_a_reason(path: Path, reason: str) -> None:
    with pytest.raises(ledger.LedgerError, match=r"justification"):
        ledger.raise_budget(path, "votes", Fraction(2), reason=reason)


@pytest.mark.parametrize("question", ["text", b"", None])
def test_questions_are_bytes(path: Path, question: bytes) -> None:
    draw = Drawing()
    with pytest.raises(ledger.LedgerError, match=r"^A question must be bytes"):
        ledger.spend(path, "votes", TENTH, question, draw)
    assert (draw.calls, ledger.check(path).rows) == ([], 2)


def test_what_is_not_there_is_named(path: Path) -> None:
    for ask in (ledger.read_books(path).account, ledger.read_books(path).of):
        with pytest.raises(ledger.LedgerError, match=r'ledger #1\?.sqlite has no dataset "clinic"; it has "votes"\.'):
            ask("clinic")
    with pytest.raises(ledger.LedgerError, match=r'has no dataset "clinic"'):
        ledger.spend(path, "clinic", TENTH, b"q", Drawing())
    with pytest.raises(ledger.LedgerError, match=r"^Row 2 of the ledger .*sqlite is not a reservation"):
        ledger.outcome(path, 2)


def test_a_second_request_during_the_first_draw_is_refused_because_its_release_is_being_made(path: Path) -> None:
    said: list[str] = []

    def draw() -> bytes:
        with pytest.raises(ledger.RepeatedRequestError) as repeated:
            ledger.spend(path, "votes", TENTH, b"q", lambda: b"another")
        said.append(str(repeated.value))
        return b"the outcome"

    ledger.spend(path, "votes", TENTH, b"q", draw)
    assert "is being made" in said[0]
    with pytest.raises(ledger.RepeatedRequestError) as repeated:
        ledger.spend(path, "votes", TENTH, b"q", draw)
    assert "is being made" not in str(repeated.value)
