"""A table that stays where it is: which one, what its columns can be, and what one scan of it counted."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Literal, TypeVar

import pandas as pd
import streamlit as st

from dpbayes.base.steps import Work
from dpbayes.base.text import escaped, many, numeral
from dpbayes.base.validation import InputError
from dpbayes.sources.files import TableFile
from dpbayes.sources.proposals import Proposal
from dpbayes.ui.pages.data.column import column_chart
from dpbayes.ui.pages.data.domains import declare_columns
from dpbayes.ui.pages.data.upload import take
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connected import Connected, connected, connecting, keep_connected, listing, proposing, sampling
from dpbayes.ui.session.connections import FILES, HOW, Connections, connection_names, connections, listed
from dpbayes.ui.session.current import change
from dpbayes.ui.session.scans import scan_key, scanned
from dpbayes.ui.session.settings import CONNECTED
from dpbayes.ui.widgets.counting import count_again, count_connected
from dpbayes.ui.widgets.page import live
from dpbayes.ui.widgets.running import forget, progress, running_elsewhere
from dpbayes.ui.widgets.show import refusal, sentence_instead

Result = TypeVar("Result")

OTHER = "Another path …"
LISTING, OPENING = "connected.listing", "connected.opening"
PROPOSING, SAMPLING = "connected.proposing", "connected.sampling"

MOST_RECORDS = 10_000
"""Records of a random sample that can be a table of its own."""


def connector(chosen: Chosen) -> None:
    """Choose a connection and a table of it, declare its columns, and count it."""
    with sentence_instead():
        server = connections()
        if not server.names:
            st.info(f"Nothing can be connected on this server. {HOW}")
            return
        name = _connection(chosen, server)
        if name:
            _choose_table(name, server)
            live(_open, key="open")
            _table(name)


def _connection(chosen: Chosen, server: Connections) -> str:
    """Let the person choose among what the owner named; return the public name, "" while none is chosen."""
    name = chosen.settings.data.partition(":")[2]
    st.session_state["connect.name"] = name if name in server.names else None
    st.selectbox(
        "Connection",
        server.names,
        format_func=lambda each: "Files below the data root" if each == FILES else each,
        key="connect.name",
        placeholder="Choose a connection",
        help="What whoever started this server named. No link carries an address.",
        on_change=_set_connection,
    )
    return name if name in server.names else ""


def only_connection() -> tuple[str, ...]:
    """Return the connection that is meant where there is one alone; else none."""
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
        right.button("Connect", type="primary", width="stretch", on_click=_ask_to_open, args=(name, path, table))
        return
    kind: Literal["primary", "secondary"] = "primary" if connected(name) is None else "secondary"
    st.button(
        "Open",
        type=kind,
        disabled=name == FILES and not path,
        help="Reads its columns and a few records.",
        on_click=_ask_for_tables,
        args=(name, path),
    )


def _path(server: Connections) -> str:
    """Return what was chosen or typed below the data root."""
    assert server.root is not None
    offered = (*listed(server.root), OTHER)
    picked = st.selectbox("File or folder", offered, key="connect.file")
    if picked != OTHER:
        return picked
    typed: str = st.text_input(
        "Path below the data root", key="connect.path", help="A Parquet file, a folder of them, or a DuckDB file."
    )
    return typed.strip()


def _ask_for_tables(name: str, path: str) -> None:
    st.session_state[LISTING] = name, path


def _ask_to_open(name: str, path: str, table: str) -> None:
    st.session_state[OPENING] = name, path, table


def _open(chosen: Chosen) -> bool:
    """List the tables, then look at the one that is chosen, as was asked for; whether it goes on."""
    name = chosen.settings.data.partition(":")[2]
    return _list(name) or _connect(name)


def _list(name: str) -> bool:
    """Look up which tables there are, and open the only one; whether it goes on."""
    asked = st.session_state.get(LISTING)
    if asked is None or asked[0] != name:
        return False

    path: str = asked[1]

    def keep(offered: tuple[str, ...]) -> None:
        if len(offered) == 1:
            _ask_to_open(name, path, *offered)
        else:
            st.session_state["connect.tables"] = name, path, offered

    return _as_asked(LISTING, asked, lambda: listing(name, path), keep, of="the tables")


def _connect(name: str) -> bool:
    """Look at the columns and first records of a table, and connect it; whether it goes on."""
    asked = st.session_state.get(OPENING)
    if asked is None or asked[0] != name:
        return False

    def keep(opened: Connected) -> None:
        keep_connected(opened)
        st.session_state.pop("connect.tables", None)
        change(graph="", row="", target="", evidence=())

    return _as_asked(OPENING, asked, lambda: connecting(*asked), keep, of="the first records")


def _as_asked(
    kind: str, key: Hashable, start: Callable[[], Work[Result]], keep: Callable[[Result], None], *, of: str
) -> bool:
    """Do in steps what a button asked for, with a bar and a way to stop, and keep what comes; whether it goes on.

    What is asked for stands in the session's state under `kind`, and no longer once it is there or refused.
    """
    work = running_elsewhere(kind, key, start)
    try:
        work.work()
        if not work.done or work.result is None:
            said = f"{work.share:.0%} of {of}" if work.share else f"{numeral(work.seconds, 2)} seconds"
            progress(work, said, key=f"{kind}.stop")
            return work.going
        keep(work.result)
    except InputError as error:
        refusal(error)
    forget(kind, key)
    del st.session_state[kind]
    if work.done:
        st.rerun()
    return False


# The table


def _table(name: str) -> None:
    mine = connected(name)
    if mine is None:
        st.caption("Nothing is read before you open it; then its columns and a few records are shown to you alone.")
        return
    st.caption(escaped(f"Connected: {mine.title}. It stays where it is, and nothing is written there."))
    with st.expander("First records (curator only: not private)"):
        st.dataframe(mine.head, hide_index=True)
    mine, refused = declare_columns(mine, keep_connected, aside=lambda _: live(_propose, key="propose"))
    if refused:
        raise refused
    mine.in_use  # noqa: B018 - says what is missing
    live(count_connected, key="count")
    _records_instead(mine)


def _records_instead(mine: Connected) -> None:
    """Offer records for pages that look at some: synthetic ones, or a random sample as a table of its own."""
    st.caption("Pages that look at records, such as Accuracy, need a table of their own:")
    left, right = st.columns(2)
    if left.button(
        "Draw synthetic records from the network",
        width="stretch",
        help="From the drawn network with random probabilities: nothing of the table's records is in them.",
    ):
        Chosen.now().adopt_as_source()
        st.rerun()
    right.button(
        f"Draw a random sample of {MOST_RECORDS:,} records",
        width="stretch",
        help="One scan; a table of its own. Not private, for the curator alone.",
        on_click=_ask_for_sample,
        args=(mine.key,),
    )
    live(_sample, key="sample")


def _ask_for_sample(key: str) -> None:
    st.session_state[SAMPLING] = key


def _sample(chosen: Chosen) -> bool:
    """Draw a random sample that was asked for, and make it the session's table; whether it goes on."""
    mine, seed = chosen.connected, chosen.settings.data_seed
    if st.session_state.get(SAMPLING) != mine.key:
        return False

    def keep(frame: pd.DataFrame) -> None:
        _take_sample(mine, frame, seed)

    return _as_asked(SAMPLING, (mine.key, seed), lambda: sampling(mine, MOST_RECORDS, seed), keep, of="the table")


def _take_sample(mine: Connected, frame: pd.DataFrame, seed: int) -> None:
    """Make a sample the session's table, with what is declared of the columns."""
    said = f"All {len(frame):,} records of {mine.title}."
    if len(frame) >= MOST_RECORDS:
        said = (
            f"A simple random sample of {len(frame):,} records of {mine.title}, drawn without replacement with the "
            f"seed {seed}. Real records: for the curator alone."
        )
    declared = {column.name: column for column in mine.columns if column.domain or not column.use}
    take(f"random sample of {mine.title}", TableFile(frame, said), declared=declared)
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
            f"Propose domains for {many(len(lacking), 'column')} from the values (a leak)",
            help="Reads each column once. What is read off the records tells which values occur.",
            on_click=_ask_for_proposals,
            args=(key,),
        )
        return False

    def keep(proposals: tuple[Proposal, ...]) -> None:
        columns = list(mine.columns)
        for place in lacking:
            if proposals[place].reason:
                columns[place] = replace(columns[place], use=False)
        keep_connected(replace(mine, proposals=proposals).declared(columns))

    return _as_asked(PROPOSING, key, lambda: proposing(mine), keep, of="the columns")


def _ask_for_proposals(key: tuple[int, tuple[int, ...]]) -> None:
    st.session_state[PROPOSING] = key


# What it looks like


def about_connected(chosen: Chosen) -> str:
    """Return the page's sentence. Errors: InputError for the recipient of a table that is not here, or not declared."""
    try:
        mine = chosen.connected
        columns = mine.in_use
    except InputError:
        if not chosen.is_curator:
            raise
        return "Connect a table that stays where it is, then state what each of its columns can be."
    n, leaks = chosen.n, len(mine.leaks)
    told = "Their possible values are public; everything else is what a release must protect."
    if leaks:
        leaking = many(leaks, "column")
        told = f"The possible values of {leaking} are not declared public: what is read off the data leaks."
    wide = many(len(columns), "column")
    size = f"{n:,} records of {wide}" if n is not None else f"{wide}, not counted yet"
    return f"{escaped(mine.title)}: {size}. {told}"


def look_counted(chosen: Chosen) -> None:
    """Show one column's counts and offer to count anew; nothing before the first scan.

    Only columns that are nodes of the network were counted.
    """
    scan = scanned(scan_key(chosen.connected, chosen.network))
    if scan is None or scan.result is None:
        return
    counts, network = scan.result, scan.result.network
    st.subheader("Distribution of a column")
    name = st.selectbox(
        "Column", network.names, key="column", help="Columns that are nodes of the network are counted."
    )
    node = network.index(name)
    records = network.table(counts.values, node).reshape(-1, int(network.cards[node])).sum(axis=0)
    column_chart(name, network.states[node], records)
    with st.container(horizontal=True, vertical_alignment="center"):
        count_again("Count again")
        st.caption(
            f"One scan took {numeral(scan.seconds, 2)} seconds: {counts.n:,} records, {network.cell_count:,} cells."
        )
