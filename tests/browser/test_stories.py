"""What people do with the app, in a real browser: draw, slide, share, change seats, load a table."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dag_editor_screen import Screen
from tests.browser.serving import ROOT, chromium, streamlit_server

pytestmark = pytest.mark.browser

EXACT_COLOUR = "rgb(46, 134, 193)"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with streamlit_server(ROOT / "app.py") as url:
        yield url


@pytest.fixture
def page(address) -> Iterator[Page]:
    """A page that must ask nothing of the internet and raise no script error."""
    with chromium() as page:
        page.set_default_timeout(20_000)
        yield page
        assert page.external == []
        assert page.errors == []


def visit(page: Page, url: str, title: str) -> None:
    page.goto(url)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=60_000)


def metric(page: Page, label: str) -> str:
    return page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue").inner_text()


def first_chart(page: Page) -> str:
    """The drawn lines of the first chart, as path data."""
    lines = page.locator(".js-plotly-plot").first.locator(".scatterlayer path.js-line")
    lines.first.wait_for()
    return "|".join(lines.evaluate_all("paths => paths.map(path => path.getAttribute('d'))"))


def headline(page: Page) -> str:
    return page.get_by_role("heading", level=4).first.inner_text()


def test_the_first_request_of_a_new_server_may_be_a_deep_link():
    with streamlit_server(ROOT / "app.py") as fresh, chromium() as page:
        visit(page, f"{fresh}/network?source=sprinkler", "Network")
        links = page.get_by_test_id("stSidebarNavLink")
        expect(links).to_have_text(["Home", "Data", "Network", "Release"])
        expect(page.get_by_text("Who is looking?")).to_be_visible()


def test_a_drawn_arrow_changes_the_cost_and_a_cycle_does_not(page, address):
    visit(page, f"{address}/network?source=sprinkler", "Network")
    screen = Screen(page)
    before = int(metric(page, "Cells K"))
    said = headline(page)
    screen.drag_arrow("sprinkler", "rain")
    expect(page.get_by_test_id("stMetric").filter(has_text="Cells K")).to_contain_text(str(before + 4))
    assert headline(page) != said
    screen.drag_arrow("wet", "cloudy")
    expect(screen.status).to_contain_text("cycle")
    assert int(metric(page, "Cells K")) == before + 4


def test_epsilon_repaints_the_chart_and_the_link_reopens_it(page, address):
    visit(page, f"{address}/release", "Release")
    drawn, said = first_chart(page), headline(page)
    slider = page.get_by_role("slider", name="Epsilon").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=4).first).not_to_have_text(said)
    page.wait_for_function("() => location.search.includes('epsilon=1.3')")
    page.wait_for_timeout(500)
    moved = first_chart(page)
    assert moved != drawn
    other = page.context.browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    visit(other, page.url, "Release")
    assert headline(other) == headline(page)
    other.wait_for_timeout(500)
    assert first_chart(other) == moved


def test_a_bad_epsilon_gets_its_sentence_and_keeps_the_chart(page, address):
    visit(page, f"{address}/release", "Release")
    drawn = first_chart(page)
    box = page.get_by_role("textbox", name="epsilon as a number")
    for bad in ("0", "-1", "inf", "nan", "much"):
        box.fill(bad)
        box.press("Enter")
        expect(page.get_by_text("Kept 1.")).to_be_visible()
        expect(box).to_have_value("1")
    assert first_chart(page) == drawn


def test_the_recipient_finds_no_exact_value(page, address):
    visit(page, f"{address}/release?mechanism=LaplaceFourier", "Release")
    expect(page.get_by_text("KL of all rows").first).to_be_visible()
    page.get_by_test_id("stSidebar").get_by_text("Recipient", exact=True).click()
    expect(page.get_by_text("KL of all rows")).to_have_count(0)
    expect(page.get_by_text("Many possible releases")).to_have_count(0)
    page.wait_for_timeout(800)
    body = page.get_by_test_id("stMain").inner_text().lower()
    assert "exact" not in body
    assert "curator" not in body
    strokes = page.locator(".js-plotly-plot path").evaluate_all("paths => paths.map(p => getComputedStyle(p).stroke)")
    assert strokes
    assert EXACT_COLOUR not in strokes
    with page.expect_download() as download:
        page.get_by_role("button", name="Download this simulated release").click()
    release = json.loads(download.value.path().read_text())
    assert set(release) == {"kind", "mechanism", "guarantee", "public", "network", "rows"}
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible()
    expect(page.get_by_text("Public domains")).to_be_visible()
    expect(page.get_by_text("Distribution of a column")).to_have_count(0)


def test_dark_mode_holds(address):
    with chromium(color_scheme="dark") as page:
        visit(page, f"{address}/release", "Release")
        first_chart(page)
        brightness = """element => getComputedStyle(element)[PROPERTY].match(/[\\d.]+/g).slice(0, 3)
            .reduce((sum, part) => sum + Number(part), 0) / 3"""
        ground = page.get_by_test_id("stApp").evaluate(brightness.replace("PROPERTY", "'backgroundColor'"))
        text = page.get_by_role("heading", level=4).first.evaluate(brightness.replace("PROPERTY", "'color'"))
        axis = page.locator(".js-plotly-plot .xtick text").first.evaluate(brightness.replace("PROPERTY", "'fill'"))
        assert ground < 60
        assert text > 180
        assert axis > 120


def test_an_own_table_reaches_the_release_and_a_bad_file_loses_nothing(page, address, tmp_path):
    good, bad = tmp_path / "mine.csv", tmp_path / "other.csv"
    good.write_text('"<b>x</b>",colour\n' + "yes,red\nno,blue\n" * 50)
    bad.write_text("a;b\n1;2\n")
    visit(page, f"{address}/data?data=upload", "Data")
    chooser = page.locator('input[type="file"]').first
    chooser.set_input_files(good)
    expect(page.get_by_text("100 records of 2 columns")).to_be_visible()
    chooser.set_input_files(bad)
    expect(page.get_by_text("semicolon")).to_be_visible()
    expect(page.get_by_text("100 records of 2 columns")).to_be_visible()
    page.get_by_role("link", name="Network").click()
    expect(Screen(page).node("<b>x</b>")).to_be_visible()
    page.get_by_role("link", name="Release").click()
    expect(page.get_by_role("heading", level=4).first).to_contain_text("<b>x</b>")


def test_a_drawing_survives_a_visit_elsewhere(page, address):
    visit(page, f"{address}/network?source=sprinkler", "Network")
    screen = Screen(page)
    screen.drag_arrow("sprinkler", "rain")
    expect(screen.arrow("sprinkler", "rain")).to_have_count(1)
    page.wait_for_function("() => location.search.includes('graph=')")
    page.get_by_role("link", name="Home").click()
    expect(page.get_by_text("5 arrows")).to_be_visible()
    page.get_by_role("link", name="Network").click()
    expect(screen.arrow("sprinkler", "rain")).to_have_count(1)
