"""A person's own table: read it, then state each column's public domain."""

import csv
import dataclasses
import hashlib

import pandas as pd
import streamlit as st

from dpbayes.columns import Categories, Column, CountAs, Cuts, DropRecord, Missing, OwnState, encode
from dpbayes.proposals import proposed_column, quantile_cuts
from dpbayes.tables import read_csv, read_parquet
from dpbayes.ui.graphs import MAX_NAME
from dpbayes.ui.show import escaped, sentence_instead
from dpbayes.ui.work import Upload, upload
from dpbayes.validation import InputError, brief, whole_number

SEPARATORS = {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |"}
ENCODINGS = ("utf-8", "latin-1", "utf-16")
CATEGORIES, CUTS = "categories", "cut points"
OWN, DROP, COUNT_AS = "a state of its own", "drop the record", "count as: "


def loader() -> None:
    """Read a file into the session; whatever was loaded before stays until the new file is understood."""
    left, middle, right = st.columns([3, 1, 1])
    file = left.file_uploader("CSV or Parquet file; it stays in this session", type=None, key="table.file")
    separator = middle.selectbox("Separator", list(SEPARATORS), format_func=SEPARATORS.__getitem__, key="separator")
    encoding = right.selectbox("Encoding", ENCODINGS, key="encoding")
    if file is None:
        if upload() is None:
            st.info("No file yet. The first row of a CSV file names its columns.")
        return
    content = file.getvalue()
    mark = hashlib.sha256(content + separator.encode() + encoding.encode()).hexdigest()
    if st.session_state.get("upload.mark") == mark:
        return
    with sentence_instead():
        if file.name.lower().endswith((".parquet", ".pq")):
            frame = read_parquet(content)
        else:
            frame = read_csv(content, separator=separator, encoding=encoding)
        st.session_state["upload"] = Upload(file.name, frame)
        st.session_state["upload.mark"] = mark
        st.session_state.pop("columns", None)


def column_editor() -> None:
    """State each column's domain in a table of one line per column, then turn the file into records."""
    mine = upload()
    if mine is None:
        return
    st.subheader("Columns and their public domains")
    st.caption(
        "Proposals are taken from the data, and that is a leak: correct each domain to what is publicly known, then "
        "tick *public*. Categories and cut points are separated by semicolons."
    )
    if "columns" not in st.session_state:
        st.session_state["columns"] = _proposals(mine.frame)
    edited = st.data_editor(
        st.session_state["columns"],
        hide_index=True,
        disabled=["column", "remark"],
        column_config={
            "use": st.column_config.CheckboxColumn(width="small"),
            "kind": st.column_config.SelectboxColumn(options=[CATEGORIES, CUTS], required=True),
            "domain": st.column_config.TextColumn("categories or cut points", width="large"),
            "missing values": st.column_config.TextColumn(help=f"“{OWN}”, “{DROP}”, or “{COUNT_AS}” and a state."),
        },
        key=f"columns.editor.{st.session_state.get('columns.version', 0)}",
    )
    _cut_by_quantiles(mine, edited)
    with sentence_instead():
        _encode(mine, edited)


def _proposals(frame: pd.DataFrame) -> pd.DataFrame:
    records = []
    for name in frame.columns:
        try:
            _require_drawable(str(name))
            records.append(_record(proposed_column(str(name), frame[name])))
        except InputError as error:
            records.append(_unused(str(name), str(error)))
    return pd.DataFrame.from_records(records)


def _record(column: Column) -> dict[str, object]:
    cuts = isinstance(column, Cuts)
    values = [f"{point:g}" for point in column.points] if isinstance(column, Cuts) else list(column.states)
    return {
        "use": True,
        "column": column.name,
        "kind": CUTS if cuts else CATEGORIES,
        "domain": "; ".join(map(_quoted, values)),
        "missing values": _missing_text(column.missing),
        "public": column.public,
        "remark": "",
    }


def _unused(name: str, why: str) -> dict[str, object]:
    return {
        "use": False,
        "column": name,
        "kind": CATEGORIES,
        "domain": "",
        "missing values": DROP,
        "public": False,
        "remark": why,
    }


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if any(c in value for c in ';"') or value != value.strip() else value


def _split(text: str) -> list[str]:
    found = next(csv.reader([text], delimiter=";", skipinitialspace=True), [])
    return [value.strip() for value in found if value.strip()]


def _missing_text(missing: Missing) -> str:
    if isinstance(missing, CountAs):
        return f"{COUNT_AS}{missing.state}"
    return OWN if isinstance(missing, OwnState) else DROP


def _missing_of(text: str, name: str) -> Missing:
    text = text.strip()
    if text.startswith(COUNT_AS.strip()):
        return CountAs(text.removeprefix(COUNT_AS.strip()).strip())
    if text not in (OWN, DROP):
        raise InputError(
            f"Missing values of {brief(name)}: write “{OWN}”, “{DROP}”, or “{COUNT_AS}” and one of its states."
        )
    return OwnState() if text == OWN else DropRecord()


def _lines(edited: pd.DataFrame) -> list[dict[str, object]]:
    return [{str(key): value for key, value in line.items()} for line in edited.to_dict("records")]


def _require_drawable(name: str) -> None:
    if len(name) > MAX_NAME:
        raise InputError(f"The column name {brief(name)} is longer than {MAX_NAME} characters; shorten it in the file.")


def _column_of(record: dict[str, object]) -> Column:
    name, public = str(record["column"]), bool(record["public"])
    _require_drawable(name)
    values, missing = _split(str(record["domain"] or "")), _missing_of(str(record["missing values"]), name)
    if record["kind"] == CATEGORIES:
        return Categories(name, tuple(values), public=public, missing=missing)
    try:
        points = tuple(float(value) for value in values)
    except ValueError:
        raise InputError(f"The cut points of {brief(name)} must be numbers separated by semicolons.") from None
    return Cuts(name, points, public=public, missing=missing)


def _cut_by_quantiles(mine: Upload, edited: pd.DataFrame) -> None:
    """Offer cuts at quantiles of one column; marked as the leak that they are."""
    with st.expander("Cut a column of numbers at its quantiles (a leak: for demonstrations)"):
        left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
        name = left.selectbox("Column of numbers", list(edited["column"]), key="quantile.column")
        bins = middle.text_input("Bins", "4", key="quantile.bins")
        if right.button("Cut"):
            with sentence_instead():
                cuts = quantile_cuts(name, mine.frame[name], whole_number("The number of bins", bins, low=2, high=64))
                old = edited.set_index("column").loc[name].to_dict() | {"column": name}
                cuts = dataclasses.replace(cuts, missing=_missing_of(str(old["missing values"]), name))
                changed = [_record(cuts) if r["column"] == name else r for r in _lines(edited)]
                st.session_state["columns"] = pd.DataFrame.from_records(changed)
                st.session_state["columns.version"] = st.session_state.get("columns.version", 0) + 1
                st.rerun()


def _encode(mine: Upload, edited: pd.DataFrame) -> None:
    columns = [_column_of(record) for record in _lines(edited) if record["use"]]
    if not columns:
        raise InputError("No column is in use; tick at least one.")
    data = mine.dataset
    if data is None or st.session_state.get("upload.columns") != (id(mine.frame), columns):
        data = encode(mine.frame, columns)
        leaks = frozenset(column.name for column in columns if not column.public)
        st.session_state["upload"] = dataclasses.replace(mine, dataset=data, leaks=leaks)
        st.session_state["upload.columns"] = (id(mine.frame), columns)
    st.caption(escaped(f"{data.n:,} of {len(mine.frame):,} records are in use."))
