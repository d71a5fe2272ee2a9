"""A real release from the budget to the recipient's hands, in a real browser."""

import secrets
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpbayes.releases.verify import verify

pytestmark = pytest.mark.browser


def test_a_release_is_paid_for_made_taken_away_and_checked_by_whoever_gets_the_file(visit, tmp_path: Path) -> None:
    screen = visit("ledger")
    name = f"clinic-{secrets.token_hex(4)}"  # the server's ledger lasts as long as the server
    form, folded = screen.main.get_by_label("Dataset name"), screen.main.get_by_text("New dataset")
    expect(form.or_(folded).first).to_be_attached()  # a ledger that has datasets folds the form
    if folded.count() and not form.is_visible():
        folded.click()
    for label, text in (("Dataset name", name), ("Total budget (ε)", "2"), ("Justification", "a test")):
        screen.main.get_by_label(label).fill(text)
    screen.main.get_by_role("button", name="Create dataset").click()
    expect(screen.headline).to_contain_text(name)
    screen.go("Explore")
    screen.main.get_by_text("Make this release …").click()
    expect(screen.main.get_by_text("I chose the graph")).to_be_visible()
    screen.page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
    screen.main.get_by_text("I chose the graph").click()
    make = screen.main.get_by_role("button", name="Make release and spend ε = 1")
    expect(make).to_be_enabled()
    make.click()
    expect(screen.main.get_by_text("The release is valid")).to_be_visible()
    with screen.page.expect_download() as download:
        screen.main.get_by_role("button", name="release.json").click()
    download.value.save_as(tmp_path / "release.json")
    assert verify((tmp_path / "release.json").read_bytes()).holds
    screen.option("Recipient").click()
    screen.go("Ledger")
    expect(screen.headline).to_contain_text("without the records")
    assert screen.main.get_by_text(name).count() == 0
    screen.main.locator("input[type=file]").set_input_files(tmp_path / "release.json")
    expect(screen.main.get_by_text("The release is valid")).to_be_visible()
    expect(screen.chart("file-rows").locator(".main-svg").first).to_be_attached()
    expect(screen.main.get_by_text(f"of the dataset {name}").first).to_be_visible()
