"""The bar of all pages, the story that is told over them, and the page that is shown."""

from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dpbayes.base.text import escaped
from dpbayes.ui.pages.stories.banner import banner
from dpbayes.ui.pages.stories.opened import open_step, story_page
from dpbayes.ui.pages.stories.shipped import TITLES
from dpbayes.ui.session.current import current, link_problems, move_settings, show_place
from dpbayes.ui.session.drawings import remember
from dpbayes.ui.session.link import left_out, query_of
from dpbayes.ui.session.moved import MOVED, place_now
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.settings import Seat
from dpbayes.ui.widgets.address import become, begin_with_address, turn_to, write_in_place, write_link
from dpbayes.ui.widgets.controls import segments
from dpbayes.ui.widgets.guard import delivering
from dpbayes.ui.widgets.page import live
from dpbayes.ui.widgets.scanning import PAGES_OF_COUNTS, count_connected
from dpbayes.ui.widgets.share import Served, shareable
from dpbayes.ui.widgets.show import guarded
from dpbayes.ui.widgets.sign_in import say_who, sign_in_button
from dpbayes.ui.widgets.turns import TURNS

STYLE = Path(__file__).with_name("style.css")

ABOUT = "dpbayes: differentially private Bayesian networks, their accuracy and their privacy loss."

YOUR_ROLE = "Your role on this server is recipient, which has no other view."


def app() -> None:
    """Run the page that is asked for, below the bar."""
    # Streamlit's menu offers its themes, light, dark or the system's, only beside an entry of the app's own.
    st.set_page_config(page_title="dpbayes", layout="wide", menu_items={"About": ABOUT})
    with delivering(), guarded(), TURNS.turn():
        _shown()


def _shown() -> None:
    turned = story_page()
    if not turned:
        with guarded():
            begin_with_address()
    page = st.navigation(_pages(), position="top")
    if page.url_path in MOVED:
        move_settings(page.url_path)
        become(place_now(page.url_path))
        return
    show_place(page.url_path)
    st.html(STYLE)
    if turned:
        turn_to(turned)
    replaced = remember()
    if replaced and page.title != "Network":  # that page says it itself, for as long as it is so
        st.toast(f"{replaced}; Undo on the Network page restores it.")
    with st.container():  # whatever is said here, the page keeps its place: elsewhere it would be built anew
        top_bar("dpbayes" if page.title == "Home" else page.title)
        write_in_place(page.url_path)
        for problem in link_problems():
            st.warning(escaped(problem))
    with st.container(key="over"), guarded():  # the same place whether a story is open or none
        banner(page.url_path or "home")
    if page.url_path in PAGES_OF_COUNTS:
        live(count_connected, key="count")
    with guarded():
        page.run()
    write_link()


def _pages() -> dict[str, list[StreamlitPage]]:
    """Return the pages by their sections of the navigation; a run makes its own."""
    moved = [st.Page(_moved, title=place, url_path=place, visibility="hidden") for place in MOVED]
    return {
        "": [st.Page("pages/home.py", title="Home", default=True), *moved],
        "Workflow": [
            st.Page("pages/data.py", title="Data", url_path="data"),
            st.Page("pages/network.py", title="Network", url_path="network"),
            st.Page("pages/explore.py", title="Explore", url_path="explore"),
            st.Page("pages/which_epsilon.py", title="Which epsilon", url_path="which_epsilon"),
            st.Page("pages/audit.py", title="Audit", url_path="audit"),
            st.Page("pages/ledger.py", title="Ledger", url_path="ledger"),
        ],
        "Research": [
            st.Page("pages/compare.py", title="Compare mechanisms", url_path="compare"),
            st.Page("pages/claims.py", title="Claims", url_path="claims"),
            st.Page("pages/sampling.py", title="Posterior sampling", url_path="sampling"),
            st.Page("pages/hellinger.py", title="Hellinger", url_path="hellinger"),
            st.Page("pages/accuracy.py", title="Accuracy", url_path="accuracy"),
            st.Page("pages/regression.py", title="Regression", url_path="regression"),
        ],
    }


def _moved() -> None:
    """Show nothing: the app has turned to the page that this one has moved to."""


def top_bar(title: str) -> None:
    """Title, seat, story and link: the same on every page, in one line where the screen is wide."""
    missing = _missing_from_link()
    with st.container(horizontal=True, vertical_alignment="center", key="bar"):
        st.title(title, width="content")
        segments(
            "View as",
            "seat",
            list(Seat) if person().may(Act.SEE_RECORDS) else [Seat.RECIPIENT],
            format_func=lambda seat: seat.value.capitalize(),
            label_visibility="collapsed",
        )
        st.selectbox(
            "Story",
            list(TITLES),
            index=None,
            placeholder="Guided stories",
            format_func=TITLES.__getitem__,
            key=_story_list(),
            on_change=_open_chosen,
            label_visibility="collapsed",
            width=220,
        )
        # Opening it reruns all: a page's fragment moves on without the bar, and the link must not be yesterday's.
        with st.popover("Share this view", key="share", on_change="rerun"):
            if missing:
                st.warning(missing)
            st.caption(
                f"This link reopens {'the rest of the' if missing else 'the same'} view. Uploaded tables are not part "
                "of the link."
            )
            address, why = shareable((st.context.url or "").partition("?")[0], Served.now())
            st.code(f"{address}?{urlencode(query_of(current()))}", language=None, wrap_lines=True)
            if why:
                st.caption(why)
        sign_in_button()
    say_who()
    if current().seat is Seat.RECIPIENT:
        is_choice = person().may(Act.SEE_RECORDS)
        st.caption(
            "Recipient view: only what a release contains. "
            + ("This choice changes what is shown; it does not restrict access." if is_choice else YOUR_ROLE)
        )
    if missing:
        st.caption(missing)


def _open_chosen() -> None:
    """Open the story that was picked; a new list takes its place, so that the same one can be picked again."""
    key = st.session_state[_story_list()]
    st.session_state["story.listed"] = st.session_state.get("story.listed", 0) + 1
    if key:
        open_step(key)


def _story_list() -> str:
    """Return the key of the list of stories: a new one after each story, for a browser may keep what it shows."""
    return f"story.{st.session_state.get('story.listed', 0)}"


def _missing_from_link() -> str:
    """Return the sentence about what the link cannot carry, empty if it carries everything."""
    names = left_out(current())
    if not names:
        return ""
    return (
        f"The link leaves out {' and '.join(names)}: {'it is' if len(names) == 1 else 'they are'} too long for an "
        "address. *Import or export* on the Network page saves a network as a file."
    )
