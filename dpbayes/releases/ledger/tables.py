"""The comparison of a dataset's records with earlier ones, by a keyed hash that never leaves the ledger."""

import hashlib
import hmac
import json
from pathlib import Path

import numpy as np

from dpbayes.base.validation import brief
from dpbayes.model.dataset import Dataset
from dpbayes.releases.ledger.books import EventKind, content_hash
from dpbayes.releases.ledger.store import reading, writing

RECORDS_ELSEWHERE = (
    "The ledger stores no hash of a table that is counted in place. It cannot detect the same records under another "
    "name, or other records under this name. Use one name for each table."
)
"""The sentence about a release from an engine's counts."""


def table_doubts(path: Path, dataset: str, data: Dataset, *, remember: bool = False) -> tuple[str, ...]:
    """Return a sentence for each doubt about the records of a dataset's name; `remember` stores their hash, too.

    Doubts: other records were used under this name, although its budget is for the same people; or these records were
    used under another name, which would give them a second budget. The key of the hash is in the ledger's first row, so
    a table cannot be compared with the hash without the ledger. Errors: LedgerError.
    """
    with (writing if remember else reading)(path) as (rows, books):
        name, print_of = books.account(dataset).dataset, fingerprint(data, rows.content(books.events[0]))
        # Equal prints have equal hashes.
        own, tables = content_hash(print_of), [event for event in books.events if event.kind is EventKind.TABLE]
        seen = {(event.dataset, event.content_hash == own) for event in tables}
        if remember and (name, True) not in seen:
            rows.add(books, EventKind.TABLE, dataset=name, content=print_of)
        return _doubts(name, seen)


def _doubts(name: str, seen: set[tuple[str, bool]]) -> tuple[str, ...]:
    """Return the doubts about a name, by the names of earlier tables and whether they had the same records."""
    same_elsewhere = [
        f"The same records were used under the name {brief(other)}. The cost charged there applies to them too."
        for other in sorted(other for other, is_same in seen if is_same and other != name)
    ]
    if (name, False) not in seen:
        return tuple(same_elsewhere)
    other_records = f"Other records were used before under the name {brief(name)}."
    return (f"{other_records} If these are of other people, name another dataset.", *same_elsewhere)


def fingerprint(data: Dataset, key: bytes) -> bytes:
    """Return the HMAC-SHA256 of a table's records by their names, for any order of records and columns.

    The hash is the same for another order, and for further declared states without records. It differs if a column was
    left out or grouped in another way, so such a table is not recognised.
    """
    order = sorted(range(len(data.names)), key=lambda j: data.names[j])
    records = np.empty((data.n, len(order)), dtype=np.uint8)
    columns = []
    for place, j in enumerate(order):
        present = np.flatnonzero(np.bincount(data.codes[:, j], minlength=len(data.states[j])))
        by_name = sorted(present.tolist(), key=lambda code, states=data.states[j]: states[code])  # type: ignore[misc]
        rank = np.zeros(len(data.states[j]), dtype=np.uint8)
        rank[by_name] = np.arange(len(by_name))
        records[:, place] = rank[data.codes[:, j]]
        columns.append([data.names[j], [data.states[j][code] for code in by_name]])
    if order:
        records = np.sort(records.view(np.dtype((np.void, len(order)))), axis=0)
    digest = hmac.new(key, json.dumps([data.n, columns]).encode(), hashlib.sha256)
    digest.update(b"\0" + records.tobytes())
    return digest.digest()
