"""Frames: the browser draws what belongs to the hand's place by itself, as the server does when the hand rests."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from dpbayes.base.types import FloatArray
from tests.conftest import thorough

pytestmark = pytest.mark.browser

SHOW = """([slider, text]) => !document.dispatchEvent(
  new CustomEvent("dpbayes-hand", {detail: {slider, text}, cancelable: true}))"""
"""Shows the frame of a stop, of which the server hears nothing; returns whether there is one."""

SEEN = """async () => {
  for (let picture = 0; picture < 6; picture++) await new Promise(requestAnimationFrame);
  const texts = [...document.querySelectorAll(".st-key-headline, .st-key-board [data-testid=stCaptionContainer]")];
  const lines = [...document.querySelectorAll(".st-key-picture, .st-key-board")].flatMap((part) =>
    [...part.querySelectorAll(".cartesianlayer .lines path, .cartesianlayer .points path, .shapelayer path")]);
  const place = (line) => (line.getAttribute("d") + (line.getAttribute("transform") ?? "")).match(/-?[\\d.]+/g);
  return [texts.map((part) => part.innerText), lines.map(place)];
}"""
"""Returns sentences, and the places of all lines in pixels."""

DRAG = """async () => {
  const root = [...document.querySelectorAll("*")].find((node) => node.shadowRoot?.querySelector(".number")).shadowRoot;
  const slider = root.querySelector("[type=range]"), headlines = new Set();
  for (let turn = 0; turn < 30; turn++) {
    slider.value = Number(slider.value) + (turn % 20 < 10 ? 1 : -1);
    slider.dispatchEvent(new Event("input"));
    headlines.add(document.querySelector(".st-key-headline h2").innerText);
    await new Promise((go) => setTimeout(go, 30));
  }
  return headlines.size;
}"""


PIXEL = 0.75
"""Plotly leaves out points of a line that change it by less."""


def _distance(line: list[str], other: list[str]) -> float:
    """Return how far the points of two lines are from the other line at most, in pixels."""
    lines = [np.array(numbers, float).reshape(-1, 2) for numbers in (line, other)]
    return max(_from(points, drawn) for points, drawn in (lines, lines[::-1]))


def _from(points: FloatArray, line: FloatArray) -> float:
    starts, ways = line[:-1], np.diff(line, axis=0)
    if not len(ways):
        return float(np.abs(points - line).max())
    lengths = np.maximum((ways**2).sum(axis=1), 1e-12)
    part = np.clip(((points[:, None] - starts) * ways).sum(axis=2) / lengths, 0, 1)
    nearest = starts + part[..., None] * ways
    return float(np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1).max())


@pytest.mark.parametrize(
    ("place", "number", "stops"),
    thorough(
        [
            ("explore", "epsilon", ("0.1", "2")),
            ("explore?mechanism=LaplaceFourier", "epsilon", ("0.5", "4")),
            ("explore?seat=recipient", "epsilon", ("0.1", "2")),
            ("compare?compare.view=Non-negativity", "stealth.target", ("0.5", "0.99")),
        ],
        sample=[("explore", "epsilon", ("0.1", "2"))],
    ),
)
def test_a_frame_and_the_servers_answer_are_the_same(visit, place, number, stops):
    screen = visit(place)
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    for stop in stops:
        assert screen.page.evaluate(SHOW, [f"number.{number}", stop])
        texts, lines = screen.page.evaluate(SEEN)
        screen.main.locator(".number .box").first.fill(stop)
        screen.page.keyboard.press("Enter")
        screen.page.wait_for_url(f"**{number}={stop}*")
        screen.settle()
        now, drawn = screen.page.evaluate(SEEN)
        assert texts == now
        assert len(lines) == len(drawn)
        for line, other in zip(lines, drawn, strict=True):
            assert _distance(line, other) < PIXEL


def test_the_server_hears_of_a_drag_once_the_hand_rests(visit):
    screen = visit("explore")
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    screen.page.evaluate("""() => {
      window.sent = 0;
      const send = WebSocket.prototype.send;
      WebSocket.prototype.send = function (data) { window.sent += 1; return send.call(this, data); };
    }""")
    assert screen.page.evaluate(DRAG) > 5
    assert screen.page.evaluate("() => window.sent") == 0
    screen.page.wait_for_url(f"**epsilon={screen.slider.first.get_attribute('aria-valuetext')}*")
    assert screen.page.evaluate("() => window.sent") > 0
    assert screen.page.evaluate("() => document.body.dataset.hand") is None


def test_where_the_browser_has_no_frames_the_server_answers_each_move(visit):
    screen = visit("explore")
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    assert not screen.page.evaluate(SHOW, ["number.delta", "1"])
    assert not screen.page.evaluate(SHOW, ["number.epsilon", "0.1234"])
    screen.main.locator(".number .box").first.fill("0.1234")
    screen.page.keyboard.press("Enter")
    expect(screen.headline).to_have_text(re.compile("ε = 0.123"))


def test_what_the_server_knows_better_by_now_is_shown_again_where_the_hand_began(visit):
    """Its averages are over more releases than those of a frame, and Streamlit writes no text that it wrote last."""
    screen = visit("explore?source=sprinkler&epsilon=1")
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    screen.unfold("Errors of the release")
    expect(screen.main.get_by_test_id("stMetricValue").first).to_have_text(re.compile(r"\d"))
    screen.settle()
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    first = screen.headline.inner_text()
    for stop in ("2", "1"):
        assert screen.page.evaluate(SHOW, ["number.epsilon", stop])
    frame = screen.headline.inner_text()
    assert frame != first
    screen.slider.first.press("ArrowRight")
    screen.slider.first.press("ArrowLeft")
    screen.settle()
    expect(screen.headline).to_have_text(first)


def test_back_in_the_middle_of_a_move_leaves_what_the_server_knows(visit):
    screen = visit("explore?epsilon=1")
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    first = screen.headline.inner_text()
    screen.slider.first.press("ArrowRight")
    screen.page.wait_for_url("**epsilon=1.3*")
    assert screen.headline.inner_text() != first
    screen.slider.first.press("End")
    screen.page.go_back()
    expect(screen.headline).to_have_text(first, use_inner_text=True)
    assert screen.slider.first.get_attribute("aria-valuetext") == "1"


COUNT_DRAWN = """() => {
  window.drawn = [];
  const react = window.Plotly.react;
  window.Plotly.react = function (plot, ...rest) {
    window.drawn.push(plot.closest(".dpbayes-chart").dataset.name);
    return react.call(this, plot, ...rest);
  };
}"""
"""Notes the charts that Plotly draws from now on."""


def test_a_frame_of_the_same_axes_is_drawn_without_plotly(visit):
    screen = visit("explore?epsilon=2")
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    screen.settle()
    screen.page.evaluate(COUNT_DRAWN)
    _, before = screen.page.evaluate(SEEN)
    assert screen.page.evaluate(SHOW, ["number.epsilon", "2.5"])
    _, after = screen.page.evaluate(SEEN)
    assert before != after
    assert set(screen.page.evaluate("() => window.drawn")) <= {"density"}  # its axis may follow the curve


SLIDE = """() => {
  const root = [...document.querySelectorAll("*")].find((node) => node.shadowRoot?.querySelector(".number")).shadowRoot;
  const slider = root.querySelector("[type=range]");
  const lines = [...document.querySelectorAll(".st-key-picture .cartesianlayer .lines path")];
  const places = [], start = Number(slider.value);
  const send = (target, kind) => target.dispatchEvent(new PointerEvent(kind, { bubbles: true, composed: true }));
  send(slider, "pointerdown");
  for (let step = 10; step <= 33; step++) {
    slider.value = start + step / 10;
    slider.dispatchEvent(new Event("input"));
    places.push([slider.getAttribute("aria-valuetext"),
      lines.map((line) => line.getAttribute("d")).join().match(/-?[\\d.]+/g).map(Number)]);
  }
  send(slider, "pointerup");
  return [start, Number(slider.value), places];
}"""
"""Moves the pointer over tenths of stops; returns the first and last value, and each stop and lines."""


def test_a_line_moves_between_two_stops_until_the_pointer_is_released(visit):
    screen = visit("explore?epsilon=1")
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    screen.page.emulate_media(reduced_motion="no-preference")
    screen.settle()
    start, end, places = screen.page.evaluate(SLIDE)
    assert end == start + 3
    lines = [np.array(numbers) for stop, numbers in places if stop == places[10][0]]
    assert len(lines) == 10
    for before, after in ((1, 5), (5, 9)):  # the first one is drawn by Plotly; the sixth is at the stop
        way = lines[after] - lines[before]
        assert np.abs(way).max() > 1
        for line in range(before, after + 1):
            assert np.allclose(lines[line], lines[before] + (line - before) / (after - before) * way, atol=0.03)
    texts, shown = screen.page.evaluate(SEEN)
    assert screen.page.evaluate(SHOW, ["number.epsilon", places[-1][0]])
    of_stop, frame = screen.page.evaluate(SEEN)
    assert texts == of_stop
    assert all(_distance(line, other) < PIXEL for line, other in zip(shown, frame, strict=True))


def test_plotly_draws_what_was_moved_without_it_once_somebody_points_at_it(visit):
    screen = visit("explore?epsilon=2")
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    screen.settle()
    screen.slider.first.press("ArrowRight")
    screen.page.wait_for_url("**epsilon=2.5*")
    screen.settle()
    screen.page.evaluate(COUNT_DRAWN)
    for name in ("density", "explore.accuracy"):
        screen.page.locator(f".dpbayes-chart[data-name='{name}']").hover()
        screen.page.wait_for_function("name => window.drawn.includes(name)", arg=name)
    assert "explore.counts" not in screen.page.evaluate("() => window.drawn")
