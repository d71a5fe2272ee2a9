"""A person's own table in the browser: its names stay text, and what is declared lasts as long as the session."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpbayes.sources.columns import Cuts
from dpbayes.sources.domains import read_domains

pytestmark = pytest.mark.browser

CSV = '<b>rain</b>,"say ""wet""",sprinkler\n' + "".join(
    f"{'yes' if i % 3 else 'no'},{'a' if i % 2 else 'b'},{'on' if i % 5 else 'off'}\n" for i in range(200)
)


def test_an_uploaded_table_goes_all_the_way_and_its_names_stay_text(visit):
    screen = visit("data")
    screen.load_own("my <b>table</b>.csv", CSV)
    expect(screen.headline).to_contain_text("my <b>table</b>.csv: 200 records with 3 columns")
    columns = screen.table_cells(0)
    for text in ("<b>rain</b>", "no; yes", 'say "wet"'):
        assert text in columns
    expect(screen.main.get_by_text("Not yet declared public")).to_be_visible()
    screen.go("Network")
    assert sorted(screen.page.locator(".node text").all_text_contents()) == ["<b>rain</b>", 'say "wet"', "sprinkler"]
    screen.settle()  # on a busy machine the drawing may still be on its way to its place
    screen.drag_arrow("sprinkler", "<b>rain</b>")
    screen.settle()
    screen.go("Explore")
    expect(screen.chart("density").locator(".xtitle")).to_contain_text("<b>rain</b> = yes if sprinkler = ")
    assert screen.page.locator("b").count() == 0
    assert screen.warnings.count() == 0


def test_declared_domains_last_as_long_as_the_session(visit):
    screen = visit("data")
    lines = [f"{20 + k % 61},{'yes' if k % 3 else 'no'}" for k in range(200)]
    screen.load_own("ages.csv", "\n".join(["age,wet", *lines]))
    table, box = screen.main.get_by_test_id("stDataFrame").first, screen.page.locator("[id^=gdg-overlay] textarea")
    values = next(k for k, text in enumerate(screen.table_cells(0)) if text.startswith("cut at"))
    assert screen.table_cells(0)[values] != "cut at 30"
    table.click(position={"x": 200, "y": 35 + 17})  # the name of the first column, beside its values
    for key in ("ArrowRight", "Enter"):
        screen.press(key)
    box.fill("cut at 30")
    box.press("Enter")
    expect(box).to_have_count(0)
    for key in ("ArrowUp", "ArrowLeft", "ArrowLeft", "Enter"):  # Enter went down a line
        screen.press(key)
    screen.settle()
    assert screen.table_cells(0)[values] == "cut at 30"
    screen.go("Explore")
    expect(screen.chart("density").locator(".xtitle")).to_contain_text("wet = yes")
    screen.settle()
    before = screen.headline.inner_text()
    for title in ("Home", "Data", "Network", "Data"):
        screen.go(title)
    assert screen.table_cells(0)[values] == "cut at 30"
    screen.button("Save or load the columns").click()
    with screen.page.expect_download() as download:
        screen.button("Download").click()
    screen.press("Escape")
    assert read_domains(Path(download.value.path()).read_bytes())[0].domain == Cuts("age", (30,), public=True)
    screen.go("Explore")
    expect(screen.headline).to_have_text(before)
