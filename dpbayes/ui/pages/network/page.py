"""Network: the graph, drawn by hand, and what each of its arrows is worth."""

from collections.abc import Hashable
from contextlib import suppress

import streamlit as st

from dpbayes.base.text import escaped, many, shortest
from dpbayes.base.validation import InputError, utf8_text
from dpbayes.boards.board import View
from dpbayes.boards.network import CuratorArrows, PublicArrows, arrow_worth
from dpbayes.figures.dag import dag_svg
from dpbayes.model.network import Network
from dpbayes.releases.document import read_document
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.edgelist import read_edges, write_edges
from dpbayes.sources.named_networks import NAMED
from dpbayes.ui.pages.network.editor import editor, start_from
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.drawings import replace_drawing
from dpbayes.ui.session.file_names import offered_name
from dpbayes.ui.session.graphs import Graph, code_of, drawable, placed
from dpbayes.ui.session.planned import USUAL_RECORDS
from dpbayes.ui.session.settings import Cpts
from dpbayes.ui.session.uploads import document_place, given_cpts
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.from_python import NETWORK, is_read_from_file
from dpbayes.ui.widgets.page import next_page
from dpbayes.ui.widgets.show import sentence_instead

MOST_RECORDS = 10_000_000
"""Records of a planned table at most."""

FILE = "The network of the file"

WITHOUT_RECORDS = (
    "What an arrow is worth is computed from public probabilities, which this table does not have, or for the curator "
    "only, from the records."
)

FEW = 5
"""Names that are listed of those that a file leaves out."""


def network_page(chosen: Chosen) -> None:
    """Show the drawing, the price and worth of its arrows, and its files."""
    start_from(chosen)
    with st.container(key="picture"):
        editor(chosen)
    with st.container(key="worth"), sentence_instead():
        _worth(chosen)
    _exchange(chosen)
    next_page("Explore", "pages/explore.py")


# The price and worth of an arrow


def _worth(chosen: Chosen) -> None:
    """Show the board. Errors: InputError for a drawing that is no network, or has nodes that are no columns."""
    if chosen.public_source is None and (chosen.is_connected or not chosen.is_curator):
        _ = chosen.network
        st.caption(WITHOUT_RECORDS)
        return
    view, value = arrow_view(chosen), shortest(chosen.epsilon)
    is_public = not view.board.private or chosen.has_public_records
    show("network", arrow_inputs(chosen), lambda: view, value, is_public=is_public)
    share(view, value)


def arrow_view(chosen: Chosen) -> View:
    """Return the board: from public probabilities where there are some, else from the table, for the curator only."""
    network, source = chosen.network, chosen.public_source
    prior, seed, facts = chosen.settings.prior, chosen.seed, {"table": chosen.data_title}
    if source is not None:
        n = min(USUAL_RECORDS if chosen.n is None else max(chosen.n, 1), MOST_RECORDS)
        return arrow_worth(PublicArrows(*source, network, n, _origin(chosen), prior, seed)).stating(facts)
    if not chosen.is_curator:
        raise InputError(WITHOUT_RECORDS)
    table = chosen.dataset
    _ = chosen.counts  # refuses a node that is no column
    return arrow_worth(CuratorArrows(table, network, prior, seed)).stating(facts)


def _origin(chosen: Chosen) -> str:
    """Return what the public probabilities are, in a sentence."""
    settings = chosen.settings
    if settings.source in NAMED and (settings.data != "synthetic" or settings.cpts is Cpts.PUBLISHED):
        return f"the published probabilities of {NAMED[settings.source].title}"
    return "the probabilities behind the synthetic table"


def arrow_inputs(chosen: Chosen) -> Hashable:
    """Return what the board depends on, without epsilon."""
    shared = chosen.network, chosen.settings.prior, chosen.seed, chosen.data_title
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
            title = "BIF file, list of arrows, or release file"
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
        "Download BIF (uniform tables)",
        lambda: write_bif(network, uniform),
        NETWORK if is_read_from_file(network) else offered_name("network", "bif"),
        key="bif.out",
        help="The file contains the structure only: its probabilities are uniform and do not depend on the data.",
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
    """Draw the network of a file. Errors: InputError for another file."""
    if name.lower().endswith(".json"):
        replace_drawing("The graph of the release", graph=code_of(drawable(Graph.of(read_document(content).network))))
        st.rerun()
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
        if left_out := [node for node in chosen.graph.names if node not in names]:
            st.toast(
                f"The file lacks {many(len(left_out), 'node')} of the drawing, which were removed: "
                f"{escaped(', '.join(left_out[:FEW]))}{' …' if len(left_out) > FEW else ''}. Undo restores them."
            )
        replace_drawing(FILE, graph=code_of(drawable(Graph.of(Network.from_edges(names, edges)))))
    st.rerun()
