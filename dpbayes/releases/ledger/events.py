"""A row of the ledger: an event, with the hash of the previous row."""

import enum
import hashlib
import json
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from dpbayes.base.amounts import Amount, Rho, number_of
from dpbayes.base.validation import InputError, brief, is_writable

NO_HASH = "0" * 64
"""The hash of the previous row in the first row."""

_TYPES = {"row": int, "n": int | None, "reservation": int | None} | {
    name: str | None for name in ("amount", "delta", "content_hash")
}

MAX_NAME, MAX_REASON, MAX_DIGITS = 200, 2000, 100
"""The largest numbers of letters of a dataset's name, of a reason, and of a fraction's text."""


class EventKind(enum.Enum):
    """The kind of an event."""

    BEGUN = "ledger begun"
    OPENED = "dataset opened"
    OPENED_IN_RHO = "dataset opened in rho"
    RAISED = "budget raised"
    RESERVED = "reserved"
    RESERVED_IN_RHO = "reserved in rho"
    RELEASED = "released"
    FAILED = "failed"
    TABLE = "table seen"
    KEY = "signing key named"


IN_RHO = (EventKind.OPENED_IN_RHO, EventKind.RESERVED_IN_RHO)
"""The kinds whose amount is a rho. A raised budget has the measure of the opened one; other amounts are epsilons."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An event before it has a row in the ledger; fields that its kind does not have are None or empty.

    `amount` is the total budget of an opened or raised dataset, or the cost of a reservation. `content` is the request
    of a reservation, the document of a release, or the signer of a key. `reservation` is the row that is closed, or
    the row of the key that is replaced.
    """

    kind: EventKind
    dataset: str = ""
    amount: Fraction | None = None
    delta: Fraction | None = None
    n: int | None = None
    reason: str = ""
    reservation: int | None = None
    content: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Event:
    """One row as written, without the bytes of its content; `time` is UTC by the clock of the computer."""

    row: int
    kind: EventKind
    dataset: str
    amount: Fraction | None
    delta: Fraction | None
    n: int | None
    reason: str
    reservation: int | None
    content_hash: str | None
    time: str
    previous: str
    hash: str

    @property
    def spent(self) -> Amount:
        """The cost of a reservation."""
        number = self.amount or Fraction(0)
        return Rho(number) if self.kind in IN_RHO else number


def sealed(entry: Entry, *, after: Event | None, time: str) -> Event:
    """Return the event of an entry that follows the last event of a ledger, or None for the first."""
    values: dict[str, str | int | None] = {
        "row": after.row + 1 if after else 1,
        "kind": entry.kind.value,
        "dataset": entry.dataset,
        "amount": _written(entry.amount),
        "delta": _written(entry.delta),
        "n": entry.n,
        "reason": entry.reason,
        "reservation": entry.reservation,
        "content_hash": None if entry.content is None else content_hash(entry.content),
        "time": time,
        "previous": after.hash if after else NO_HASH,
    }
    return event_of({**values, "hash": seal(values)})


def seal(values: dict[str, str | int | None]) -> str:
    """Return the SHA-256 of a row's values without its own hash, as JSON with sorted names and without spaces."""
    kept = {name: value for name, value in values.items() if name != "hash"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def content_hash(content: bytes) -> str:
    """Return the SHA-256 of a request or a document."""
    return hashlib.sha256(content).hexdigest()


def event_of(values: dict[str, str | int | None]) -> Event:
    """Return the event of a row's values. Errors: ValueError, TypeError for invalid values."""
    for name, value in values.items():
        if not isinstance(value, _TYPES.get(name, str)):
            raise TypeError(f"{name} is of another type")
    read = {
        **values,
        "kind": EventKind(values["kind"]),
        "amount": _read(values["amount"]),
        "delta": _read(values["delta"]),
    }
    return Event(**read)  # type: ignore[arg-type]


def values_of(event: Event) -> dict[str, str | int | None]:
    """Return a row's values as they are written."""
    texts = {"kind": event.kind.value, "amount": _written(event.amount), "delta": _written(event.delta)}
    return {**vars(event), **texts}


# What is refused


class LedgerError(InputError):
    """A refusal of the ledger: nothing was written and nothing was sampled."""


class OverBudgetError(LedgerError):
    """The cost is larger than the remaining budget."""


class RepeatedRequestError(LedgerError):
    """The same request has a reservation already; `row` is that of the newest, after which `spend` repeats it."""

    def __init__(self, sentence: str, row: int) -> None:
        super().__init__(sentence)
        self.row = row


class EpsilonLostError(LedgerError):
    """The reservation in `row` stays charged, and there is no release."""

    def __init__(self, sentence: str, row: int) -> None:
        super().__init__(sentence)
        self.row = row


class BrokenLedgerError(LedgerError):
    """The file was edited, is damaged, or is not a ledger that this program can read."""


# What a person gives


def checked_amount(name: str, amount: object) -> Fraction:
    """Return an exact amount above 0. Errors: LedgerError for floats, which are not exact, and for other values."""
    if isinstance(amount, bool) or not isinstance(amount, int | Fraction):
        raise LedgerError(f"{name} must be an exact fraction, such as 1/10; {brief(amount)} is not.")
    if amount <= 0:
        raise LedgerError(f"{name} must be above 0; {brief(amount)} is not.")
    # An upper bound of the digits, since Python refuses to write numbers that are too long.
    if (amount.numerator.bit_length() + amount.denominator.bit_length()) * 0.302 > MAX_DIGITS:
        raise LedgerError(f"{name} has too many digits; the limit is {MAX_DIGITS}.")
    return Fraction(amount)


def checked_cost(name: str, amount: Amount) -> Amount:
    """Return an exact amount above 0, in its own measure. Errors: LedgerError, as of `checked_amount`."""
    number = checked_amount(name, number_of(amount))
    return Rho(number) if isinstance(amount, Rho) else number


def checked_dataset(dataset: object) -> str:
    """Return a dataset's name in normal form. Errors: LedgerError if it is empty, too long, or not one line of text."""
    if not isinstance(dataset, str) or not dataset.strip():
        raise LedgerError(f"A dataset needs a name; {brief(dataset)} is empty or not text.")
    name = unicodedata.normalize("NFC", dataset)
    if len(name) > MAX_NAME or not name.isprintable() or name != name.strip():
        raise LedgerError(
            f"The dataset's name {brief(name)} must be one line of at most {MAX_NAME} letters that does not begin "
            "or end with a space."
        )
    return name


def checked_reason(reason: object) -> str:
    """Return a reason. Errors: LedgerError if it is empty, too long, or not text."""
    is_text = isinstance(reason, str) and any(letter.isprintable() and letter != " " for letter in reason)
    if not isinstance(reason, str) or not is_text or len(reason) > MAX_REASON or not is_writable(reason):
        raise LedgerError(f"A budget needs a justification of 1 to {MAX_REASON:,} letters, not {brief(reason)}.")
    if any(unicodedata.category(letter) == "Cc" and letter not in "\n\r\t" for letter in reason):
        raise LedgerError(f"The justification {brief(reason)} has a control character. Write plain text.")
    return reason.strip()


def checked_bytes(name: str, content: object) -> bytes:
    """Return the bytes of a request or a document. Errors: LedgerError for another type, and for no bytes."""
    if not isinstance(content, bytes) or not content:
        raise LedgerError(f"{name} must be bytes, and not empty.")
    return content


def _written(amount: Fraction | None) -> str | None:
    return None if amount is None else str(amount)


def _read(text: str | int | None) -> Fraction | None:
    if text is None:
        return None
    amount = Fraction(str(text))
    if str(amount) != text:
        raise ValueError(f"{text} is not a fraction in lowest terms")
    return amount
