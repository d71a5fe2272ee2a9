"""The left rail of the Explore page: the table, a small drawing of the graph with its editor, and the controls."""

from dataclasses import replace
from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, many
from dpbayes.figures.dag import dag_mask, places_in_rows
from dpbayes.mechanisms import PRIVATE, reads_records
from dpbayes.model.network import statement
from dpbayes.model.question import Question, first_question
from dpbayes.posteriors.noise_model import Reading
from dpbayes.sources.columns import encode, halves
from dpbayes.ui.session.chosen import Chosen, kind_called, question_of
from dpbayes.ui.session.current import change, set_parameter
from dpbayes.ui.session.graphs import Graph, placed
from dpbayes.ui.session.settings import EXPLORED_NAMES
from dpbayes.ui.session.uploads import Upload, keep_upload, upload
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.show import folded, guarded

RARELY_CHANGED = ("noise", "calibration")
"""Parameters of mechanisms that are rarely changed."""


def question_line(chosen: Chosen) -> None:
    """Offer the question as a sentence: how likely a state is, given states of other nodes."""
    question = question_of(chosen)
    net = chosen.network
    states = [(name, state) for name, states in zip(net.names, net.states, strict=True) for state in states]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="question.line"):
        st.markdown("**How likely is**", width="content")
        st.session_state["question.event"] = (question.target, question.state)
        st.selectbox(
            "Event",
            states,
            key="question.event",
            format_func=lambda pair: _assigned(chosen, pair),
            on_change=_pick_event,
            args=(chosen,),
            label_visibility="collapsed",
            width=220,
        )
        st.markdown("**if**", width="content")
        st.session_state["question.given"] = list(question.evidence.items())
        st.multiselect(
            "Condition",
            [pair for pair in states if pair[0] != question.target],
            key="question.given",
            format_func=lambda pair: _assigned(chosen, pair),
            placeholder="nothing is known",
            select_all=False,
            on_change=_pick_evidence,
            args=(question,),
            label_visibility="collapsed",
            width=460,
        )


def meanings_of(chosen: Chosen) -> dict[str, str]:
    """Return what the nodes of the question mean, by name."""
    question = question_of(chosen)
    return {name: meaning_of(chosen, name) for name in (question.target, *question.evidence)}


def meaning_of(chosen: Chosen, name: str) -> str:
    """Return what a node means, or its name if that is all."""
    return chosen.readable[name].name if name in chosen.readable else name


def _assigned(chosen: Chosen, pair: tuple[str, str]) -> str:
    return statement(meaning_of(chosen, pair[0]), pair[1])


def _pick_event(chosen: Chosen) -> None:
    """Ask about another state; about another node, under conditions on its parents."""
    before, (target, state) = question_of(chosen), st.session_state["question.event"]
    net = chosen.network
    new = replace(before, state=state) if target == before.target else first_question(net, net.index(target), state)
    change(target=target, state=state, evidence=tuple(new.evidence.items()))


def _pick_evidence(question: Question) -> None:
    """Keep one state of each node: the one picked last."""
    evidence = dict(st.session_state["question.given"])
    change(target=question.target, state=question.state, evidence=tuple(evidence.items()))


def release_controls(chosen: Chosen) -> None:
    """Show all other controls of a release; those that are rarely changed are in a folded part."""
    kind = kind_called(chosen.settings.mechanism)
    mechanism_choice(chosen)
    defaults, names = chosen.defaults_for(kind), list(parameters_of(kind))[1:]
    for name in [name for name in names if name not in RARELY_CHANGED]:
        controls.parameter_control(name, default=defaults.get(name))
    if hasattr(kind, "noise_model"):
        _reader(chosen)
    with folded("More settings", key="settings.open") as is_open:
        if not is_open:
            return
        for name in [name for name in names if name in RARELY_CHANGED]:
            controls.parameter_control(name, default=defaults.get(name))
        prior_control(kind)
        if chosen.is_curator:
            controls.text_field("Seed of the simulated noise", "seed", help=terms.SEED)


READER = "The distribution of the noise is public. A naive reader, as in the papers, takes noisy counts as true ones."


def _reader(chosen: Chosen) -> None:
    """Offer the two readings of a release as a switch."""
    st.session_state["reader"] = chosen.options("release").reading is Reading.NOISE_AWARE

    def read() -> None:
        aware = st.session_state["reader"]
        set_parameter("release.reading", Reading.NOISE_AWARE if aware else Reading.AS_REAL)

    st.toggle("Account for the noise", key="reader", on_change=read, help=READER)


# The mechanism

FIRST = tuple(kind.__name__ for kind in PRIVATE[:2])
"""The mechanisms that are offered at once; a menu has the others."""


def _line_about(name: str) -> str:
    return getattr(kind_called(name), "summary", "")


def mechanism_choice(chosen: Chosen) -> None:
    """Offer Laplace and Fourier, and the others in a menu; a mechanism that cannot be used is grey, with its reason."""
    current_name, others = chosen.settings.mechanism, [name for name in EXPLORED_NAMES if name not in FIRST]
    st.markdown("**Mechanism**")
    with st.container(horizontal=True, gap="small", key="mechanism.line"):
        for name in FIRST:
            _mechanism_button(chosen, name)
        is_other = current_name in others
        more = kind_called(current_name).label if is_other else "more"
        shown: dict[str, Any] = {"type": "primary" if is_other else "secondary", "on_change": "rerun"}
        with st.popover(more, key="mechanism.more", **shown) as menu:
            if menu.open:
                for name in others:
                    _mechanism_button(chosen, name)
                    st.caption(refusal_of(chosen, name) or _line_about(name))
    st.caption(_line_about(current_name))
    if (reason := refusal_of(chosen, "LaplaceFourier")) and current_name != "LaplaceFourier":
        st.caption(reason)
    mine = upload() if chosen.settings.data == "upload" and not chosen.network.is_binary else None
    if mine is not None and mine.encoded:
        st.button("Split states into two groups", key="halves", help=HALVES, on_click=_halve, args=(mine,))


HALVES = "Gathers the states of each column in two groups, which Fourier needs. The Data page shows the groups."


def _halve(mine: Upload) -> None:
    encoded = tuple(map(halves, mine.encoded))
    domains = {column.name: column for column in encoded}
    columns = (replace(column, domain=domains.get(column.name, column.domain)) for column in mine.columns)
    keep_upload(replace(mine.declared(columns), dataset=encode(mine.frame, encoded), encoded=encoded))


def _mechanism_button(chosen: Chosen, name: str) -> None:
    is_chosen, reason = name == chosen.settings.mechanism, refusal_of(chosen, name)
    st.button(
        kind_called(name).label,
        key=f"mechanism.{name}",
        type="primary" if is_chosen else "secondary",
        disabled=bool(reason) and not is_chosen,
        help=reason or None,
        on_click=change,
        kwargs={"mechanism": name},
    )


def refusal_of(chosen: Chosen, name: str) -> str:
    """Return why a mechanism cannot be used with this table and network; "" if it can."""
    if name == "LaplaceFourier" and not chosen.network.is_binary:
        return "Fourier needs nodes with two states each."
    if reads_records(kind_called(name)) and chosen.is_connected:
        return "This mechanism needs the records, which stay at their source."
    return ""


# The rail


MOST_DRAWN, MOST_NAMED = 60, 20
"""Nodes of a graph that is drawn beside the pictures, and of one whose nodes are in rows so that names are legible."""


def rail(chosen: Chosen, *, is_real: bool) -> None:
    """Show what the pictures are of, with its controls; those of a real release are how it is read."""
    with st.container(key="rail"):
        _table(chosen)
        if is_real:
            _reader(chosen)
        else:
            _graph(chosen)
            release_controls(chosen)


def _table(chosen: Chosen) -> None:
    n = chosen.records_text
    with _line():
        st.markdown(f"**Table**{f' · n = {n}' if n else ''}", width="content")
        if chosen.is_curator:
            st.page_link("pages/data.py", label="Change", width="content", help="Choose another table.")
    st.caption(escaped(chosen.data_title))
    if chosen.settings.data == "upload" and chosen.is_curator and chosen.domains:
        st.caption(f"Its {many(len(chosen.graph.names), 'column')} share ε. On *Data*, untick those that nobody needs.")


def _graph(chosen: Chosen) -> None:
    graph = chosen.graph
    size = f"{many(len(graph.names), 'node')}, {many(len(graph.edges), 'arrow')}"
    with _line():
        st.markdown("**Graph**", width="content")
        is_edited = chosen.is_curator and st.button("Edit", type="tertiary", key="graph.edit")
        st.page_link("pages/network.py", label="Network", width="content", help="Shows the cost of each arrow.")
    if chosen.reads_records:
        st.caption("Adaptive chooses its own graph. This one only names the columns.")
    elif len(graph.names) <= MOST_DRAWN:
        others = [f"{name}: {meaning}" for name, meaning in meanings_of(chosen).items() if name.lower() != meaning]
        st.container(key="names").caption(escaped(", ".join(others)))
        st.html(f'<div class="graph" role="img" aria-label="The graph: {size}" style="{_drawing(graph, size)}"></div>')
    if is_edited:
        _edit()


def _drawing(graph: Graph, size: str) -> str:
    """Return the drawing of the graph as a mask."""
    places = placed(graph).places
    if len(graph.names) <= MOST_NAMED:
        places = places_in_rows(placed(replace(graph, places={})).places, graph.edges)
    return dag_mask(places, graph.edges, caption=size)


def _line() -> "st.delta_generator.DeltaGenerator":
    return st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small")


@st.dialog("Edit the graph", width="large", on_dismiss="rerun")
def _edit() -> None:
    """Draw the graph over the page; the pictures follow when the dialog is closed."""
    from dpbayes.ui.pages.network import editor  # with the page of the network

    if st.button("Show the pictures", type="primary", key="graph.done"):
        st.rerun()
    with guarded():
        editor(Chosen.now(), again=lambda: st.rerun(scope="fragment"))
