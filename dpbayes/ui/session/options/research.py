"""The options of the page Proofs that are about the papers' claims."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice
from dpbayes.boards.proofs import PRIOR, RECORDS
from dpbayes.theory.claims.setting import Axis, ClaimParameters
from dpbayes.theory.index import CLAIMS, EXHIBITS

# Proofs


class ProofsView(enum.Enum):
    """The two parts of the page."""

    MECHANISM = "this mechanism"
    CLAIMS = "the papers' claims"


ClaimShown = enum.Enum(  # type: ignore[misc]  # the members come from the claims
    "ClaimShown", {f"claim_{k}": str(claim.reference) for k, claim in enumerate(CLAIMS)}
)
"""One claim, by its place in a paper; the members are in the order of `CLAIMS`."""

BoundClaim = enum.Enum("BoundClaim", {name: exhibit.title for name, exhibit in EXHIBITS.items()})  # type: ignore[misc]
"""The bounds of claims, by the places of the claims."""


@dataclass(frozen=True, kw_only=True)
class ProofsOptions:
    """The part of the page, the claim that is shown, and its bound if it has several."""

    view: Annotated[ProofsView, Choice(ProofsView, title="part", labels=("This mechanism", "The papers’ claims"))]
    claim: Annotated[enum.Enum, Choice(ClaimShown, title="claim")]
    bound: Annotated[enum.Enum, Choice(BoundClaim, title="bound")]


@dataclass(frozen=True, kw_only=True)
class BoundsOptions(ClaimParameters):
    """What a bound is drawn against, and the numbers on which it depends."""

    axis: Annotated[Axis, Choice(Axis, title="horizontal axis")]
    prior: Annotated[float, PRIOR]
    n: Annotated[int, RECORDS]
