"""Home: the journey in steps, and ready examples."""

import streamlit as st

from dpbayes.base.text import escaped, many
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.stories.home import own_story
from dpbayes.ui.stories.opened import open_step
from dpbayes.ui.stories.shipped import STORIES
from dpbayes.ui.widgets.page import within_app
from dpbayes.ui.widgets.show import headline, sentence_instead

STEPS = (
    ("pages/data.py", "1 · Data", "Choose a ready table, synthesise one, or load your own. State public domains."),
    ("pages/network.py", "2 · Network", "Draw the arrows. See what the structure costs in noise and in error."),
    ("pages/release.py", "3 · Release", "Pick a mechanism and ε. See the private posterior beside the exact one."),
    ("pages/audit.py", "4 · Audit", "See what is claimed, what is proved, and what one record can give away."),
)

PER_ROW = 5  # examples beside each other on a wide screen

within_app()
headline("Hand over what a table teaches, without handing over anyone in it.")
st.markdown(
    "You hold a table and fit a Bayesian network to it. Somebody else wants the *posterior*. "
    "Here you see what each way of making it private promises, and what it costs."
)

for column, (target, title, text) in zip(st.columns(len(STEPS)), STEPS, strict=True):
    with column.container(border=True, height="stretch"):
        st.page_link(target, label=f"**{title}**")
        st.caption(text)

with sentence_instead():
    chosen = Chosen.now()
    net = chosen.network
    size = f"{many(len(net.names), 'node')} and {many(len(net.edges), 'arrow')}"
    st.info(f"Open now: {escaped(chosen.data_title)}, a network of {size}.")

st.subheader("Ready examples")
for start in range(0, len(STORIES), PER_ROW):
    for column, (key, story) in zip(st.columns(PER_ROW), list(STORIES.items())[start : start + PER_ROW], strict=False):
        with column.container(border=True, height="stretch"):
            st.markdown(f"**{story.title}**")
            st.caption(f"{story.field}, {len(story.steps)} steps. {story.question}")
            # style.css shows the first word: the title stands above.
            st.button(f"Open *{story.title}*", key=f"open.{key}", on_click=open_step, args=(key,))

own_story()

with st.expander("What the guarantee means"):
    st.markdown(
        "A mechanism is **ε-differentially private** if replacing any one record changes the probability of any output "
        "by at most a factor $e^{\\varepsilon}$. Neighbouring tables have the same public number of records *n* and "
        "differ in one. Each mechanism carries two numbers: what its paper *claims*, and what is *certified*, that is "
        "proved and checked here by enumeration."
    )
st.caption(
    "This app simulates: its noise comes from a seeded generator, so that a class can see the same picture twice. "
    "A simulated release is not a protected one."
)
