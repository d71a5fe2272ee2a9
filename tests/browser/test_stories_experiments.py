"""Stories of the experiments: the papers' figures, on made-up records, on real ones and on a person's own."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.app_screen import SLOW_MS, AppScreen
from tests.conftest import thorough

pytestmark = pytest.mark.browser

CSV = "lit,warm,wet\n" + "".join(
    f"{'yes' if i % 3 else 'no'},{'a' if i % 3 else 'b'},{'on' if i % 5 else 'off'}\n" for i in range(300)
)
SMALL = {"accuracy.repeats": "10", "accuracy.points": "5"}


def done(screen: AppScreen, key: str) -> AppScreen:
    """Wait until the curves are drawn, the work is finished and nothing was refused."""
    expect(screen.chart(key).locator(".scatterlayer path.js-line").first).to_be_attached(timeout=3 * SLOW_MS)
    expect(screen.main.get_by_test_id("stProgress")).to_have_count(0, timeout=3 * SLOW_MS)
    screen.settle()
    assert screen.warnings.count() == 0
    return screen


def stopped(screen: AppScreen) -> str:
    """Press Stop; return what the bar then shows, which stays as it is."""
    bar, button = screen.main.get_by_test_id("stProgress"), screen.main.get_by_role("button")
    button.filter(has_text="Stop").click()
    expect(button.filter(has_text="Continue")).to_be_visible()
    expect(bar).to_contain_text("Stopped after ")
    screen.settle()
    text = bar.inner_text()
    screen.page.wait_for_timeout(1000)
    assert bar.inner_text() == text
    return text


def go_on(screen: AppScreen, text: str) -> None:
    """Press Continue; wait until the bar shows more than it did when the work was stopped."""
    screen.main.get_by_role("button").filter(has_text="Continue").click()
    bar, before = screen.main.get_by_test_id("stProgress"), text.removeprefix("Stopped after ").removesuffix(".")
    expect(bar).to_contain_text("so far")
    expect(bar).not_to_have_text(re.compile(f"(^|after ){re.escape(before)}"))


TABLES = [("house_votes_84", "party"), ("adult", "")]


@pytest.mark.parametrize(("data", "target"), thorough(TABLES, sample=TABLES[:1]))
def test_accuracy_on_a_shipped_table(visit, data, target):
    query = SMALL | {"data": data, "target": target, "accuracy.scene": "the table and its network"}
    screen = done(visit(f"accuracy?{urlencode(query)}"), "accuracy-curves")
    assert "exact" in " ".join(screen.legend("accuracy-curves"))
    screen.option("Recipient").click()
    expect(screen.main.get_by_text("synthetic records of the same network").first).to_be_visible()


def test_accuracy_on_a_table_of_ones_own(visit):
    screen = visit("data")
    screen.load_own("mine.csv", CSV)
    screen.go("Network")
    screen.drag_arrow("lit", "warm")
    screen.settle()
    screen.go("Accuracy")
    done(screen, "accuracy-curves")
    expect(screen.headline).to_contain_text("lit")


def test_stop_stands_still_and_goes_on_and_controls_answer_meanwhile(visit):
    screen = done(visit(f"accuracy?{urlencode(SMALL)}"), "accuracy-curves")
    screen.type_number("Repeats", "40000")
    go_on(screen, stopped(screen))
    screen.option("as stated in the paper").click()
    names = screen.chart("accuracy-curves").locator(".legendtext")  # until then, the work before is what is stopped
    expect(names.filter(has_text="paper")).not_to_have_count(0)
    expect(screen.main.get_by_test_id("stProgress")).not_to_contain_text("Stopped")
    stopped(screen)


def test_figure_2_on_made_up_records_and_on_the_census(visit):
    screen = visit("regression")
    expect(screen.headline).to_contain_text("ne private sample", timeout=3 * SLOW_MS)
    first = screen.headline.inner_text()
    screen.option("Fulton census").click()
    expect(screen.headline).not_to_have_text(first, timeout=3 * SLOW_MS)
    expect(screen.headline).to_contain_text("ne private sample")
    screen.settle()
    assert screen.warnings.count() == 0
    screen.option("Recipient").click()
    screen.settle()
    assert "rgb(46, 134, 193)" not in screen.main.inner_html()


def test_regression_on_a_table_of_ones_own_is_stopped_and_gone_on_with(visit):
    query = {"regression.n": "2000", "regression.points": "4", "regression.repeats": "3"}
    screen = visit(f"regression?{urlencode(query)}")
    screen.option("my table").click()
    expect(screen.warnings.filter(has_text="no uploaded table in this session")).to_be_visible()
    lines = [f"{20 + k % 50},{100 + 3 * (k % 50) + k % 7}" for k in range(300)]
    screen.upload("pay.csv", "\n".join(["age,pay", *lines]).encode())
    expect(screen.warnings.filter(has_text='"age" has no public bounds')).to_be_visible()
    screen.settle()
    editor, box = screen.main.get_by_test_id("stDataFrame").first, screen.page.locator("[id^=gdg-overlay] input")
    for line, bounds in enumerate([("18", "90"), ("0", "500")], start=1):
        editor.click(position={"x": 420, "y": 35 * line + 17})  # the column's name; its bounds stand to the right
        screen.press("ArrowRight")
        for text in bounds:
            screen.press("Enter")
            box.fill(text)
            box.press("Tab")
            expect(box).to_have_count(0)
        screen.settle()
    done(screen, "regression-errors")
    expect(screen.headline).to_contain_text("ne private sample predicts pay")
    screen.go("Home")
    screen.go("Regression")
    expect(screen.headline).to_contain_text("ne private sample predicts pay")
    assert screen.warnings.count() == 0
    screen.type_number("Repeats", "200000")
    text = stopped(screen)
    assert text.endswith("of 200,000 repeats.")
    go_on(screen, text)
    stopped(screen)
