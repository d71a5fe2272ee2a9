"""The left rail of the Explore page: the table, a small drawing of the graph with its editor, and the controls."""

from base64 import b64encode

import streamlit as st

from dpbayes.base.text import escaped, many
from dpbayes.figures.dag_picture import dag_svg
from dpbayes.ui.pages.explore.controls import release_controls
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.graphs import Graph, placed
from dpbayes.ui.widgets.chart.facts import public_records_text
from dpbayes.ui.widgets.running import run_again
from dpbayes.ui.widgets.show import guarded

MOST_DRAWN, MOST_NAMED, SMALL = 60, 12, 0.4
"""Nodes of a graph that is drawn beside the pictures, and of one whose nodes move together so that names are legible.
"""

INK, INK_ON_DARK = "#31333F", "#FAFAFA"


def rail(chosen: Chosen) -> bool:
    """Show what the pictures are of, with its controls; return whether the editor of the graph is open."""
    with st.container(key="rail"):
        _table(chosen)
        is_edited = _graph(chosen)
        release_controls(chosen)
    return is_edited


def _table(chosen: Chosen) -> None:
    n = public_records_text(chosen)
    with _line():
        st.markdown(f"**Table**{f' · n = {n}' if n else ''}", width="content")
        st.page_link("pages/data.py", label="Change", width="content", help="Choose another table on the Data page.")
    st.caption(escaped(chosen.data_title))


def _graph(chosen: Chosen) -> bool:
    graph = chosen.graph
    size = f"{many(len(graph.names), 'node')}, {many(len(graph.edges), 'arrow')}"
    with _line():
        st.markdown("**Graph**", width="content")
        is_edited = st.button("Edit", type="tertiary", key="graph.edit", help="Draw arrows here, over the pictures.")
        st.page_link("pages/network.py", label="Network", width="content", help="Shows the cost of each arrow.")
    if len(graph.names) <= MOST_DRAWN:
        st.html(f'<img class="graph" alt="The graph: {size}" src="data:image/svg+xml;base64,{_drawing(graph, size)}">')
    if is_edited:
        _edit()
    return is_edited


def _drawing(graph: Graph, size: str) -> str:
    scale = SMALL if len(graph.names) <= MOST_NAMED else 1.0
    drawn = placed(graph).places
    places = {name: (scale * drawn[name][0], scale * drawn[name][1]) for name in graph.names}
    ink = INK_ON_DARK if st.context.theme.type == "dark" else INK
    return b64encode(dag_svg(places, graph.edges, caption=size, ink=ink, bare=True).encode()).decode()


def _line() -> "st.delta_generator.DeltaGenerator":
    return st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small")


@st.dialog("Edit the graph", width="large", on_dismiss="rerun")
def _edit() -> None:
    """Draw the graph over the page; the pictures follow when the dialog is closed."""
    from dpbayes.ui.pages.network.editor import editor  # with the page of the network

    if st.button("Show the pictures", type="primary", key="graph.done"):
        st.rerun()
    with guarded():
        editor(Chosen.now(), again=run_again)
