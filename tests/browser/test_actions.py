"""The number of actions from the first page with an own file to four pictures and to a verified release."""

import re
import secrets
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from dpbayes.releases.document import read_document
from dpbayes.releases.verify import verify
from tests.browser.app_screen import AppScreen

pytestmark = pytest.mark.browser

MOST_TO_PICTURES, MOST_TO_A_RELEASE = 8, 14


class Person:
    """A person who counts what they do: clicks, typed fields and uploads."""

    def __init__(self, screen: AppScreen) -> None:
        self.screen, self.actions = screen, 0

    def click(self, place: Locator) -> None:
        self.actions += 1
        place.click()
        self.screen.settle()

    def upload(self, name: str, content: bytes) -> None:
        self.actions += 1
        self.screen.upload(name, content)
        expect(self.screen.headline).to_contain_text(name)
        self.screen.settle()

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.screen.main.get_by_role("button", name=name)


def own_file() -> bytes:
    """Return 2,000 records with a column of numbers and a column with missing values."""
    rng = np.random.default_rng(8)
    ages, smokers = rng.integers(18, 91, 2000), rng.choice(["no", "yes"], 2000)
    scores = rng.choice(["low", "high", ""], 2000, p=[0.6, 0.34, 0.06])
    lines = zip(ages.tolist(), smokers.tolist(), scores.tolist(), strict=True)
    return ("age,smoker,score\n" + "".join(f"{a},{b},{c}\n" for a, b, c in lines)).encode()


def test_an_own_file_needs_few_actions_to_pictures_and_to_a_verified_release(visit, tmp_path: Path) -> None:
    screen = visit("")
    person, name = Person(screen), f"clinic-{secrets.token_hex(4)}"  # the server's ledger lasts as long as the server
    person.click(person.button("My own data"))
    person.upload(f"{name}.csv", own_file())
    person.click(person.button("Declare the values of 2 columns public"))
    person.click(person.button(re.compile("^Declare age cut at 40; 60; 80, rounded from the records")))
    person.click(screen.page.get_by_test_id("stTopNavLink").filter(has_text="Explore"))
    pictures = screen.page.locator(".dpbayes-board .main-svg:first-child")
    expect(screen.page.locator(".dpbayes-board .panel")).to_have_count(4)
    expect(pictures.nth(3)).to_be_attached()
    assert person.actions <= MOST_TO_PICTURES, person.actions
    person.click(person.button("Make a release"))
    person.click(person.button("Release and spend ε = 1"))
    expect(screen.main.get_by_text("8 of 8 checks passed")).to_be_visible()
    with screen.page.expect_download() as download:
        person.click(person.button("release.json").first)
    download.value.save_as(tmp_path / "release.json")
    data = (tmp_path / "release.json").read_bytes()
    assert verify(data).holds
    request = read_document(data).request
    assert (request.dataset, request.n) == (name, 2000)
    assert request.network.states[request.network.names.index("smoker")] == ("no", "yes")
    assert request.missing == {"age": request.network.states[0][0], "smoker": "no", "score": "missing"}
    assert person.actions <= MOST_TO_A_RELEASE, person.actions
