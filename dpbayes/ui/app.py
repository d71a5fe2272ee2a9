"""The pages with their navigation, and the run of one page below the bar and the banner of a story."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dpbayes.base.text import escaped
from dpbayes.ui.bar import top_bar
from dpbayes.ui.pages.stories.banner import banner, nothing
from dpbayes.ui.pages.stories.opened import story_page, turned
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import link_problems, show_place
from dpbayes.ui.session.drawings import remember
from dpbayes.ui.widgets.address import begin_with_address, turn_to, write_in_place, write_link
from dpbayes.ui.widgets.board import forget_numbers
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
    replaced = remember()
    if replaced and page.title != "Network":  # that page says it itself, for as long as it is so
        st.toast(f"{replaced}; Undo on the Network page restores it.")
    with st.container():  # whatever is said here, the page keeps its place: elsewhere it would be built anew
        top_bar("dpbayes" if page.title == "Home" else page.title, has_seat=page.title in WITH_SEAT)
        write_in_place(page.url_path)
        for problem in link_problems():
            st.warning(escaped(problem))
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
