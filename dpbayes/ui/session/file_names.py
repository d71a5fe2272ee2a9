"""The names of the files that pages offer: the page, the content and the settings."""

import re
from collections.abc import Mapping

from dpbayes.base.text import typed
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connected import scanned_records
from dpbayes.ui.session.current import current, shown_place
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.options import groups_of
from dpbayes.ui.session.settings import Seat, Settings

LONGEST_VALUE, LONGEST_NAME = 40, 120
"""The largest number of characters of a setting, such as the text of a drawn network, and of a file name."""

_OF_THE_VIEW = ("seat", "story", "step", "present")
"""Settings that do not change a picture: the seat and the story."""

_OF_THE_CURATOR = ("data_seed",)
"""Settings that determine the records. A recipient must not see them, also not in the name of a file."""

_SHARED_OPTIONS_PAGE = "release"
"""The group of options that apply to all pages: the reading of releases."""


def public_records_text(chosen: Chosen) -> str:
    """Return the public number of records if it is known; this function does not count a table."""
    if chosen.settings.data == "synthetic":
        return f"{chosen.settings.records:,}"
    try:
        n = scanned_records(chosen.connected) if chosen.is_connected else chosen.n
    except InputError:
        return ""
    return "" if n is None else f"{n:,}"


def offered_name(name: str, end: str, *, simulates: bool = False, curator_only: bool = False) -> str:
    """Return the name, with its extension, of a file that the shown page offers at its settings."""
    private = "curator-only-" if curator_only else ""
    return f"{private}{file_name(shown_place(), name, current(), simulates=simulates)}.{end}"


def file_name(page: str, name: str, settings: Settings, *, simulates: bool = False) -> str:
    """Return the name of a file without its extension: page, content and settings, in plain characters."""
    return plain_name(page, name, _short(page, settings), simulates=simulates)


def plain_name(page: str, name: str, values: Mapping[str, str], *, simulates: bool = False) -> str:
    """Return the name of a file with these values instead of the settings."""
    first, words = _words(page), _words(name)
    own = words[len(first) :] if words[: len(first)] == first else words
    parts = [page, *own, *["simulation"] * simulates, *(f"{key}={value}" for key, value in values.items())]
    return re.sub(r"[^\w.=-]+", "-", " ".join(parts), flags=re.ASCII).strip("-.")[:LONGEST_NAME]


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


def _short(page: str, settings: Settings) -> dict[str, str]:
    """Return the settings that differ from the defaults, shortened, with the options that apply to this page."""
    hidden = _OF_THE_VIEW + (_OF_THE_CURATOR if settings.seat is Seat.RECIPIENT else ())
    changed = {key: _cut(_in_full(value)) for key, value in query_of(settings).items() if key not in hidden}
    return {
        key: value
        for key, value in changed.items()
        if key.rpartition(".")[0] in ("", _SHARED_OPTIONS_PAGE, *groups_of(page))
    }


def _in_full(value: str) -> str:
    """Return the text of a setting as typed: "0.000001" for 1e-06 in a link."""
    return typed(float(value)) if re.fullmatch(r"-?[\d.]+e[-+]?\d+", value) else value


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
