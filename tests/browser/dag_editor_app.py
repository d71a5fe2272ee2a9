"""A page with nothing but the editor, for the browser tests; `?start=` names the drawing it begins with."""

import json

import streamlit as st

from dpbayes.ui.session.graphs import Graph
from dpbayes.ui.widgets.dag_editor import dag_editor


def drawing(edges: str, **places: tuple[float, float]) -> Graph:
    """`drawing("a>b", a=(x, y), b=(x, y))`."""
    pairs = [tuple(edge.split(">")) for edge in edges.split()]
    return Graph(tuple(places), tuple(pairs), places)


STARTS = {
    "chain": drawing("smoke>lung", smoke=(200, 150), lung=(500, 300), xray=(800, 450)),
    "asia": drawing(
        "asia>tub smoke>lung smoke>bronc tub>either lung>either either>xray either>dysp bronc>dysp",
        asia=(200, 80), smoke=(650, 80), tub=(200, 220), lung=(500, 220), bronc=(800, 220),
        either=(350, 360), xray=(200, 500), dysp=(600, 500),
    ),
    "hostile": Graph(
        ('<b>"x"</b>', "a,b", "long " * 15),
        (("a,b", '<b>"x"</b>'),),
        {'<b>"x"</b>': (200, 150), "a,b": (500, 300), "long " * 15: (700, 450)},
    ),
    "empty": Graph((), ()),
}  # fmt: skip


def main() -> None:
    st.set_page_config(layout="wide")
    st.session_state.setdefault("rev", 0)
    start = "asia" if st.session_state.rev else st.query_params.get("start", "chain")
    with st.sidebar:
        epsilon = st.slider("epsilon", 0, 10, 1)
        noted = st.toggle("notes")
        st.button("Preset", on_click=lambda: st.session_state.update(rev=st.session_state.rev + 1))
    drawn = dag_editor(
        STARTS[start],
        rev=st.session_state.rev,
        notes={"lung": "no column of this name in the data"} if noted else {},
        meanings={},
        fixed=False,
        beyond={},
    )
    st.code(json.dumps({"places": drawn.places, "edges": drawn.edges, "epsilon": epsilon}), language=None)


if __name__ == "__main__":
    main()
