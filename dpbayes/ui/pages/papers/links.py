"""On which page, and at which settings, a claim can be seen: the exhibits of Bounds, and what other pages name."""

from dataclasses import dataclass

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.dimitrakakis14.families import ASSUMPTION_2
from dpbayes.theory.index import EXHIBITS
from dpbayes.theory.zhang16 import figures, fourier, regression, stealth, table1
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.session.settings import set_parameter
from dpbayes.ui.widgets.address import turn_to

BOUNDS = "pages/bounds.py"

TITLES = {
    BOUNDS: "Bounds",
    "pages/stealth.py": "Stealth",
    "pages/structure.py": "Structure",
    "pages/robustness.py": "Robustness",
    "pages/regression.py": "Regression",
    "pages/accuracy.py": "Accuracy",
}


@dataclass(frozen=True)
class View:
    """A page, and the parameters that let it show a claim."""

    page: str
    parameters: tuple[tuple[str, object], ...] = ()

    @property
    def title(self) -> str:
        """The page's title."""
        return TITLES[self.page]

    def open(self) -> None:
        """Set the parameters, and go to the page."""
        for name, value in self.parameters:
            set_parameter(name, value)
        turn_to(self.page)


NAMED: dict[Claim, View] = {
    fourier.REMARK_SCALE: View("pages/structure.py"),
    fourier.REMARK_COMPARISON: View("pages/structure.py"),
    fourier.ALGORITHM_2: View("pages/stealth.py"),
    fourier.CONSISTENCY: View("pages/stealth.py"),
    stealth.SMALL_INCREMENTS: View("pages/stealth.py"),
    figures.FIGURE_1: View("pages/accuracy.py"),
    figures.FIGURE_2: View("pages/regression.py"),
    regression.LEMMA_D1: View("pages/regression.py"),
    regression.GRADIENT: View("pages/regression.py"),
    ASSUMPTION_2: View("pages/robustness.py"),
    **dict.fromkeys(table1.CLAIMS, View(BOUNDS)),
}
"""Claims without an exhibit on Bounds that a page names."""

VIEWS: dict[Claim, View] = NAMED | {
    exhibit.claim: View(BOUNDS, (("bounds.claim", BoundClaim[name]),)) for name, exhibit in reversed(EXHIBITS.items())
}
"""Where every claim that a page shows is shown; of two exhibits of a claim, the first."""


def view_of(claim: Claim) -> View | None:
    """Return where a claim can be seen; None where no page shows it."""
    return VIEWS.get(claim)
