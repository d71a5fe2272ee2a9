"""The board of Explore: one file of all pictures, shown alone, faded while it is of a former epsilon, its editor."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

PNG = b"\x89PNG\r\n\x1a\n"
SVG = "{http://www.w3.org/2000/svg}"

DRAG = """async () => {
  const root = [...document.querySelectorAll("*")].find((node) => node.shadowRoot?.querySelector(".number")).shadowRoot;
  const slider = root.querySelector("[type=range]"), seen = [];
  const shade = (selector) => Number(getComputedStyle(document.querySelector(selector)).opacity);
  const beside = () => [...document.querySelectorAll("[class*=st-key-follows-] [data-testid=stCaptionContainer]")];
  for (let turn = 0; turn < 40; turn++) {
    slider.value = Number(slider.value) + (turn % 20 < 10 ? 1 : -1);
    slider.dispatchEvent(new Event("input"));
    await new Promise((go) => setTimeout(go, 50));
    const headline = document.querySelector(".st-key-headline h2").innerText;
    seen.push([headline, shade(".st-key-below"), beside().map((part) => part.innerText)]);
  }
  return seen;
}"""
"""Moves the main slider; returns by turn the headline, how strongly the rest is drawn, and what is under pictures."""


@pytest.fixture
def board(visit):
    screen = visit("explore?source=sprinkler&epsilon=1")
    expect(screen.page.locator(".st-key-board .js-plotly-plot")).to_have_count(4)
    screen.settle()
    expect(screen.page.locator("body[data-frames]")).to_have_count(1)
    return screen


def saved(screen, kind: str) -> tuple[str, bytes]:
    with screen.page.expect_download() as taken:
        screen.button(f"Save all as {kind}").click()
    return taken.value.suggested_filename, taken.value.path().read_bytes()


def test_all_pictures_are_saved_as_one_file_with_headline_titles_and_settings(board):
    name, content = saved(board, "SVG")
    assert name.startswith("explore-board-simulation")
    assert name.endswith(".svg")
    texts = [text.text for text in ElementTree.fromstring(content).iter(f"{SVG}text")]
    assert board.headline.inner_text().strip() == texts[0]
    for part in (
        "Posterior",
        "KL divergence",
        "Clipped counts",
        "Accuracy",
        "accuracy",
        "posterior density",
    ):
        assert part in texts
    assert any(text and text.startswith("dpbayes, page explore: mechanism = Laplace") for text in texts)
    name, content = saved(board, "PNG")
    assert name.endswith(".png")
    assert content.startswith(PNG)
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert width == 2560
    assert height > 1500


HEADINGS = (
    """() => [...document.querySelectorAll(".st-key-board strong")].map((title) => title.getBoundingClientRect().top)"""
)


def test_the_titles_of_two_pictures_are_in_line(board):
    posterior, divergence, counts, accuracy = board.page.evaluate(HEADINGS)
    assert posterior == pytest.approx(divergence, abs=0.5)
    assert counts == pytest.approx(accuracy, abs=0.5)


AXIS_TITLES = """() => [...document.querySelectorAll(".st-key-board .dpbayes-chart")].map((chart) => {
    const [title, plot] = [".ytitle", ".nsewdrag"].map((part) => chart.querySelector(part).getBoundingClientRect());
    return [chart.querySelector(".ytitle").textContent, title.height - plot.height];
})"""
"""The title of each picture's vertical axis, and by how many pixels it is longer than the axis."""


def test_titles_of_axes_fit_the_pictures(board):
    for title, excess in board.page.evaluate(AXIS_TITLES):
        assert excess <= 0, title


@pytest.mark.parametrize(("width", "height"), [(1280, 600), (853, 480)])
def test_the_title_of_the_accuracy_axis_fits_a_low_window(visit, width, height):
    screen = visit("explore?source=sprinkler", viewport={"width": width, "height": height})
    screen.option("Counts and accuracy").click()
    expect(screen.page.locator(".st-key-board .ytitle", has_text="accuracy")).to_be_visible()
    screen.settle()
    titles = dict(screen.page.evaluate(AXIS_TITLES))
    assert titles["accuracy"] <= 0


def test_the_board_is_shown_alone_and_larger(board):
    chart = board.page.locator(".st-key-board .dpbayes-chart").first
    before = chart.bounding_box()
    board.button("Present").last.click()
    board.page.wait_for_function("() => document.fullscreenElement")
    board.page.wait_for_function(
        "([chart, width]) => chart.clientWidth > width", arg=[chart.element_handle(), before["width"]]
    )
    screen = board.page.viewport_size
    for box in (drawing.bounding_box() for drawing in board.page.locator(".st-key-board .dpbayes-chart").all()):
        assert box["y"] + box["height"] <= screen["height"]
    expect(board.slider.first).to_be_visible()


def test_nothing_of_a_former_epsilon_stands_out_while_the_hand_moves(board):
    board.unfold("Errors of the release")
    below = board.page.locator(".st-key-below")
    expect(below).to_have_css("opacity", "1")
    seen = board.page.evaluate(DRAG)
    assert len({headline for headline, *_ in seen}) > 3
    for headline, shade, beside in seen:
        assert shade == 0.35
        epsilons = [re.findall(r"ε = ([\d.]+[\d])", sentence) for sentence in (headline, *beside)]
        assert epsilons == epsilons[:1] * 4, "the pictures beside the posterior have followed the hand"
    expect(below).to_have_css("opacity", "1")
    error = board.main.get_by_test_id("stMetricValue").first.inner_text()
    assert float(board.headline.inner_text().strip().rpartition(" ")[2].rstrip(".")) == pytest.approx(
        float(error), rel=0.06
    )


def test_the_graph_is_edited_over_the_page_and_the_pictures_follow(board):
    board.button("Edit").click()
    dialog = board.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Add node").click()
    expect(dialog.get_by_text("Dashed nodes are not columns of the table")).to_be_visible()
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_text("Dashed nodes are not columns of the table")).to_have_count(0)
    dialog.get_by_role("button", name="Show the pictures").click()
    expect(dialog).to_have_count(0)
    expect(board.page.locator(".st-key-board .js-plotly-plot")).to_have_count(4)
