"""What Explore lets a person set of its pictures."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice


class Against(enum.Enum):
    """What the probability of non-negativity is drawn against."""

    EPSILON = "against ε"
    INCREMENT = "against t"


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """The pictures of Explore."""

    against: Annotated[Against, Choice(Against, title="non-negativity is drawn")]
