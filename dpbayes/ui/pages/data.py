"""The Data page: where the table comes from, its columns, and for the curator a preview."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.typing import UploadedFile

from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped, many
from dpbayes.base.validation import InputError
from dpbayes.boards.static import table_columns
from dpbayes.sources.columns import remarks
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.files import TableFile, read_table
from dpbayes.sources.named_networks import NAMED
from dpbayes.sources.proposals import Proposal, missing_remark, proposal
from dpbayes.sources.shipped_tables import SHIPPED, shipped_frame
from dpbayes.ui.pages.data_columns import declare_columns, public_columns
from dpbayes.ui.session.chosen import Chosen, choose_table
from dpbayes.ui.session.connected import (
    NOT_COUNTED,
    Connected,
    connect,
    connected,
    forget_scans,
    keep_connected,
    proposed,
    random_sample,
    tables_in,
)
from dpbayes.ui.session.connections import FILES, HOW, Connections, connection_names, connections, listed_files
from dpbayes.ui.session.current import change
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.looked import RECORDS, note_looked
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.settings import CONNECTED, Cpts, Seat
from dpbayes.ui.session.uploads import Upload, given_cpts, keep_upload, require_node_name, upload
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.board import share_python, show
from dpbayes.ui.widgets.from_python import (
    FACE,
    counts_in_python,
    network_in_python,
    program,
    show_python,
    table_in_python,
)
from dpbayes.ui.widgets.scanning import count_connected
from dpbayes.ui.widgets.show import headline, next_page, sentence_instead, show_refusal

ORIGINS = {"table": "Sample table", "synthetic": "Synthetic", "upload": "Upload", CONNECTED: "Connect"}
FROM = ("asia", "cancer", "earthquake", "sprinkler", "bayes:16", "alarm", "child", "insurance", "sachs", "survey",
        "win95pts", "andes")  # fmt: skip

MOST_RECORDS = 10_000
"""The number of records of a random sample that becomes a table."""

OTHER = "Other path …"

NEEDS = """
1. **The file.** Its first row has the names of the columns. Each further row is one record: the values of one person.
2. **What is read.** Texts become values, numbers become ranges, and blanks become *missing*. Columns that identify a
   person are left out. You can correct all of it.
3. **What happens to it.** The table stays in this session, on the computer that runs dpbayes, and is never part of a
   link. Nothing is released before you choose ε on *Release*.
"""

EXAMPLE = """
**A file with these rows …**

| age | smoker | ward    |
|----:|:-------|:--------|
|  47 | no     | surgery |
|  81 | yes    | general |
|     | no     | general |

**… is read as these columns and values**

| column | values              |
|:-------|:--------------------|
| age    | < 50; ≥ 50; missing |
| smoker | no; yes             |
| ward   | general; surgery    |
"""

PROTECTED = "A release protects which record has which value. The number of records and the columns’ values are public."


def data_page(chosen: Chosen) -> None:
    """Show the source, the headline with the next page, and the columns beside the preview."""
    _origin(chosen)
    place, ready = st.container(), st.container()
    chosen = Chosen.now()
    with st.container(key="columns"):
        left, right = st.columns([3, 2], gap="medium") if chosen.is_curator else (st.container(),) * 2
    is_own = chosen.is_curator and (chosen.is_connected or chosen.settings.data == "upload")
    mine = upload()
    if chosen.is_curator and chosen.settings.data == "upload" and mine is not None:
        with left:
            declare_columns(mine, keep_upload, ready)
    with sentence_instead():
        chosen = Chosen.now()
        if _head(chosen, place):
            if not is_own:
                with left:
                    public_columns(chosen)
            if chosen.is_curator:
                with left if chosen.is_connected else right:
                    _preview(chosen)
            share_python(lambda: show_python(python_of(chosen), "data", chosen))


def _head(chosen: Chosen, place: DeltaGenerator) -> bool:
    """Show the headline in its place; return whether there is a table with columns. Errors: InputError without one."""
    if chosen.settings.data == "upload" and upload() is None:
        if person().may(Act.UPLOAD):
            with place:
                headline("Bring a table of your own.")
                text, example = st.columns([3, 2], gap="large")
                text.markdown(NEEDS)
                example.markdown(EXAMPLE)
        return False
    with place:
        with st.container(horizontal=True, vertical_alignment="center", key="head"):
            headline(_about(chosen))
            if chosen.domains:
                refused, leaks = bool(chosen.refused), bool(chosen.leaking_columns)
                next_page("Network", "pages/network.py", disabled=refused, is_first=not leaks)
        if chosen.refused and chosen.domains:
            kept = "Until then, the preview and the other pages use the last valid columns."
            st.caption(f":red[{escaped(chosen.refused)}] {kept}")
        elif chosen.domains and not chosen.leaking_columns:
            st.caption(PROTECTED)
    return bool(chosen.domains)


def _about(chosen: Chosen) -> str:
    """Return the page's sentence. Errors: InputError for the recipient of a table that is not here, or not declared."""
    is_secret = not chosen.is_curator and (chosen.is_connected or chosen.settings.data == "upload")
    title, n = "The curator’s table" if is_secret else escaped(chosen.data_title), chosen.n
    if chosen.refused:
        records = "" if n is None else f"{many(n, 'record')}, but "
        return f"{title}: {records}the columns need a correction."
    if chosen.is_connected and not chosen.domains:
        if not chosen.is_curator:
            _ = chosen.connected.in_use
        return "Connect a table to begin."
    columns = many(len(chosen.domains or chosen.dataset.names), "column")
    if chosen.settings.data == "synthetic":  # whose title has the number of records
        return f"{title} with {columns}."
    return f"{title}: {columns}, not counted yet." if n is None else f"{title}: {many(n, 'record')} with {columns}."


def python_of(chosen: Chosen) -> str:
    """Return the code that prints the numbers of records and columns; for a recipient, the public domains."""
    if not chosen.is_curator:
        states = "dict(zip(network.names, network.states, strict=True))"
        return program(FACE, network_in_python(chosen.network), f"print({states})")
    if chosen.is_connected:
        return program(FACE, counts_in_python(chosen), "print(counts.n, len(data.names))")
    return program(FACE, table_in_python(chosen), "print(data.n, len(data.names))")


# The preview


def _preview(chosen: Chosen) -> None:
    """Show the distributions of all columns, to the curator only."""
    if chosen.is_connected:
        try:
            counts = chosen.counts
        except InputError as error:
            if str(error) != NOT_COUNTED:  # the button says so
                show_refusal(error)
            return
        net = counts.network
        names, states = net.names, net.states
        records = [net.table(counts.values, k).reshape(-1, r).sum(0).astype(np.int64) for k, r in enumerate(net.cards)]
    else:
        data = chosen.dataset
        names, states = data.names, data.states
        records = [np.bincount(data.column(name), minlength=len(s)) for name, s in zip(names, states, strict=True)]
    mine = upload() if chosen.settings.data == "upload" else None
    note, rows = "" if chosen.has_public_records else "Not private (curator view). ", names
    if mine is not None:
        rows = tuple(column.name for column in mine.columns)  # those of the table beside it
        note += kept("remarks", (mine.number, mine.encoded), lambda: " ".join(remarks(mine.frame, mine.encoded)))
    key = names, states, tuple(numbers.tobytes() for numbers in records), note, rows
    show("columns", key, lambda: table_columns(names, states, records, note, rows))


# Where the table comes from


def _origin(chosen: Chosen) -> None:
    """Offer the origins, and the controls of the one chosen."""
    data = CONNECTED if chosen.is_connected else chosen.settings.data
    origin = data if data in ORIGINS else "table"
    st.session_state["origin"] = origin
    with st.container(horizontal=True, gap="medium"):
        st.segmented_control(
            "Source",
            [name for name in ORIGINS if name == origin or _is_offered(name)],
            format_func=ORIGINS.__getitem__,
            key="origin",
            required=True,
            on_change=_set_origin,
            width="content",
        )
        with st.container(key=f"source.{origin}"):
            _of_origin(origin, chosen)


def _of_origin(origin: str, chosen: Chosen) -> None:
    """Show the controls of an origin."""
    if origin == "table":
        _ready(chosen)
    elif origin == "synthetic":
        _synthesise(chosen)
    elif not chosen.is_curator:
        st.info("The recipient does not see the curator’s table.")
        st.button("Back to the curator’s view", key="curator", on_click=change, kwargs={"seat": Seat.CURATOR})
    elif origin == CONNECTED:
        with sentence_instead():
            _connector(chosen)
    else:
        with sentence_instead():
            _loader()


def _is_offered(origin: str) -> bool:
    """Return whether this person may take a table from there."""
    if origin != CONNECTED:
        return origin != "upload" or person().may(Act.UPLOAD)
    try:
        return bool(connections().names)
    except InputError:  # the part that lists the connections reports an invalid list
        return person().may(Act.CONNECT)


def _set_origin() -> None:
    origin, names = st.session_state["origin"], connection_names()
    first = {"table": next(iter(SHIPPED)), CONNECTED: ":".join((CONNECTED, *(names if len(names) == 1 else ())))}
    choose_table(first.get(origin, origin))


def _ready(chosen: Chosen) -> None:
    st.session_state["ready"] = chosen.settings.data
    left, right = st.columns(2, vertical_alignment="bottom")
    left.selectbox(
        "Sample table",
        list(SHIPPED),
        format_func=lambda key: SHIPPED[key].title,
        key="ready",
        on_change=lambda: choose_table(st.session_state["ready"]),
    )
    table = SHIPPED[chosen.settings.data]
    st.caption(f"{table.description} Source: {table.source}")
    is_here = chosen.n is not None  # the error is shown below
    if chosen.is_curator and is_here and right.button("Change the columns", help="Opens the raw table as an upload."):
        take(table.title, TableFile(shipped_frame(chosen.settings.data), ""))
        choose_table("upload")
        st.rerun()


def _synthesise(chosen: Chosen) -> None:
    first, second, third, fourth = st.columns([5, 2, 1.5, 1.5], vertical_alignment="top")
    settings, source = chosen.settings, chosen.settings.source
    options = list(dict.fromkeys((*FROM, *NAMED, source)))
    with first:
        controls.choice("Source network", "source", options, format_func=_source_title)
        if source.startswith("bayes:"):
            controls.text_field("Number of features", "source", prefix="bayes:")
    with second:
        available = {Cpts.PUBLISHED: source in NAMED, Cpts.RANDOM: True, Cpts.GIVEN: source in given_cpts()}
        kinds = [kind for kind in Cpts if available[kind] or kind is settings.cpts]
        controls.choice("Probabilities", "cpts", kinds, format_func=lambda kind: kind.value)
    with third:
        controls.text_field("Records", "records", help="At most 10,000,000.")
    with fourth:
        controls.text_field("Random seed", "data_seed", help="The same seed draws the same records.")
    if settings.graph and st.button("Sample from the edited network"):
        chosen.adopt_as_source()
        st.rerun()


def _source_title(spec: str) -> str:
    if spec in NAMED:
        return f"{NAMED[spec].title}: {NAMED[spec].description}"
    head, _, size = spec.partition(":")
    return f"Naive Bayes with {size} features" if head == "bayes" else "The edited network" if head == "g" else spec


# One's own file


def _loader() -> None:
    """Read a file into the session; the former table stays until the new one is usable. Errors: InputError."""
    person().require(Act.UPLOAD)
    with st.container(horizontal=True, vertical_alignment="center"):
        file = st.file_uploader("Table file (CSV, Excel or Parquet)", type=None, key="table.file", width=480)
        place = st.container(width="content")
    refused = _read(file) if file is not None else ""
    if refused:
        st.warning(escaped(refused))
    mine = upload()
    if mine is not None and not refused:
        place.caption(f"Table in use: **{escaped(mine.title)}**. " * (file is None) + escaped(mine.remark))


def _read(file: UploadedFile) -> str:
    """Make a file the session's table, once; return the sentence that refuses it, or ""."""
    tried, refused = st.session_state.get("upload.tried", ("", ""))
    if tried != file.file_id:
        refused = ""
        try:
            with st.spinner(f"Reading {escaped(file.name)} …"):
                table = read_table(file.name, file.getvalue())
            take(file.name, table)
        except InputError as error:
            refused = str(error)
        st.session_state["upload.tried"] = file.file_id, refused
    return refused


def take(name: str, file: TableFile, declared: Mapping[str, DeclaredColumn] | None = None) -> None:
    """Make a file the session's uploaded table, with proposed domains except for the columns in `declared`.

    Errors: InputError for a table without a usable column; the former table then stays.
    """
    with st.spinner(f"Reading the columns of {escaped(name)} …"):
        proposals = [_proposal(str(column), file.frame[column]) for column in file.frame.columns]
    usable = [one.name for one in proposals if one.domain is not None]
    if not usable:
        raise InputError(f"The file has no usable column. {proposals[0].reason}")
    before, remark = upload(), file.said + missing_remark(proposals)
    used = [one.name for one in proposals if not one.reason] or usable  # identifiers, if there is nothing else
    defaults = (DeclaredColumn(one.name, use=one.name in used) for one in proposals)
    columns = tuple((declared or {}).get(column.name, column) for column in defaults)
    number = before.number + 1 if before else 1
    keep_upload(Upload(name, file.frame, proposals=tuple(proposals), columns=columns, number=number, remark=remark))


def _proposal(name: str, values: "pd.Series") -> Proposal:
    try:
        require_node_name(name)
    except InputError as error:
        return Proposal(name, reason=str(error))
    return proposal(name, values)


# A connected table


def _connector(chosen: Chosen) -> None:
    """Choose a connection and a table of it, declare its columns, and count it. Errors: InputError."""
    person().require(Act.CONNECT)
    server = connections()
    if not server.names:
        st.info(f"This server has no connections. {HOW}")
        return
    name = chosen.settings.data.partition(":")[2]
    st.session_state["connect.name"] = name if name in server.names else None
    st.selectbox(
        "Connection",
        server.names,
        format_func=lambda option: "Files below the data root" if option == FILES else option,
        key="connect.name",
        placeholder="Choose a connection",
        help="Connections that the owner of this server named. Links never contain an address.",
        on_change=lambda: choose_table(f"{CONNECTED}:{st.session_state['connect.name']}"),
    )
    if name not in server.names:
        return
    _choose_table(name, server)
    mine = connected(name)
    if mine is None:
        st.caption("Opening a table reads its columns and a few records, for the curator only.")
        return
    st.caption(escaped(f"Connected: {mine.title}. The records stay at the source, and nothing is written to it."))
    _connected_columns(mine)


def _choose_table(name: str, server: Connections) -> None:
    """Let the person choose a table, and open it. Errors: InputError."""
    path = _path(server) if name == FILES else ""
    kept = st.session_state.get("connect.tables")
    offered: tuple[str, ...] = kept[2] if kept and kept[:2] == (name, path) else ()
    table = st.selectbox("Table", offered, key="connect.table") if offered else None
    if not st.button("Connect" if offered else "Open", type="primary", disabled=name == FILES and not path):
        return
    with st.spinner("Opening the table …"):
        offered = offered or tables_in(name, path)
        if table is None and len(offered) > 1:
            st.session_state["connect.tables"] = name, path, offered
        else:
            keep_connected(connect(name, path, table or offered[0]))
            st.session_state.pop("connect.tables", None)
            change(graph="", target="", state="", evidence=())
    st.rerun()


def _path(server: Connections) -> str:
    """Return what was chosen or typed below the data root."""
    assert server.root is not None
    picked = st.selectbox("File or folder", (*listed_files(server.root), OTHER), key="connect.file")
    if picked != OTHER:
        return picked
    help = "A Parquet file, a folder of them, or a DuckDB file."
    return str(st.text_input("Path below the data root", key="connect.path", help=help)).strip()


def _connected_columns(mine: Connected) -> None:
    """Show the columns of a table, and what can be done with it. Errors: InputError for what is not declared."""
    st.dataframe(mine.head, hide_index=True)
    note_looked(Chosen.now(), RECORDS)
    mine = declare_columns(mine, keep_connected, st.container())
    _propose(mine)
    if mine.refused:
        raise InputError(mine.refused)
    count_connected(Chosen.now())
    with st.container(horizontal=True):
        if st.button("Count again", help="Discards the counts. The table may have changed."):
            forget_scans()
            st.rerun()
        if st.button(
            f"Take a random sample of {MOST_RECORDS:,} records",
            help="Reads the table once and opens the sample as an upload. Not private (curator view).",
        ):
            _take_sample(mine)
            st.rerun()


def _propose(mine: Connected) -> None:
    """Offer to look at the values of columns without a domain, which is a leak."""
    lacking = [k for k, column in enumerate(mine.columns) if column.use and mine.domain(k) is None]
    if not lacking:
        return
    label = f"Propose values for {many(len(lacking), 'column')} from the data (leaks information)"
    if st.button(label, help="Reads each column once. The proposals reveal which values occur."):
        with st.spinner("Reading the columns …"):
            proposals = proposed(mine)
        columns = list(mine.columns)
        for place in lacking:
            if proposals[place].reason:
                columns[place] = replace(columns[place], use=False)
        keep_connected(replace(mine, proposals=proposals).declared(columns))
        st.rerun()


def _take_sample(mine: Connected) -> None:
    """Make a random sample the session's table, with the declared domains of its columns. Errors: InputError."""
    with st.spinner("Drawing a sample …"):
        frame = random_sample(mine, MOST_RECORDS)
    sample = f"A simple random sample of {many(len(frame), 'record')} of {mine.title}, without replacement."
    remark = f"{sample} These are real records: not private (curator view)."
    declared = {column.name: column for column in mine.columns if column != DeclaredColumn(column.name)}
    take(f"random sample of {mine.title}", TableFile(frame, remark), declared)
    choose_table("upload")
