"""What a file of a page is called, and what a saved chart says of its settings."""

import re
from collections.abc import Mapping

from dpbayes.base.text import typed
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import current, shown_place
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.options import groups_of
from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.widgets.chart.facts import PLANNED, Facts

LONGEST_VALUE, LONGEST_NAME = 40, 120
"""Characters of a setting, such as a drawn network's text, and of the name of a file."""

_OF_THE_VIEW = ("seat", "story", "step", "present")
"""Settings that change who looks and in which story, and not what is drawn."""

_OF_THE_CURATOR = ("data_seed",)
"""Settings that tell the very records, which a recipient does not see, nor in the name of a file."""

_SHARED_OPTIONS_PAGE = "release"
"""The group whose options, how releases are read and which tables matter, count on all pages."""


# The names of files


def offered_name(name: str, end: str, *, simulates: bool = False, curator_only: bool = False) -> str:
    """Return the name of a file that the page at hand offers at its settings, with its end."""
    private = "curator-only-" if curator_only else ""
    return f"{private}{file_name(shown_place(), name, current(), simulates=simulates)}.{end}"


def file_name(page: str, name: str, settings: Settings, *, simulates: bool = False) -> str:
    """Return the name of a file, without its end: page, what is in it and settings, in plain characters."""
    return plain_name(page, name, _short(page, settings), simulates=simulates)


def plain_name(page: str, name: str, values: Mapping[str, str], *, simulates: bool = False) -> str:
    """Return the same of what is told of it in other words than the settings'."""
    first, words = _words(page), _words(name)
    own = words[len(first) :] if words[: len(first)] == first else words
    parts = [page, *own, *["simulation"] * simulates, *(f"{key}={value}" for key, value in values.items())]
    return re.sub(r"[^\w.=-]+", "-", " ".join(parts), flags=re.ASCII).strip("-.")[:LONGEST_NAME]


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


# The line below a chart


def settings_caption(page: str, chosen: Chosen, page_facts: Facts, *, simulates: bool = False) -> str:
    """Return the line below a saved chart: its page, the facts that this tells, and what else differs.

    It says whether releases were simulated, and for whom the chart was drawn.
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
    """Return the line below a chart of a release that was made: what is set on the page is not what it is of."""
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
"""The settings that a fact speaks for."""


def _short(page: str, settings: Settings) -> dict[str, str]:
    """Return what differs from the defaults, what is too long to be read cut short; of options, those that count."""
    hidden = _OF_THE_VIEW + (_OF_THE_CURATOR if settings.seat is Seat.RECIPIENT else ())
    changed = {key: _cut(_in_full(value)) for key, value in query_of(settings).items() if key not in hidden}
    return {
        key: value
        for key, value in changed.items()
        if key.rpartition(".")[0] in ("", _SHARED_OPTIONS_PAGE, *groups_of(page))
    }


def _in_full(value: str) -> str:
    """Return the text of a setting as a person types it: "0.000001", which is 1e-06 in a link."""
    return typed(float(value)) if re.fullmatch(r"-?[\d.]+e[-+]?\d+", value) else value


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
