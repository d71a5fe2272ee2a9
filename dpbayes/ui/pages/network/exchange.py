"""The network as a file, read and written: BIF, arrows, a picture; and the numbers of the page as Python code."""

from contextlib import suppress
from typing import Any

import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, many
from dpbayes.base.validation import InputError, utf8_text
from dpbayes.experiments.arrow_prices import ArrowErrors
from dpbayes.figures.dag import dag_svg
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.edgelist import read_edges, write_edges
from dpbayes.ui.pages.network.arrows import places_of, planned_for
from dpbayes.ui.pages.network.errors import (
    are_errors_shown,
    compared_mechanisms,
    is_too_large,
    planned_reading,
    planned_records,
    planned_size,
    tables_at_once,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.drawings import replace_drawing
from dpbayes.ui.session.graphs import Graph, code_of, drawable, network_of, placed
from dpbayes.ui.session.settings import Cpts
from dpbayes.ui.session.uploads import document_place, given_cpts
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.from_python import (
    FACE,
    NETWORK,
    STREAM,
    is_read_from_file,
    network_in_python,
    program,
    public_source_in_python,
    rule_in_python,
    value_in_python,
)
from dpbayes.ui.widgets.show import sentence_instead

FILE = "The network of the file"
FEW = 5
"""Names that are listed of those that a file leaves out."""


def exchange(chosen: Chosen) -> None:
    """Import and export the network as BIF or as a list of arrows."""
    with st.expander("Import or export"):
        left, right = st.columns(2)
        with left:
            file = document_place("BIF file or list of arrows", type=["bif", "txt", "csv"], key="network.file")
            if file is not None and st.button("Use this file"):
                with sentence_instead():
                    _import(file.name, file.getvalue(), chosen)
        with right, suppress(InputError):  # the page has shown the error
            net = network_of(chosen.graph, chosen.domains)
            download_button(
                "Download list of arrows",
                write_edges(net),
                offered_name("network", "txt"),
                key="edges.out",
            )
            uniform = 1.0 / net.cards[net.node_of_row[net.row_of_cell]]
            download_button(
                "Download BIF (uniform tables)",
                lambda: write_bif(net, uniform),
                NETWORK if is_read_from_file(net) else offered_name("network", "bif"),
                key="bif.out",
                help="The file contains the structure only: its probabilities are uniform and do not depend on the "
                "data.",
            )
            download_button(
                "Download drawing (SVG)",
                lambda: drawing_svg(chosen),
                offered_name("drawing", "svg"),
                "image/svg+xml",
                key="drawing.out",
                help="The drawing above with every name in full. The file contains no values from the data.",
            )


def drawing_svg(chosen: Chosen) -> str:
    """Return the drawing as an SVG file, which states its content."""
    graph = placed(chosen.graph)
    size = f"{many(len(graph.names), 'node')} and {many(len(graph.edges), 'arrow')}"
    caption = f"Network of {size}, to be fitted to {chosen.data_title}."
    return dag_svg({name: graph.places[name] for name in graph.names}, graph.edges, caption=caption)


def _import(name: str, content: bytes, chosen: Chosen) -> None:
    text = utf8_text(content)
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
        if left_out := [column for column in chosen.network.names if column not in names]:
            st.toast(
                f"The file lacks {many(len(left_out), 'node')} of the drawing, which were removed: "
                f"{escaped(', '.join(left_out[:FEW]))}{' …' if len(left_out) > FEW else ''}. Undo restores them."
            )
        replace_drawing(FILE, graph=code_of(drawable(Graph.of(Network.from_edges(names, edges)))))
    st.rerun()


_NODES = (
    "print({mechanism.label: dict(zip(network.names, of)) for mechanism, of in zip(mechanisms, errors.node_means)})"
)
"""What prints the error of every mechanism at each node."""


def python_of(chosen: Chosen, *, searched: bool, priced: ArrowErrors | None = None) -> str:
    """Return the code that gives the errors of the headline; of a network too large for these the noise per cell.

    Where all arrows are `priced`, it gives the errors without each of them too.
    """
    network, seed = chosen.network, chosen.seed
    if is_too_large(network):
        return program(
            FACE,
            "from dpbayes.experiments.structure import structure_cost",
            network_in_python(network),
            f"cost = structure_cost(network, {chosen.epsilon!r})",
            "print(cost.laplace_noise, cost.fourier_noise)",
        )
    return program(
        FACE,
        STREAM,
        "from dpbayes.base.steps import finished",
        "from dpbayes.experiments.planned_errors import Plan, planned_errors",
        _tables(chosen),
        value_in_python("reading", planned_reading(chosen)),
        value_in_python("mechanisms", compared_mechanisms(chosen, searched=searched)),
        "plan = Plan(tables, reading)",
        f'streams = [stream({seed!r}, "network", "errors", place) for place in range(len(mechanisms))]',
        f"work = planned_errors(plan, mechanisms, streams.__getitem__, at_once={tables_at_once(network)})",
        "errors = finished(work)",
        "print({mechanism.label: error for mechanism, error in zip(mechanisms, errors.means)})",
        *([_NODES] if are_errors_shown(chosen) else []),
        *([] if priced is None else _arrows(chosen, priced, searched=searched)),
    )


def _arrows(chosen: Chosen, priced: ArrowErrors, *, searched: bool) -> list[str]:
    """Return the code that continues with the errors without each arrow."""
    arrows, seed = tuple(priced.without), chosen.seed
    places = list(places_of(chosen, arrows, searched=searched).values())
    return [
        "# Without each arrow",
        "from dpbayes.experiments.arrow_prices import arrow_errors",
        value_in_python("reading", planned_for(chosen, arrows).reading),
        f"places = {places!r}",
        "taken = [mechanisms[place] for place in places]",
        *_mechanisms_on(chosen, priced),
        "def rng(place):  # anew for every network",
        f'    return stream({seed!r}, "network", "errors", places[place])',
        f"plan, at_once = Plan(tables, reading), {tables_at_once(chosen.network)}",
        "work = arrow_errors(plan, mechanisms_on, network.edges, rng, at_once=at_once)",
        "without = finished(work).without",
        "labels = [mechanism.label for mechanism in taken]",
        "print({arrow: dict(zip(labels, errors.means)) for arrow, errors in without.items()})",
    ]


def _mechanisms_on(chosen: Chosen, priced: ArrowErrors) -> list[str]:
    """Return the code of the same mechanisms without an arrow, with the defaults of the smaller network."""
    prior = "shorter" if (rule := chosen.settings.prior) == PriorRule() else rule_in_python(rule, "shorter")
    if rule.kind is PriorKind.CAPPED and rule != PriorRule():
        taken = [mechanism.label for mechanism in priced.drawn.mechanisms if hasattr(mechanism, "own_prior")]
        prior = f"shorter if mechanism.label in {taken!r} else {prior}" if taken else prior
    suited = {
        arrow: {
            mechanism.label: others
            for mechanism, drawn in zip(errors.mechanisms, priced.drawn.mechanisms, strict=True)
            if (others := _others(mechanism, drawn))
        }
        for arrow, errors in priced.without.items()
    }
    start = ["from dataclasses import replace", "def mechanisms_on(shorter):"]
    if not any(suited.values()):
        return [*start, f"    return [replace(mechanism, prior={prior}) for mechanism in taken]"]
    return [
        f"suited = {suited!r}  # without this arrow",
        *start,
        "    others = next((suited[arrow] for arrow in network.edges if arrow not in shorter.edges), {})",
        "    return [",
        f"        replace(mechanism, prior={prior}, **others.get(mechanism.label, {{}})) for mechanism in taken",
        "    ]",
    ]


def _others(mechanism: Any, drawn: Any) -> dict[str, Any]:
    """Return the parameters of a mechanism that differ from those of the network as it is drawn."""
    names = parameters_of(type(mechanism))
    return {name: getattr(mechanism, name) for name in names if getattr(mechanism, name) != getattr(drawn, name)}


def _tables(chosen: Chosen) -> str:
    """Return the code that makes `network` and the planned `tables`."""
    numbers = f"{planned_records(chosen)}, {planned_size(chosen)}"
    drawn = f'{numbers}, stream({chosen.seed!r}, "network", "tables"), fitted=network'
    tables = "from dpbayes.experiments.least_epsilon.tables import"
    if chosen.public_source is None:
        lines = (
            f"{tables} evenly_planned_tables",
            network_in_python(chosen.network),
            "columns = dict(sorted(zip(network.names, network.states)))",
            "source = dp.Network.from_edges(columns, [], columns)",
            f"tables = evenly_planned_tables(source, {drawn})",
        )
        return "\n".join(lines)
    source = f"{public_source_in_python(chosen)}\nsource = network\n{network_in_python(chosen.network)}"
    return f"{tables} planned_tables\n{source}\ntables = planned_tables(source, probabilities, {drawn})"
