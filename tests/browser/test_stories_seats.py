"""Stories of who looks, on what background, and at whose table."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

PAGES = ("Home", "Data", "Network", "Explore")
CSV = '<b>rain</b>,"say ""wet""",sprinkler\n' + "".join(
    f"{'yes' if i % 3 else 'no'},{'a' if i % 2 else 'b'},{'on' if i % 5 else 'off'}\n" for i in range(200)
)


EXACT = "rgb(46, 134, 193)"
"""The colour of everything exact."""


# Seats


def test_the_recipients_seat_shows_nothing_exact_on_any_page(visit):
    screen = visit("explore")
    for title in ("Ask a question", "Errors of the release", "All rows of the network"):
        screen.unfold(title)
    curator_curves, chart_count = screen.curves(), screen.page.locator(".js-plotly-plot").count()
    assert "exact (curator view)" in screen.legend()
    assert EXACT in _strokes(screen.main)
    expect(screen.metric("Prediction KL, this row")).to_have_count(1)
    screen.option("Recipient").click()
    expect(screen.headline).to_contain_text("this release estimates")
    screen.settle()
    assert screen.page.locator(".js-plotly-plot").count() < chart_count
    assert len(screen.curves()) == 2 < len(curator_curves)  # one release, read in two ways
    assert EXACT not in _strokes(screen.main)
    assert screen.page.get_by_test_id("stMetric").filter(has_text="KL").count() == 0
    _shows_nothing_exact(screen.main)
    for title in PAGES:
        screen.go(title)
        expect(screen.option("Recipient")).to_be_checked()
        if title != "Home":  # its steps tell what a curator will see
            _shows_nothing_exact(screen.main)
    screen.option("Curator").click()
    screen.settle()
    screen.unfold("Errors of the release")
    expect(screen.metric("Prediction KL, this row")).to_be_visible()
    screen.settle()
    assert screen.curves() == curator_curves


def _strokes(main: Locator) -> set[str]:
    """Return the colours of all lines and bars in the page's charts."""
    parts = main.locator(".js-plotly-plot .cartesianlayer path, .js-plotly-plot .legend path")
    return set(parts.evaluate_all("all => all.flatMap(p => [getComputedStyle(p).stroke, getComputedStyle(p).fill])"))


def _shows_nothing_exact(main: Locator) -> None:
    text = main.inner_text()
    for word in (r"\bexact\b", r"\bKL\b", "curator only", "not private", "First records"):
        assert not re.search(word, text, re.IGNORECASE), f"{word} in {text}"
    alts = " ".join(main.locator("[aria-label]").evaluate_all("all => all.map(e => e.ariaLabel)"))
    assert "exact" not in alts


# Dark


def test_a_dark_system_gets_a_dark_page_with_readable_text_and_charts(visit):
    screen = visit("explore", color_scheme="dark")
    assert _light(screen.page.locator(".stApp"), "background-color") < 60
    for part in (screen.headline, screen.page.get_by_test_id("stTopNavLink").first):
        assert _light(part, "color") > 180
    for text in (".legendtext", ".xtick text", ".xtitle"):
        assert _light(screen.chart("density").locator(text).first, "fill") > 120
    screen.go("Network")
    assert _light(screen.page.locator(".node text").first, "fill") > 180
    assert _light(screen.chart("noise").locator(".xtick text").first, "fill") > 120


def _light(part: Locator, style: str) -> float:
    """Return how light the colour of a part is, 0 to 255."""
    colour = part.evaluate("(element, style) => getComputedStyle(element).getPropertyValue(style)", style)
    red, green, blue = (float(number) for number in re.findall(r"[\d.]+", colour)[:3])
    return 0.299 * red + 0.587 * green + 0.114 * blue


# A person's own table


def test_an_uploaded_table_goes_all_the_way_and_its_names_stay_text(visit):
    screen = visit("data")
    screen.load_own("my <b>table</b>.csv", CSV)
    expect(screen.headline).to_contain_text("my <b>table</b>.csv: 200 records with 3 columns")
    domains = screen.table_cells(1)
    assert domains[:3] == ["<b>rain</b>", "2", "no, yes"]
    assert 'say "wet"' in domains
    assert "read from the data (leaks information)" in domains
    screen.go("Network")
    assert sorted(screen.page.locator(".node text").all_text_contents()) == ["<b>rain</b>", 'say "wet"', "sprinkler"]
    expect(screen.metric("Cells K")).to_have_text("6")
    screen.settle()  # on a busy machine the drawing may still be on its way to its place
    screen.drag_arrow("sprinkler", "<b>rain</b>")
    expect(screen.metric("Cells K")).to_have_text("8")
    screen.settle()
    screen.go("Explore")
    expect(screen.chart("density").locator(".xtitle")).to_contain_text("<b>rain</b>=yes if sprinkler=")
    assert screen.page.locator("b").count() == 0
    assert screen.warnings.count() == 0


def test_declared_domains_last_as_long_as_the_session(visit):
    screen = visit("data")
    lines = [f"{20 + k % 61},{'yes' if k % 3 else 'no'}" for k in range(200)]
    screen.load_own("ages.csv", "\n".join(["age,wet", *lines]))
    table, box = screen.main.get_by_test_id("stDataFrame").first, screen.page.locator("[id^=gdg-overlay] textarea")
    cuts = screen.table_cells(0).index("cut points") + 1
    assert screen.table_cells(0)[cuts] != "30"
    table.click(position={"x": 250, "y": 35 + 17})  # the name of the first column; its kind and domain come next
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        screen.press(key)
    box.fill("30")
    box.press("Enter")
    expect(box).to_have_count(0)
    for key in ("ArrowUp", "ArrowRight", "ArrowRight", "Enter"):  # Enter went down a line
        screen.press(key)
    screen.settle()
    assert screen.table_cells(0)[cuts] == "30"
    screen.go("Explore")
    expect(screen.chart("density").locator(".xtitle")).to_contain_text("age < 30")
    screen.settle()
    before = screen.headline.inner_text()
    for title in ("Home", "Data", "Network", "Data"):
        screen.go(title)
    assert screen.table_cells(0)[cuts] == "30"
    domains = screen.table_cells(1)
    assert domains[:4] == ["age", "2", "< 30, >= 30", "public"]
    screen.main.get_by_text("Save or load domains").click()
    with screen.page.expect_download() as download:
        screen.button("Download domain description").click()
    description = Path(download.value.path()).read_bytes()
    screen.go("Explore")
    expect(screen.headline).to_have_text(before)
    other = visit("data")
    other.load_own("ages.csv", "\n".join(["age,wet", *lines]))
    assert other.table_cells(0)[cuts] != "30"
    other.main.get_by_text("Save or load domains").click()
    files = other.main.locator("input[type=file]").nth(1)
    files.set_input_files([{"name": "domains.json", "mimeType": "application/json", "buffer": description}])
    other.button("Use this description").click()
    expect(other.main.get_by_text("The domain of 1 column is read from the data")).to_be_visible()
    other.settle()
    assert other.table_cells(0)[cuts] == "30"


# Ready examples


def test_a_story_chosen_in_the_bar_turns_to_its_page_and_can_be_chosen_again(visit):
    screen = visit("proofs")
    for _ in range(2):
        screen.choose_story("Class exercise")
        screen.arrived("Network")
        expect(screen.story).to_have_value("")
        expect(screen.page.get_by_text("Class exercise · 1 of ")).to_be_visible()
        expect(screen.headline).to_contain_text("ε = 1 ")
        screen.type_epsilon("3")
        expect(screen.headline).to_contain_text("ε = 3 ")
        expect(screen.story).to_have_value("")
