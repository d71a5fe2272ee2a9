"""What a person does in the app, from the drawing to the release, in a real browser.

Every story also checks, as it ends, that no script failed and that nothing was asked of another machine.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.app_screen import APP, AppScreen, visits
from tests.browser.serving import streamlit_server

pytestmark = pytest.mark.browser


# Network


def test_an_arrow_drawn_by_hand_changes_the_cost_and_a_cycle_does_not(visit):
    screen = visit("network")
    expect(screen.metric("Cells K")).to_have_text("36")
    before = screen.headline.inner_text()
    screen.drag_arrow("asia", "xray")
    expect(screen.metric("Cells K")).to_have_text("40")
    expect(screen.metric("Rows m")).to_have_text("20")
    expect(screen.headline).not_to_have_text(before)
    expect(screen.page.get_by_text("of the planned tables so far")).to_have_count(0)
    screen.settle()
    after = screen.headline.inner_text()
    screen.drag_arrow("xray", "asia")
    expect(screen.status).to_have_text("xray → asia would close a cycle: asia → xray")
    screen.settle()
    expect(screen.metric("Cells K")).to_have_text("40")
    expect(screen.headline).to_have_text(after)
    assert screen.page.locator(".edge").count() == 9
    assert screen.warnings.count() == 0


def test_a_deleted_node_comes_back_and_the_drawing_survives_another_page(visit):
    screen = visit("network")
    screen.drag_arrow("asia", "xray")
    expect(screen.metric("Cells K")).to_have_text("40")
    screen.node("dysp").focus()
    screen.press("Delete")
    expect(screen.metric("Cells K")).to_have_text("32")
    screen.button("Undo").click()
    expect(screen.metric("Cells K")).to_have_text("40")
    screen.settle()
    place = where(screen)
    screen.go("Data")
    screen.go("Network")
    expect(screen.arrow("asia", "xray")).to_be_visible()
    expect(screen.metric("Cells K")).to_have_text("40")
    assert screen.page.locator(".edge").count() == 9
    assert where(screen) == pytest.approx(place, abs=0.01)


def where(screen: AppScreen) -> tuple[float, float]:
    """Return where a node is between two others, across and down, however large the drawing is shown."""
    (left, top), (x, y), (right, bottom) = (screen.centre(name) for name in ("asia", "dysp", "xray"))
    return (x - left) / (right - left), (y - top) / (bottom - top)


def test_undo_in_the_editor_reaches_over_a_ready_network_a_table_and_a_story(visit):
    screen = visit("network")
    screen.drag_arrow("asia", "xray")
    expect(screen.metric("Cells K")).to_have_text("40")
    screen.drag_arrow("asia", "dysp")
    expect(screen.metric("Cells K")).to_have_text("48")
    screen.page.get_by_role("combobox", name="Start from").click()
    screen.page.get_by_role("option", name="Cancer (published)").click()
    screen.settle()
    screen.button("Use").click()
    replaced = screen.main.get_by_text("replaced your drawing; Undo restores it.")
    expect(replaced).to_be_visible()
    expect(screen.metric("Cells K")).to_have_text("20")
    screen.button("Undo").click()
    expect(screen.metric("Cells K")).to_have_text("48")
    expect(screen.arrow("asia", "dysp")).to_be_visible()
    expect(screen.status).to_have_text("Undone.")
    expect(screen.button("Undo")).to_be_focused()
    expect(replaced).to_have_count(0)
    screen.press("Enter")  # and on over the strokes before it
    expect(screen.metric("Cells K")).to_have_text("40")
    expect(screen.button("Undo")).to_be_focused()
    for cells in ("48", "20"):
        expect(screen.button("Redo")).to_have_count(1)  # an old drawing may stand until the new one has come
        screen.button("Redo").click()
        expect(screen.metric("Cells K")).to_have_text(cells)
    expect(screen.button("Redo")).to_be_disabled()
    screen.button("Undo").click()
    expect(screen.metric("Cells K")).to_have_text("48")

    screen.go("Data")
    screen.option("Sample table").click()
    expect(screen.page.get_by_text("replaced your drawing; Undo on the Network page")).to_be_visible()
    screen.go("Network")
    expect(replaced).to_be_visible()
    screen.button("Undo").click()
    expect(screen.arrow("asia", "dysp")).to_be_visible()
    screen.settle()

    screen.choose_story("A hospital-sized network")
    expect(screen.page.locator(".node")).to_have_count(37)
    expect(replaced).to_be_visible()
    screen.node("HISTORY").focus()
    screen.press("Delete")
    expect(screen.page.locator(".node")).to_have_count(36)
    expect(replaced).to_have_count(0)
    screen.press("Control+z", "Control+z")
    expect(screen.arrow("asia", "dysp")).to_be_visible()


# Release


VALUES = "plot => JSON.stringify(plot.data.map(({x, y}) => [x, y]))"
"""What the curves of a chart are drawn from, however high the sentence above leaves it."""


def test_epsilon_moved_by_key_changes_the_chart_the_headline_and_the_address(visit):
    screen = visit("explore")
    headline = screen.headline.inner_text()
    assert "ε = 1," in headline
    screen.slider.focus()
    drawn = []
    for _ in range(2):
        before = screen.curves()
        screen.press("ArrowRight")
        screen.until_curves_differ(before)
        expect(screen.headline).to_contain_text("ε = 1.3,")
        expect(screen.epsilon_box).to_have_value("1.3")
        expect(screen.page).to_have_url(re.compile(r"[?&]epsilon=1\.3(&|$)"))
        screen.press("ArrowLeft")
        expect(screen.headline).to_have_text(headline)
        screen.settle()
        drawn.append(screen.chart("density").evaluate(VALUES))
    assert drawn[0] == drawn[1], "the same setting draws the same noise"


@pytest.mark.parametrize("pause_ms", [0, 60])
def test_a_slider_moved_fast_ends_where_the_person_left_it(visit, pause_ms):
    screen = visit("explore")
    screen.slider.focus()
    for _ in range(6):
        screen.press("ArrowRight")
        screen.page.wait_for_timeout(pause_ms)
    expect(screen.headline).to_contain_text("ε = 4,")
    screen.settle()
    expect(screen.headline).to_contain_text("ε = 4,")
    expect(screen.epsilon_box).to_have_value("4")
    expect(screen.slider).to_have_attribute("aria-valuetext", "4")
    expect(screen.page).to_have_url(re.compile("epsilon=4&prior=capped$"))  # when the hand rests
    assert screen.shared_link() == screen.page.url


def test_a_bad_epsilon_gets_a_sentence_and_the_chart_stays(visit):
    screen = visit("explore?epsilon=2")
    values, headline = screen.chart("density").evaluate(VALUES), screen.headline.inner_text()
    refusal = screen.main.get_by_text("The value is still 2.")
    for text in ("banana", "0", "-1", "inf", "nan", "1e99"):
        screen.type_epsilon(text)
        expect(refusal).to_be_visible()
        expect(refusal).to_contain_text("epsilon")
        assert refusal.count() == 1
        screen.settle()
        assert screen.chart("density").evaluate(VALUES) == values
        expect(screen.headline).to_have_text(headline)
        expect(screen.epsilon_box).to_have_value("2")
    screen.type_epsilon("3.7")
    expect(refusal).to_have_count(0)
    expect(screen.headline).to_contain_text("ε = 3.7,")


# Links


def test_a_copied_link_reopens_the_same_view_in_another_browser(visit):
    screen = visit("network?source=sprinkler")
    screen.drag_arrow("cloudy", "wet")
    expect(screen.metric("Cells K")).to_have_text("26")
    screen.go("Explore")
    screen.option("Fourier").click()
    expect(screen.page.locator(".dpbayes-board")).to_contain_text("Fourier: no count is negative")
    screen.type_epsilon("3.7")
    expect(screen.headline).to_contain_text("3.7")
    screen.option("Recipient").click()
    expect(screen.headline).to_contain_text("this release answers")
    screen.settle()
    assert screen.shared_link() == screen.page.url
    other = visit(screen.page.url)
    expect(other.headline).to_have_text(screen.headline.inner_text())
    expect(other.epsilon_box).to_have_value("3.7")
    expect(other.option("Fourier")).to_be_checked()
    expect(other.option("Recipient")).to_be_checked()
    other.go("Network")
    expect(other.arrow("cloudy", "wet")).to_be_visible()
    expect(other.metric("Cells K")).to_have_text("26")


def test_a_link_to_a_page_as_the_first_request_of_a_new_server_shows_the_whole_app():
    with streamlit_server(APP) as address, visits(address) as visit:
        screen = visit("explore?epsilon=2&seat=recipient&prior=capped")
        sections = screen.page.get_by_test_id("stTopNavSection").all_inner_texts()
        assert [name.split("\n")[0] for name in sections] == ["Workflow", "Research"]
        expect(screen.option("Recipient")).to_be_checked()
        expect(screen.epsilon_box).to_have_value("2")
        assert screen.page.url == f"{address}/explore?epsilon=2&seat=recipient&prior=capped"


def test_a_saved_link_of_a_page_that_has_moved_opens_the_page_that_has_its_pictures(visit):
    screen = visit("explore?epsilon=2&seat=recipient")
    expect(screen.page.get_by_role("heading", name="Explore", exact=True)).to_be_visible()
    expect(screen.option("Recipient")).to_be_checked()
    expect(screen.epsilon_box).to_have_value("2")
    assert screen.page.url.endswith("/explore?seat=recipient&prior=1&epsilon=2")
