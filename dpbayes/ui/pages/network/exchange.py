"""The network comes from a file and goes into one: BIF, a list of arrows, and the drawing as a picture."""

from contextlib import suppress

import streamlit as st

from dpbayes.base.text import escaped, many
from dpbayes.base.validation import InputError, utf8_text
from dpbayes.figures.dag_picture import dag_svg
from dpbayes.model.network import Network
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.edgelist import read_edges, write_edges
from dpbayes.sources.xmlbif import ENDINGS, read_xmlbif
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.drawings import replace_drawing
from dpbayes.ui.session.graphs import Graph, code_of, drawable, network_of, placed
from dpbayes.ui.session.settings import Cpts
from dpbayes.ui.session.uploads import given_cpts
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.from_python import NETWORK, is_read_from_file
from dpbayes.ui.widgets.show import sentence_instead

FILE = "The network of the file"
FEW = 5
"""Names that are listed of those that a file leaves out."""


def exchange(chosen: Chosen) -> None:
    """Import and export the network as BIF or as a list of arrows."""
    with st.expander("Import or export"):
        left, right = st.columns(2)
        with left:
            file = st.file_uploader(
                "BIF file or list of arrows", type=["bif", "bifxml", "xml", "txt", "csv"], key="network.file"
            )
            if file is not None and st.button("Use this file"):
                with sentence_instead():
                    _import(file.name, file.getvalue(), chosen)
        with right, suppress(InputError):  # the page has shown the error
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
                help="The file contains the structure only: its probabilities are uniform and do not depend on the "
                "data.",
                on_click="ignore",
            )
            st.download_button(
                "Download drawing (SVG)",
                lambda: drawing_svg(chosen),
                offered_name("drawing", "svg"),
                "image/svg+xml",
                key="drawing.out",
                help="The drawing above with every name in full. The file contains no values from the data.",
                on_click="ignore",
            )


def drawing_svg(chosen: Chosen) -> str:
    """Return the drawing as an SVG file, which states its content."""
    graph = placed(chosen.graph)
    size = f"{many(len(graph.names), 'node')} and {many(len(graph.edges), 'arrow')}"
    caption = f"Network of {size}, to be fitted to {chosen.data_title}."
    return dag_svg({name: graph.places[name] for name in graph.names}, graph.edges, caption=caption)


def _import(name: str, content: bytes, chosen: Chosen) -> None:
    text = utf8_text(content)
    is_xml = name.lower().endswith(ENDINGS)
    if is_xml or name.lower().endswith(".bif") or "probability" in text:
        net, cpts = read_xmlbif(text) if is_xml else read_bif(text)
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
