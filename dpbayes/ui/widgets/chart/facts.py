"""The facts on which the pictures of a page depend. A page declares them, and a saved picture states their values."""

from collections.abc import Callable

import streamlit as st

from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.current import shown_place
from dpbayes.ui.session.scans import scanned_records

Fact = Callable[[Chosen], str]
"""The value of one fact, as a saved picture states it; "" if the fact does not apply."""

Facts = dict[str, Fact]

PLANNED = "planned, from public probabilities"
"""The fact `tables` of a picture that shows no data."""

_SHOWN = "facts"


def pictures_tell(facts: Facts) -> None:
    """Declare the facts on which the pictures of the shown page depend."""
    st.session_state[_SHOWN] = (shown_place(), facts)


def facts_of(page: str) -> Facts:
    """Return the facts that a page has declared."""
    place, facts = st.session_state.get(_SHOWN, ("", {}))
    return facts if place == page else {}


def public_records_text(chosen: Chosen) -> str:
    """Return the public number of records if it is known; this function does not count a table."""
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
