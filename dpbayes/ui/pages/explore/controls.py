"""The left rail of the Explore page: the table, a small drawing of the graph with its editor, and the controls."""

from base64 import b64encode
from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, many, share_text
from dpbayes.base.validation import whole_number
from dpbayes.figures.dag import dag_svg
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.ui.session.chosen import Chosen, kind_called, target_and_evidence
from dpbayes.ui.session.current import change, set_parameter
from dpbayes.ui.session.graphs import Graph, placed
from dpbayes.ui.session.increments import is_simulated, kept_share, stealth_increment
from dpbayes.ui.session.settings import EXPLORED_NAMES
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart.saving import public_records_text
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.running import run_again
from dpbayes.ui.widgets.show import folded, guarded, readable_names_note, sentence_instead

ARROW = ":material/arrow_forward:"

RARELY_CHANGED = ("noise", "calibration")
"""Parameters of mechanisms that are rarely changed."""

EXAMPLE = "bronc | smoke=yes"
"""The row in the picture of the table that comes first, while the person has picked none."""

MOST_LISTED = 2_000
"""The largest number of rows in one list, all of which the browser receives."""

NUMBER_HELP = "Rows are numbered by the states of the parents; the last parent varies fastest."


def picked(chosen: Chosen) -> tuple[int, int]:
    """Return the row and the cell in the picture: what the settings name, else an example and its telling state."""
    net, settings = chosen.network, chosen.settings
    named = (net.row_called(name) for name in (settings.row, EXAMPLE))
    row = next((row for row in named if row is not None), first_row_with_parents(net))
    node, _ = net.node_and_codes(row)
    states = net.states[node]
    state = states.index(settings.state) if settings.state in states else net.telling_state(node)
    return row, net.cells_of_row(row).start + state


def ask(chosen: Chosen) -> None:
    """Show the controls of the target and of the evidence."""
    net, (target, evidence) = chosen.network, target_and_evidence(chosen)
    controls.choice("What is the probability of", "target", net.names, default=target)
    pairs = {assignment(name, state): (name, state) for name, states in zip(net.names, net.states, strict=True)
             if name != target for state in states}  # fmt: skip
    st.session_state["evidence"] = [text for text, pair in pairs.items() if pair in evidence.items()]
    st.multiselect("given", list(pairs), key="evidence", placeholder="nothing", on_change=_set_evidence, args=(pairs,))
    readable_names_note(chosen, (target, *evidence))


def _set_evidence(pairs: dict[str, tuple[str, str]]) -> None:
    """Keep one state of each node: the one picked last."""
    picked = dict(pairs[text] for text in st.session_state["evidence"])
    change(evidence=tuple(picked.items()))


def first_row_with_parents(net: Network) -> int:
    """Return the first row of the first node that has parents; row 0 of a network without arrows."""
    return next((int(net.row_offsets[node]) for node, parents in enumerate(net.parents) if parents), 0)


def question_line(chosen: Chosen) -> None:
    """Offer the question as a sentence: how likely a state is, given the states of its parents."""
    net, (row, cell) = chosen.network, picked(chosen)
    node, _ = net.node_and_codes(row)
    events = [(index, state) for index, states in enumerate(net.states) for state in states]
    names = {event: f"{_meaning(chosen, net.names[event[0]])} = {event[1]}" for event in events}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="question.line"):
        st.markdown("**How likely is**", width="content")
        st.session_state["question.event"] = (node, net.states[node][cell - net.cells_of_row(row).start])
        st.selectbox(
            "Event",
            events,
            key="question.event",
            format_func=names.__getitem__,
            on_change=_pick_event,
            args=(net, node),
            label_visibility="collapsed",
            width=200,
        )
        if net.parents[node] and net.rows_per_node[node] <= MOST_LISTED:
            st.markdown("**if**", width="content")
            first = int(net.row_offsets[node])
            rows = range(first, first + int(net.rows_per_node[node]))
            st.session_state["question.given"] = row
            st.selectbox(
                "Condition",
                rows,
                key="question.given",
                format_func=lambda k: _condition(chosen, k),
                on_change=lambda: change(row=net.row_label(st.session_state["question.given"])),
                label_visibility="collapsed",
                width=260,
            )
        st.markdown("**?**", width="content")


def _meaning(chosen: Chosen, name: str) -> str:
    return chosen.readable[name].name if name in chosen.readable else name


def _condition(chosen: Chosen, row: int) -> str:
    """Return the states of the parents in a row: "smoking = yes, bronchitis = no"."""
    net = chosen.network
    _, _, given = net.row_label(row).partition(" | ")
    node, _ = net.node_and_codes(row)
    parts = given.split(", ") if len(given.split(", ")) == len(net.parents[node]) else [given]
    return ", ".join(
        f"{_meaning(chosen, name)} = {state}" if state else name for name, _, state in (p.partition("=") for p in parts)
    )


def _pick_event(net: Network, before: int) -> None:
    """Ask about another state; about another node, under the first states of its parents."""
    node, state = st.session_state["question.event"]
    change(state=state, **({} if node == before else {"row": net.row_label(int(net.row_offsets[node]))}))


def release_controls(chosen: Chosen) -> None:
    """Show all other controls of a release; those that are rarely changed are in a folded part."""
    kind = kind_called(chosen.settings.mechanism)
    controls.segments("Mechanism", "mechanism", EXPLORED_NAMES, format_func=lambda name: kind_called(name).label)
    defaults, names = chosen.defaults_for(kind), list(parameters_of(kind))[1:]
    for name in [name for name in names if name not in RARELY_CHANGED]:
        controls.parameter_control(name, default=defaults.get(name))
    if hasattr(kind, "increment"):
        with sentence_instead():
            _stealth(chosen)
    if hasattr(kind, "noise_model"):
        controls.parameter_control("release.reading")
    with folded("More settings", key="settings.open") as is_open:
        if not is_open:
            return
        for name in [name for name in names if name in RARELY_CHANGED]:
            controls.parameter_control(name, default=defaults.get(name))
        prior_control(kind)
        if chosen.is_curator:
            controls.text_field("Seed of the simulated noise", "seed", help=terms.SEED)
        _elsewhere()


def row_choice(chosen: Chosen) -> None:
    """Offer the CPT rows and the states of the one picked."""
    net, (row, _) = chosen.network, picked(chosen)
    node, _ = net.node_and_codes(row)
    if net.row_count <= MOST_LISTED:
        controls.choice("CPT row", "row", net.row_labels(), default=net.row_label(row), help=terms.ROW)
    else:
        _node_and_row(net, node, row)
    controls.choice("State", "state", net.states[node], default=net.states[node][net.telling_state(node)])
    readable_names_note(chosen, (net.names[member] for member in reversed(net.families[node])))


def _node_and_row(net: Network, node: int, row: int) -> None:
    """Offer the nodes, and the rows of the one picked: by number where they are too many for a list."""
    first, rows = int(net.row_offsets[node]), int(net.rows_per_node[node])
    st.session_state["row.node"] = net.names[node]
    st.selectbox("Node of the CPT row", net.names, key="row.node", on_change=_pick_node, args=(net,))
    if rows <= MOST_LISTED:
        labels = [net.row_label(k) for k in range(first, first + rows)]
        controls.choice("CPT row", "row", labels, default=net.row_label(row), help=terms.ROW)
        return

    def pick(text: str) -> None:
        number = whole_number("The row", text.replace(",", "").strip(), low=1, high=rows)
        change(row=net.row_label(first + number - 1))

    controls.box(
        f"Row of the node’s table, 1 to {rows:,}", "row.number", f"{row - first + 1:,}", pick, help=NUMBER_HELP
    )
    st.caption(escaped(net.row_label(row)))


def _pick_node(net: Network) -> None:
    change(row=net.row_label(int(net.row_offsets[net.index(st.session_state["row.node"])])))


def _elsewhere() -> None:
    """Lead to the mechanisms that do not release a network's CPTs."""
    st.caption("The Hellinger mechanism for a die and private regression are experiments of Lab.")
    st.page_link("pages/lab.py", label="Lab", icon=ARROW)


def _stealth(chosen: Chosen) -> None:
    """Say how often the chosen increment keeps every table non-negative, and find one for a target."""
    net, calibration = chosen.network, chosen.parameter("calibration")
    if not net.is_binary:
        return
    mechanism: Any = chosen.mechanism
    name, law = mechanism.increment, mechanism.noise_law.drawn_once
    share = share_text(kept_share(net, calibration, getattr(mechanism, name), law))
    releases = f"{share} of releases" if is_simulated(net) else f"at least {share} of releases (proved)"
    st.caption(
        f"If all counts are zero, {releases} have no negative count. With true counts the share is at least as high."
    )
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    target = left.selectbox("Target probability", (0.5, 0.9, 0.99, 0.999), index=1, format_func=share_text)
    right.button(f"Find {name}", on_click=lambda: set_parameter(name, stealth_increment(net, calibration, target, law)))


# The rail


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
