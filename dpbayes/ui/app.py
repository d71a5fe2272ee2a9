"""The pages with their navigation, and the run of one page below the bar and the banner of a story."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from dpbayes.base.text import escaped
from dpbayes.ui.pages.stories.banner import banner, nothing
from dpbayes.ui.pages.stories.opened import story_page, turned
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import change, current, end_first_run, link_problems, show_place
from dpbayes.ui.session.drawings import remember
from dpbayes.ui.session.link import left_out, query_of
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.settings import Seat
from dpbayes.ui.widgets.address import begin_with_address, turn_to, write_in_place, write_link
from dpbayes.ui.widgets.board import begin_share_menu, forget_numbers
from dpbayes.ui.widgets.controls import mirror, parameter_control
from dpbayes.ui.widgets.scanning import PAGES_OF_COUNTS, count_connected
from dpbayes.ui.widgets.show import guarded

STYLE = Path(__file__).with_name("style.css")

WITH_SEAT = ("Explore", "Release")
"""The pages on which a person chooses between the curator's and the recipient's view."""

ABOUT = "dpbayes: differentially private Bayesian networks, their accuracy and their privacy loss."


def app() -> None:
    """Run the page that is asked for, below the bar."""
    # Streamlit's menu offers its themes, light, dark or the system's, only beside an entry of the app's own.
    st.set_page_config(page_title="dpbayes", layout="wide", menu_items={"About": ABOUT})
    with guarded():
        _shown()


def _shown() -> None:
    page_of_step = story_page()
    if not page_of_step:
        with guarded():
            begin_with_address()
    page = st.navigation(
        [
            st.Page("pages/home.py", title="Home", default=True),
            st.Page("pages/data.py", title="Data", url_path="data"),
            st.Page("pages/network.py", title="Network", url_path="network"),
            st.Page("pages/explore.py", title="Explore", url_path="explore"),
            st.Page("pages/release.py", title="Release", url_path="release"),
            st.Page("pages/proofs.py", title="Proofs", url_path="proofs"),
            st.Page("pages/lab.py", title="Lab", url_path="lab"),
        ],
        position="top",
    )
    show_place(page.url_path)
    st.html(STYLE)
    if page_of_step == page.url_path:
        turned()
    elif page_of_step:
        turn_to(f"pages/{page_of_step}.py")
    is_lost = remember() and Chosen.now().domains  # without a table, no network has replaced it
    if is_lost and page.title != "Network" and not current().story:  # that page says it itself; a story restores it
        st.toast("Another network replaced the drawing; Undo on the Network page restores it.")
    with st.container():  # whatever is said here, the page keeps its place: elsewhere it would be built anew
        top_bar("dpbayes" if page.title == "Home" else page.title, has_seat=page.title in WITH_SEAT)
        write_in_place(page.url_path)
        for problem in link_problems():
            st.warning(escaped(problem))
        if page.title not in ("Home", "Data") and (chosen := Chosen.now()).refused and chosen.domains:
            st.warning(f"The last valid declaration of the columns is in use. On Data: {escaped(chosen.refused)}")
    compare_guess: Callable[[], None] = nothing
    with st.container(key="over"), guarded():  # the same place whether a story is open or none
        compare_guess = banner(page.url_path or "home")
    if page.url_path in PAGES_OF_COUNTS:
        with guarded():
            count_connected(Chosen.now())
    forget_numbers()
    with st.container(key="page"), guarded():
        page.run()
    compare_guess()
    write_link()
    end_first_run()


# The bar of all pages: title, seat where a page offers it, and the link to share


def top_bar(title: str, *, has_seat: bool) -> None:
    """Title, seat and link, in one line where the screen is wide."""
    missing = _missing_from_link()
    with st.container(horizontal=True, vertical_alignment="center", key="bar"):
        st.title(title, width="content")
        if has_seat and (title != "Release" or person().may(Act.READ_LEDGER)):
            mirror("segments.seat", current().seat)
            st.segmented_control(
                "View as",
                list(Seat),
                key="segments.seat",
                format_func=lambda seat: seat.value.capitalize(),
                required=True,
                on_change=lambda: change(seat=st.session_state["segments.seat"] or current().seat),
                label_visibility="collapsed",
            )
        if title == "Explore":
            parameter_control("explore.view", label="collapsed")
        # Opening it reruns all: a page's fragment moves on without the bar, and the link must not be yesterday's.
        menu = st.popover("Share", key="share", on_change="rerun")
        begin_share_menu(menu if menu.open else None)
        with menu:
            st.markdown("**Link**")
            if missing:
                st.warning(missing)
            st.caption(
                f"This link reopens {'the rest of the' if missing else 'the same'} view. Uploaded tables are not part "
                "of the link."
            )
            public_name = str(st.get_option("browser.serverAddress") or "")
            address, why = shareable((st.context.url or "").partition("?")[0], public_name)
            st.code(f"{address}?{urlencode(query_of(current()))}", language=None, wrap_lines=True)
            if why:
                st.caption(why)
    if current().seat is Seat.RECIPIENT and title != "dpbayes":
        st.caption(f"Recipient view: what readers of a release see.{'' if has_seat else ' Explore changes the view.'}")
    if missing:
        st.caption(missing)


def _missing_from_link() -> str:
    """Return the sentence about what the link cannot carry, empty if it carries everything."""
    names = left_out(current())
    if not names:
        return ""
    return (
        f"The link leaves out {' and '.join(names)}: {'it is' if len(names) == 1 else 'they are'} too long for an "
        "address. *Import or export* on the Network page saves a network as a file."
    )


# The address that others can open, or the reason why they cannot

ONLY_HERE = "This address works on this computer only."

OWN_NAMES = (None, "", "localhost", "127.0.0.1", "::1")
"""The names of a computer for itself."""


def shareable(opened: str, public_name: str) -> tuple[str, str]:
    """Return the address for other persons of a page opened at `opened`, and why they cannot use it, else "".

    A server that others can reach has a `public_name` (browser.serverAddress).
    """
    parts = urlsplit(opened)
    if parts.hostname not in OWN_NAMES:  # opened from another computer, or by a name that others can use
        return opened, ""
    if public_name in OWN_NAMES:
        return opened, ONLY_HERE
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{public_name}{port}")), ""
