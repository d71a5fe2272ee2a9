"""Former pages: a saved link or story that names one opens the page that now has its pictures."""

import dataclasses
from collections.abc import Mapping

from dpbayes.ui.session.link import read_parameter
from dpbayes.ui.session.settings import Settings

MOVED = {
    "release": "explore",
    **dict.fromkeys(("papers", "bounds", "robustness"), "claims"),
    **dict.fromkeys(("best_noise", "structure", "stealth"), "compare"),
}
"""From the place of a former page in the address to the place of the page that has its pictures."""

VIEWS: Mapping[str, Mapping[str, str]] = {
    "bounds": {"bounds.claim": "Theorem 1: KL of the posterior"},
    "robustness": {
        "papers.claim": "[Dimitrakakis14] Theorem 1(ii)",
        "papers.picture": "How far one record moves a posterior",
    },
    "structure": {"compare.view": "Graph density"},
    "stealth": {"compare.view": "Non-negativity"},
}
"""From the place of a former page to the settings, as in a link, that show its pictures on the present page."""

IGNORED = {place: ("papers.claim", "papers.picture") for place in ("bounds", "robustness")}
"""From the place of a former page to the settings that had no effect there, but have one on the present page."""


def place_now(place: str) -> str:
    """Return the place of the page that has the pictures of this place; the same place for a present page."""
    return MOVED.get(place, place)


def view_of(place: str) -> dict[str, str]:
    """Return the settings that show the pictures of a former page; none if its place is sufficient."""
    return dict(VIEWS.get(place, {}))


def settings_now(place: str, settings: Settings) -> Settings:
    """Return the settings under which the present page shows the pictures of a former page."""
    kept = tuple(pair for pair in settings.parameters if pair[0] not in IGNORED.get(place, ()))
    settings = dataclasses.replace(settings, parameters=kept)
    for name, text in view_of(place).items():
        if name not in dict(kept):
            settings = settings.with_parameter(name, read_parameter(name, text))
    return settings
