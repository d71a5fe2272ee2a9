"""What Claims lets a person set: claims and their pictures, the setting of a bound, and two hypothetical tables."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.base.references import PAPERS
from dpbayes.experiments.robustness import RecordFamily
from dpbayes.theory.claims.setting import Axis, ClaimParameters
from dpbayes.theory.index import CLAIMS, EXHIBITS

PaperShown = enum.Enum(  # type: ignore[misc]  # the members come from the claims
    "PaperShown",
    {"ALL": "all papers"} | {claim.reference.paper: PAPERS[claim.reference.paper].signed for claim in CLAIMS},
)
"""Whose claims are listed; the members are named as the papers' keys."""

ALL_PAPERS = PaperShown["ALL"]

ClaimShown = enum.Enum(  # type: ignore[misc]  # the members come from the claims
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


BoundClaim = enum.Enum("BoundClaim", {name: exhibit.title for name, exhibit in EXHIBITS.items()})  # type: ignore[misc]
"""The claims, by the names and titles that they have themselves."""


@dataclass(frozen=True, kw_only=True)
class BoundsOptions(ClaimParameters):
    """The claim, what it is drawn against, and what else it depends on."""

    claim: Annotated[BoundClaim, Choice(BoundClaim, title="claim")]
    axis: Annotated[Axis, Choice(Axis, title="horizontal axis")]


@dataclass(frozen=True, kw_only=True)
class RobustnessOptions:
    """Two hypothetical tables, the range of priors, and how often an attacker may be wrong."""

    family: Annotated[RecordFamily, Choice(RecordFamily, title="distribution of the records")]
    records: Annotated[
        int, Parameter("n", low=1, high=100_000, typical=20, log=True, whole=True, title="records in each table")
    ]
    distance: Annotated[float, Parameter("", low=0.01, high=10_000, typical=10, log=True, title="change of one record")]
    value: Annotated[float, Parameter("", low=0, high=1000, typical=0.05, title="value of the other records")]
    share: Annotated[float, Parameter("", low=0, high=1, typical=0.75, title="share of ones")]
    prior: Annotated[float, Parameter("", low=0.01, high=10_000, typical=10, log=True, title="strength of the prior")]
    low: Annotated[float, Parameter("", low=0.01, high=10_000, typical=0.1, log=True, title="weakest prior shown")]
    high: Annotated[float, Parameter("", low=0.01, high=10_000, typical=1000, log=True, title="strongest prior shown")]
    error: Annotated[
        float, Parameter("d", low=0.001, high=0.45, typical=0.05, log=True, title="largest share of games lost")
    ]
