from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.model.dataset import Dataset
from dpbayes.releases import ledger
from dpbayes.releases.ledger.spending import fingerprint

KEY = b"k" * 32
DATA = Dataset(("rain", "grass"), (("no", "yes"), ("dry", "damp", "wet")), np.array([[0, 0], [1, 2], [1, 2], [0, 1]]))
OTHER = DATA.replace(0, (1, 0))


def test_the_same_records_under_the_same_name_raise_no_doubt(path: Path) -> None:
    assert ledger.table_doubts(path, "votes", DATA, remember=True) == ()
    rows = ledger.check(path).rows
    assert ledger.table_doubts(path, "votes", DATA.take([3, 1, 0, 2]), remember=True) == ()
    assert ledger.check(path).rows == rows  # what is known is not written twice


def test_other_records_under_the_same_name_raise_a_doubt_each_time(path: Path) -> None:
    ledger.table_doubts(path, "votes", DATA, remember=True)
    for data in (OTHER, DATA, OTHER):
        (doubt,) = ledger.table_doubts(path, "votes", data, remember=True)
        assert doubt.startswith('Other records were used before under the name "votes".')


def test_the_same_records_under_another_name_raise_a_doubt(path: Path) -> None:
    ledger.open_dataset(path, "again", Fraction(1), reason="A second budget.")
    ledger.table_doubts(path, "votes", DATA, remember=True)
    (doubt,) = ledger.table_doubts(path, "again", DATA, remember=True)
    assert doubt.startswith('The same records were used under the name "votes".')
    assert len(ledger.table_doubts(path, "again", OTHER, remember=True)) == 1
    assert len(ledger.table_doubts(path, "again", DATA, remember=True)) == 2


def test_without_the_key_nobody_can_compare(tmp_path: Path) -> None:
    hashes = []
    for name in ("first", "second"):
        path = tmp_path / name
        ledger.open_dataset(path, "votes", Fraction(1), reason="The same.")
        ledger.table_doubts(path, "votes", DATA, remember=True)
        hashes.append([event.content_hash for event in ledger.read_books(path).events])
    assert hashes[0][0] != hashes[1][0]
    assert hashes[0][2] != hashes[1][2]


def test_columns_domains_and_records_may_stand_in_another_order() -> None:
    expected = fingerprint(DATA, KEY)
    assert fingerprint(DATA.select(["grass", "rain"]), KEY) == expected
    relabelled = Dataset(DATA.names, (("yes", "fog", "no"), DATA.states[1]), np.array([[2, 0], [0, 2], [0, 2], [2, 1]]))
    assert fingerprint(relabelled, KEY) == expected


def test_another_key_record_number_name_or_state_gives_another_print() -> None:
    others = [
        OTHER,
        DATA.take([0, 1, 2]),
        DATA.take([0, 1, 1, 3, 3]),
        DATA.select(["rain"]),
        Dataset(("rains", "grass"), DATA.states, DATA.codes),
        Dataset(DATA.names, (("no", "Yes"), DATA.states[1]), DATA.codes),
        DATA.take([]),
        Dataset((), (), np.zeros((4, 0), dtype=np.uint8)),
        Dataset((), (), np.zeros((5, 0), dtype=np.uint8)),
    ]
    prints = {fingerprint(data, KEY) for data in others} | {fingerprint(DATA, KEY), fingerprint(DATA, b"K" * 32)}
    assert len(prints) == len(others) + 2


codes = st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=6)


@given(codes, codes)
def test_prints_are_equal_just_if_the_records_are(first: list[tuple[int, ...]], second: list[tuple[int, ...]]) -> None:
    def table(records: list[tuple[int, ...]]) -> Dataset:
        return Dataset(tuple("abc"), (tuple("xyz"),) * 3, np.array(records, dtype=np.uint8).reshape(-1, 3))

    assert (fingerprint(table(first), KEY) == fingerprint(table(second), KEY)) == (sorted(first) == sorted(second))
    assert fingerprint(table(sorted(first)), KEY) == fingerprint(table(first), KEY)
