"""The sentence, what moves the picture and the picture are on the first screen; nothing has to be scrolled for."""

from collections.abc import Iterator

from tests.browser.app_screen import AppScreen

WITH_A_SLIDER = ("Explore", "Proofs", "Lab")
SCREENS = ((853, 480), (400, 800), (1440, 900))
"""1280 x 720 at 150%, a telephone, and a laptop: last, because the page goes on being read there."""

PARTS = {
    "sentence": ".dpbayes-board h2",
    "slider": ".dpbayes-board .slider",
    "picture": ".dpbayes-board .panel .chart",
}
"""What is to be seen."""


PICTURE, LEGEND = ".dpbayes-board .panel", ".dpbayes-board .chart .legend"
LOOKS = 20
LEAST = 90
"""Pixels in height that curves need at least to be read."""


def outside(screen: AppScreen) -> Iterator[str]:
    """Yield what is not wholly in the window, and where its top and its bottom are."""
    size = screen.page.viewport_size
    assert size
    for name, selector in PARTS.items():
        box = screen.main.locator(selector).first.bounding_box()
        assert box, name
        top, bottom, right = box["y"], box["y"] + box["height"], box["x"] + box["width"]
        if top < 0 or bottom > size["height"] or box["x"] < 0 or right > size["width"]:
            yield f"{name} from {top:.0f} to {bottom:.0f} in {size['width']} x {size['height']}"


def covered(screen: AppScreen) -> Iterator[str]:
    """Yield what leaves the curves of the picture too little room: a low window, or the legend over them."""
    picture, legend = (screen.main.locator(selector).first for selector in (PICTURE, LEGEND))
    boxes = [drawn.bounding_box() for drawn in picture.locator(".nsewdrag").all()]  # curves, and dots below them
    box = boxes[0] if boxes else None
    height = sum(one["height"] for one in boxes if one)
    if box and height < LEAST:
        yield f"curves only {height:.0f} high in {screen.page.viewport_size}"
    over = legend.bounding_box() if box and legend.count() else None
    if box and over and over["x"] < box["x"] + box["width"] and over["y"] + over["height"] > box["y"] + 1:
        yield f"curves under the legend in {screen.page.viewport_size}"


def hidden_on_the_first_screen(screen: AppScreen) -> list[str]:
    """Return what a page that has a slider does not show at once, in windows of each size."""
    hidden = []
    for width, height in SCREENS:
        screen.page.set_viewport_size({"width": width, "height": height})
        for _ in range(LOOKS):  # a busy machine takes a while to draw all anew
            screen.page.wait_for_timeout(150)
            if not (faults := [*outside(screen), *covered(screen)]):
                break
        hidden += faults
    screen.settle()
    return hidden
