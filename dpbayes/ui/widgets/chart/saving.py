"""What a saved chart is called, and what it says of its settings."""

import re

from dpbayes.ui.session.settings import Seat, Settings, query_of

REAL = "ledger"
"""The page whose charts are of real releases and their budgets."""

LONGEST_VALUE, LONGEST_NAME = 40, 120
"""Characters of a setting, such as a drawn network's text, and of the name of a file."""


def settings_told(page: str, settings: Settings) -> str:
    """Return the line below a saved chart: where it was drawn, what differs from the defaults, and for whom."""
    chosen = ", ".join(f"{name} = {value}" for name, value in _short(settings).items())
    private = " Drawn for the curator: it may show what is not private." if settings.seat is Seat.CURATOR else ""
    kind = "" if page == REAL else " A picture, not a release."
    return f"dpbayes, page {page or 'home'}: {chosen or 'the default settings'}.{kind}{private}"


def file_name(page: str, chart: str, settings: Settings) -> str:
    """Return the name of a saved chart's file, without its end: page, chart and settings, in plain characters."""
    parts = [page, chart, *(f"{name}={value}" for name, value in _short(settings).items())]
    return re.sub(r"[^\w.=-]+", "-", " ".join(parts), flags=re.ASCII).strip("-.")[:LONGEST_NAME]


def _short(settings: Settings) -> dict[str, str]:
    """Return what differs from the defaults, what is too long to be read cut short."""
    values = query_of(settings).items()
    return {k: v if len(v) <= LONGEST_VALUE else v[: LONGEST_VALUE - 1] + "…" for k, v in values if k != "seat"}
