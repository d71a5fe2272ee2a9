"""Links in the browser: a copied link, a typed number, and the first request of a new server."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.app_screen import APP, visits
from tests.browser.serving import streamlit_server

pytestmark = pytest.mark.browser

BAR = ["Home", "Data", "Network", "Explore", "Release", "Proofs", "Lab"]


def test_a_copied_link_reopens_the_same_view_in_another_browser(visit) -> None:
    screen = visit("explore?source=sprinkler")
    screen.button("Fourier").click()
    expect(screen.page.locator(".dpbayes-board")).not_to_contain_text("Laplace")
    screen.type_epsilon("3.7")
    expect(screen.headline).to_contain_text("ε = 3.7:")
    screen.option("Recipient").click()
    expect(screen.headline).to_contain_text("a simulated release answers")
    screen.settle()
    assert screen.shared_link() == screen.page.url
    other = visit(screen.page.url)
    expect(other.headline).to_have_text(screen.headline.inner_text())
    expect(other.epsilon_box).to_have_value("3.7")
    expect(other.option("Recipient")).to_be_checked()
    assert "mechanism=LaplaceFourier" in other.page.url


def test_a_typed_number_out_of_range_gets_a_sentence_and_the_picture_stays(visit) -> None:
    screen = visit("explore?epsilon=2")
    headline = screen.headline.inner_text()
    for text in ("banana", "0", "-1", "inf", "1e99"):
        screen.type_epsilon(text)
        expect(screen.page.locator(".dpbayes-board [role=alert]")).to_contain_text("Enter a number from")
        expect(screen.headline).to_have_text(headline)
    screen.type_epsilon("3.7")
    expect(screen.page).to_have_url(re.compile(r"epsilon=3\.7"))


def test_a_link_as_the_first_request_of_a_new_server_shows_the_whole_app() -> None:
    with streamlit_server(APP) as address, visits(address) as visit:
        screen = visit("explore?epsilon=2&seat=recipient")
        assert screen.page.get_by_test_id("stTopNavLink").all_inner_texts() == BAR
        expect(screen.option("Recipient")).to_be_checked()
        expect(screen.epsilon_box).to_have_value("2")
        assert screen.page.url == f"{address}/explore?epsilon=2&seat=recipient"
