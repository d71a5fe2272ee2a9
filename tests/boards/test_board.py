"""Boards as values: sliders, views that are computed stop by stop, and their blocks and documents."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest

from dpbayes.boards.board import Board, Frame, Panel, Slider, View, slider_of
from dpbayes.figures.style import figure_of, titled
from dpbayes.mechanisms.parameters import EPSILON

X = np.linspace(0, 1, 50)
SLIDER = Slider("epsilon", "ε", ("0.1", "1", "10"), 0.001, 1000)
PANELS = (Panel("curve", "A curve", "a curve"), Panel("same", "The same at every stop", "a line"))


def frames_at(stop: str) -> tuple[Frame, ...]:
    trace = {"type": "scatter", "mode": "lines", "x": X, "y": X * float(stop)}
    figure = figure_of([trace], x=titled("x"), y=titled("y"))
    same = figure_of([trace | {"y": X}], x=titled("x"), y=titled("y"))
    return (Frame(f"ε = {stop}", {"curve": figure, "same": same}),)


VIEW = View(Board("test", "A test", PANELS, {}, "1", SLIDER), frames_at)


def unpacked(block: bytes) -> tuple[dict, np.ndarray]:
    end = 4 + int.from_bytes(block[:4], "little")
    return json.loads(block[4:end]), np.frombuffer(block[end:], "<f4")


def whole(value, view, numbers):
    if isinstance(value, list):
        return [whole(inner, view, numbers) for inner in value]
    if not isinstance(value, dict):
        return value
    if "@" in value:
        return whole(view["parts"][value["@"]], view, numbers)
    if "$" in value:
        start, length = value["$"]
        return numbers[start : start + length]
    return {key: whole(inner, view, numbers) for key, inner in value.items()}


class Addresses(HTMLParser):
    """Collects the addresses from which a document would load something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.addresses = 0, []

    def handle_starttag(self, tag, attributes):
        self.tags += 1
        self.addresses += [value for name, value in attributes if name in ("src", "href", "srcset")]


def test_a_slider_has_the_stops_of_its_parameter():
    slider = slider_of("epsilon", EPSILON, label="ε")
    assert [float(stop) for stop in slider.stops] == list(EPSILON.stops)
    assert (slider.low, slider.high) == (EPSILON.low, EPSILON.high)


def test_a_typed_value_is_a_stop_in_its_place():
    assert SLIDER.including("0.5").stops == ("0.1", "0.5", "1", "10")
    assert SLIDER.including("1").stops == SLIDER.stops


def test_a_complete_board_has_all_stops_and_that_which_was_typed():
    board = VIEW.complete("0.5")
    assert board.value == "0.5"
    assert list(board.frames) == ["0.1", "0.5", "1", "10"]


def test_a_block_gives_back_every_figure():
    board = VIEW.complete()
    view, numbers = unpacked(board.block())
    assert view["slider"]["stops"] == list(SLIDER.stops)
    for stop in SLIDER.stops:
        (frame,) = view["shown"][stop]
        assert frame["headline"] == f"ε = {stop}"
        curve = whole(frame["figures"]["curve"], view, numbers)
        np.testing.assert_allclose(curve["data"][0]["y"], X * float(stop), rtol=1e-6)
        assert curve["layout"]["xaxis"]["title"]["text"] == "x"


def test_equal_arrays_are_in_a_block_once():
    _, numbers = unpacked(VIEW.complete().block())
    assert len(numbers) == len(X) * 3  # x, which is also y at 1 and of the other panel, and y at 0.1 and at 10


@pytest.mark.parametrize("value", ["0.1", "1"])
def test_a_document_is_whole_and_always_the_same(value: str):
    document = VIEW.complete(value).to_html()
    assert document == VIEW.complete(value).to_html()
    assert "<title>A test</title>" in document
    reader = Addresses()
    reader.feed(document)
    assert reader.tags > 10
    assert reader.addresses == []


def test_texts_of_a_document_are_text(tmp_path):
    board = Board("test", "<b>A & B</b>", PANELS, {"": frames_at("1")}, facts={"table": "<script>"})
    board.save(tmp_path / "board.html")
    document = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;A &amp; B&lt;/b&gt;" in document
    assert "table = &lt;script&gt;" in document
    assert board._repr_html_().startswith("<iframe srcdoc=")


def test_a_picture_states_whether_it_is_private():
    public = Board("test", "A test", PANELS, {}, facts={"n": "10"})
    private = Board("test", "A test", PANELS, {}, facts={"n": "10"}, private=True)
    assert public.caption == "dpbayes, test: n = 10. A picture, not a release."
    assert private.caption.startswith(public.caption)
    assert private.caption != public.caption


def test_numbers_are_a_row_for_each_stop():
    slider = Slider("epsilon", "ε", ("0.1", "1", "10"), 0.1, 10)
    frames = {stop: (Frame("", {}, numbers={"error": 1 / float(stop)}),) for stop in ("10", "0.1", "1")}
    board = Board("one", "One", (), frames, "1", slider)
    assert board.numbers_csv().decode().split() == ["epsilon,error", "0.1,10.0", "1,1.0", "10,0.1"]
