"""A connected table: its domains, its counts from one scan, and a sample or synthetic records of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped, many, numeral
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError
from dpbayes.figures.columns import column_figure
from dpbayes.sources.files import TableFile
from dpbayes.sources.proposals import Proposal
from dpbayes.ui.pages.data.domains import declare_columns
from dpbayes.ui.pages.data.upload import take
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connected import Connected, connected, connecting, keep_connected, listing, proposing, sampling
from dpbayes.ui.session.connections import FILES, HOW, Connections, connection_names, connections, listed_files
from dpbayes.ui.session.current import change
from dpbayes.ui.session.kept import note_request
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.scans import scan_key, scanned
from dpbayes.ui.session.settings import CONNECTED
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.page import live
from dpbayes.ui.widgets.scanning import count_again, count_connected, done_on_request
from dpbayes.ui.widgets.show import data_and_download, sentence_instead

OTHER = "Other path …"
LISTING, OPENING = "connected.listing", "connected.opening"


def connector(chosen: Chosen) -> None:
    """Choose a connection and a table of it, declare its columns, and count it."""
    with sentence_instead():
        person().require(Act.CONNECT)
        server = connections()
        if not server.names:
            st.info(f"This server has no connections. {HOW}")
            return
        name = _connection(chosen, server)
        if name:
            _choose_table(name, server)
            live(_open, key="open")
            show_connected(name)


def _connection(chosen: Chosen, server: Connections) -> str:
    """Let the person choose among what the owner named; return the public name, "" while none is chosen."""
    name = chosen.settings.data.partition(":")[2]
    st.session_state["connect.name"] = name if name in server.names else None
    st.selectbox(
        "Connection",
        server.names,
        format_func=lambda option: "Files below the data root" if option == FILES else option,
        key="connect.name",
        placeholder="Choose a connection",
        help="Connections that the owner of this server named. Links never contain an address.",
        on_change=_set_connection,
    )
    return name if name in server.names else ""


def only_connection() -> tuple[str, ...]:
    """Return the only connection; None if there are several."""
    names = connection_names()
    return names if len(names) == 1 else ()


def _set_connection() -> None:
    change(data=f"{CONNECTED}:{st.session_state['connect.name']}", graph="", row="", target="", evidence=())


# Which table


def _choose_table(name: str, server: Connections) -> None:
    path = _path(server) if name == FILES else ""
    kept = st.session_state.get("connect.tables")
    offered: tuple[str, ...] = kept[2] if kept and kept[:2] == (name, path) else ()
    if offered:
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        table = left.selectbox("Table", offered, key="connect.table")
        request = OPENING, (name, path, table)
        right.button("Connect", type="primary", width="stretch", on_click=note_request, args=request)
        return
    kind: Literal["primary", "secondary"] = "primary" if connected(name) is None else "secondary"
    st.button(
        "Open",
        type=kind,
        disabled=name == FILES and not path,
        help="Reads the columns and a few records.",
        on_click=note_request,
        args=(LISTING, (name, path)),
    )


def _path(server: Connections) -> str:
    """Return what was chosen or typed below the data root."""
    assert server.root is not None
    offered = (*listed_files(server.root), OTHER)
    picked = st.selectbox("File or folder", offered, key="connect.file")
    if picked != OTHER:
        return picked
    typed: str = st.text_input(
        "Path below the data root", key="connect.path", help="A Parquet file, a folder of them, or a DuckDB file."
    )
    return typed.strip()


def _open(chosen: Chosen) -> bool:
    """List the tables, then read the chosen one; return whether the work continues."""
    name = chosen.settings.data.partition(":")[2]
    return _list(name) or _connect(name)


def _list(name: str) -> bool:
    """List the tables, and open the only one; return whether the work continues."""
    request = st.session_state.get(LISTING)
    if request is None or request[0] != name:
        return False

    path: str = request[1]

    def keep(offered: tuple[str, ...]) -> None:
        if len(offered) == 1:
            note_request(OPENING, (name, path, *offered))
        else:
            st.session_state["connect.tables"] = name, path, offered

    return done_on_request(LISTING, request, lambda: listing(name, path), keep, of="the tables")


def _connect(name: str) -> bool:
    """Read the columns and first records of a table, and connect it; return whether the work continues."""
    request = st.session_state.get(OPENING)
    if request is None or request[0] != name:
        return False

    def keep(opened: Connected) -> None:
        keep_connected(opened)
        st.session_state.pop("connect.tables", None)
        change(graph="", row="", target="", evidence=())

    return done_on_request(OPENING, request, lambda: connecting(*request), keep, of="the first records")


PROPOSING, SAMPLING = "connected.proposing", "connected.sampling"

MOST_RECORDS = 10_000
"""The number of records of a random sample that becomes a table."""


def show_connected(name: str) -> None:
    """Show what a table's columns can be, count it, and offer records instead; nothing of one before it is open."""
    mine = connected(name)
    if mine is None:
        st.caption("Opening a table reads its columns and a few records, for the curator only.")
        return
    st.caption(escaped(f"Connected: {mine.title}. The records stay at the source, and nothing is written to it."))
    with st.expander("First records: not private (curator view)"):
        st.dataframe(mine.head, hide_index=True)
    mine, refused = declare_columns(mine, keep_connected, aside=lambda _: live(_propose, key="propose"))
    if refused:
        raise refused
    mine.in_use  # noqa: B018 - says what is missing
    live(count_connected, key="count")
    _records_instead(mine)


def _records_instead(mine: Connected) -> None:
    """Offer records for pages that need records: synthetic ones, or a random sample as a table."""
    st.caption("Pages that need records, such as Accuracy, use synthetic records or a random sample instead.")
    left, right = st.columns(2)
    if left.button(
        "Generate synthetic records",
        width="stretch",
        help="Records from the open network with random probabilities. They contain no information from the table.",
    ):
        Chosen.now().adopt_as_source()
        st.rerun()
    right.button(
        f"Take a random sample of {MOST_RECORDS:,} records",
        width="stretch",
        help="Reads the table once and opens the sample as an upload. Not private (curator view).",
        on_click=note_request,
        args=(SAMPLING, mine.key),
    )
    live(_sample, key="sample")


def _sample(chosen: Chosen) -> bool:
    """Take the requested random sample, and make it the session's table; return whether the work continues."""
    mine = chosen.connected
    if st.session_state.get(SAMPLING) != mine.key:
        return False

    def keep(frame: "pd.DataFrame") -> None:
        _take_sample(mine, frame)

    return done_on_request(SAMPLING, mine.key, lambda: sampling(mine, MOST_RECORDS), keep, of="the table")


def _take_sample(mine: Connected, frame: "pd.DataFrame") -> None:
    """Make a sample the session's table, with the declared domains of its columns."""
    remark = f"All {many(len(frame), 'record')} of {mine.title}."
    if len(frame) >= MOST_RECORDS:
        remark = (
            f"A simple random sample of {many(len(frame), 'record')} of {mine.title}, without "
            "replacement. These are real records: not private (curator view)."
        )
    declared = {column.name: column for column in mine.columns if column.domain or not column.use}
    take(f"random sample of {mine.title}", TableFile(frame, remark), declared=declared)
    change(data="upload", graph="", row="", target="", evidence=())


def _propose(chosen: Chosen) -> bool:
    """Offer to look at the values of columns without a domain: one scan each, and a leak."""
    mine = chosen.connected
    lacking = [k for k, column in enumerate(mine.columns) if column.use and mine.domain(k) is None]
    if not lacking:
        return False
    key = mine.number, tuple(lacking)
    if st.session_state.get(PROPOSING) != key:
        st.button(
            f"Propose domains for {many(len(lacking), 'column')} from the data (leaks information)",
            help="Reads each column once. The proposals reveal which values occur.",
            on_click=note_request,
            args=(PROPOSING, key),
        )
        return False

    def keep(proposals: tuple[Proposal, ...]) -> None:
        columns = list(mine.columns)
        for place in lacking:
            if proposals[place].reason:
                columns[place] = replace(columns[place], use=False)
        keep_connected(replace(mine, proposals=proposals).declared(columns))

    return done_on_request(PROPOSING, key, lambda: proposing(mine), keep, of="the columns")


# What it looks like


def about_connected(chosen: Chosen) -> str:
    """Return the page's sentence. Errors: InputError for the recipient of a table that is not here, or not declared."""
    try:
        mine = chosen.connected
        columns = mine.in_use
    except InputError:
        if not chosen.is_curator:
            raise
        return "Connect a table to begin."
    n, wide = chosen.n, many(len(columns), "column")
    size = f"{many(n, 'record')} with {wide}" if n is not None else f"{wide}, not counted yet"
    return f"{escaped(mine.title)}: {size}."


def look_counted(chosen: Chosen) -> None:
    """Show one column's counts and offer to count again; nothing before the first scan.

    Only columns that are nodes of the network were counted.
    """
    scan = scanned(scan_key(chosen.connected, chosen.network))
    if scan is None or scan.result is None:
        return
    counts, network = scan.result, scan.result.network
    st.subheader("Distribution: not private (curator view)")
    name = st.selectbox(
        "Column", network.names, key="column", help="Only columns that are nodes of the network are counted."
    )
    node = network.index(name)
    records = network.table(counts.values, node).reshape(-1, int(network.cards[node])).sum(axis=0)
    column_chart(name, network.states[node], records)
    with st.container(horizontal=True, vertical_alignment="center"):
        count_again("Count again")
        st.caption(
            f"One scan took {numeral(scan.seconds, 2)} seconds: {many(counts.n, 'record')}, "
            f"{many(network.cell_count, 'cell')}."
        )


def column_chart(name: str, states: Sequence[str], records: IntArray) -> None:
    """Draw the number of records in each state of a column, for the curator only, and offer the numbers."""
    chart(
        column_figure(states, records.astype(float), name=name),
        key="column.chart",
        alt=f"Bars: the number of records in each state of {name}.",
    )
    data_and_download(lambda: pd.DataFrame({"state": states, "records": records}), name="column", curator_only=True)
