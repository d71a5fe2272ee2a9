"""The edits of a table in the browser, checked against the table before they are used.

Streamlit applies edits of a table without checking its lines, columns and types.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpbayes.base.validation import InputError, is_writable


def edits_of(key: str, lines: int, kinds: Mapping[str, type]) -> dict[int, dict[str, Any]]:
    """Return the typed values of the editor with this key, by line and column; `kinds` are the editable columns.

    A cleared text is "", and a cleared tick is no edit. Errors: InputError for lines and
    columns that the table does not have, and for values of another type. No browser that shows this table sends them,
    and Streamlit fails on them. The caller then draws the table under another key.
    """
    if key not in st.session_state:
        return {}
    state = st.session_state[key]
    fits = isinstance(state, Mapping) and not state.get("added_rows") and not state.get("deleted_rows")
    edited = state.get("edited_rows", {}) if fits else None
    if not isinstance(edited, Mapping):
        raise _misfit()
    edits: dict[int, dict[str, Any]] = {}
    for line, values in edited.items():
        if not _is_line(line, lines) or not isinstance(values, Mapping) or not all(name in kinds for name in values):
            raise _misfit()
        checked = {str(name): _value(value, kinds[name]) for name, value in values.items()}
        edits[line] = {name: value for name, value in checked.items() if value is not None}
    return edits


def _is_line(line: object, lines: int) -> bool:
    return isinstance(line, int) and not isinstance(line, bool) and 0 <= line < lines


def _value(value: object, kind: type) -> object:
    if value is None:
        return "" if kind is str else None
    if not isinstance(value, kind) or (isinstance(value, str) and not is_writable(value)):
        raise _misfit()
    return value


def _misfit() -> InputError:
    return InputError("The browser sent edits that do not fit this table. The table is unchanged.")
