"""Pages that became parts of others: a saved link or story that names one opens the page that has its pictures."""

import dataclasses
from collections.abc import Mapping

from dpbayes.ui.session.link import read_parameter
from dpbayes.ui.session.settings import Settings

MOVED = {
    "release": "explore",
    **dict.fromkeys(("papers", "bounds", "robustness"), "claims"),
    **dict.fromkeys(("best_noise", "structure", "stealth"), "compare"),
}
"""By the place of a page in the addresses of former versions, the place of the page that has its pictures."""

VIEWS: Mapping[str, Mapping[str, str]] = {
    "bounds": {"bounds.claim": "Theorem 1: KL of the posterior"},
    "robustness": {
        "papers.claim": "[Dimitrakakis14] Theorem 1(ii)",
        "papers.picture": "How far one record moves a posterior",
    },
    "structure": {"compare.view": "Graph density"},
    "stealth": {"compare.view": "Non-negativity"},
}
"""By the former place of a page, the settings that show its pictures on the page that has them, as a link has them."""

IGNORED = {place: ("papers.claim", "papers.picture") for place in ("bounds", "robustness")}
"""By the former place of a page, settings that decide what the page shows that has its pictures, and did not there."""


def place_now(place: str) -> str:
    """Return the place of the page that has the pictures of this one: its own where it has not moved."""
    return MOVED.get(place, place)


def view_of(place: str) -> dict[str, str]:
    """Return the settings that show the pictures of a page that has moved: none where its place says it all."""
    return dict(VIEWS.get(place, {}))


def settings_now(place: str, settings: Settings) -> Settings:
    """Return the settings with which the page that `place` has moved to shows what that place showed."""
    kept = tuple(pair for pair in settings.parameters if pair[0] not in IGNORED.get(place, ()))
    settings = dataclasses.replace(settings, parameters=kept)
    for name, text in view_of(place).items():
        if name not in dict(kept):
            settings = settings.with_parameter(name, read_parameter(name, text))
    return settings
