"""Home: what this is, a small picture of Explore with one click to it, and the stories."""

import streamlit as st

from dpbayes.base.text import escaped, many
from dpbayes.ui.pages.stories.home import own_story, use_own_data
from dpbayes.ui.pages.stories.miniature import miniature
from dpbayes.ui.pages.stories.opened import GROUPS, STORIES, open_step
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.page import within_app
from dpbayes.ui.widgets.show import headline, sentence_instead

FIRST = "epsilon"  # the story for whoever is here for the first time

within_app()
words, picture = st.columns([1, 1], gap="large", vertical_alignment="center")
with words:
    headline("Differentially private Bayesian networks")
    st.markdown("Share what your data shows without exposing anyone in it.")
    with st.container(horizontal=True):
        if st.button("Explore", type="primary", key="explore"):
            st.switch_page("pages/explore.py")
        st.button("What is epsilon?", key="first.story", on_click=open_step, args=(FIRST,))
        if st.button("Use my own data", key="own.data"):
            use_own_data()
            st.switch_page("pages/data.py")
    with sentence_instead():
        chosen = Chosen.now()
        size = f"{many(len(chosen.network.names), 'node')} and {many(len(chosen.network.edges), 'arrow')}"
        st.caption(f"Open now: {escaped(chosen.data_title)}, a network of {size}.")
with picture:
    miniature()

for column, (group, keys) in zip(st.columns(len(GROUPS), gap="medium"), GROUPS.items(), strict=True):
    with column, st.container(key=f"stories.{group}"):
        st.subheader(group)
        for key in keys:
            story = STORIES[key]
            st.button(escaped(story.title), type="tertiary", key=f"open.{key}", on_click=open_step, args=(key,))
            st.caption(f"{story.field}, {len(story.steps)} min. {escaped(story.question)}")

own_story()
st.caption(
    "Releases on these pages are simulated with a seed, so every visitor sees the same picture. A simulated release "
    "is not private. Release makes real releases."
)
