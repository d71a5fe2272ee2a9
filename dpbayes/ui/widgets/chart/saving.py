"""The names of the files of a page, and the line below a saved chart that states its settings."""

import re
from collections.abc import Mapping

from dpbayes.base.text import typed
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import current, shown_place
from dpbayes.ui.session.link import changed_settings
from dpbayes.ui.session.options import groups_of
from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.widgets.chart.facts import PLANNED, Facts

LONGEST_VALUE, LONGEST_NAME = 40, 120
"""The largest number of characters of a setting, such as the text of a drawn network, and of a file name."""

_OF_THE_VIEW = ("seat", "story", "step", "present")
"""Settings that do not change a picture: the seat and the story."""

_OF_THE_CURATOR = ("data_seed",)
"""Settings that determine the records. A recipient must not see them, also not in the name of a file."""

_SHARED_OPTIONS_PAGE = "release"
"""The group of options that apply to all pages: the reading of releases and the weights of tables."""


# The names of files


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


# The line below a chart


def settings_caption(page: str, chosen: Chosen, page_facts: Facts, *, simulates: bool = False) -> str:
    """Return the line below a saved chart: its page, the declared facts, and all other settings that are not defaults.

    The line states whether releases were simulated, and whether the chart is the curator's.
    """
    facts = {name: _cut(value) for name, fact in page_facts.items() if (value := fact(chosen))}
    spoken_for = {
        key.format(group=group) for name in facts for key in _KEYS[name] for group in groups_of(page) or (page,)
    }
    others = {key: value for key, value in _short(page, chosen.settings).items() if key not in spoken_for}
    kind = f" A {'simulation' if simulates else 'picture'}, not a release."
    is_private = chosen.is_curator and facts.get("tables") != PLANNED
    private = " Curator view: may contain values that are not private." if is_private else ""
    return f"{_line(page, facts | others)}{kind}{private}"


def release_caption(page: str, facts: Mapping[str, str]) -> str:
    """Return the line below a chart of a real release, which does not depend on the settings of the page."""
    return _line(page, {name: _cut(fact) for name, fact in facts.items()})


def _line(page: str, facts: Mapping[str, str]) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in facts.items())
    return f"dpbayes, page {page or 'home'}{f': {values}' if values else ''}."


_KEYS = {
    "mechanism": ("mechanism", "{group}.subject"),
    "epsilon": ("epsilon", "{group}.epsilon"),
    "table": ("data",),
    "tables": ("{group}.tables", "data"),
    "n": ("records", "{group}.n", "{group}.records"),
}
"""The settings that a fact replaces in the line."""


def _short(page: str, settings: Settings) -> dict[str, str]:
    """Return the settings that differ from the defaults, shortened, with the options that apply to this page."""
    hidden = _OF_THE_VIEW + (_OF_THE_CURATOR if settings.seat is Seat.RECIPIENT else ())
    changed = {key: _cut(_in_full(value)) for key, value in changed_settings(settings).items() if key not in hidden}
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
