"""The event of a release: charged first, drawn once, shown again for nothing, refused where it would betray records."""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.releases import ledger, publishing
from dpbayes.releases.document import read_document
from dpbayes.releases.publishing import publish, require_public, shown_again
from tests.releases.made import COLUMNS, NETWORK, counts, opened, request_with


def test_the_same_request_is_drawn_again_only_after_the_release_that_was_seen(tmp_path):
    path = opened(tmp_path)
    first = publish(path, request_with(), counts())
    with pytest.raises(ledger.RepeatedRequestError):
        publish(path, request_with(), counts())
    assert ledger.read_books(path).account("garden").spent == Fraction(1, 2)
    second = publish(path, request_with(), counts(), after=first.row)
    assert ledger.read_books(path).account("garden").spent == 1
    assert shown_again(path, request_with()) == second
    assert second.document != first.document


def test_the_certificate_tells_what_was_composed_before(tmp_path):
    path = opened(tmp_path)
    publish(path, request_with(), counts())
    second = publish(path, request_with(epsilon=Fraction(1, 4)), counts())
    composed = read_document(second.document).composed
    assert (composed.releases, composed.spent) == (1, Fraction(1, 2))


def test_beyond_the_budget_nothing_is_drawn(tmp_path, monkeypatch):
    path = opened(tmp_path, budget="0.4")

    def never(*_: object) -> None:
        raise AssertionError("noise was drawn without a budget")

    monkeypatch.setattr(publishing, "drawn_document", never)
    with pytest.raises(ledger.OverBudgetError):
        publish(path, request_with(), counts())
    assert ledger.read_books(path).account("garden").spent == 0


def test_where_opendp_is_missing_nothing_is_spent(tmp_path, monkeypatch):
    path = opened(tmp_path)
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    with pytest.raises(InputError, match="needs opendp") as refusal:
        publish(path, request_with(), counts())
    assert not isinstance(refusal.value, ledger.EpsilonLostError)
    assert ledger.read_books(path).account("garden").spent == 0


REVERSED = Network(NETWORK.names, NETWORK.states, (("grass",), ()))
"""A network with as many cells."""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"n": 61}, "number of records differs"),
        ({"network": REVERSED}, "different networks"),
        ({"values": np.stack([counts().values] * 2)}, "counts of one table"),
    ],
)
def test_counts_of_another_table_are_refused_before_they_are_paid_for(change, why, tmp_path):
    path = opened(tmp_path)
    with pytest.raises(InputError, match=why):
        publish(path, request_with(), replace(counts(), **change))
    assert shown_again(path, request_with()) is None
    assert ledger.read_books(path).account("garden").spent == 0


def test_domains_that_betray_records_are_refused():
    columns = [column.domain for column in COLUMNS]
    require_public(columns)
    leaking = replace(columns[0], public=False)
    with pytest.raises(InputError, match='the column "rain" were read from the records'):
        require_public([leaking, columns[1]])
    many = [replace(leaking, name=f"c{k}") for k in range(7)]
    with pytest.raises(InputError, match='the columns "c0", "c1", "c2", "c3", "c4" and others were read'):
        require_public(many)
