"""What a page states of its files: the facts on which its pictures depend, their names, and the line below a chart."""

import re
from collections.abc import Callable, Mapping

import streamlit as st

from dpbayes.base.text import shortest, typed
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen, kind_called
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


# The facts on which the pictures of a page depend: the page declares them, and a saved picture states their values

Fact = Callable[[Chosen], str]
"""The value of one fact, as a saved picture states it; "" if the fact does not apply."""

Facts = dict[str, Fact]

PLANNED = "planned, from public probabilities"
"""The fact `tables` of a picture that shows no data."""

_DECLARED = "facts"


def pictures_tell(facts: Facts) -> None:
    """Declare the facts on which the pictures of the shown page depend."""
    st.session_state[_DECLARED] = (shown_place(), facts)


def facts_of(page: str) -> Facts:
    """Return the facts that a page has declared."""
    place, facts = st.session_state.get(_DECLARED, ("", {}))
    return facts if place == page else {}


def public_records_text(chosen: Chosen) -> str:
    """Return the public number of records if it is known; this function does not count a table."""
    if chosen.settings.data == "synthetic":
        return f"{chosen.settings.records:,}"
    try:
        n = scanned_records(chosen.connected) if chosen.is_connected else chosen.n
    except InputError:
        return ""
    return "" if n is None else f"{n:,}"


MECHANISM: Facts = {"mechanism": lambda chosen: kind_called(chosen.settings.mechanism).label}
EPSILON: Facts = {"epsilon": lambda chosen: shortest(chosen.epsilon)}
TABLE: Facts = {"table": lambda chosen: chosen.data_title}
N: Facts = {"n": public_records_text}


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
