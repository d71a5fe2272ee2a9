"""The curator's account of real releases: one SQLite file in which every release is an event.

The exact sum of epsilons decides. A reservation is on the disk before anything is drawn, and stays spent whatever
happens after. Rows are never changed; each carries the hash of the one before.
"""

from dpbayes.releases.ledger.books import Account, Spending
from dpbayes.releases.ledger.checking import CheckedLedger, check, events, outcome, question
from dpbayes.releases.ledger.composition import composed
from dpbayes.releases.ledger.errors import (
    AskedBeforeError,
    BrokenLedgerError,
    EpsilonLostError,
    LedgerError,
    OverBudgetError,
)
from dpbayes.releases.ledger.events import Event, EventKind, amount_text
from dpbayes.releases.ledger.spending import (
    account_of,
    accounts,
    asked,
    find,
    open_dataset,
    raise_budget,
    spend,
    spend_again,
    spendings,
)
from dpbayes.releases.ledger.store import ledger_path
from dpbayes.releases.ledger.tables import remember_table, table_doubts

__all__ = [
    "Account",
    "AskedBeforeError",
    "BrokenLedgerError",
    "CheckedLedger",
    "EpsilonLostError",
    "Event",
    "EventKind",
    "LedgerError",
    "OverBudgetError",
    "Spending",
    "account_of",
    "accounts",
    "amount_text",
    "asked",
    "check",
    "composed",
    "events",
    "find",
    "ledger_path",
    "open_dataset",
    "outcome",
    "question",
    "raise_budget",
    "remember_table",
    "spend",
    "spend_again",
    "spendings",
    "table_doubts",
]
