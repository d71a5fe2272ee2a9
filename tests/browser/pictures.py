"""Take the pictures that the documents show, of the dashboard as it is: `make pictures`.

Each file holds the words of the page at the time, so that `tests/browser/test_pictures.py` can tell an old picture.
"""

import zlib
from pathlib import Path

from playwright.sync_api import ViewportSize, expect

from tests.browser.app_screen import APP, visits
from tests.browser.serving import ROOT, streamlit_server

PICTURES = {
    "docs/explore.png": "explore",
    "docs/network.png": "network",
    "docs/proofs.png": "proofs?mechanism=PosteriorSampler&calibration=as+printed&epsilon=2",
}
"""The address in the dashboard of what each file shows."""

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
