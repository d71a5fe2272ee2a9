"""A person's own table: a file becomes text values in the session, with what is proposed of its columns."""

import hashlib

import pandas as pd
import streamlit as st

from dpbayes.domains import DeclaredColumn
from dpbayes.proposals import Proposal, proposal
from dpbayes.tables import read_csv, read_parquet
from dpbayes.ui.graphs import MAX_NAME
from dpbayes.ui.show import sentence_instead
from dpbayes.ui.work import Upload, keep_upload, upload
from dpbayes.validation import InputError, brief

SEPARATORS = {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |"}
ENCODINGS = ("utf-8", "latin-1", "utf-16")


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
        take(file.name, frame)
        st.session_state["upload.mark"] = mark


def take(name: str, frame: pd.DataFrame) -> None:
    """Make a frame of text the session's uploaded table: domains are proposed, none is declared.

    Errors: InputError for a table without a column that can be used; whatever was loaded before stays.
    """
    proposals = tuple(_proposal(str(column), frame[column]) for column in frame.columns)
    if all(each.domain is None for each in proposals):
        raise InputError(f"The file has no column that can be used. {proposals[0].reason}")
    columns = tuple(DeclaredColumn(each.name, use=not each.reason) for each in proposals)
    before = upload()
    number = before.number + 1 if before else 1
    keep_upload(Upload(name, frame, proposals=proposals, columns=columns, number=number))


def _proposal(name: str, values: pd.Series) -> Proposal:
    try:
        require_drawable(name)
    except InputError as error:
        return Proposal(name, reason=str(error))
    return proposal(name, values)


def require_drawable(name: str) -> None:
    """Errors: InputError for a column whose name no node can have."""
    if len(name) > MAX_NAME:
        raise InputError(f"The column name {brief(name)} is longer than {MAX_NAME} characters; shorten it in the file.")
