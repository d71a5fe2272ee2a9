"""What the Papers page lets a person choose."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice
from dpbayes.base.references import PAPERS
from dpbayes.theory.index import CLAIMS


class PaperShown(enum.Enum):
    """Whose claims are listed; the members are named as the papers' keys."""

    ALL = "all papers"
    Zhang16 = f"{PAPERS['Zhang16'].venue} (Zhang et al.)"
    Dimitrakakis14 = f"{PAPERS['Dimitrakakis14'].venue} (Dimitrakakis et al.)"
    Notes = "the Notes"


ClaimShown = enum.Enum(  # type: ignore[misc]  # the members are known when the claims are
    "ClaimShown", {f"claim_{k}": str(claim.reference) for k, claim in enumerate(CLAIMS)}
)
"""One claim, by its place in a paper; the members are in the order of `CLAIMS`."""


def claims_listed(paper: PaperShown) -> list[ClaimShown]:
    """Return the claims that may be chosen while this paper is."""
    return [
        shown
        for shown, claim in zip(ClaimShown, CLAIMS, strict=True)
        if paper is PaperShown.ALL or claim.reference.paper == paper.name
    ]


@dataclass(frozen=True, kw_only=True)
class PapersOptions:
    """The Papers page: whose claims are listed, and the one that is shown in full."""

    paper: Annotated[PaperShown, Choice(PaperShown, title="paper")]
    claim: Annotated[enum.Enum, Choice(ClaimShown, title="claim")]
