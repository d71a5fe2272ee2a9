"""The Network page: the editor, the costs, import and export."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.references import Reference
from dpbayes.base.steps import finished
from dpbayes.base.text import escaped, numeral
from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.best_noise import Comparison, Promise, compare_steps, is_searched, noisy_kinds
from dpbayes.experiments.planned_errors import PlannedErrors
from dpbayes.experiments.structure import structure_cost
from dpbayes.figures.dag_picture import dag_svg
from dpbayes.figures.structure import NoiseBars, noise_figure
from dpbayes.mechanisms import Calibration
from dpbayes.model.network import Network
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.edgelist import read_edges, write_edges
from dpbayes.sources.named_networks import NAMED, chain_over, empty_over, naive_bayes_over
from dpbayes.ui.pages.network.arrows import MANY_ARROWS, arrows, costs_without
from dpbayes.ui.pages.network.errors import (
    error_bars,
    errors_under_way,
    is_too_large,
    needs_binary,
    place_of_bars,
    plan_told,
    show_progress,
    verdict,
)
from dpbayes.ui.pages.network.learn import learn_privately
from dpbayes.ui.pages.network.python import python_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.drawings import draw, drawings, replace_drawing, travel
from dpbayes.ui.session.graphs import TEMPLATES, Graph, code_of, drawable, graph_of, network_of, placed
from dpbayes.ui.session.increments import STEALTH, stealth_increment
from dpbayes.ui.session.settings import Cpts
from dpbayes.ui.session.uploads import given_cpts
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.dag_editor import Beyond, Drawing, DrawingError, DrawnNode, Meaning, dag_editor
from dpbayes.ui.widgets.from_python import NETWORK, is_read_from_file, same_from_python
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running
from dpbayes.ui.widgets.show import inside, noise_is_not_error, sentence_instead, source

SEARCHED_SETS = 256
"""Sets of nodes within families up to which the best scales of noise are found in a moment."""

FILE = "The network of the file"
CHOICES = ("data", *NAMED, *TEMPLATES)

OVER_COLUMNS: Mapping[str, Callable[[Mapping[str, Sequence[str]], str], Network]] = {
    "columns.bayes": naive_bayes_over,
    "columns.chain": lambda states, root: chain_over(states),
    "columns.empty": lambda states, root: empty_over(states),
}
"""Graphs over the states of the table's columns, which look at no record; only naive Bayes has a root."""


def network_page(chosen: Chosen) -> bool:
    """Show the drawing; noise moves with epsilon, all else follows when the hand rests; return whether it goes on."""
    page = places()
    with page.controls:
        start_from(chosen)
        error_place, bars = st.container(key="error.bars"), st.container(key="bars")

    def moving(page: Places, chosen: Chosen) -> tuple[Comparison, Running[PlannedErrors] | None]:
        page.lead("epsilon")
        under_way = errors_under_way(chosen, searched=_is_quick(chosen.network))
        known = under_way.so_far if isinstance(under_way, Running) else under_way
        is_compared = not is_too_large(chosen.network)
        with error_place:
            place = place_of_bars(chosen, searched=_is_quick(chosen.network)) if is_compared else st.container()
        if known is None:
            page.say(headline_of(chosen.network, epsilon=chosen.epsilon))
        else:
            page.say(verdict(chosen, known))
            with place:
                error_bars(chosen, known)
        comparison = comparison_of(chosen)
        with bars:
            noise(comparison)
        return comparison, under_way if isinstance(under_way, Running) else None

    with page.picture:
        editor(chosen)
    moved = None
    with page.top, sentence_instead():  # above the drawing that it is about
        moved = page.first(moving, chosen)
    works: list[Running[Any]] = []
    if moved is not None:
        comparison, work = moved
        net = chosen.network
        if work is not None:
            works.append(work)
            with error_place:
                st.caption(plan_told(chosen))
                show_progress(work)
        with page.controls, st.container(key="costs"), sentence_instead():
            costs(net, epsilon=chosen.epsilon)
            every_mechanism(comparison)
        with page.picture, st.container(key="arrows"):
            works += arrows(chosen, searched=_is_quick(net))
        _meanings(chosen)
        same_from_python(python_of(chosen, searched=_is_quick(chosen.network)), name="network")
    learn_privately(chosen)
    exchange(chosen)
    going = [work for work in works if work.going]
    for work in going[:1]:
        work.work()  # once all is drawn, lest it stand faded meanwhile
    return bool(going)


def _meanings(chosen: Chosen) -> None:
    """List what the nodes say, where their published names have readable ones."""
    known = {name: chosen.readable[name] for name in chosen.graph.names if name in chosen.readable}
    if not known:
        return
    with st.expander("What the nodes say"):
        st.dataframe(
            pd.DataFrame(
                {
                    "node": list(known),
                    "called": [each.name for each in known.values()],
                    "what it says": [each.told for each in known.values()],
                }
            ),
            hide_index=True,
        )


# The editor


def editor(chosen: Chosen) -> None:
    """Draw the DAG by hand."""
    history = drawings()
    strays = {name: "no column of this name in the table" for name in chosen.strays} if chosen.domains else {}
    notes: dict[str, str | Meaning] = {name: Meaning(known.told) for name, known in chosen.readable.items()}
    notes.update(strays)
    # The editor owns its drawing until Python brings another one: then `rev` moves on.
    if st.session_state.get("rev") != history.rev:
        st.session_state["rev"] = history.rev
        st.session_state["drawing"] = _drawing(history.present.graph)
    start: Drawing = st.session_state["drawing"]
    beyond = Beyond(earlier=bool(history.past), later=bool(history.future), turn=_turn)
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
            st.rerun()
    if history.replaced:
        st.caption(f"{history.replaced}; Undo brings it back.")
    _add_columns(chosen)
    if strays:
        st.caption(
            f"Dashed nodes are not columns of the table: {escaped(', '.join(map(brief, list(strays)[:5])))}. Rename "
            "them to a column's name, or draw synthetic records from this network."
        )
        if st.button("Draw synthetic records from this network"):
            with sentence_instead():
                chosen.adopt_as_source()
                st.rerun()


def _arrow_notes(chosen: Chosen) -> dict[tuple[str, str], str]:
    """Say at each arrow what the network would be without it; nothing while the drawing is no valid network."""
    try:
        net = chosen.network
    except InputError:
        return {}
    if not 0 < len(net.edges) <= MANY_ARROWS:
        return {}
    frame = costs_without(net, chosen.epsilon, net.edges)
    sizes = zip(net.edges, frame["rows m"], frame["cells K"], strict=True)
    return {edge: f"without this arrow: {rows:,} rows, {cells:,} cells" for edge, rows, cells in sizes}


def _drawing(graph: Graph) -> Drawing:
    return Drawing(tuple(DrawnNode(name, *graph.places[name]) for name in graph.names), graph.edges)


def _take(drawn: Drawing, chosen: Chosen) -> None:
    """Make the drawing the network to fit; states follow a node through everything but a new name."""
    places = {node.name: (node.x, node.y) for node in drawn.nodes}
    before = chosen.graph.states
    draw(Graph(tuple(places), drawn.edges, places, {name: before[name] for name in places if name in before}))
    st.session_state["drawing"] = drawn


def _turn(drawn: Drawing, direction: str) -> None:
    """Undo or redo beyond what the browser knows, from the drawing it shows by now."""
    with suppress(InputError):  # too large to keep; the page has said so
        _take(drawn, Chosen.now())
    travel(direction)
    st.rerun()  # of all: the page alone would leave the bar's words about the drawing before


def start_from(chosen: Chosen) -> None:
    """Offer ready networks, shapes, and the table's own columns joined without a look at its records."""
    choices = (*CHOICES, *OVER_COLUMNS) if chosen.domains else CHOICES
    kind = st.selectbox("Start from", choices, format_func=_choice_title, key="start.kind")
    left, right = st.columns(2, vertical_alignment="bottom")
    size, root = "", ""
    if kind == "columns.bayes":
        root = left.selectbox("Class column", list(chosen.domains), key="start.class")
    else:
        size = left.text_input("Size", "8", key="start.size", disabled=kind not in TEMPLATES)
    if right.button("Use", width="stretch", help="Replace the drawing"):
        with sentence_instead():
            if kind in OVER_COLUMNS:
                over = OVER_COLUMNS[kind](chosen.domains, root)
                replace_drawing("The chosen network", graph=code_of(drawable(Graph.of(over))))
                st.rerun()
            spec = "" if kind == "data" else f"{kind}:{size.strip()}" if kind in TEMPLATES else kind
            if spec:
                graph_of(spec)
            replace_drawing("The chosen network" if spec else "The table's own network", graph=spec)
            st.rerun()


def _choice_title(kind: str) -> str:
    shapes = {
        "data": "the data's own network",
        "bayes": "naive Bayes with … features",
        "chain": "chain of …",
        "tree": "tree of …",
        "full": "complete graph of …",
        "empty": "no arrows, … nodes",
        "columns.bayes": "naive Bayes over the table’s columns",
        "columns.chain": "chain of the table’s columns",
        "columns.empty": "the table’s columns, no arrows",
    }
    return shapes[kind] if kind in shapes else f"{NAMED[kind].title} (published)"


def _add_columns(chosen: Chosen) -> None:
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
            st.rerun()


# What the structure costs


def headline_of(net: Network, *, epsilon: float) -> str:
    """Return how much noise Laplace and Fourier add to a count: what is said while errors are not known."""
    cost = structure_cost(net, epsilon)
    laplace = numeral(cost.laplace_noise)
    if cost.fourier_noise is None:
        return f"At ε = {epsilon:g}, noise on a count has an sd of {laplace} with Laplace.{needs_binary(net)}"
    bound = "" if cost.fourier_exact else "at most "
    more = (
        "Release shows whose probabilities are nearer."
        if is_too_large(net)
        else "How far off that leaves the probabilities follows when the hand rests."
    )
    return (
        f"At ε = {epsilon:g}, noise on a count has an sd of {laplace} with Laplace and of "
        f"{bound}{numeral(cost.fourier_noise)} (root mean square) with Fourier. {more}"
    )


def comparison_of(chosen: Chosen) -> Comparison:
    """Return every mechanism's noise at the promise; of a large graph only of those whose scales need no search."""
    net, promise = chosen.network, Promise(chosen.epsilon, float(chosen.parameter("delta")))
    kinds = tuple(kind for kind in noisy_kinds() if _is_quick(net) or not is_searched(kind))
    return finished(compare_steps(net, promise, kinds=kinds, recount=()))


def _is_quick(net: Network) -> bool:
    return len(net.closure) <= SEARCHED_SETS


def noise(comparison: Comparison) -> None:
    """Show noise by node under every mechanism; one that needs a delta says which."""
    net = comparison.laplace.mechanism.prior.network
    delta = f" (δ = {numeral(comparison.promise.delta)})"
    bars = [
        NoiseBars(each.label + ("" if each.is_pure else delta), each.mechanism.colour, each.mechanism.node_noise_sd)
        for each in comparison.noises
    ]
    chart(
        noise_figure(net.names, bars),
        key="noise",
        alt=f"Bars: noise in each node's counts under {', '.join(inside(each.name) for each in bars)}.",
    )


def every_mechanism(comparison: Comparison) -> None:
    """Show the noise of every mechanism over all cells."""
    with st.expander("Noise per cell of every mechanism"):
        frame = pd.DataFrame(
            {
                "mechanism": [each.label for each in comparison.noises],
                "promise": [str(each.mechanism.certified) for each in comparison.noises],
                "noise per cell": [numeral(each.noise) for each in comparison.noises],
            }
        )
        st.dataframe(frame, hide_index=True)
        is_quick = _is_quick(comparison.laplace.mechanism.prior.network)
        left_out = "" if is_quick else " The others search for their best scales, which takes longer on this graph."
        st.caption(f"Root mean square over all cells, in counts.{left_out}")
        st.page_link("pages/best_noise.py", label="Best noise", icon=":material/arrow_forward:")


def _t_for(net: Network) -> float:
    """Return the increment that keeps nine in ten noise-only releases of this graph non-negative."""
    return stealth_increment(net, Calibration.CERTIFIED, STEALTH) if net.is_binary else 0.0


def costs(net: Network, *, epsilon: float) -> None:
    """Show sizes, and noise over all nodes."""
    cost = structure_cost(net, epsilon, t=_t_for(net))
    top, bottom = st.columns(3), st.columns(2)
    top[0].metric("Rows m", f"{cost.rows:,}", help=terms.ROW)
    top[1].metric("Cells K", f"{cost.cells:,}", help=terms.CELL)
    closure = "—" if cost.closure is None else f"{cost.closure:,}"
    top[2].metric("|N_I|", closure, help="Fourier coefficients to release: the downward closure of all families.")
    bottom[0].metric("Laplace noise per cell", numeral(cost.laplace_noise), help="Standard deviation, in counts.")
    fourier = "—" if cost.fourier_noise is None else numeral(cost.fourier_noise)
    bottom[1].metric("Fourier noise per cell", fourier, help="Root mean square over cells, in counts.")
    if cost.fourier_lift is not None:
        st.caption(
            f"To stay non-negative nine times in ten, Fourier also invents {cost.fourier_lift:,.0f} records "
            "in every table, spread evenly over its cells."
        )
    if cost.fourier_noise is not None:
        noise_is_not_error()
    with st.expander("Formula and source"):
        st.markdown(
            f"Laplace: $b = 2|I|/\\varepsilon = {2 * len(net.names)}/{epsilon:g}$, sd $\\sqrt2\\,b$ in every cell. "
            "Fourier: $b = 2O/\\varepsilon$ on integer coefficients, hence sd "
            "$\\sqrt2\\,b\\,\\sqrt{2^{f}-1}/2^{f}$ in a table of $f$ variables. "
            + (f"Here $|N_I| = {cost.closure}$." if cost.closure else "")
        )
        st.caption(
            "Remark 1 of the paper compares scales of coefficients; counted in records, denser graphs are worse."
        )
        source(Reference("Zhang16", "Algorithms 1 and 2, Corollary 2, Remark 1"))


# In and out


def exchange(chosen: Chosen) -> None:
    """Import and export the network as BIF or as a list of arrows."""
    with st.expander("Import or export"):
        left, right = st.columns(2)
        with left:
            file = st.file_uploader("BIF file or list of arrows", type=["bif", "txt", "csv"], key="network.file")
            if file is not None and st.button("Use this file"):
                with sentence_instead():
                    _import(file.name, file.getvalue(), chosen)
        with right, suppress(InputError):  # the page has said why
            net = network_of(chosen.graph, chosen.domains)
            st.download_button(
                "Download list of arrows",
                write_edges(net),
                offered_name("network", "txt"),
                key="edges.out",
                on_click="ignore",
            )
            uniform = 1.0 / net.cards[net.node_of_row[net.row_of_cell]]
            st.download_button(
                "Download BIF (uniform tables)",
                lambda: write_bif(net, uniform),
                NETWORK if is_read_from_file(net) else offered_name("network", "bif"),
                key="bif.out",
                help="The structure only: the probabilities in the file are uniform, so it says nothing of the data.",
                on_click="ignore",
            )
            st.download_button(
                "Download drawing (SVG)",
                lambda: drawing_svg(chosen),
                offered_name("drawing", "svg"),
                "image/svg+xml",
                key="drawing.out",
                help="As it is drawn above, with every name in full; it says nothing of the data.",
                on_click="ignore",
            )


def drawing_svg(chosen: Chosen) -> str:
    """Return the drawing as an SVG file, which says what it is of."""
    graph = placed(chosen.graph)
    told = f"{len(graph.names)} nodes and {len(graph.edges)} arrows, the network to fit to {chosen.data_title}."
    return dag_svg({name: graph.places[name] for name in graph.names}, graph.edges, told=told)


def _import(name: str, content: bytes, chosen: Chosen) -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text; save it as UTF-8 and load it again.") from None
    if name.lower().endswith(".bif") or "probability" in text:
        net, cpts = read_bif(text)
        code = code_of(drawable(Graph.of(net)))
        given_cpts()[code] = cpts
        if chosen.settings.data == "synthetic":
            replace_drawing(FILE, source=code, cpts=Cpts.GIVEN, graph="")
        else:
            replace_drawing(FILE, graph=code)
    else:
        names, edges = read_edges(text)
        replace_drawing(FILE, graph=code_of(drawable(Graph.of(Network.from_edges(names, edges)))))
    st.rerun()
