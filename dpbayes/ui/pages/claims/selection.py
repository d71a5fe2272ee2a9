"""Which claim is shown, and with which picture: what a person picked, or what a link names."""

from dataclasses import dataclass

from dpbayes.base.validation import InputError
from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.dimitrakakis14.answers import THEOREM_3_TAIL
from dpbayes.theory.dimitrakakis14.draws import THEOREM_2_II
from dpbayes.theory.dimitrakakis14.families import ASSUMPTION_2, LEMMA_3, LEMMA_5, LEMMA_6
from dpbayes.theory.dimitrakakis14.robustness import THEOREM_1_II
from dpbayes.theory.index import CLAIMS, EXHIBITS, OPENING
from dpbayes.ui.pages.claims.curve import is_visible, possible
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.research import BoundClaim, ClaimPicture, ClaimShown, CompareView
from dpbayes.ui.widgets.address import turn_to

OF_FAMILIES = (THEOREM_1_II, THEOREM_2_II, THEOREM_3_TAIL, ASSUMPTION_2, LEMMA_3, LEMMA_5, LEMMA_6)
"""The claims that the picture of one replaced record is about."""

FILES = {"Compare mechanisms": "compare"}
"""The files of pages that are not called by their titles."""

OPTION_OF = dict(zip(CLAIMS, ClaimShown, strict=True))
"""The option that stands for each claim."""

BOUNDS: dict[Claim, list[BoundClaim]] = {
    claim: [BoundClaim[name] for name, exhibit in EXHIBITS.items() if exhibit.claim == claim] for claim in CLAIMS
}
"""The bounds that are drawn of each claim: none of some, two of one."""


@dataclass(frozen=True)
class Selection:
    """A claim, and its picture: the bound, or one replaced record, or neither."""

    claim: Claim
    bound: BoundClaim | None
    shows_families: bool

    @property
    def option(self) -> ClaimShown:
        """The option that stands for the claim."""
        return OPTION_OF[self.claim]

    @property
    def pictures(self) -> list[BoundClaim | ClaimPicture]:
        """All pictures that the claim has."""
        families = [ClaimPicture.FAMILIES] if self.claim in OF_FAMILIES else []
        return [*BOUNDS[self.claim], *families]

    @property
    def picture(self) -> BoundClaim | ClaimPicture | None:
        """The picture that is shown."""
        return ClaimPicture.FAMILIES if self.shows_families else self.bound


def selected(chosen: Chosen) -> Selection:
    """Return the claim that was picked; else that of the bound that a link names; else one that is worth a look."""
    explicit = dict(chosen.settings.parameters)
    bound: BoundClaim | None = explicit.get("bounds.claim")
    if "papers.claim" in explicit:
        claim = CLAIMS[list(ClaimShown).index(explicit["papers.claim"])]
    else:
        bound = bound or usual_bound(chosen)
        claim = EXHIBITS[bound.name].claim
    bounds = BOUNDS[claim]
    wants_families = chosen.options("papers").picture is ClaimPicture.FAMILIES or not bounds
    shown = bound if bound in bounds else next(iter(bounds), None)
    return Selection(claim, shown, wants_families and claim in OF_FAMILIES)


def usual_bound(chosen: Chosen) -> BoundClaim:
    """Return the bound that the page opens with: the first of `OPENING` that can be evaluated as things are set."""
    for name in OPENING:
        try:
            if is_visible(BoundClaim[name], chosen):
                possible(chosen, BoundClaim[name])
                return BoundClaim[name]
        except InputError:
            continue
    return BoundClaim[OPENING[-1]]


def pick_picture(picture: BoundClaim | ClaimPicture) -> None:
    """Show another picture of the claim."""
    if isinstance(picture, ClaimPicture):
        set_parameter("papers.picture", picture)
    else:
        set_parameter("papers.picture", ClaimPicture.BOUND)
        set_parameter("bounds.claim", picture)


def turn_to_bound(bound: BoundClaim) -> None:
    """Go to Claims, with the claim of this bound and its picture."""
    set_parameter("papers.claim", OPTION_OF[EXHIBITS[bound.name].claim])
    pick_picture(bound)
    turn_to("pages/claims.py")


def turn_to_page(page: str) -> None:
    """Go to the page that a claim names by its title, at the view that may follow behind a colon."""
    title, _, view = page.partition(": ")
    if view:
        set_parameter("compare.view", CompareView(view))
    turn_to(f"pages/{FILES.get(title, title.lower())}.py")
