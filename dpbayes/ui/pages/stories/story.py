"""What a story is: a question of a field, steps that lead to its answer over the pages, and the parts of a page."""

from dataclasses import dataclass

from dpbayes.ui.session.settings import Seat, Settings

OWN = "own"
"""The key of the person's own story."""


@dataclass(frozen=True)
class Guess:
    """What a person guesses before she sees it: a question, and the name of the number of the page that answers it."""

    ask: str
    number: str


@dataclass(frozen=True)
class Step:
    """A sentence, an action, an observation; the page, its settings, and the part to which the browser scrolls.

    `at` is "" for the top of the page. The settings are complete: unnamed ones have defaults. `seat` is None if the
    person's own seat stays.
    """

    say: str
    do: str
    watch: str
    page: str
    settings: Settings
    at: str = ""
    guess: Guess | None = None
    seat: Seat | None = None

    @property
    def file(self) -> str:
        """The page as Streamlit turns to it."""
        return f"pages/{self.page}.py"


@dataclass(frozen=True)
class Story:
    """A question in the words of its field, the steps to its answer, what was learnt, and which story may follow."""

    title: str
    question: str
    field: str
    steps: tuple[Step, ...]
    learnt: str
    next: str = ""

    @property
    def places(self) -> int:
        """The steps, and after them what was learnt."""
        return len(self.steps) + 1


# The pages that a story may lead to, and the parts of each that it may scroll to

TOP = {"sentence": "", "slider": "", "picture": ""}
"""What is seen without scrolling: nothing is to be scrolled for it."""

PARTS: dict[str, dict[str, str]] = {
    "home": {},
    "data": {"column": "distribution"},
    "network": TOP | {"errors": "error-bars", "sizes": "costs", "noise": "noise", "nodes": "bars"},
    "which_epsilon": TOP,
    "explore": TOP
    | {
        "divergence": "",
        "signs": "",
        "accuracy": "",
        "question": "question",
    },
    "proofs": TOP,
    "release": {},
    "lab": TOP | {"game": "game"},
}
"""By page, what its parts are called in a story, and the key of each in the page; "" is the page's top."""

ALONE: dict[str, dict[str, str]] = {
    "data": {"": "column-chart", "column": "column-chart"},
    "network": {"sizes": ""},
    "proofs": {"": "proofs-board"},
    "release": {"": "release-shown"},
    "lab": {"game": "game"},
}
"""By page, the parts that are presented by another key than their own; "" is the page's main slider and picture.

The part "" is a page that has no main slider.
"""

FOR_RECIPIENT = {"data": "domains"}
"""From a page to the key of the part that is presented to a recipient, who does not see pictures of the table."""

WITHOUT_PICTURE = ("home",)
"""Pages that are not presented, because they have no picture."""


FOLDED = {"question": "question.open"}
"""By the key of a part that is closed until somebody opens it, the key of what opens it."""


def shown_alone(page: str, at: str, seat: Seat) -> str:
    """Return the key of the presented part of a page; "" for the page's main slider and picture."""
    if seat is Seat.RECIPIENT and page in FOR_RECIPIENT:
        return FOR_RECIPIENT[page]
    others = ALONE.get(page, {})
    return others.get(at, PARTS[page].get(at) or others.get("", ""))
