"""What this session has shown of the records of a table. The Release page states it beside the guarantee."""

from collections.abc import Hashable

import streamlit as st

from dpbayes.boards.board import Board
from dpbayes.releases.document.document import READ_CUTS
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.uploads import upload

RECORDS = "records"

GRAPHS = "graphs that were compared on the records"

OF_BOARDS = {
    "explore": "exact answers of the table",
    "data": "distributions of columns",
    "network": GRAPHS,
}
"""What the boards that are not private show of a table, by their names; others show `OTHERS`."""

OTHERS = "errors and answers computed from the records"

_LOOKED = "looked"


def note_looked(chosen: Chosen, what: str) -> None:
    """Remember that the page has shown this of the chosen table."""
    if chosen.is_curator:
        st.session_state.setdefault(_LOOKED, {}).setdefault(_table(chosen), {})[what] = None


def note_board(board: Board) -> None:
    """Remember what a board shows of the chosen table, if it contains values that are not private."""
    if board.private:
        note_looked(Chosen.now(), OF_BOARDS.get(board.name, OTHERS))


def looked_at(chosen: Chosen) -> tuple[str, ...]:
    """Return what this session has shown of the chosen table, and whether cut points come from its records."""
    has_read_cuts = bool(chosen.own and chosen.own.read_cuts)
    return (*st.session_state.get(_LOOKED, {}).get(_table(chosen), ()), *[READ_CUTS] * has_read_cuts)


def _table(chosen: Chosen) -> Hashable:
    mine = upload()
    return chosen.settings.data, chosen.data_title, mine.number if mine and chosen.settings.data == "upload" else 0
