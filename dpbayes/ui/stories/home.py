"""What Home shows and offers: a posterior that moves with epsilon, the person's own data, and their own story."""

import numpy as np
import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import density
from dpbayes.figures.miniature import moving_posterior_svg
from dpbayes.model.counts import count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.session.chosen import kind_called
from dpbayes.ui.session.current import change
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.stories.opened import keep_own, open_step, story_called
from dpbayes.ui.stories.reading import read_story
from dpbayes.ui.stories.shipped import KEYS, shipped_text
from dpbayes.ui.stories.story import OWN
from dpbayes.ui.widgets.show import refusal

_TRIED = "story.tried"

EXAMPLE = "clinic"
"""The shipped story that is offered as a start."""


EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
"""The epsilons that the picture of Home runs through."""


@st.cache_resource(show_spinner=False)
def miniature() -> str:
    """Return the picture of Home: P(dysp = yes | bronc = yes, either = no) of 1,000 synthetic records of Asia."""
    (network, cpts), kind = load_named("asia"), kind_called(Settings().mechanism)
    counts = count(network, sample_dataset(network, cpts, 1000, stream(1, "home", "records")))
    yes = network.states[network.index("dysp")].index("yes")
    cell = np.array([network.row_starts[network.row_labels().index("dysp | bronc=yes, either=no")] + yes])
    theta = np.linspace(0.001, 0.999, 161)
    prior, private = Dirichlets.symmetric(network), []
    for epsilon in EPSILONS:
        release = kind(prior=prior, epsilon=epsilon).release(counts, stream(4, "home", "noise"))
        private.append(np.exp(release.noise_aware_cells(cell, points=256).log_density(theta[:, None]))[:, 0])
    exact = density(prior.updated(counts), int(cell[0]), theta)
    return moving_posterior_svg(theta, exact, np.array(private), EPSILONS, name="P(dysp=yes | bronc=yes, either=no)")


def use_own_data() -> None:
    """Choose the person's own table, which the page Data then asks for."""
    change(data="upload", graph="", row="", target="", evidence=())


def own_story() -> None:
    """Take a story from a file, and offer to open it; what is wrong with the file is said."""
    with st.expander("Your own story", key="story.own.part"):
        st.caption(
            "A story is a small TOML file: a title, a question, and steps with a page and its settings. "
            "`docs/stories.md` describes it; a ready one is a start to change. It stays in this session."
        )
        text = shipped_text(EXAMPLE)
        st.download_button("A story to change (TOML)", text, "story.toml", "application/toml", on_click="ignore")
        file = st.file_uploader("Story (TOML)", type=None, key="story.file")
        if file is None:
            return
        if st.session_state.get(_TRIED, ("", None))[0] != file.file_id:
            st.session_state[_TRIED] = file.file_id, _read(file.getvalue())
        refused: InputError | None = st.session_state[_TRIED][1]
        if refused is not None:
            return refusal(refused)
        story = story_called(OWN)
        if story is not None:
            st.button(f"Open {escaped(story.title)}", key="open.own", on_click=open_step, args=(OWN,))


def _read(content: bytes) -> InputError | None:
    """Make a file the session's own story, or return what refuses it."""
    try:
        keep_own(read_story(content, KEYS))
    except InputError as error:
        return error
    return None
