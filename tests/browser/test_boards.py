"""The board of Explore in a browser: a drag, keys, the message at rest, saved pictures, and the file on disk."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Download, Page, expect

from tests.browser.app_screen import AppScreen
from tests.browser.serving import chromium

pytestmark = pytest.mark.browser

STOPS = """async () => {
  const board = document.querySelector(".dpbayes-board"), slider = board.querySelector("[type=range]");
  const places = () => [...board.querySelectorAll(".panel .shapelayer path")].map((line) => line.getAttribute("d"));
  const seen = [];
  for (let turn = 0; turn < 12; turn++) {
    slider.value = Number(slider.value) - 1;
    slider.dispatchEvent(new Event("input"));
    await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    seen.push([board.dataset.stop, board.querySelector("h2").innerText, places().join()]);
  }
  slider.dispatchEvent(new Event("change"));
  return seen;
}"""
"""Moves the slider by 12 stops; returns what the board shows two screen frames after each."""


LARGE = 100_000
"""Bytes of a message with pictures."""

SMALL = 6_000
"""Bytes of all messages after a rest, at most: without the page's own style."""


def all_stops(screen: AppScreen) -> None:
    """Wait until the browser has the frames of every stop."""
    screen.page.wait_for_timeout(500)
    screen.settle()


def test_pictures_and_sentences_of_a_stop_move_together_and_the_server_hears_the_rest(visit):
    screen = visit("explore?source=sprinkler&epsilon=1")
    all_stops(screen)
    sent = []
    screen.page.evaluate("window.scrollTo(0, 0)")
    screen.page.context.on("request", lambda request: sent.append(request.url))
    seen = screen.page.evaluate(STOPS)
    stops = [stop for stop, _, _ in seen]
    assert len(set(stops)) == len(stops) == 12
    assert all(f"ε = {stop}:" in headline for stop, headline, _ in seen)
    assert len({lines for _, _, lines in seen}) == 12, "the line in every picture has moved"
    screen.page.wait_for_url(f"**epsilon={stops[-1]}*")
    expect(screen.page.locator(".dpbayes-board .box")).to_have_value(stops[-1])


def test_a_hand_at_rest_brings_no_picture_again_and_the_board_keeps_its_place(visit):
    screen = visit("explore?source=sprinkler&epsilon=1")
    received: list[int] = []
    screen.page.on("websocket", lambda wire: wire.on("framereceived", lambda frame: received.append(len(frame))))
    screen.page.reload()
    slider = screen.page.get_by_role("slider", name="Privacy loss ε")
    expect(slider).to_have_value(re.compile("."))
    all_stops(screen)
    assert max(received) > LARGE, "the message with all stops"
    slider.press("ArrowLeft")
    screen.page.wait_for_url("**epsilon=0.79*")
    screen.settle()
    screen.page.evaluate("() => history.back()")
    expect(screen.headline).to_contain_text("ε = 1:")
    screen.settle()
    received.clear()
    slider.press("ArrowLeft")
    screen.page.wait_for_url("**epsilon=0.79*")
    screen.settle()
    assert 0 < sum(received) < SMALL, "the rest of the page does not depend on epsilon"
    screen.page.get_by_role("button", name="Share").click()
    expect(screen.page.get_by_test_id("stCode").first).to_contain_text("epsilon=0.79")
    screen.page.keyboard.press("Escape")
    screen.page.get_by_text("Which epsilon", exact=True).click()
    expect(screen.page.get_by_role("slider", name="Privacy loss ε")).to_have_count(0)
    screen.page.get_by_text("Answer", exact=True).click()
    expect(slider).to_have_attribute("aria-valuetext", "0.79")
    expect(screen.headline).to_contain_text("ε = 0.79:")


def saved(screen: AppScreen, name: str) -> Download:
    with screen.page.expect_download() as download:
        screen.page.get_by_role("button", name=name, exact=True).click()
    return download.value


def test_all_pictures_are_saved_with_headline_and_facts(visit, tmp_path: Path):
    screen = visit("explore?source=sprinkler&epsilon=1")
    saved(screen, "SVG").save_as(tmp_path / "board.svg")
    drawing = (tmp_path / "board.svg").read_text(encoding="utf-8")
    words = " ".join(re.findall(r">([^<>]+)<", drawing))
    assert "in 95 of 100 releases" in words
    assert "Curator view: may contain values that are not private." in words
    for title in ("What the public learns", "How near to the table?", "Do predictions survive?"):
        assert title in words
    saved(screen, "Save all as PNG").save_as(tmp_path / "board.png")
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG")


def test_an_enlarged_picture_fills_the_screen_and_can_be_closed(visit):
    screen = visit("explore?source=sprinkler&epsilon=1")
    panel = screen.page.locator(".panel").first
    panel.hover()
    panel.get_by_role("button", name="Enlarge").click()
    close = panel.get_by_role("button", name="Close")
    expect(close).to_be_visible()
    screen.page.wait_for_function("document.fullscreenElement")
    seen = "node => node.querySelector('.chart').offsetHeight / innerHeight"
    assert panel.evaluate(seen) > 0.8
    close.click()
    expect(panel.get_by_role("button", name="Enlarge")).to_have_count(1)


def of_file(page: Page, path: Path) -> None:
    page.goto(path.as_uri())
    expect(page.locator(".dpbayes-board[data-stop]")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_document_works_from_disk_and_everyone_can_read_it(visit, tmp_path: Path, scheme: str):
    screen = visit("explore?source=sprinkler&epsilon=1")
    path = tmp_path / "explore.html"
    screen.button("Share").click()
    saved(screen, "Save as interactive HTML").save_as(path)
    assert path.stat().st_size < 2_600_000
    with chromium(offline=True, color_scheme=scheme) as page:
        of_file(page, path)
        page.get_by_role("slider").press("End")
        expect(page.get_by_role("heading", level=2)).to_contain_text("ε = 100:")
        violations = Axe().run(page).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in violations] == []


def test_the_terms_of_a_picture_are_explained_beside_its_title(visit):
    screen = visit("explore?source=sprinkler&epsilon=1", viewport={"width": 400, "height": 800})
    why = screen.page.get_by_role("button", name="Explain: How near to the table?")
    meaning = screen.page.get_by_text("takes noisy counts as true")
    expect(meaning).to_be_hidden()
    why.click()
    expect(meaning).to_be_in_viewport(ratio=1)
    assert abs(meaning.bounding_box()["y"] - why.bounding_box()["y"]) < 240
    screen.page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
