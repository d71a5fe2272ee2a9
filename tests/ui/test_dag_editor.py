"""What the browser sends is checked before anybody believes it."""

import json
from typing import Any

import pytest

from dpbayes.base.validation import InputError
from dpbayes.sources.named_networks import MAX_NODES
from dpbayes.ui.session.graphs import MAX_NAME, Graph
from dpbayes.ui.widgets.dag_editor import HEIGHT, WIDTH, read_drawing, read_sent


def node(name: object = "a", **fields: object) -> dict[str, object]:
    return {"name": name, "x": 10, "y": 20.5, **fields}


def test_a_drawing_is_read_with_its_order() -> None:
    sent = json.loads(
        '{"nodes": [{"name": "b", "x": 1, "y": 2}, {"name": "a", "x": 3, "y": 4}], "edges": [["a", "b"]]}'
    )
    assert read_drawing(sent) == Graph(("b", "a"), (("a", "b"),), {"b": (1, 2), "a": (3, 4)})


def test_positions_are_pulled_into_the_box() -> None:
    drawing = read_drawing({"nodes": [node(x=-5, y=9999), node("b", x=9999, y=-5)], "edges": []})
    assert list(drawing.places.values()) == [(0, HEIGHT), (WIDTH, 0)]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"nodes": []},
        {"nodes": [], "edges": "ab"},
        {"nodes": ["a"], "edges": []},
        {"nodes": [{"name": "a", "x": 1}], "edges": []},
        {"nodes": [node(f"n{i}") for i in range(MAX_NODES + 1)], "edges": []},
        {"nodes": [node(), node()], "edges": []},
        *({"nodes": [node(name)], "edges": []} for name in (None, 3, "", "  ", "x" * (MAX_NAME + 1), ["a"], "\ud800")),
        *({"nodes": [node(x=x)], "edges": []} for x in (float("nan"), float("inf"), "1", None)),
        *({"nodes": [node()], "edges": [edge]} for edge in (["a"], ["a", "a", "a"], ["a", "b"], ["a", ["a"]], 1)),
        {"nodes": [node()], "edges": [["a", "\ud800"]]},
    ],
)
def test_anything_else_is_refused_with_a_sentence(value: Any) -> None:
    refused_with_a_sentence(value)


def test_too_many_edges_are_refused_with_a_sentence() -> None:
    refused_with_a_sentence({"nodes": [node()], "edges": [["a", "a"]] * 1_000_000})


def refused_with_a_sentence(value: Any) -> None:
    with pytest.raises(InputError) as refusal:
        read_drawing(value)
    assert str(refusal.value).endswith((".", "not."))
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200
    assert str(refusal.value).encode()  # a page can show it


def test_what_was_drawn_before_python_brought_another_drawing_is_over() -> None:
    given, sent = Graph(("g",), (), {"g": (1, 2)}), {"nodes": [node("s")], "edges": []}
    assert read_sent({"rev": 3, "drawing": sent}, rev=3, given=given) == read_drawing(sent)
    assert read_sent({"rev": 2, "drawing": sent}, rev=3, given=given) == given
    for value in (None, sent, {"rev": 3}, {"rev": 3, "drawing": None}):
        with pytest.raises(InputError):
            read_sent(value, rev=3, given=given)
