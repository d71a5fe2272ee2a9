"""The upload of a table: the session keeps the file as text values, with proposed domains."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.typing import UploadedFile

from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.files import DECIMALS, ENCODINGS, Dialect, TableFile, read_table
from dpbayes.sources.proposals import Proposal, proposal
from dpbayes.ui.session.graphs import MAX_NAME
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.uploads import Upload, keep_upload, upload
from dpbayes.ui.widgets.show import show_refusal

SIGNS = {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |"}
RECOGNISE = "automatic"
"""The option that leaves a choice to the program."""


def loader() -> None:
    """Read a file into the session; the former table stays until the new one is usable."""
    try:
        person().require(Act.UPLOAD)
    except InputError as error:
        show_refusal(error)
        return
    left, *others = st.columns([3, 1, 1, 1])
    file = left.file_uploader("Table file (CSV, Excel or Parquet)", type=None, key="table.file")
    dialect = Dialect(
        _choice(others[0], "Separator", SIGNS, key="separator"),
        _choice(others[1], "Encoding", ENCODINGS, key="encoding"),
        _choice(others[2], "Decimal sign", {sign: f"{name} {sign}" for sign, name in DECIMALS.items()}, key="decimal"),
    )
    if file is None:
        if upload() is None:
            st.info(
                "The first row of the file must contain the column names. The table stays in this session and is "
                "never part of a link."
            )
    elif st.session_state.get("upload.tried", (None,))[0] != (file.file_id, dialect):
        st.session_state["upload.tried"] = (file.file_id, dialect), _tried(file, dialect)
    refused = st.session_state["upload.tried"][1] if file is not None else ""
    if refused:
        st.warning(escaped(refused))
    mine = upload()
    if mine is not None and not refused:
        # The box above forgets the file when another page is opened.
        st.caption(escaped(f"Table in use: {mine.name}."))
        if mine.remark:
            st.caption(escaped(mine.remark))


def _choice(place: DeltaGenerator, label: str, options: Mapping[str, str], *, key: str) -> str | None:
    """Return which option is chosen, None where the program is to recognise it."""
    chosen = place.selectbox(label, ["", *options], format_func=lambda option: options.get(option, RECOGNISE), key=key)
    return chosen or None


def _tried(file: UploadedFile, dialect: Dialect) -> str:
    """Make a file the session's table, or return the sentence that refuses it."""
    content = file.getvalue()
    try:
        with st.spinner(f"Reading {escaped(file.name)} …"):
            table = read_table(file.name, content, dialect)
        take(file.name, table, source=file.file_id)
    except InputError as error:
        return str(error)
    return ""


def take(name: str, file: TableFile, *, source: str = "", declared: Mapping[str, DeclaredColumn] | None = None) -> None:
    """Make a file the session's uploaded table, with proposed domains except for the columns in `declared`.

    Declarations for the same source stay. Errors: InputError for a table without a usable column; the former table
    then stays.
    """
    with st.spinner(f"Reading the columns of {escaped(name)} …"):
        proposals = [_proposal(str(column), file.frame[column]) for column in file.frame.columns]
    if all(suggestion.domain is None for suggestion in proposals):
        raise InputError(f"The file has no usable column. {proposals[0].reason}")
    before = upload()
    earlier = _declared(before) if before and source == before.source != "" else declared or {}
    only_identifiers = all(suggestion.reason for suggestion in proposals)  # which are used then
    columns = tuple(
        earlier.get(
            suggestion.name,
            DeclaredColumn(
                suggestion.name, use=suggestion.domain is not None if only_identifiers else not suggestion.reason
            ),
        )
        for suggestion in proposals
    )
    number = before.number + 1 if before else 1
    keep_upload(
        Upload(
            name,
            file.frame,
            proposals=tuple(proposals),
            columns=columns,
            number=number,
            remark=file.said,
            source=source,
        )
    )


def _declared(mine: Upload) -> dict[str, DeclaredColumn]:
    """Return the columns with a declaration of the person, by name."""
    pairs = zip(mine.columns, mine.proposals, strict=True)
    return {
        column.name: column for column, suggestion in pairs if column.domain or column.use == bool(suggestion.reason)
    }


def _proposal(name: str, values: "pd.Series") -> Proposal:
    try:
        require_node_names(name)
    except InputError as error:
        return Proposal(name, reason=str(error))
    return proposal(name, values)


def require_node_names(name: str) -> None:
    """Errors: InputError for a column whose name no node can have."""
    if len(name) > MAX_NAME:
        raise InputError(f"The column name {brief(name)} is longer than {MAX_NAME} characters; shorten it in the file.")
