"""Network: the graph, drawn by hand or from a start, and what each of its arrows is worth."""

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, numeral, shortest
from dpbayes.base.validation import InputError, brief, utf8_text
from dpbayes.boards.board import View
from dpbayes.boards.network import CuratorArrows, PublicArrows, arrow_worth
from dpbayes.mechanisms import OF_RECORDS
from dpbayes.mechanisms.adaptive.process import require_feasible
from dpbayes.mechanisms.adaptive.release import simulate_adaptive
from dpbayes.model.network import Network
from dpbayes.releases.verify import verified
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.edgelist import read_edges, write_edges
from dpbayes.sources.named_networks import NAMED, empty_over, naive_bayes_over
from dpbayes.ui.session.chosen import USUAL_RECORDS, Chosen
from dpbayes.ui.session.current import change
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.drawings import draw, drawings, travel
from dpbayes.ui.session.graphs import Graph, code_of, drawable, placed
from dpbayes.ui.session.looked import GRAPHS, note_looked
from dpbayes.ui.session.settings import Cpts
from dpbayes.ui.session.uploads import document_place, given_cpts
from dpbayes.ui.widgets.address import turn_to
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.dag_editor import dag_editor
from dpbayes.ui.widgets.from_python import (
    FACE,
    network_in_python,
    program,
    public_source_in_python,
    show_python,
    table_in_python,
    value_in_python,
)
from dpbayes.ui.widgets.show import next_page, offered_name, sentence_instead

OVER_COLUMNS = ("columns.bayes", "columns.empty")
"""Graphs over the states of the table's columns, which look at no record."""

ARRANGED = "arranged"
"""The present graph with automatic places."""

ADAPTIVE = "adaptive"
"""The graph of a simulated adaptive release, which depends on the records."""

DELTA = 1e-5
"""The delta of a simulated adaptive release."""

MOST_RECORDS = 10_000_000
"""Records of a planned table at most."""

MOST_MEANINGS = 12
"""Columns whose meanings stand under the drawing; those of more are tooltips only."""

WITHOUT_RECORDS = (
    "What an arrow is worth is computed from public probabilities, which this table does not have, or for the curator "
    "only, from the records."
)

NOT_FOR_A_CHOICE = "Not private (curator view): no guarantee covers arrows that are chosen by this picture."


def network_page(chosen: Chosen) -> None:
    """Show the drawing beside the price and worth of its arrows, and its files."""
    if not chosen.settings.story:
        start_from(chosen)
    with st.container(key="network"):
        drawing, worth = st.columns(2, gap="medium")
    with drawing, st.container(key="picture"):
        editor(chosen)
    with worth, st.container(key="worth"), sentence_instead():
        _worth(chosen)
    _exchange(chosen)


# The drawing


def editor(chosen: Chosen, *, again: Callable[[], None] = st.rerun) -> None:
    """Show the editor of the DAG; `again` reruns the part with the editor after a change of the drawing."""
    history = drawings()
    strays = {name: "no column of this name in the table" for name in chosen.strays} if chosen.domains else {}
    # The editor owns its drawing until Python brings another one: then `rev` moves on.
    if st.session_state.get("rev") != history.rev:
        st.session_state["rev"] = history.rev
        st.session_state["drawing"] = _shape(history.present.graph)
    start: Graph = st.session_state["drawing"]
    try:
        drawn = dag_editor(
            start,
            rev=history.rev,
            notes=strays,
            meanings={name: readable.meaning for name, readable in chosen.readable.items()},
            fixed=bool(chosen.domains) and _is_own(chosen),
            beyond={direction: partial(_turn, direction, again) for direction in history.beyond},
        )
    except InputError as error:
        st.warning(escaped(str(error)))
        return
    if drawn != start:
        with sentence_instead():
            _take(drawn, chosen)
            again()
    said = {name: one.name for name, one in chosen.readable.items() if one.name.lower() != name.lower()}
    if 0 < len(said) <= MOST_MEANINGS:
        st.caption(", ".join(f"**{escaped(name)}**: {escaped(meaning)}" for name, meaning in said.items()))
    if history.is_replaced:
        st.caption("Another network replaced the drawing; Undo restores it.")
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


def _shape(graph: Graph) -> Graph:
    """Return what the editor shows of a graph: all but the states."""
    return replace(graph, places={name: graph.places[name] for name in graph.names}, states={})


def _take(drawn: Graph, chosen: Chosen) -> None:
    """Make the drawing the network to fit; states follow a node through everything but a new name."""
    before = chosen.graph.states
    draw(replace(drawn, states={name: before[name] for name in drawn.names if name in before}))
    st.session_state["drawing"] = drawn


def _turn(direction: str, again: Callable[[], None], drawn: Graph) -> None:
    """Undo or redo beyond the steps in the browser, from the drawing that it shows."""
    with suppress(InputError):  # too large to keep, which the page has shown
        _take(drawn, Chosen.now())
    travel(direction)
    again()  # on the Network page all: the page alone would leave the bar's words about the drawing before


def _add_columns(chosen: Chosen, again: Callable[[], None]) -> None:
    """Offer the table's columns that are not nodes yet."""
    old = chosen.graph
    unused = [name for name in chosen.domains if name not in old.names]
    if not unused:
        return
    picked = st.multiselect("Columns of the table that are not in the network", unused, key="unused")
    if picked and st.button("Add as nodes"):
        states = {name: chosen.domains[name] for name in picked}
        added = Graph((*old.names, *picked), old.edges, old.places, {**old.states, **states})
        with sentence_instead():
            change(graph=code_of(drawable(placed(added))))
            again()


# Graphs to start from


def start_from(chosen: Chosen) -> None:
    """Offer ready networks, graphs over the table's columns, and for the curator that of a simulated release."""
    choices = (ARRANGED, *(() if _is_own(chosen) else ("data",)), *(OVER_COLUMNS if chosen.domains else ()), *NAMED)
    if chosen.is_curator and chosen.domains and not chosen.is_connected:
        choices += (ADAPTIVE,)
    key = "start" if chosen.is_curator else None  # which a low window moves up, where a recipient has a caption
    with st.container(horizontal=True, vertical_alignment="center", key=key):
        st.markdown("Start from", width="content")
        kind = st.selectbox(
            "Start from",
            choices,
            index=None,
            placeholder="Choose a graph",
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
        is_used = st.button("Replace the drawing", help="Undo restores the present one.", disabled=kind is None)
        next_page("Explore", "pages/explore.py")
    if kind == ADAPTIVE:
        st.caption(
            f"An adaptive release at ε = {numeral(chosen.epsilon)} and δ = {numeral(DELTA)} is simulated. Its graph "
            "depends on the records: not private (curator view). A release must not use this graph."
        )
    if is_used and kind is not None:
        with sentence_instead():
            _start(chosen, kind, root)
            st.rerun()


def _is_own(chosen: Chosen) -> bool:
    return chosen.settings.data == "upload" or chosen.is_connected


def _start(chosen: Chosen, kind: str, root: str) -> None:
    """Draw the network that was chosen. Errors: InputError if it cannot be."""
    if kind == "data":
        change(graph="")
    elif kind == ARRANGED:
        change(graph=code_of(placed(replace(chosen.graph, places={}))))
    elif kind in NAMED:
        change(graph=kind)
    else:
        change(graph=code_of(drawable(Graph.of(_over_columns(chosen, kind, root)))))


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
        ARRANGED: "this graph, parents above children",
        "data": "the table’s own network",
        "columns.bayes": "naive Bayes over the table’s columns",
        "columns.empty": "the table’s columns, no arrows",
        ADAPTIVE: "the graph of a simulated adaptive release",
    }
    return titles[kind] if kind in titles else f"{NAMED[kind].title} (published)"


# The price and worth of an arrow


def _worth(chosen: Chosen) -> None:
    """Show the board. Errors: InputError for a drawing that is no network, or has nodes that are no columns."""
    if chosen.public_source is None and (chosen.is_connected or not chosen.is_curator):
        _ = chosen.network
        st.caption(WITHOUT_RECORDS)
        return
    view, value = arrow_view(chosen), shortest(chosen.epsilon)  # or the error, and nothing else
    if chosen.public_source is None:
        with st.container(horizontal=True, vertical_alignment="center", key="band"):
            st.caption(NOT_FOR_A_CHOICE)
            if st.button("Choose arrows privately", type="tertiary", icon=":material/arrow_forward:"):
                change(mechanism=OF_RECORDS[0].__name__)
                turn_to("pages/release.py")
    elif chosen.reads_records:
        st.caption("The mechanism Adaptive chooses arrows of its own. The picture is of a release with the drawn ones.")
    with st.spinner("Computing for the present graph …"):
        show("network", arrow_inputs(chosen), lambda: view, value)
    share(view, value, python=lambda: show_python(python_of(chosen), "network", chosen))


def arrow_view(chosen: Chosen) -> View:
    """Return the board: from public probabilities where there are some, else from the table, for the curator only."""
    network, source = chosen.network, chosen.public_source
    facts = {"table": chosen.data_title}
    shared = network, chosen.settings.prior, chosen.seed, drawings().last_arrow
    if source is not None:
        return arrow_worth(PublicArrows(*shared, *source, _records(chosen), _origin(chosen))).stating(facts)
    if not chosen.is_curator:
        raise InputError(WITHOUT_RECORDS)
    return arrow_worth(CuratorArrows(*shared, chosen.records_of_nodes)).stating(facts)


def python_of(chosen: Chosen) -> str:
    """Return the code that computes the numbers of the board. Errors: InputError for a drawing that is no network."""
    if chosen.public_source is None:
        kind, records, values = "CuratorArrows", table_in_python(chosen), "data"
    else:
        kind, values = "PublicArrows", f"source, probabilities, {_records(chosen)}, 'public probabilities'"
        records = f"{public_source_in_python(chosen)}\nsource = network"
    return program(
        FACE,
        f"from dpbayes.boards.network import {kind}, arrow_worth",
        records,
        network_in_python(chosen.network),
        value_in_python("prior", chosen.settings.prior),
        f"view = arrow_worth({kind}(network, prior, {chosen.seed!r}, {drawings().last_arrow!r}, {values}))",
        f"print(view.frames_at({shortest(chosen.epsilon)!r})[0].numbers)",
    )


def _records(chosen: Chosen) -> int:
    """Return the records of a planned table."""
    return min(USUAL_RECORDS if chosen.n is None else max(chosen.n, 1), MOST_RECORDS)


def _origin(chosen: Chosen) -> str:
    """Return what the public probabilities are, in a sentence."""
    settings = chosen.settings
    if settings.source in NAMED and (settings.data != "synthetic" or settings.cpts is Cpts.PUBLISHED):
        return f"the published probabilities of {NAMED[settings.source].title}"
    return "the probabilities behind the synthetic table"


def arrow_inputs(chosen: Chosen) -> Hashable:
    """Return what the board depends on, without epsilon."""
    shared = chosen.network, chosen.settings.prior, chosen.seed, chosen.data_title, drawings().last_arrow
    if chosen.public_source is None:
        return shared, chosen.dataset
    source, probabilities = chosen.public_source
    return shared, source, probabilities.tobytes(), chosen.n


# Files


def _exchange(chosen: Chosen) -> None:
    """Import and export the network as BIF or as a list of arrows."""
    with st.expander("Import or export"):
        left, right = st.columns(2)
        with left:
            title = "BIF (a common file format of Bayesian networks), list of arrows, or release file"
            file = document_place(title, type=["bif", "txt", "csv", "json"], key="network.file")
            if file is not None and st.button("Use this file"):
                with sentence_instead():
                    _import(file.name, file.getvalue(), chosen)
        with right, suppress(InputError):  # the page has shown the error
            _offer(chosen)


def _offer(chosen: Chosen) -> None:
    network = chosen.network
    uniform = 1.0 / network.cards[network.node_of_row[network.row_of_cell]]
    download_button("Download list of arrows", write_edges(network), offered_name("network", "txt"), key="edges.out")
    download_button(
        "Download BIF, without probabilities",
        lambda: write_bif(network, uniform),
        offered_name("network", "bif"),
        key="bif.out",
        help="The file contains the structure only: its probabilities are uniform and do not depend on the data.",
    )


def _import(name: str, content: bytes, chosen: Chosen) -> None:
    """Draw the network of a file. Errors: InputError for another file."""
    if name.lower().endswith(".json"):
        change(graph=code_of(drawable(Graph.of(verified(content).network))))
        st.rerun()
    text = utf8_text(content)
    if name.lower().endswith(".bif") or "probability" in text:
        net, cpts = read_bif(text)
        code = code_of(drawable(Graph.of(net)))
        given_cpts()[code] = cpts
        if chosen.settings.data == "synthetic":
            change(source=code, cpts=Cpts.GIVEN, graph="")
        else:
            change(graph=code)
    else:
        names, edges = read_edges(text)
        change(graph=code_of(drawable(Graph.of(Network.from_edges(names, edges)))))
    st.rerun()
