"""Take the pictures that the documents show, of the dashboard as it is: `make pictures`."""

from pathlib import Path

from playwright.sync_api import ViewportSize, expect

from tests.browser.app_screen import APP, SLOW_MS, visits
from tests.browser.serving import ROOT, streamlit_server

PICTURES = {
    "docs/explore.png": "explore",
    "docs/network.png": "network",
    "docs/audit.png": "audit?mechanism=PosteriorSampler&calibration=as+printed&epsilon=2",
}
"""The address in the dashboard of what each file shows."""

WINDOW: ViewportSize = {"width": 1280, "height": 860}


def take_pictures(url: str, folder: Path) -> None:
    """Take all pictures of the dashboard that is served at an address, each in its file below a folder."""
    with visits(url) as visit:
        for file, place in PICTURES.items():
            page = visit(place, viewport=WINDOW).page
            expect(page.get_by_test_id("stSkeleton")).to_have_count(0, timeout=SLOW_MS)  # what keeps a part's place
            page.screenshot(path=folder / file, animations="disabled")


if __name__ == "__main__":
    with streamlit_server(APP) as address:
        take_pictures(address, ROOT)
