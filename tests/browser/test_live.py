"""A page under a moving slider: picture and sentence follow at once, the rest of the page when the hand rests."""

import pytest
from playwright.sync_api import expect

from tests.browser.app_screen import SLOW_MS

pytestmark = pytest.mark.browser


def test_the_numbers_wait_until_the_hand_rests_and_the_picture_does_not(visit):
    screen = visit("release?epsilon=1")
    difference = screen.metric("Mean difference, all rows")
    first, curves = difference.inner_text(), screen.curves()
    headlines, numbers = set(), set()
    for _ in range(12):
        screen.slider.first.press("ArrowRight")
        curves = screen.until_curves_differ(curves)
        headlines.add(screen.headline.inner_text())
        numbers.add(difference.inner_text())
    assert len(headlines) > 6
    assert numbers == {first}
    expect(difference).not_to_have_text(first, timeout=SLOW_MS)
    screen.settle()
    assert f"epsilon={screen.slider.first.get_attribute('aria-valuetext')}" in screen.page.url
