"""A real release from the budget to the recipient's hands, in a real browser."""

import secrets
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpbayes.releases.verify import verify

pytestmark = pytest.mark.browser


def test_a_release_is_paid_for_made_taken_away_and_checked_by_whoever_gets_the_file(visit, tmp_path: Path) -> None:
    screen = visit(f"release?data_seed={secrets.randbelow(10**6)}")  # records that have no budget yet
    name = f"clinic-{secrets.token_hex(4)}"  # the server's ledger lasts as long as the server
    box, choice = screen.main.get_by_label("Dataset name"), screen.main.get_by_label("Dataset and its budget")
    expect(box.or_(choice).first).to_be_visible()
    if not box.count():  # the server's ledger has this table
        choice.click()
        screen.page.get_by_role("option", name="New dataset", exact=True).click()
    for label, text in (("Dataset name", name), ("Total budget ε", "2")):
        screen.main.get_by_label(label, exact=True).fill(text)
        screen.press("Tab")
        screen.settle()
    screen.main.get_by_role("button", name="Release and spend ε = 1").click()
    expect(screen.headline).to_contain_text(f"The release {name}-1 is made")
    expect(screen.main.get_by_role("button", name="Release and spend")).to_have_count(0)
    with screen.page.expect_download() as download:
        screen.main.get_by_role("button", name="release.json").first.click()
    download.value.save_as(tmp_path / "release.json")
    assert verify((tmp_path / "release.json").read_bytes()).holds
    screen.option("Recipient").click()
    expect(screen.headline).to_contain_text("Your last release, as its readers see it: 8 of 8 checks passed")
    screen.settle()
    screen.main.locator("input[type=file]").set_input_files(tmp_path / "release.json")
    expect(screen.page.locator(".dpbayes-board[data-stop] .main-svg").first).to_be_attached()
    screen.settle()
    screen.main.get_by_text("Full statement and checks").click()
    expect(screen.main.get_by_text(f"of the dataset {name}").first).to_be_visible()
    expect(screen.main.get_by_text("8 of 8 checks passed")).to_be_visible()
