"""Private learning of a graph: simulated without cost, or sampled once and charged to a dataset's budget."""

import math
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from dpbayes.base.amounts import amount_text
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.structure.choice import (
    ChosenStructure,
    StructureChoice,
    cards_of,
    noise_share,
    pair_count,
    require_feasible,
    simulate_structure,
)
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.releases.document.graph import StructureRequest, read_structure
from dpbayes.releases.document.promises import parsed_epsilon
from dpbayes.releases.publishing import Published, publish_structure
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.drawings import replace_drawing
from dpbayes.ui.session.graphs import Graph, code_of, drawable
from dpbayes.ui.session.kept import is_kept, kept
from dpbayes.ui.widgets.charging import Charge, chosen_charge, domain_choice, ledger_link
from dpbayes.ui.widgets.opened_release import arrow_list, opened_release
from dpbayes.ui.widgets.running import WITHOUT_BUTTON
from dpbayes.ui.widgets.show import folded, sentence_instead

EXPLANATION = (
    "**Real release of the graph.** The noise is sampled once, from this computer’s randomness. The cost is charged to "
    "the dataset’s budget."
)

Result = TypeVar("Result")


def learn_privately(chosen: Chosen) -> None:
    """Offer to choose a graph from the records, to the curator only."""
    if not chosen.is_curator:
        return
    with folded("Learn privately …", key="learn") as is_open:
        if is_open:
            with sentence_instead():
                _learn(chosen)


def _learn(chosen: Chosen) -> None:
    nodes = drawn_columns(chosen)
    st.markdown(
        f"Arrows are chosen among the {len(nodes):,} columns that are nodes of the drawing, by noisy scores that are "
        "computed from the records."
    )
    choice = _choice(nodes)
    data = chosen.dataset.select(nodes)
    require_feasible(choice, data)
    _say_noise(choice, data)
    _simulated(chosen, choice, data)
    st.divider()
    _really(chosen, choice, data)


def drawn_columns(chosen: Chosen) -> list[str]:
    """Return the columns of the table that are nodes of the drawing. Errors: InputError for fewer than two."""
    columns = [name for name in chosen.dataset.names if name in chosen.graph.names]
    if len(columns) < 2:
        raise InputError("Fewer than two nodes of the drawing are columns of the table. Add columns as nodes.")
    return columns


def _choice(nodes: list[str]) -> StructureChoice:
    left, middle, right = st.columns(3)
    parents = left.selectbox("Most parents", range(1, 9), index=1, key="learn.parents")
    epsilon = middle.text_input("ε for the graph", "1", key="learn.epsilon")
    first = right.selectbox(
        "First column",
        nodes,
        key="learn.first",
        help="Choose the first column without looking at the records.",
    )
    return StructureChoice(epsilon=parsed_epsilon(epsilon), parents=parents, first=first)


def _say_noise(choice: StructureChoice, data: Dataset) -> None:
    """State the noise relative to the strongest possible dependence: a function of n, the columns and epsilon."""
    share = noise_share(choice, cards_of(data), data.n)
    what = f"{many(data.n, 'record')}, {many(len(data.names), 'column')} and ε = {amount_text(choice.epsilon)}"
    if share >= 1:
        times = "beyond" if math.isinf(share) else f"{numeral(share, 2)} times"
        st.info(
            f"With {what}, noise can be {times} the strongest possible dependence: the choice is mostly noise. "
            "Use fewer columns or a larger ε."
        )
    else:
        lost = (
            f"dependence below about {numeral(100 * share, 2)}% of the strongest possible dependence cannot be "
            "distinguished from noise"
        )
        st.caption(f"With {what}, {lost}.")


def _simulated(chosen: Chosen, choice: StructureChoice, data: Dataset) -> None:
    """Show a simulated choice of the graph, and offer it as the drawing."""

    def simulate() -> ChosenStructure:
        with st.spinner("Scoring pairs of a node and its parents …"):
            return simulate_structure(choice, data, stream(chosen.seed, "structure"))

    inputs = chosen.dataset, data.names, data.states, choice, chosen.seed
    values = pair_count(choice, len(data.names)) * data.n
    structure = simulated_on_request("learn.simulated", inputs, simulate, values=values, label="Simulate the choice")
    if structure is None:
        return
    arrow_list(structure.network)
    st.caption("Simulation: not private (curator view).")
    if st.button("Use the simulated graph as the drawing", help="For teaching: a release must not use this graph."):
        drawing_taken("The simulated graph", structure.network)


def simulated_on_request(
    name: str, inputs: object, simulate: Callable[[], Result], *, values: int, label: str
) -> Result | None:
    """Return a simulation, which is computed once for its inputs.

    A simulation that reads more than WITHOUT_BUTTON `values` is started by a button; until then the result is None.
    """
    is_long = values > WITHOUT_BUTTON and not is_kept(name, inputs)
    if is_long and not st.button(label, help="The simulation takes a while with so many records and columns."):
        return None
    return kept(name, inputs, simulate)


def _really(chosen: Chosen, choice: StructureChoice, data: Dataset) -> None:
    """Learn the graph once, by the operating system's randomness, after one confirmation."""
    charge = chosen_charge(chosen, EXPLANATION, key="learn.dataset")
    if charge is None:
        return
    request = StructureRequest.of(charge.dataset, data, choice, domain_choice(chosen))
    published = charge.released(request, lambda: _asked(charge, request, data), exists="This graph was learnt before")
    if published is not None:
        _show(published)


def _asked(charge: Charge, request: StructureRequest, data: Dataset) -> Published | None:
    st.caption(
        "By learning the graph you state that the columns, the first column, ε and the number of parents were chosen "
        "without looking at these records. A release with the learnt graph is charged for its tables only."
    )
    label = f"Learn graph and spend ε = {amount_text(request.epsilon)}"
    if not charge.is_confirmed(label=label, act="began to learn a graph"):
        return None
    with st.spinner("Learning …"):
        return publish_structure(charge.path, request, data)


def _show(published: Published) -> None:
    opened_release(published.document, key="learnt")
    if st.button("Use the learnt graph as the drawing", key="learn.take"):
        drawing_taken("The learnt graph", read_structure(published.document).network)
    ledger_link()


def drawing_taken(by: str, network: Network) -> None:
    """Replace the drawing by a learnt graph, and run the page again."""
    replace_drawing(by, graph=code_of(drawable(Graph.of(network))))
    st.rerun()
