"""What decides which claims are listed on Claims, which one is shown, and with which picture."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice
from dpbayes.base.references import PAPERS
from dpbayes.theory.index import CLAIMS

PaperShown = enum.Enum(  # type: ignore[misc]  # the members are known when the claims are
    "PaperShown",
    {"ALL": "all papers"} | {claim.reference.paper: PAPERS[claim.reference.paper].signed for claim in CLAIMS},
)
"""Whose claims are listed; the members are named as the papers' keys."""

ALL_PAPERS = PaperShown["ALL"]

ClaimShown = enum.Enum(  # type: ignore[misc]  # the members are known when the claims are
    "ClaimShown", {f"claim_{k}": str(claim.reference) for k, claim in enumerate(CLAIMS)}
)
"""One claim, by its place in a paper; the members are in the order of `CLAIMS`."""


class ClaimPicture(enum.Enum):
    """What is drawn of a claim that has more than one picture."""

    BOUND = "The bound"
    FAMILIES = "How far one record moves a posterior"


def claims_listed(paper: PaperShown) -> list[ClaimShown]:
    """Return the claims that may be chosen while this paper is."""
    return [
        shown
        for shown, claim in zip(ClaimShown, CLAIMS, strict=True)
        if paper is ALL_PAPERS or claim.reference.paper == paper.name
    ]


@dataclass(frozen=True, kw_only=True)
class PapersOptions:
    """Whose claims are listed, the claim that is shown, and its picture."""

    paper: Annotated[PaperShown, Choice(PaperShown, title="paper")]
    claim: Annotated[enum.Enum, Choice(ClaimShown, title="claim")]
    picture: Annotated[ClaimPicture, Choice(ClaimPicture, title="picture")]
