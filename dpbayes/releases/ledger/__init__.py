"""The curator's ledger of real releases, a SQLite file in which every release is an event.

The budget is compared with the exact sum of epsilons, or of rhos if it was opened in rho. A reservation is on the disk
before anything is sampled, and it stays charged. Rows are never changed; each row contains the hash of the previous
row.
"""

from dpbayes.releases.ledger.books import (
    Account,
    BrokenLedgerError,
    EpsilonLostError,
    Event,
    EventKind,
    LedgerError,
    OverBudgetError,
    RepeatedRequestError,
    Spending,
)
from dpbayes.releases.ledger.composition import LEAST_DELTA, composed
from dpbayes.releases.ledger.spending import (
    CheckedLedger,
    NamedKey,
    account_of,
    accounts,
    check,
    cost_of,
    events,
    find,
    name_key,
    named_keys,
    open_dataset,
    outcome,
    raise_budget,
    spend,
    spendings,
    spendings_on,
)
from dpbayes.releases.ledger.store import ledger_path
from dpbayes.releases.ledger.tables import RECORDS_ELSEWHERE, remember_table, table_doubts

__all__ = [
    "LEAST_DELTA",
    "RECORDS_ELSEWHERE",
    "Account",
    "BrokenLedgerError",
    "CheckedLedger",
    "EpsilonLostError",
    "Event",
    "EventKind",
    "LedgerError",
    "NamedKey",
    "OverBudgetError",
    "RepeatedRequestError",
    "Spending",
    "account_of",
    "accounts",
    "check",
    "composed",
    "cost_of",
    "events",
    "find",
    "ledger_path",
    "name_key",
    "named_keys",
    "open_dataset",
    "outcome",
    "raise_budget",
    "remember_table",
    "spend",
    "spendings",
    "spendings_on",
    "table_doubts",
]
