"""The options of the page Proofs that are about the papers' claims."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.boards.proofs import PRIOR, RECORDS, STRENGTH
from dpbayes.experiments.robustness import RecordFamily
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


@dataclass(frozen=True, kw_only=True)
class RobustnessOptions:
    """Two hypothetical tables, the prior, and how often an attacker may be wrong."""

    family: Annotated[RecordFamily, Choice(RecordFamily, title="distribution of the records")]
    records: Annotated[
        int, Parameter("n", low=1, high=100_000, typical=20, log=True, whole=True, title="records in each table")
    ]
    distance: Annotated[float, Parameter("", low=0.01, high=10_000, typical=10, log=True, title="change of one record")]
    value: Annotated[float, Parameter("", low=0, high=1000, typical=0.05, title="value of the other records")]
    share: Annotated[float, Parameter("", low=0, high=1, typical=0.75, title="share of ones")]
    prior: Annotated[float, STRENGTH]
    error: Annotated[
        float, Parameter("d", low=0.001, high=0.45, typical=0.05, log=True, title="largest share of games lost")
    ]
