"""The user's own table for a regression, loaded or connected: its numeric columns and the bounds that are typed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped, numeral
from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.regression.records import OwnColumns, is_numeric, stated_column
from dpbayes.experiments.regression.scenario import SummedRecords
from dpbayes.model.regression import NumericColumn
from dpbayes.ui.pages.data.upload import loader
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connected import Connected, keep_connected
from dpbayes.ui.session.scans import Scan, forget_sums, keep_sums, summed_up, summing_up, sums_key
from dpbayes.ui.session.uploads import Upload, keep_upload, upload
from dpbayes.ui.widgets.edits import edits_of
from dpbayes.ui.widgets.page import live
from dpbayes.ui.widgets.scanning import scan_on_request
from dpbayes.ui.widgets.show import sentence_instead, show_refusal

NUMBERS = ("lowest", "highest", "if missing")
EDITABLE: dict[str, type] = {"use": bool} | dict.fromkeys(NUMBERS, float)
TARGET = "regression.target"


Table = TypeVar("Table", Upload, Connected)


def own_table() -> None:
    """Show the upload of a table and the bounds of its columns; the session keeps typed values."""
    mine = upload()
    with st.expander("Your own table", expanded=mine is None or mine.own is None):
        loader()
        mine = upload()
        if mine is None:
            return
        with sentence_instead():
            columns = _numeric_columns(mine.frame)
            title = f"{mine.name}: {len(mine.frame):,} records"
            _editor(mine, keep_upload, columns=columns, others=len(mine.frame.columns) - len(columns), title=title)


def connected_table(mine: Connected) -> None:
    """Show the bounds of a connected table's columns, and its sums; the session keeps typed values."""
    with st.expander("The connected table", expanded=mine.own is None), sentence_instead():
        columns = [field.name for field in mine.fields if field.is_number]
        others = len(mine.fields) - len(columns)
        _editor(mine, keep_connected, columns=columns, others=others, title=mine.title)
    live(sum_up, key="regression.sums")


def sum_up(chosen: Chosen) -> bool:
    """Offer to compute the sums, or show the progress or the result; return whether the work continues."""
    mine = chosen.connected
    columns, sums = mine.own, summed_up(mine)
    if columns is None:
        return False
    if sums is not None:
        _summed(sums)
        return False
    return scan_on_request(
        "regression.sums",
        sums_key(mine),
        lambda: summing_up(mine, columns),
        lambda scan: keep_sums(mine, scan),
        label="Compute the sums",
        purpose=f"One scan of {escaped(mine.title)} computes {(len(columns.features) + 2) ** 2:,} sums of products.",
    )


def _summed(sums: Scan[SummedRecords]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Compute the sums again" if sums.result else "Try again"
        if st.button(label, key="regression.sum.again", help="Discards the sums: the table may have changed."):
            forget_sums()
            st.rerun()
        if sums.result is not None:
            st.caption(f"One scan took {numeral(sums.seconds, 2)} seconds: {sums.result.gram.n:,} records.")
    if sums.refused:
        show_refusal(InputError(sums.refused))


def _editor(mine: Table, keep: Callable[[Table], None], *, columns: list[str], others: int, title: str) -> None:
    if len(columns) < 2:
        raise InputError(f"The table {brief(title)} has fewer than two numeric columns; a regression needs two.")
    left_out = f" Columns left out because they are not numeric: {others:,}." if others else ""
    st.caption(
        escaped(f"{title}, {len(columns)} numeric columns.{left_out}")
        + " Type bounds that you know without looking at the records: bounds read from the records would be a leak. "
        "Values outside are clipped. *If missing* is a public number that replaces missing values."
    )
    for proposal in mine.proposals:
        if proposal.name in _identifiers(mine) and proposal.name in columns:
            st.caption(escaped(f"{proposal.reason} The column is not ticked."))
    mine = _typed(mine, columns)
    assert mine.bounds is not None
    st.data_editor(
        mine.bounds,
        hide_index=True,
        disabled=["column"],
        column_config={
            "use": st.column_config.CheckboxColumn(width="small"),
            "lowest": st.column_config.NumberColumn(format="%g"),
            "highest": st.column_config.NumberColumn(format="%g"),
            "if missing": st.column_config.NumberColumn(format="%g"),
        },
        key=_key(mine),
    )
    try:
        keep(replace(mine, own=stated(mine.bounds, mine.target)))
    except InputError as error:
        keep(replace(mine, own=None))
        show_refusal(error)


def _key(mine: Table) -> str:
    return f"regression.bounds.{mine.key}"


def _typed(mine: Table, columns: list[str]) -> Table:
    """Return the table with the target that is chosen and the bounds that are typed."""
    bounds = _blank(columns, _identifiers(mine)) if mine.bounds is None else mine.bounds
    if st.session_state.get(TARGET) not in columns:  # another table, or Streamlit forgot it while elsewhere
        likely = [name for name in columns if name not in _identifiers(mine)] or columns
        st.session_state[TARGET] = mine.target or likely[-1]
    target = st.selectbox("Target", columns, format_func=escaped, key=TARGET)
    mine = replace(mine, bounds=bounds, target=target)
    try:
        edits = edits_of(_key(mine), len(bounds), EDITABLE)
    except InputError as error:
        show_refusal(error)
        return mine.declared(mine.columns)
    lines = bounds.to_dict("records")
    for place, edit in edits.items():
        lines[place].update(edit)
    return replace(mine, bounds=_table(lines))


def _numeric_columns(frame: "pd.DataFrame") -> list[str]:
    kept = st.session_state.get("regression.numeric")
    if not kept or kept[0] is not frame:
        kept = (frame, [str(name) for name in frame.columns if is_numeric(frame[name])])
        st.session_state["regression.numeric"] = kept
    return kept[1]


def _identifiers(mine: Table) -> frozenset[str]:
    """Return the columns that identify a record; the proposal does not use them."""
    return frozenset(proposal.name for proposal in mine.proposals if proposal.reason and proposal.domain)


def _blank(columns: list[str], unused: frozenset[str]) -> "pd.DataFrame":
    """Return the table of bounds before the person types."""
    return _table([{"use": name not in unused, "column": name} | dict.fromkeys(NUMBERS) for name in columns])


def _table(lines: Sequence[Mapping[Any, Any]]) -> "pd.DataFrame":
    frame = pd.DataFrame({"use": [bool(line["use"]) for line in lines], "column": [line["column"] for line in lines]})
    for name in NUMBERS:
        frame[name] = pd.array([pd.NA if _is_blank(line[name]) else line[name] for line in lines], dtype="Float64")
    return frame


def stated(edited: "pd.DataFrame", target: str) -> OwnColumns:
    """Return the columns in use as typed. Errors: InputError for bounds that are not given, or not in order."""
    lines = {str(line["column"]): line for line in edited.to_dict("records")}
    used = [name for name, line in lines.items() if line["use"] and name != target]
    if not used:
        raise InputError("Tick at least one feature other than the target.")
    features = tuple(_column({str(key): value for key, value in lines[name].items()}) for name in used)
    return OwnColumns(features, _column({str(key): value for key, value in lines[target].items()}))


def _column(line: dict[str, object]) -> NumericColumn:
    name = str(line["column"])
    if _is_blank(line["lowest"]) or _is_blank(line["highest"]):
        raise InputError(f"Column {brief(name)} has no public bounds. Type its lowest and highest value, or untick it.")
    stand_in = None if _is_blank(line["if missing"]) else line["if missing"]
    return stated_column(name, line["lowest"], line["highest"], stand_in)


def _is_blank(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
