"""The editor of the Network page: the drawing, its templates, and columns that are not nodes yet."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, numeral
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.adaptive.process import require_feasible
from dpbayes.mechanisms.adaptive.release import simulate_adaptive
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import NAMED, empty_over, naive_bayes_over
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.drawings import draw, drawings, replace_drawing, travel
from dpbayes.ui.session.graphs import Graph, code_of, drawable
from dpbayes.ui.session.looked import GRAPHS, note_looked
from dpbayes.ui.widgets.dag_editor import Beyond, DrawingError, Meaning, dag_editor
from dpbayes.ui.widgets.show import sentence_instead

CHOICES = ("data", *NAMED)

OVER_COLUMNS = ("columns.bayes", "columns.empty")
"""Graphs over the states of the table's columns, which look at no record."""

ADAPTIVE = "adaptive"
"""The graph of a simulated adaptive release, which depends on the records."""

DELTA = 1e-5
"""The delta of a simulated adaptive release."""

MANY_ARROWS = 60
"""Arrows of the largest graph whose arrows state the sizes of the graph without them."""


def editor(chosen: Chosen, *, again: Callable[[], None] = st.rerun) -> None:
    """Show the editor of the DAG; `again` reruns the part with the editor after a change of the drawing."""
    history = drawings()
    strays = {name: "no column of this name in the table" for name in chosen.strays} if chosen.domains else {}
    notes: dict[str, str | Meaning] = {name: Meaning(readable.meaning) for name, readable in chosen.readable.items()}
    notes.update(strays)
    # The editor owns its drawing until Python brings another one: then `rev` moves on.
    if st.session_state.get("rev") != history.rev:
        st.session_state["rev"] = history.rev
        st.session_state["drawing"] = _shape(history.present.graph)
    start: Graph = st.session_state["drawing"]
    beyond = Beyond(earlier=bool(history.past), later=bool(history.future), turn=partial(_turn, again=again))
    try:
        drawn = dag_editor(
            start,
            rev=history.rev,
            key="dag",
            notes=notes,
            edge_notes=_arrow_notes(chosen),
            beyond=beyond,
        )
    except DrawingError as error:
        st.warning(escaped(str(error)))
        return
    if drawn != start:
        with sentence_instead():
            _take(drawn, chosen)
            again()
    if history.replaced:
        st.caption(f"{history.replaced}; Undo restores it.")
    _add_columns(chosen, again)
    if strays:
        st.caption(
            f"Dashed nodes are not columns of the table: {escaped(', '.join(map(brief, list(strays)[:5])))}. Rename "
            "them to a column's name, or sample synthetic records from this network."
        )
        if st.button("Sample synthetic records from this network"):
            with sentence_instead():
                chosen.adopt_as_source()
                again()


def _arrow_notes(chosen: Chosen) -> dict[tuple[str, str], str]:
    """Say at each arrow what the network would be without it; nothing while the drawing is no valid network."""
    try:
        net = chosen.network
    except InputError:
        return {}
    if not 0 < len(net.edges) <= MANY_ARROWS:
        return {}
    without = {arrow: net.without_edge(*arrow) for arrow in net.edges}
    return {
        arrow: f"without this arrow: {other.row_count:,} rows, {other.cell_count:,} cells"
        for arrow, other in without.items()
    }


def _shape(graph: Graph) -> Graph:
    """Return what the editor shows of a graph: all but the states."""
    return replace(graph, places={name: graph.places[name] for name in graph.names}, states={})


def _take(drawn: Graph, chosen: Chosen) -> None:
    """Make the drawing the network to fit; states follow a node through everything but a new name."""
    before = chosen.graph.states
    draw(replace(drawn, states={name: before[name] for name in drawn.names if name in before}))
    st.session_state["drawing"] = drawn


def _turn(drawn: Graph, direction: str, again: Callable[[], None]) -> None:
    """Undo or redo beyond the steps in the browser, from the drawing that it shows."""
    with suppress(InputError):  # too large to keep, which the page has shown
        _take(drawn, Chosen.now())
    travel(direction)
    again()  # on the Network page all: the page alone would leave the bar's words about the drawing before


def start_from(chosen: Chosen) -> None:
    """Offer ready networks, graphs over the table's columns, and for the curator that of a simulated release."""
    choices = (*CHOICES, *OVER_COLUMNS) if chosen.domains else CHOICES
    if chosen.is_curator and chosen.domains and not chosen.is_connected:
        choices += (ADAPTIVE,)
    with st.container(horizontal=True, vertical_alignment="center", key="start"):
        st.markdown("Start from", width="content")
        kind = st.selectbox(
            "Start from",
            choices,
            format_func=_choice_title,
            key="start.kind",
            label_visibility="collapsed",
            width=360,
        )
        root = ""
        if kind == "columns.bayes":
            st.markdown("Class column", width="content")
            root = st.selectbox(
                "Class column", list(chosen.domains), key="start.class", label_visibility="collapsed", width=240
            )
        is_used = st.button("Use", help="Replace the drawing")
    if kind == ADAPTIVE:
        st.caption(
            f"An adaptive release at ε = {numeral(chosen.epsilon)} and δ = {numeral(DELTA)} is simulated. Its graph "
            "depends on the records: not private (curator view). A release must not use this graph."
        )
    if is_used:
        with sentence_instead():
            _start(chosen, kind, root)
            st.rerun()


def _start(chosen: Chosen, kind: str, root: str) -> None:
    """Draw the network that was chosen. Errors: InputError if it cannot be."""
    if kind == "data":
        replace_drawing("The table's own network", graph="")
    elif kind in NAMED:
        replace_drawing("The chosen network", graph=kind)
    else:
        replace_drawing("The chosen network", graph=code_of(drawable(Graph.of(_over_columns(chosen, kind, root)))))


def _over_columns(chosen: Chosen, kind: str, root: str) -> Network:
    if kind == "columns.bayes":
        return naive_bayes_over(chosen.domains, root)
    if kind == "columns.empty":
        return empty_over(chosen.domains)
    note_looked(chosen, GRAPHS)
    with st.spinner("Simulating an adaptive release …"):
        data, rng = chosen.dataset, stream(chosen.seed, "adaptive")
        require_feasible(data.states, data.n)
        return simulate_adaptive(data, epsilon=chosen.epsilon, delta=DELTA, rng=rng).network


def _choice_title(kind: str) -> str:
    titles = {
        "data": "the data's own network",
        "columns.bayes": "naive Bayes over the table’s columns",
        "columns.empty": "the table’s columns, no arrows",
        ADAPTIVE: "the graph of a simulated adaptive release",
    }
    return titles[kind] if kind in titles else f"{NAMED[kind].title} (published)"


def _add_columns(chosen: Chosen, again: Callable[[], None]) -> None:
    """Offer the table's columns that are not nodes yet."""
    old = chosen.graph
    unused = [name for name in chosen.domains if name not in old.names]
    if not unused:
        return
    picked = st.multiselect("Columns of the table that are not in the network", unused, key="unused")
    if picked and st.button("Add as nodes"):
        places = {name: (60 + 90.0 * (i % 10), 40 + 30.0 * (i // 10)) for i, name in enumerate(picked)}
        states = {name: chosen.domains[name] for name in picked}
        added = Graph((*old.names, *picked), old.edges, {**old.places, **places}, {**old.states, **states})
        with sentence_instead():
            replace_drawing("", graph=code_of(drawable(added)))
            again()
