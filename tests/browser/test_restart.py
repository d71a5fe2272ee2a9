"""The server stops and starts again under an open page: it comes back by itself, with the same settings."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.app_screen import SLOW_MS, AppScreen, visits
from tests.browser.serving import dashboard_process, free_port

pytestmark = pytest.mark.browser

RECONNECTS_MS = 6 * SLOW_MS
"""The browser asks for the server ever more seldom, at last every half minute."""


@contextmanager
def restarted(screens: Sequence[AppScreen], server: subprocess.Popen[bytes], port: int) -> Iterator[None]:
    """Stop the server under open pages, and go on once they have found the next one."""
    for screen in screens:
        screen.settle()
    server.kill()
    server.wait()
    gone = [screen.page.get_by_role("dialog") for screen in screens]
    for dialog in gone:
        expect(dialog).to_be_visible()
    with dashboard_process(port):
        for screen, dialog in zip(screens, gone, strict=True):
            expect(dialog).to_be_hidden(timeout=RECONNECTS_MS)
            screen.settle()
        yield


DIE = "lab.experiment=A+die%3A+Hellinger+or+Laplace"


def records(screen: AppScreen) -> Locator:
    return screen.page.get_by_role("textbox", name="Records")


def test_pages_come_back_with_their_settings_when_the_server_does() -> None:
    port = free_port()
    with dashboard_process(port) as (url, server), visits(url) as visit:
        data, hellinger = (
            visit("data?data_seed=7"),
            visit("lab?data_seed=7&lab.experiment=A+die%3A+Hellinger+or+Laplace"),
        )
        records(data).fill("1234")
        records(data).press("Enter")
        expect(data.headline).to_contain_text("1,234 synthetic records")
        headline, address = data.headline.inner_text(), data.page.url
        assert address == f"{url}/data?records=1234&data_seed=7"
        with restarted([data, hellinger], server, port):
            _goes_on_with_its_settings(data, headline, address)
            _reruns_its_part_alone(hellinger)


def _goes_on_with_its_settings(screen: AppScreen, headline: str, address: str) -> None:
    screen.arrived("Data")
    expect(screen.headline).to_have_text(headline)
    expect(records(screen)).to_have_value("1,234")
    assert screen.page.url == address
    for text in ("54", "55"):  # the new session knows its controls after the first message
        records(screen).fill(text)
        records(screen).press("Enter")
        screen.settle()
    expect(screen.headline).to_contain_text("55 synthetic records")
    assert not screen.warnings.count()
    screen.go("Explore")
    expect(screen.main.get_by_text("55 synthetic records").first).to_be_visible()


def _reruns_its_part_alone(screen: AppScreen) -> None:
    for text in ("3", "2"):  # the new session knows its controls after the first message
        screen.type_epsilon(text)
        screen.settle()
    expect(screen.page).to_have_url(re.compile(r"data_seed=7&.*epsilon=2"))
    assert not screen.warnings.count()
