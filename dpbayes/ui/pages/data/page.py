"""The parts of the Data page: the source of the table, its domains and its distributions."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped, many
from dpbayes.base.validation import InputError
from dpbayes.model.dataset import Dataset
from dpbayes.sources.domains import write_domains
from dpbayes.sources.files import TableFile
from dpbayes.sources.named_networks import NAMED
from dpbayes.sources.shipped_tables import SHIPPED, shipped_domains, shipped_frame
from dpbayes.ui.pages.data.connected import about_connected, column_chart, connector, look_counted, only_connection
from dpbayes.ui.pages.data.domains import domain_table
from dpbayes.ui.pages.data.upload import loader, take
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connections import connections
from dpbayes.ui.session.current import change
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.settings import CONNECTED, Cpts
from dpbayes.ui.session.uploads import given_cpts, upload
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart.saving import TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.from_python import (
    FACE,
    counts_in_python,
    network_in_python,
    program,
    same_from_python,
    table_in_python,
)
from dpbayes.ui.widgets.page import next_page
from dpbayes.ui.widgets.show import headline, sentence_instead

ORIGINS = {"table": "Sample table", "synthetic": "Synthetic", "upload": "Upload", CONNECTED: "Connect"}
FROM = ("asia", "cancer", "earthquake", "sprinkler", "bayes:16", "alarm", "child", "insurance", "sachs", "survey",
        "win95pts", "andes")  # fmt: skip
MOST_EDITABLE = 200
"""Largest number of cells whose probabilities can be typed in a table."""


WIDTHS = {"column": 110, "meaning": 380, "states": 60, "values": 110}
"""Pixels of the columns in the table of domains."""

FACTS: Facts = TABLE | N


def show_table(chosen: Chosen, place: DeltaGenerator) -> None:
    """Show the headline in its place, then the domains and the distributions, and lead to the next page."""
    pictures_tell(FACTS)
    if chosen.is_connected:
        with place:
            headline(about_connected(chosen))
            if chosen.domains:
                st.caption(_protected(chosen))
        if chosen.domains:
            _domains(chosen.domains, chosen)
            if chosen.is_curator:
                look_counted(chosen)
            same_from_python(python_of(chosen), name="data", chosen=chosen)
            next_page("Network", "pages/network.py")
        return
    data = shown_table(chosen)
    with place:
        headline(about(data, chosen))
        if data is not None:
            st.caption(_protected(chosen))
    if data is not None:
        table_view(data, chosen)
        same_from_python(python_of(chosen), name="data", chosen=chosen)
        next_page("Network", "pages/network.py")


def python_of(chosen: Chosen) -> str:
    """Return the code that prints the numbers of records and columns; for a recipient, the public domains."""
    if not chosen.is_curator:
        states = "dict(zip(network.names, network.states, strict=True))"
        return program(FACE, network_in_python(chosen.network), f"print({states})")
    if chosen.is_connected:
        return program(FACE, counts_in_python(chosen), "print(counts.n, len(data.names))")
    return program(FACE, table_in_python(chosen), "print(data.n, len(data.names))")


def shown_table(chosen: Chosen) -> Dataset | None:
    """Return the table to show; None if the loader or the table of columns states what is missing."""
    mine = upload()
    if chosen.settings.data == "upload" and chosen.is_curator and (mine is None or mine.dataset is None):
        return None
    return chosen.dataset


def about(data: Dataset | None, chosen: Chosen) -> str:
    """Return the page's sentence."""
    if data is None:
        return "Upload a table to begin."
    columns = many(len(data.names), "column")
    if chosen.settings.data == "synthetic":  # whose title has the number of records
        return f"{escaped(chosen.data_title)} with {columns}."
    return f"{escaped(chosen.data_title)}: {many(data.n, 'record')} with {columns}."


def _protected(chosen: Chosen) -> str:
    """Return which facts about the table are public."""
    leaks = len(chosen.leaking_columns)
    if leaks:
        domains = "The domain of 1 column is" if leaks == 1 else f"The domains of {leaks:,} columns are"
        return f"The number of records is public. {domains} read from the data, which leaks information."
    return "The number of records and the domains are public. A release protects everything else."


# Where the table comes from


def origin_controls(chosen: Chosen) -> None:
    """Offer the origins, and the controls of the one chosen."""
    data = CONNECTED if chosen.is_connected else chosen.settings.data
    origin = data if data in ORIGINS else "table"
    st.session_state["origin"] = origin
    st.segmented_control(
        "Source",
        [name for name in ORIGINS if name == origin or _is_offered(name)],
        format_func=ORIGINS.__getitem__,
        key="origin",
        required=True,
        on_change=_set_origin,
    )
    if origin == "table":
        _ready(chosen)
    elif origin == "synthetic":
        _synthesise(chosen)
    elif not chosen.is_curator:
        st.info("The recipient does not see the curator’s table.")
    elif origin == CONNECTED:
        connector(chosen)
    else:
        loader()
        domain_table()


def _is_offered(origin: str) -> bool:
    """Return whether this person may take a table from there."""
    if origin == CONNECTED:
        return _connects()
    return origin != "upload" or person().may(Act.UPLOAD)


def _connects() -> bool:
    """Return whether the server offers connections; the part that lists them reports an invalid list."""
    try:
        return bool(connections().names)
    except InputError:
        return person().may(Act.CONNECT)


def _set_origin() -> None:
    origin = st.session_state["origin"]
    first = {"table": next(iter(SHIPPED)), CONNECTED: ":".join((CONNECTED, *only_connection()))}
    change(data=first.get(origin, origin), graph="", row="", target="", evidence=())


def _ready(chosen: Chosen) -> None:
    keys = list(SHIPPED)
    st.session_state["ready"] = chosen.settings.data
    left, right = st.columns(2, vertical_alignment="bottom")
    left.selectbox(
        "Sample table",
        keys,
        format_func=lambda key: SHIPPED[key].title,
        key="ready",
        on_change=lambda: change(data=st.session_state["ready"], graph="", row="", target="", evidence=()),
    )
    table = SHIPPED[chosen.settings.data]
    st.caption(f"{table.description} Source: {table.source}")
    if chosen.n is not None:  # the error is shown below
        with right:
            _offer(chosen.settings.data, chosen)


def _offer(key: str, chosen: Chosen) -> None:
    """Show the actions for the file of a loaded table."""
    with st.container(horizontal=True):
        download_button(
            "Download domain description",
            lambda: write_domains(shipped_domains(key)),
            f"{key}-domains.json",
            mime="application/json",
            help="The domains of all columns, from the codebook, as a JSON file.",
            key="domains.shipped",
        )
        differently = chosen.is_curator and st.button("Change the domains", help="Opens the raw table as an upload.")
    if differently:
        take(SHIPPED[key].title, TableFile(shipped_frame(key), ""))
        change(data="upload", graph="", row="", target="", evidence=())
        st.rerun()


def _synthesise(chosen: Chosen) -> None:
    first, second, third, fourth = st.columns([5, 2, 2, 1], vertical_alignment="top")
    settings, source = chosen.settings, chosen.settings.source
    options = list(dict.fromkeys((*FROM, *NAMED, source)))
    with first:
        controls.choice("Source network", "source", options, format_func=_source_title)
        if source.startswith("bayes:"):
            controls.text_field("Number of features", "source", prefix="bayes:")
    with second:
        kinds = [kind for kind in Cpts if _available(kind, source) or kind is settings.cpts]
        controls.choice("Probabilities", "cpts", kinds, format_func=lambda kind: kind.value)
    with third:
        controls.text_field("Number of records", "records", help="At most 10,000,000.")
    with fourth:
        controls.text_field("Seed", "data_seed", help="The same seed gives the same table.")
    if settings.graph and st.button("Sample from the edited network"):
        change(source=settings.graph, cpts=Cpts.RANDOM, graph="")
        st.toast(f"Records are now sampled from the edited network of {len(chosen.graph.names)} nodes.")
        st.rerun()


def _available(kind: Cpts, source: str) -> bool:
    if kind is Cpts.PUBLISHED:
        return source in NAMED
    return kind is Cpts.RANDOM or source in given_cpts()


def _source_title(spec: str) -> str:
    if spec in NAMED:
        return f"{NAMED[spec].title}: {NAMED[spec].description}"
    head, _, size = spec.partition(":")
    return f"Naive Bayes with {size} features" if head == "bayes" else "The edited network" if head == "g" else spec


def _probabilities(chosen: Chosen) -> None:
    settings = chosen.settings
    try:
        net, cpts = chosen.truth
    except InputError:  # the page shows the error, once
        return
    if net.cell_count > MOST_EDITABLE:
        st.caption(
            f"This network has {net.cell_count:,} probabilities, and at most {MOST_EDITABLE} can be edited here. "
            "Import a BIF file on Network instead."
        )
        return
    labels = net.row_labels()
    states = [net.states[net.node_of_row[row]] for row in net.row_of_cell]
    first = net.row_starts[net.row_of_cell]
    frame = pd.DataFrame(
        {
            "row": [labels[row] for row in net.row_of_cell],
            "state": [s[k] for s, k in zip(states, np.arange(net.cell_count) - first, strict=True)],
            "probability": cpts,
        }
    )
    edited = controls.edited(
        frame,
        hide_index=True,
        disabled=["row", "state"],
        column_config={"probability": st.column_config.NumberColumn(format="%.6g", min_value=0.0, max_value=1.0)},
        key=f"cpts.{settings.source}.{settings.cpts.value}.{settings.data_seed}",
    )
    if st.button("Use these probabilities"):
        from dpbayes.model.cpts import checked_cpts

        given_cpts()[settings.source] = checked_cpts(net, edited["probability"].to_numpy(dtype=float))
        change(cpts=Cpts.GIVEN)
        st.rerun()


# What it looks like


def table_view(data: Dataset, chosen: Chosen) -> None:
    """Show the public domains to both seats; records and distributions to the curator."""
    domains = dict(zip(data.names, data.states, strict=True))
    if not chosen.is_curator:
        _domains(domains, chosen)
        return
    left, right = st.columns([3, 2], gap="medium")
    with right:
        _distribution(data)
    with left:
        _domains(domains, chosen)
    if chosen.settings.data == "synthetic":
        with st.expander("Probabilities of the source network"), sentence_instead():
            _probabilities(chosen)
    with st.expander("First records: not private (curator view)"):
        shown = data.codes[:10]
        st.dataframe(
            pd.DataFrame(
                {n: np.array(s)[shown[:, j]] for j, (n, s) in enumerate(zip(data.names, data.states, strict=True))}
            ),
            hide_index=True,
        )


def _domains(domains: Mapping[str, Sequence[str]], chosen: Chosen) -> None:
    leaks, readable = chosen.leaking_columns, chosen.readable
    st.subheader("Domains" if leaks else "Public domains")
    frame = pd.DataFrame(
        {
            "column": list(domains),
            "states": [len(states) for states in domains.values()],
            "values": [", ".join(states) for states in domains.values()],
            "domain": ["read from the data (leaks information)" if name in leaks else "public" for name in domains],
        }
    )
    if readable:
        frame.insert(1, "meaning", [readable[name].meaning if name in readable else "" for name in domains])
    with st.container(key="domains"):
        widths = {name: st.column_config.Column(width=width) for name, width in WIDTHS.items()}
        st.dataframe(frame, hide_index=True, height=min(38 + 35 * len(frame), 320), column_config=widths)
    if leaks:
        st.warning(
            "These domains are read from the data. Before a real release, state each domain from public knowledge."
        )


def _distribution(data: Dataset) -> None:
    with st.container(key="distribution"):
        st.subheader("Distribution: not private (curator view)")
        name = st.selectbox("Column", data.names, key="column")
        states = data.domain(name)
        column_chart(name, states, np.bincount(data.column(name), minlength=len(states)))
