"""The page of the editor as the browser tests see and touch it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.serving import chromium, usual_window

APP = Path(__file__).with_name("dag_editor_app.py")


class Screen:
    """What a person sees and does on the page of the editor, and what Python made of it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.status = page.locator(".status")

    def python(self) -> dict[str, Any]:
        return json.loads(self.page.get_by_test_id("stCode").inner_text())

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for Python to see a graph of which `holds` is true, and return that graph."""
        for _ in range(200):
            graph = self.python()
            if holds(graph):
                return graph
            self.page.wait_for_timeout(50)
        raise AssertionError(f"still {graph}")

    def until_edges(self, *edges: str) -> None:
        wanted = sorted(edge.split(">") for edge in edges)
        self.until(lambda graph: sorted(graph["edges"]) == wanted)

    def until_names(self, *names: str) -> None:
        self.until(lambda graph: sorted(graph["places"]) == sorted(names))

    def settle(self) -> None:
        """Give a wrong message the time it would need to reach Python."""
        self.page.wait_for_timeout(500)

    def node(self, name: str) -> Locator:
        return self.page.locator(f'.node[aria-label^="node {name},"]')

    def arrow(self, start: str, end: str) -> Locator:
        return self.page.locator(f'.edge[aria-label^="arrow {start} to {end}"]')

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def centre(self, name: str) -> tuple[float, float]:
        return middle(self.node(name).locator(".pill"))

    def drag(self, start: tuple[float, float], end: tuple[float, float], *, drop: bool = True) -> None:
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=6)
        if drop:
            self.page.mouse.up()

    def drag_arrow(self, start: str, end: str, *, drop: bool = True) -> None:
        self.drag(middle(self.node(start).locator(".port")), self.centre(end), drop=drop)

    def width(self, name: str) -> float:
        box = self.node(name).locator(".pill").bounding_box()
        assert box
        return box["width"]

    def touch(self, frames: list[list[tuple[float, float]]]) -> None:
        """Put fingers down at the first frame's points, move them through the others, and lift them."""
        wire = self.page.context.new_cdp_session(self.page)
        for kind, fingers in zip(["touchStart"] + ["touchMove"] * (len(frames) - 1), frames, strict=True):
            points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(fingers)]
            wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


def middle(part: Locator) -> tuple[float, float]:
    box = part.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@contextmanager
def editor_screens(url: str) -> Iterator[Callable[..., Screen]]:
    """Yield what opens the app with a drawing and browser options; in the end nothing failed or left the machine."""
    pages: list[Page] = []
    with ExitStack() as stack:

        def start(drawing: str = "chain", **context: Any) -> Screen:
            page = stack.enter_context(chromium(**context) if context or pages else usual_window())
            pages.append(page)
            page.goto(f"{url}?start={drawing}")
            page.get_by_test_id("stCode").wait_for()
            page.locator(".dag .world").wait_for()
            return Screen(page)

        yield start
    for page in pages:
        assert page.external == []
        assert page.errors == []
