"""A page with nothing but the editor, for the browser tests; `?start=` names the drawing it begins with."""

import json

import streamlit as st

from dpbayes.ui.widgets.dag_editor import Drawing, DrawnNode, dag_editor


def drawing(edges: str, **places: tuple[float, float]) -> Drawing:
    """`drawing("a>b", a=(x, y), b=(x, y))`."""
    pairs = [tuple(edge.split(">")) for edge in edges.split()]
    return Drawing(tuple(DrawnNode(name, *place) for name, place in places.items()), tuple(pairs))


STARTS = {
    "chain": drawing("smoke>lung", smoke=(200, 150), lung=(500, 300), xray=(800, 450)),
    "asia": drawing(
        "asia>tub smoke>lung smoke>bronc tub>either lung>either either>xray either>dysp bronc>dysp",
        asia=(200, 80), smoke=(650, 80), tub=(200, 220), lung=(500, 220), bronc=(800, 220),
        either=(350, 360), xray=(200, 500), dysp=(600, 500),
    ),
    "hostile": Drawing(
        (DrawnNode('<b>"x"</b>', 200, 150), DrawnNode("a,b", 500, 300), DrawnNode("long " * 15, 700, 450)),
        (("a,b", '<b>"x"</b>'),),
    ),
    "empty": Drawing((), ()),
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
        key="dag",
        notes={"lung": "no column of this name in the data"} if noted else {},
        edge_notes={("smoke", "lung"): "m = 2"} if noted else {},
    )
    places = {node.name: [node.x, node.y] for node in drawn.nodes}
    st.code(json.dumps({"places": places, "edges": drawn.edges, "epsilon": epsilon}), language=None)


if __name__ == "__main__":
    main()
