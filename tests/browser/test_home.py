"""Home's small picture: it moves by itself until somebody touches it, and then follows the hand."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.app_screen import AppScreen

pytestmark = pytest.mark.browser


def parts(screen: AppScreen) -> tuple[Locator, Locator, Locator]:
    """Return the slider, the button and the private curve."""
    picture = screen.page.locator(".miniature")
    slider = picture.get_by_role("slider", name="Epsilon (ε)")
    expect(slider).to_be_visible()
    return slider, picture.get_by_role("button"), picture.locator("path.private").first


def until_it_moves(curve: Locator) -> None:
    before = curve.get_attribute("d")
    expect(curve).not_to_have_attribute("d", before or "")


def still(screen: AppScreen, curve: Locator) -> str:
    before = curve.get_attribute("d")
    screen.page.wait_for_timeout(500)
    assert curve.get_attribute("d") == before
    return before or ""


def test_it_moves_until_it_is_touched_and_then_by_keys_alone(visit) -> None:
    screen = visit("")
    screen.page.emulate_media(reduced_motion="no-preference")
    screen.page.reload()
    slider, button, curve = parts(screen)
    expect(button).to_have_text("Pause")
    until_it_moves(curve)
    slider.focus()
    expect(button).to_have_text("Play")
    still(screen, curve)
    curves = []
    for key, epsilon in (("Home", "0.01"), ("ArrowRight", "0.018"), ("End", "100")):
        slider.press(key)
        expect(slider).to_have_attribute("aria-valuetext", epsilon)
        curves.append(still(screen, curve))
    assert len(set(curves)) == 3
    button.click()
    until_it_moves(curve)
    button.click()
    still(screen, curve)


def test_it_stands_still_for_whoever_prefers_less_motion(visit) -> None:
    screen = visit("")
    slider, button, curve = parts(screen)
    expect(button).to_have_text("Play")
    expect(slider).to_have_attribute("aria-valuetext", "1")
    still(screen, curve)


def test_groups_of_stories_and_the_way_to_explore_are_on_the_first_screen(visit) -> None:
    screen = visit("", viewport={"width": 1440, "height": 900})
    for title in ("What may we publish?", "Laplace or Fourier?", "A claim that fails"):
        expect(screen.main.get_by_role("button", name=title, exact=True)).to_be_in_viewport(ratio=1)
    screen.main.get_by_role("button", name="Explore", exact=True).click()
    screen.arrived("Explore")
