"""Pages that became parts of others: a saved link or story that names one opens the page that has its pictures."""

from collections.abc import Mapping

MOVED = {"release": "explore", "best_noise": "compare", "structure": "compare", "stealth": "compare"}
"""By the place of a page in the addresses of former versions, the place of the page that has its pictures."""

VIEWS: Mapping[str, Mapping[str, str]] = {
    "structure": {"compare.view": "Graph density"},
    "stealth": {"compare.view": "Non-negativity"},
}
"""By the former place of a page, the settings that show its pictures on the page that has them, as a link has them."""


def place_now(place: str) -> str:
    """Return the place of the page that has the pictures of this one: its own where it has not moved."""
    return MOVED.get(place, place)


def view_of(place: str) -> dict[str, str]:
    """Return the settings that show the pictures of a page that has moved: none where its place says it all."""
    return dict(VIEWS.get(place, {}))
