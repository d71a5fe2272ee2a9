"""The settings of this session: read from the link when it starts, and replaced by whoever changes one."""

import dataclasses
from collections.abc import Mapping

import streamlit as st

from dpbayes.ui.session.link import settings_from, too_long
from dpbayes.ui.session.moved import settings_now
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.settings import Seat, Settings


def current() -> Settings:
    """Return the session's settings; the first call reads them from the link.

    A person who may see only releases has the recipient's seat, regardless of the link and the control.
    """
    if "settings" not in st.session_state:
        settings, problems = settings_from(st.query_params.to_dict())
        st.session_state["settings"] = settings
        st.session_state["link.problems"] = settings, problems
    settings = st.session_state["settings"]
    assert isinstance(settings, Settings)
    if settings.seat is not Seat.RECIPIENT and not person().may(Act.SEE_RECORDS):
        st.session_state["settings"] = settings = dataclasses.replace(settings, seat=Seat.RECIPIENT)
    return settings


def link_problems() -> tuple[str, ...]:
    """Return what of the link was ignored, in sentences, until a setting changes: pages may run again by themselves."""
    settings, problems = st.session_state.get("link.problems", (None, ()))
    return problems if settings is st.session_state.get("settings") else ()


def change(**fields: object) -> None:
    """Replace some of the session's settings."""
    st.session_state["settings"] = dataclasses.replace(current(), **fields)  # type: ignore[arg-type]


def set_parameter(name: str, value: object) -> None:
    """Set one parameter or option. Errors: InputError out of range."""
    st.session_state["settings"] = current().with_parameter(name, value)


def move_settings(place: str) -> None:
    """Make the settings show on the page that a place has moved to what they showed there."""
    now, problems = current(), link_problems()
    st.session_state["settings"] = settings_now(place, now)
    st.session_state["link.problems"] = current(), problems


def follow_address(query: Mapping[str, str]) -> None:
    """Make the settings those of an address that Back or Forward has led to, but for what no address carries."""
    now, (linked, problems) = current(), settings_from(query)
    kept = {name: getattr(now, name) for name in too_long(now) if name not in query}
    linked = dataclasses.replace(linked, **kept)
    if linked != now:
        st.session_state["settings"] = linked
        st.session_state["link.problems"] = linked, problems


_PLACE = "place"


def show_place(place: str) -> None:
    """Remember which page is shown: the browser's address still is that of the page before, where a step turned it."""
    st.session_state[_PLACE] = place


def shown_place() -> str:
    """Return the place of the page that is shown, "" for Home."""
    return str(st.session_state.get(_PLACE, ""))
