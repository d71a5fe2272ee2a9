"""What this session has shown of the records of a table. The Release page states it beside the guarantee."""

from collections.abc import Hashable

import streamlit as st

from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.uploads import upload

EXACT_POSTERIORS, DISTRIBUTIONS, RECORDS = "exact posteriors", "distributions of columns", "records"

_LOOKED = "looked"


def note_looked(chosen: Chosen, what: str) -> None:
    """Remember that the page has shown this of the chosen table."""
    if chosen.is_curator:
        st.session_state.setdefault(_LOOKED, {}).setdefault(_table(chosen), {})[what] = None


def looked_at(chosen: Chosen) -> tuple[str, ...]:
    """Return what this session has shown of the chosen table."""
    return tuple(st.session_state.get(_LOOKED, {}).get(_table(chosen), ()))


def _table(chosen: Chosen) -> Hashable:
    mine = upload()
    return chosen.settings.data, chosen.data_title, mine.number if mine and chosen.settings.data == "upload" else 0
