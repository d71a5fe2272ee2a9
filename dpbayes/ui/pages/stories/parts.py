"""The pages that a story may lead to, and the parts of each that it may scroll to."""

from dpbayes.ui.session.settings import Seat

TOP = {"sentence": "", "slider": "", "picture": ""}
"""What is seen without scrolling: nothing is to be scrolled for it."""

PARTS: dict[str, dict[str, str]] = {
    "home": {},
    "data": {"column": "distribution"},
    "network": TOP | {"errors": "error-bars", "sizes": "costs", "noise": "noise", "nodes": "bars"},
    "which_epsilon": TOP | {"errors": "which_epsilon-errors"},
    "explore": TOP
    | {
        "divergence": "follows-divergence",
        "signs": "follows-counts",
        "accuracy": "follows-accuracy",
        "releases": "dots",
        "question": "question",
        "rows": "rows",
        "divergences": "kl",
        "numbers": "measures",
        "coverage": "coverage-open",
        "comparison": "comparison",
    },
    "audit": TOP | {"curve": "audit-curve"},
    "ledger": {},
    "sampling": TOP | {"game": "game-told", "answers": "game-needed"},
    "hellinger": TOP | {"throws": "hellinger-throws"},
    "claims": TOP,
    "compare": TOP | {"graphs": "compare-graphs"},
    "accuracy": TOP | {"overtaking": "accuracy-crossings"},
    "regression": TOP | {"price": "regression-epsilons"},
}
"""By page, what its parts are called in a story, and the key of each in the page; "" is the page's top."""

ALONE: dict[str, dict[str, str]] = {
    "data": {"": "column-chart", "column": "column-chart"},
    "network": {"sizes": ""},
    "which_epsilon": {"errors": ""},
    "audit": {"curve": ""},
    "ledger": {"": "ledger-shown"},
    "sampling": {"game": "game", "answers": "needed"},
}
"""By page, the parts that are presented by another key than their own; "" is the page's main slider and picture.

The part "" is a page that has no main slider.
"""

FOR_RECIPIENT = {"data": "domains"}
"""From a page to the key of the part that is presented to a recipient, who does not see pictures of the table."""

WITHOUT_PICTURE = ("home",)
"""Pages that are not presented, because they have no picture."""


FOLDED = {
    "question": "question.open",
    "dots": "dots.open",
    "measures": "measures.open",
    "rows": "rows.open",
    "kl": "rows.open",
}
"""By the key of a part that is closed until somebody opens it, the key of what opens it."""

CURATORS = ("follows-divergence", "follows-accuracy", "dots", "measures", "comparison", "kl")
"""The keys of parts that the recipient does not have: the main picture is presented in place of them."""


def shown_alone(page: str, at: str, seat: Seat) -> str:
    """Return the key of the presented part of a page; "" for the page's main slider and picture."""
    if seat is Seat.RECIPIENT and page in FOR_RECIPIENT:
        return FOR_RECIPIENT[page]
    others = ALONE.get(page, {})
    key = others.get(at, PARTS[page].get(at) or others.get("", ""))
    return "" if seat is Seat.RECIPIENT and key in CURATORS else key
