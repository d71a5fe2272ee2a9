"""The person's own table for a regression: which columns of numbers, and the public bounds that she types."""

import math

import pandas as pd
import streamlit as st

from dpbayes.experiments.regression_tables import NumericColumn, OwnColumns, is_numeric, stated_column
from dpbayes.ui import controls
from dpbayes.ui.regression_work import own_columns, own_frame
from dpbayes.ui.show import escaped, refusal, sentence_instead
from dpbayes.ui.upload import loader
from dpbayes.ui.work import upload
from dpbayes.validation import InputError, brief


def own_table() -> None:
    """Offer to load a table and state its columns' bounds; what is complete is kept for the session."""
    mine = upload()
    with st.expander("Your own table", expanded=own_columns() is None):
        loader()
        mine = upload()
        if mine is None:
            return
        with sentence_instead():
            _editor(mine.name)


def _editor(name: str) -> None:
    frame = own_frame()
    columns = _numeric_columns(frame)
    if len(columns) < 2:
        raise InputError(f"The table {brief(name)} has fewer than two columns of numbers; a regression needs two.")
    others = len(frame.columns) - len(columns)
    left_out = f" Left out, since not numbers: {others:,}." if others else ""
    st.caption(
        escaped(f"{name}: {len(frame):,} records, {len(columns)} columns of numbers.{left_out}")
        + " Type bounds that are known without looking at the records: bounds taken from them would be a leak. Values "
        "outside are clipped. *If missing* is a public number that stands in for missing values."
    )
    target = st.selectbox("Target", columns, index=len(columns) - 1, format_func=escaped, key="regression.target")
    edited = controls.edited(
        _blank(frame, columns),
        hide_index=True,
        disabled=["column"],
        column_config={
            "use": st.column_config.CheckboxColumn(width="small"),
            "lowest": st.column_config.NumberColumn(format="%g"),
            "highest": st.column_config.NumberColumn(format="%g"),
            "if missing": st.column_config.NumberColumn(format="%g"),
        },
        key="regression.bounds",
    )
    try:
        st.session_state["regression.own"] = stated(edited, target)
    except InputError as error:
        st.session_state.pop("regression.own", None)
        refusal(error)


def _numeric_columns(frame: pd.DataFrame) -> list[str]:
    kept = st.session_state.get("regression.numeric")
    if not kept or kept[0] is not frame:
        kept = (frame, [str(name) for name in frame.columns if is_numeric(frame[name])])
        st.session_state["regression.numeric"] = kept
    return kept[1]


def _blank(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return the table of bounds before the person types, the same object for the same file."""
    kept = st.session_state.get("regression.blank")
    if not kept or kept[0] is not frame:
        empty = [None] * len(columns)
        made = pd.DataFrame({"use": [True] * len(columns), "column": columns})
        for name in ("lowest", "highest", "if missing"):
            made[name] = pd.array(empty, dtype="Float64")
        kept = (frame, made)
        st.session_state["regression.blank"] = kept
    return kept[1]


def stated(edited: pd.DataFrame, target: str) -> OwnColumns:
    """Return the columns in use as typed. Errors: InputError for bounds that are not given, or not in order."""
    lines = {str(line["column"]): line for line in edited.to_dict("records")}
    used = [name for name, line in lines.items() if line["use"] and name != target]
    if not used:
        raise InputError("Tick at least one feature besides the target.")
    features = tuple(_column({str(key): value for key, value in lines[name].items()}) for name in used)
    return OwnColumns(features, _column({str(key): value for key, value in lines[target].items()}))


def _column(line: dict[str, object]) -> NumericColumn:
    name = str(line["column"])
    if _is_blank(line["lowest"]) or _is_blank(line["highest"]):
        raise InputError(f"Column {brief(name)} has no public bounds; type its lowest and highest value, or untick it.")
    stand_in = None if _is_blank(line["if missing"]) else line["if missing"]
    return stated_column(name, line["lowest"], line["highest"], stand_in)


def _is_blank(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
