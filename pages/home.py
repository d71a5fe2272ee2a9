"""Home: what this is, one click to the four pictures, and the stories."""

from base64 import b64encode

import streamlit as st

from dpbayes.base.text import escaped, many
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.stories.home import miniature, own_story, use_own_data
from dpbayes.ui.stories.opened import open_step
from dpbayes.ui.stories.shipped import GROUPS, STORIES
from dpbayes.ui.widgets.page import within_app
from dpbayes.ui.widgets.show import headline, sentence_instead

FIRST = "clinic"  # the story for whoever is here for the first time

within_app()
words, picture = st.columns([3, 2], gap="large", vertical_alignment="center")
with words:
    headline("Differentially private Bayesian networks")
    st.markdown(
        "Fit a Bayesian network to a table and release its posterior without giving away any record. See what each "
        "mechanism promises, what it costs, and how close the private posterior is to the exact one."
    )
    with sentence_instead():
        chosen = Chosen.now()
        size = f"{many(len(chosen.network.names), 'node')} and {many(len(chosen.network.edges), 'arrow')}"
        st.caption(f"Open now: {escaped(chosen.data_title)}, a network of {size}.")
    with st.container(horizontal=True):
        if st.button("Explore", type="primary", key="explore"):
            st.switch_page("pages/explore.py")
        st.button("Start the five-minute story", key="first.story", on_click=open_step, args=(FIRST,))
        if st.button("Use my own data", key="own.data"):
            use_own_data()
            st.switch_page("pages/data.py")
with picture:
    drawing = b64encode(miniature().encode()).decode()
    alt = "A private posterior comes closer to the exact one as epsilon grows from 0.01 to 100."
    st.html(f'<img class="miniature" alt="{alt}" src="data:image/svg+xml;base64,{drawing}">')

for column, (group, keys) in zip(st.columns(len(GROUPS), gap="medium"), GROUPS.items(), strict=True):
    with column:
        st.subheader(group)
        for key in keys:
            story = STORIES[key]
            with st.container(border=True):
                st.markdown(f"**{story.title}**")
                st.caption(f"{story.field}, about {len(story.steps)} minutes. {story.question}")
                # style.css shows the first word: the title stands above.
                st.button(f"Open *{story.title}*", key=f"open.{key}", on_click=open_step, args=(key,))

own_story()
st.caption(
    "Releases here are simulated with a seeded generator, so that a class sees the same picture twice; a simulated "
    "release protects nobody. Real releases are made on Explore and recorded on Ledger."
)
