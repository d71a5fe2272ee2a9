"""Take the pictures that the documents show, of the dashboard as it is: `make pictures`.

Each file holds the words of the page at the time, so that `tests/browser/test_pictures.py` can tell an old picture.
"""

import io
import zlib
from pathlib import Path

from PIL import Image
from playwright.sync_api import ViewportSize, expect

from tests.browser.app_screen import APP, visits
from tests.browser.serving import ROOT, streamlit_server

PICTURES = {
    "docs/explore.png": "explore",
    "docs/network.png": "network",
    "docs/proofs.png": "proofs?mechanism=PosteriorSampler&calibration=as+printed&epsilon=2",
}
"""The address in the dashboard of what each file shows."""

MOVING, MOVED_WINDOW = "docs/explore.gif", ViewportSize(width=1200, height=720)
"""The picture of a drag, and the window that it shows."""

STEPS, MILLISECONDS = 13, 250
"""Frames of the drag in one direction, and how long each is shown."""

ALL_STOPS = 8_000
"""Milliseconds in which every stop of the board has arrived."""

WINDOW: ViewportSize = {"width": 1440, "height": 900}

WORDS = """() => [...document.querySelectorAll("header, h1, h2, h3, label, [data-testid=stMetric]")]
    .filter((part) => part.checkVisibility() && part.getBoundingClientRect().top < innerHeight - 40)
    .map((part) => part.innerText.replace(/\\s+/g, " ").trim()).filter(Boolean).join("\\n")"""
"""The navigation, the headings, the names of controls and the numbers that begin on the first screen."""

_HEAD, _END = b"Description\0\0\0\0\0", 12
"""What stands before an uncompressed text in a PNG's chunk, and the bytes of the chunk that ends every PNG."""


def take_pictures(url: str, folder: Path) -> None:
    """Take all pictures of the dashboard that is served at an address, each in its file below a folder."""
    with visits(url) as visit:
        for file, place in PICTURES.items():
            screen = visit(place, viewport=WINDOW)
            screen.settle()
            expect(screen.page.get_by_test_id("stSkeleton")).to_have_count(0)  # keeps a part's place
            picture = screen.page.screenshot(animations="disabled")
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(described(picture, screen.page.evaluate(WORDS)))


def take_drag(url: str, path: Path) -> None:
    """Record how Explore follows its slider from the smallest to the largest epsilon and back."""
    with visits(url) as visit:
        screen = visit("explore", viewport=MOVED_WINDOW)
        screen.settle()
        slider = screen.page.get_by_role("slider").first.bounding_box()
        assert slider
        screen.page.wait_for_timeout(ALL_STOPS)
        mouse, across = screen.page.mouse, slider["y"] + slider["height"] / 2
        mouse.move(slider["x"] + slider["width"] / 2, across)
        mouse.down()
        frames = []
        for step in range(STEPS):
            mouse.move(slider["x"] + slider["width"] * (0.02 + 0.96 * step / (STEPS - 1)), across, steps=5)
            screen.page.wait_for_timeout(MILLISECONDS)
            frames.append(Image.open(io.BytesIO(screen.page.screenshot(animations="allow"))).convert("RGB"))
        mouse.up()
    few = [frame.quantize(64, dither=Image.Dither.NONE) for frame in frames]
    few[0].save(path, save_all=True, append_images=few[1:] + few[-2:0:-2], duration=MILLISECONDS, loop=0, optimize=True)


def described(picture: bytes, words: str) -> bytes:
    """Return a PNG with a description of what it shows."""
    chunk = b"iTXt" + _HEAD + words.encode()
    length, check = len(chunk) - 4, zlib.crc32(chunk)
    return picture[:-_END] + length.to_bytes(4) + chunk + check.to_bytes(4) + picture[-_END:]


def description(picture: bytes) -> str:
    """Return the description in a PNG, empty without one."""
    _, _, chunk = picture.partition(b"iTXt" + _HEAD)
    return chunk[: -_END - 4].decode() if chunk else ""


if __name__ == "__main__":
    with streamlit_server(APP) as address:
        take_pictures(address, ROOT)
        take_drag(address, ROOT / MOVING)
