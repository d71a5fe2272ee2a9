"""Pages that became parts of others: a saved link or story that names one opens the page that has its pictures."""

MOVED = {"release": "explore"}
"""By the place of a page in the addresses of former versions, the place of the page that has its pictures."""


def place_now(place: str) -> str:
    """Return the place of the page that has the pictures of this one: its own where it has not moved."""
    return MOVED.get(place, place)
