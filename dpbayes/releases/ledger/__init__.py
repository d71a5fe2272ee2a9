"""The curator's ledger of real releases, a SQLite file in which every release is an event.

The budget is compared with the exact sum of epsilons, or of rhos if it was opened in rho. A reservation is on the disk
before anything is sampled, and it stays charged. Rows are never changed; each row contains the hash of the previous
row.
"""

from dpbayes.releases.ledger.books import (
    Account,
    Books,
    BrokenLedgerError,
    EpsilonLostError,
    EventKind,
    LedgerError,
    OverBudgetError,
    RepeatedRequestError,
    Spending,
)
from dpbayes.releases.ledger.spending import (
    RECORDS_ELSEWHERE,
    check,
    names_of,
    open_dataset,
    outcome,
    raise_budget,
    read_books,
    spend,
    table_doubts,
)
from dpbayes.releases.ledger.store import ledger_path

__all__ = [
    "RECORDS_ELSEWHERE",
    "Account",
    "Books",
    "BrokenLedgerError",
    "EpsilonLostError",
    "EventKind",
    "LedgerError",
    "OverBudgetError",
    "RepeatedRequestError",
    "Spending",
    "check",
    "ledger_path",
    "names_of",
    "open_dataset",
    "outcome",
    "raise_budget",
    "read_books",
    "spend",
    "table_doubts",
]
