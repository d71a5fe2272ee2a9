"""What a story is: a question of a field, and steps that lead to its answer over the pages of the app."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbayes.ui.session.settings import Seat, Settings

if TYPE_CHECKING:
    from dpbayes.ui.pages.stories.quantities import Quantity

OWN = "own"
"""The key of the person's own story."""


@dataclass(frozen=True)
class Guess:
    """What a person guesses before she sees it: a question, and by name the quantity that answers it."""

    ask: str
    quantity: str


@dataclass(frozen=True)
class Carried:
    """A setting of a step that takes its value from an earlier step: which setting, which quantity, and which step."""

    name: str
    quantity: str
    step: int


@dataclass(frozen=True)
class Step:
    """A sentence, an action, an observation; the page, its settings, and the part to which the browser scrolls.

    `at` is "" for the top of the page. The settings are complete: unnamed ones have defaults, and `carried` ones are
    computed when the step is opened. `seat` is None if the person's own seat stays.
    """

    say: str
    do: str
    watch: str
    page: str
    settings: Settings
    at: str = ""
    guess: Guess | None = None
    seat: Seat | None = None
    carried: tuple[Carried, ...] = ()

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


def quantities() -> "Mapping[str, Quantity]":
    """Return the quantities that a story may ask for, by name; the first call imports the pages that compute them."""
    from dpbayes.ui.pages.stories.quantities import QUANTITIES

    return QUANTITIES
