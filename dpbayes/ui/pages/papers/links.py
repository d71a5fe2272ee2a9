"""On which page, and at which settings, a claim can be seen: its exhibit on Bounds, or the page that it states."""

from dataclasses import dataclass

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.index import CLAIMS, EXHIBITS
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.session.options.compare import CompareView
from dpbayes.ui.widgets.address import turn_to


@dataclass(frozen=True)
class View:
    """A page by its title, and the parameters that let it show a claim."""

    title: str
    parameters: tuple[tuple[str, object], ...] = ()

    @property
    def page(self) -> str:
        """The page's file."""
        return f"pages/{PLACES.get(self.title, self.title.lower().replace(' ', '_'))}.py"

    def open(self) -> None:
        """Set the parameters, and go to the page."""
        for name, value in self.parameters:
            set_parameter(name, value)
        turn_to(self.page)


PLACES = {"Compare mechanisms": "compare"}
"""The places of pages whose titles are other words."""


def _stated(page: str) -> View:
    """Return the view that a claim states: a page's title, and behind a colon the view of Compare mechanisms."""
    title, _, view = page.partition(": ")
    return View(title, (("compare.view", CompareView(view)),) if view else ())


VIEWS: dict[Claim, View] = {claim: _stated(claim.page) for claim in CLAIMS if claim.page} | {
    exhibit.claim: View("Bounds", (("bounds.claim", BoundClaim[name]),)) for name, exhibit in reversed(EXHIBITS.items())
}
"""Where every claim that a page shows is shown; of two exhibits of a claim, the first."""


def view_of(claim: Claim) -> View | None:
    """Return where a claim can be seen; None where no page shows it."""
    return VIEWS.get(claim)
