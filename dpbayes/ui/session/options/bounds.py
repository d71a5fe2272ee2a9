"""What the bound of a claim depends on."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice
from dpbayes.theory.claims.setting import Axis, ClaimParameters
from dpbayes.theory.index import EXHIBITS

BoundClaim = enum.Enum("BoundClaim", {name: exhibit.title for name, exhibit in EXHIBITS.items()})  # type: ignore[misc]
"""The claims, by the names and titles that they have themselves."""


@dataclass(frozen=True, kw_only=True)
class BoundsOptions(ClaimParameters):
    """The claim, what it is drawn against, and what else it depends on."""

    claim: Annotated[BoundClaim, Choice(BoundClaim, title="claim")]
    axis: Annotated[Axis, Choice(Axis, title="drawn against")]
