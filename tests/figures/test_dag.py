"""A DAG as a file: every node with its whole name inside the picture, every arrow from border to border."""

from xml.etree import ElementTree

import pytest

from dpbayes.figures.dag import TALL, dag_svg, layered_positions
from dpbayes.sources.named_networks import load_named

SPACE = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("key", ["sprinkler", "asia", "alarm"])
def test_every_node_and_arrow_of_a_network_is_inside_the_picture(key: str) -> None:
    network, _ = load_named(key)
    places = layered_positions(network.names, network.edges)
    root = ElementTree.fromstring(dag_svg(places, network.edges, caption=f"{key} & its <arrows>"))
    left, top, width, height = map(float, root.get("viewBox", "").split())
    nodes = root.findall(f"{SPACE}g[@class='node']")
    assert [node.findtext(f"{SPACE}text") for node in nodes] == list(places)
    for box in (node.find(f"{SPACE}rect") for node in nodes):
        assert box is not None
        x, y, wide = (float(box.get(name, "nan")) for name in ("x", "y", "width"))
        assert left < x < x + wide < left + width
        assert top < y < y + TALL < top + height
    assert root.findtext(f"{SPACE}title") == f"{key} & its <arrows>"
    arrows = root.findall(f"{SPACE}line[@class='arrow']")
    assert len(arrows) == len(network.edges)
    for arrow, (parent, child) in zip(arrows, network.edges, strict=True):
        y1, y2 = float(arrow.get("y1", "nan")), float(arrow.get("y2", "nan"))
        assert abs(y1 - places[parent][1]) <= TALL / 2 + 0.1
        assert abs(y2 - places[child][1]) <= TALL / 2 + 0.1


def test_names_are_text_and_places_on_each_other_are_drawn() -> None:
    svg = dag_svg({"<script>": (10.0, 10.0), "b" * 60: (10.0, 10.0)}, [("<script>", "b" * 60)], caption="")
    assert "<script>" not in svg
    assert "b" * 60 in svg
    assert ElementTree.fromstring(svg) is not None
