"""Ready examples: a question, and the settings that show its answer."""

from dataclasses import dataclass, replace

import streamlit as st

from dpbayes.mechanisms import Calibration
from dpbayes.ui.session.settings import Cpts, Settings, current


@dataclass(frozen=True)
class Story:
    """One example: what it asks, where it opens, and with which settings."""

    title: str
    question: str
    page: str
    settings: Settings


STORIES: dict[str, Story] = {
    "clinic": Story(
        "A chest clinic",
        "A clinic shares how often breathlessness follows from bronchitis. What does a release at ε = 1 still say?",
        "pages/release.py",
        Settings(target="dysp", evidence=(("smoke", "yes"),)),
    ),
    "sprinkler": Story(
        "Draw an arrow, see its price",
        "Was it the rain or the sprinkler? Add or remove an arrow and watch the noise of each mechanism. "
        "Noise alone does not tell which is nearer: Release does.",
        "pages/network.py",
        Settings(source="sprinkler", records=500),
    ),
    "votes": Story(
        "Sixteen votes",
        "House Votes 1984: 435 members, 16 roll calls, one naive Bayes network. Does the party stay visible?",
        "pages/release.py",
        Settings(data="house_votes_84", target="party", evidence=(("physician_fee_freeze", "y"),)),
    ),
    "census": Story(
        "A census table",
        "Adult: 48,842 people of the 1994 census, with categories. When is a table large enough not to feel the noise?",
        "pages/release.py",
        Settings(data="adult", parameters=(("epsilon", 0.5),)),
    ),
    "paper": Story(
        "The paper's experiment",
        "Naive Bayes with 16 features learnt from 50 records, as in Figure 1 of AAAI-16. Which mechanism is best?",
        "pages/accuracy.py",
        Settings(source="bayes:16", records=50, cpts=Cpts.RANDOM, mechanism="LaplaceFourier", target="class"),
    ),
    "regression": Story(
        "The paper's regression",
        "Income from 14 columns of a census, as in Figure 2 of AAAI-16. What does a draw of the weights cost?",
        "pages/regression.py",
        Settings(),
    ),
    "alarm": Story(
        "A hospital-sized network",
        "Alarm: 37 nodes and 46 arrows from an intensive care unit. Where does the structure cost most?",
        "pages/network.py",
        Settings(source="alarm", records=20_000),
    ),
    "refuted": Story(
        "A promise that breaks",
        "The paper trims a posterior and charges ε = 2 for a draw. What can one record really give away?",
        "pages/audit.py",
        Settings(
            mechanism="PosteriorSampler",
            parameters=(("calibration", Calibration.AS_PRINTED), ("epsilon", 2.0)),
        ),
    ),
    "game": Story(
        "Twenty questions",
        "An adversary knows two tables that differ in one record, and asks. How many answers until she knows which?",
        "pages/sampling.py",
        Settings(),
    ),
    "dice": Story(
        "Who needs a Hellinger score?",
        "Three exponential mechanisms on the posterior of a coin, against plain Laplace noise. Who is nearer?",
        "pages/hellinger.py",
        Settings(),
    ),
}


def open_story(story: Story) -> None:
    """Show a ready example from the seat the person sits in; uploads stay where they are. `story_page` leads to it."""
    st.session_state["settings"] = replace(story.settings, seat=current().seat)
    st.session_state["story.opened"] = story
    st.session_state["story.page"] = story.page


def story_page() -> str | None:
    """Return, once, the page of a story that was just opened: a callback cannot turn to it, the next run can."""
    return st.session_state.pop("story.page", None)
