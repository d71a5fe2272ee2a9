"""What the pictures of a page depend on: the page says so where it begins, and a saved picture tells their values."""

from collections.abc import Callable

import streamlit as st

from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.current import shown_place
from dpbayes.ui.session.scans import scanned_records

Fact = Callable[[Chosen], str]
"""The value of what pictures depend on, as it stands below them; "" where there is none as the page is set."""

Facts = dict[str, Fact]

PLANNED = "planned, from public probabilities"
"""What is told of the tables of a picture that shows no data."""

_SHOWN = "facts"


def pictures_tell(facts: Facts) -> None:
    """Say what the pictures of the page that is shown depend on."""
    st.session_state[_SHOWN] = (shown_place(), facts)


def facts_of(page: str) -> Facts:
    """Return what the pictures of a page depend on, where it has said so."""
    place, facts = st.session_state.get(_SHOWN, ("", {}))
    return facts if place == page else {}


def public_records_text(chosen: Chosen) -> str:
    """Return the public number of records as far as it is known by now: a line below a picture counts no table."""
    if chosen.settings.data == "synthetic":
        return f"{chosen.settings.records:,}"
    try:
        n = scanned_records(chosen.connected) if chosen.is_connected else chosen.n
    except InputError:
        return ""
    return "" if n is None else f"{n:,}"


MECHANISM: Facts = {"mechanism": lambda chosen: kind_called(chosen.settings.mechanism).label}
EPSILON: Facts = {"epsilon": lambda chosen: shortest(chosen.epsilon)}
TABLE: Facts = {"table": lambda chosen: chosen.data_title}
N: Facts = {"n": public_records_text}
