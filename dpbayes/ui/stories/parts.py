"""The pages that a story may lead to, and the parts of each that it may scroll to."""

from dpbayes.ui.session.settings import Seat

TOP = {"sentence": "", "slider": "", "picture": ""}
"""What is seen without scrolling: nothing is to be scrolled for it."""

PARTS: dict[str, dict[str, str]] = {
    "home": {},
    "data": {"column": "distribution"},
    "network": TOP | {"sizes": "costs", "noise": "noise", "nodes": "bars"},
    "which_epsilon": TOP | {"errors": "which_epsilon-errors"},
    "explore": TOP
    | {
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
    "network": {"noise": "noise", "nodes": "bars"},
    "ledger": {"": "ledger-shown"},
    "sampling": {"game": "game", "answers": "needed"},
    "hellinger": {"throws": "hellinger-throws"},
    "regression": {"price": "regression-epsilons"},
}
"""By page, the parts that have a picture of their own, and its key; "" is a page that has no main slider."""


FOR_RECIPIENT = {"data": "domains"}
"""By page, the key of what is presented to a recipient, who sees none of the pictures of the table."""

WITHOUT_PICTURE = ("home",)
"""Pages that are not presented: there is nothing to show alone."""


def shown_alone(page: str, at: str, seat: Seat) -> str:
    """Return the key of what is presented of a page's part; empty where that is the page's main slider and picture."""
    if seat is Seat.RECIPIENT and page in FOR_RECIPIENT:
        return FOR_RECIPIENT[page]
    pictures = ALONE.get(page, {})
    return pictures.get(at, pictures.get("", ""))
