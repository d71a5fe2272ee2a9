"""Home: what this is, one answer as the public sees it, and the guided stories."""

import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, shortest
from dpbayes.boards.board import View
from dpbayes.boards.curator import CuratorInputs
from dpbayes.boards.explore import PERSON, explore_table
from dpbayes.experiments.releases import at_any_epsilon
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.model.dataset import count
from dpbayes.model.question import Question
from dpbayes.model.synthetic import sample_dataset
from dpbayes.sources.named_networks import load_named
from dpbayes.ui.pages.stories.opened import open_step
from dpbayes.ui.pages.stories.story import GROUPS, STORIES
from dpbayes.ui.session.chosen import EXAMPLE
from dpbayes.ui.session.current import change, current
from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.widgets.board import show
from dpbayes.ui.widgets.show import headline

WHAT_IT_IS = (
    "dpbayes learns a **Bayesian network** from a table: which columns depend on which, and with what probabilities. "
    "It publishes the counts for this with noise, so that a release hardly depends on any one record: **differential "
    "privacy**."
)
EPSILON = (
    "**Epsilon (ε)** says how little. At ε = 1, a 10% belief about one person can rise to at most 23.2%. "
    "A larger ε lets more be learned, also about one person."
)
STEPS = "The **curator**, who alone sees a real table and its blue curve, makes a release in four steps:"
ARROW = (
    "An arrow of the network shows that one column depends on another. It costs accuracy, not privacy: it splits a "
    "count into smaller ones, and each of these has as much noise as the whole."
)
QUESTION = "**How likely is bronchitis for a smoker?** Published: noisy counts of 1,000 synthetic patients."


def home_page() -> None:
    """Show what this is beside a live picture, the two ways in, and the stories below."""
    with st.container(key="beside-home"):
        words, picture = st.columns([1, 2], gap="medium")
    with words, st.container():  # on a phone, the picture comes after this
        headline("Share what your data shows, and limit what it reveals about anyone.")
        st.markdown(WHAT_IT_IS)
        st.markdown(EPSILON)
        with st.container(horizontal=True):
            if st.button("Explore this example", type="primary", key="explore"):
                st.switch_page("pages/explore.py")
            if st.button("My own data", key="own.data"):
                change(seat=Seat.CURATOR, data="upload", graph="", target="", state="", evidence=())
                st.switch_page("pages/data.py")
            st.button("What is ε? (3 min)", key="begin", on_click=open_step, args=("epsilon",))
    with words:
        st.markdown(STEPS)
        with st.container(horizontal=True, gap="small"):
            for number, page in enumerate(("Data", "Network", "Explore", "Release"), start=1):
                st.page_link(f"pages/{page.lower()}.py", label=f"{number}. :primary[{page}]", width="content")
        st.caption(ARROW)
    with picture:
        st.markdown(QUESTION)
        value = shortest(float(current().parameter("epsilon")))
        show("answer", "home", asia_answer, value, is_alone=True)
    for column, (group, keys) in zip(st.columns(len(GROUPS), gap="medium"), GROUPS.items(), strict=True):
        with column, st.container(key=f"stories.{group}", gap="xsmall"):
            st.markdown(f"**{group} with a guided story**")
            for key in keys:
                story = STORIES[key]
                st.button(escaped(story.title), type="tertiary", key=f"open.{key}", on_click=open_step, args=(key,))
                st.caption(f"{len(story.steps)} min. {escaped(story.question)}")


def asia_answer() -> View:
    """Return the answer that Explore begins with, from a public table: synthetic records of Asia, Laplace noise."""
    network, cpts = load_named("asia")
    counts = count(network, sample_dataset(network, cpts, Settings().records, stream(Settings().data_seed, "records")))
    question = Question(network, *EXAMPLE[0], dict([EXAMPLE[1]]))
    meanings = {"bronc": "bronchitis", "smoke": "smoking"}
    laplace = LaplaceUpdates(prior=network, epsilon=1)
    at = CuratorInputs(at_any_epsilon(laplace), counts, question, meanings)
    return explore_table(at, beside=(PERSON,)).stating({"table": f"{counts.n:,} synthetic records of the Asia network"})
