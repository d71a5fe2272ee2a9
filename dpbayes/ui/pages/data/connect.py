"""The choice of a connection that the server's owner named, and of one of its tables."""

from typing import Literal

import streamlit as st

from dpbayes.ui.pages.data.connected import show_connected
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connected import Connected, connected, connecting, keep_connected, listing
from dpbayes.ui.session.connections import FILES, HOW, Connections, connection_names, connections, listed_files
from dpbayes.ui.session.current import change
from dpbayes.ui.session.kept import note_request
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.settings import CONNECTED
from dpbayes.ui.widgets.charging import noted
from dpbayes.ui.widgets.page import live
from dpbayes.ui.widgets.scanning import done_on_request
from dpbayes.ui.widgets.show import sentence_instead

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
        with sentence_instead():
            noted("opened a connected table", name)
        keep_connected(opened)
        st.session_state.pop("connect.tables", None)
        change(graph="", row="", target="", evidence=())

    return done_on_request(OPENING, request, lambda: connecting(*request), keep, of="the first records")
