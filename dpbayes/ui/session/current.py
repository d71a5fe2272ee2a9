"""The settings of this session, read from the link at its start, and the page that it shows."""

import dataclasses
from collections.abc import Mapping

import streamlit as st

from dpbayes.ui.session.link import settings_from, too_long
from dpbayes.ui.session.run import forget_fragments
from dpbayes.ui.session.settings import Settings


def current() -> Settings:
    """Return the session's settings; the first call reads them from the link."""
    if "settings" not in st.session_state:
        settings, problems = settings_from(st.query_params.to_dict())
        st.session_state["settings"] = settings
        st.session_state["link.problems"] = settings, problems
    settings = st.session_state["settings"]
    assert isinstance(settings, Settings)
    return settings


def link_problems() -> tuple[str, ...]:
    """Return the sentences about ignored parts of the link, until a setting changes."""
    settings, problems = st.session_state.get("link.problems", (None, ()))
    return problems if settings is st.session_state.get("settings") else ()


def change(**fields: object) -> None:
    """Replace some of the session's settings."""
    st.session_state["settings"] = dataclasses.replace(current(), **fields)  # type: ignore[arg-type]


def set_parameter(name: str, value: object) -> None:
    """Set one parameter or option. Errors: InputError out of range."""
    st.session_state["settings"] = current().with_parameter(name, value)


def forget_parameters(group: str) -> None:
    """Return the parameters of a group, such as "bounds", to their defaults."""
    change(parameters=tuple(pair for pair in current().parameters if not pair[0].startswith(f"{group}.")))


def follow_address(query: Mapping[str, str]) -> None:
    """Take the settings from an address after Back or Forward. Settings that are too long for an address stay."""
    now, (linked, problems) = current(), settings_from(query)
    kept = {name: getattr(now, name) for name in too_long(now) if name not in query}
    linked = dataclasses.replace(linked, **kept)
    if linked != now:
        st.session_state["settings"] = linked
        st.session_state["link.problems"] = linked, problems


_PLACE, _IS_NEW = "place", "place.is_new"


def show_place(place: str) -> None:
    """Remember the shown page. When a step opens a page, the address is for a moment that of the former page."""
    st.session_state[_IS_NEW] = place != shown_place()
    if is_new_page():
        forget_fragments()
    st.session_state[_PLACE] = place


def is_new_page() -> bool:
    """Whether this is the first run of a page: its controls, also those of the former page, are built anew."""
    return bool(st.session_state.get(_IS_NEW))


def end_first_run() -> None:
    """Note that the page is shown: from now on, its controls keep what the person enters."""
    st.session_state[_IS_NEW] = False


def shown_place() -> str:
    """Return the place of the shown page in the address; "" for Home."""
    return str(st.session_state.get(_PLACE, ""))
