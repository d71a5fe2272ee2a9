"""What Compare mechanisms lets a person set besides the promise: the view, and which mechanisms are shown."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.experiments.graph_families import LEAST_NODES, MOST_GRAPHS, MOST_NODES
from dpbayes.mechanisms.stealth import Sense


class CompareView(enum.Enum):
    """What is compared."""

    NOISE = "Noise per cell"
    ANSWER = "One answer"
    DENSITY = "Graph density"
    NON_NEGATIVITY = "Non-negativity"
    TABLES = "Whole tables"


class MechanismsShown(enum.Enum):
    """Which mechanisms a picture over graphs shows."""

    LEAST = "least noise"
    ALL = "all"


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The view, and the mechanisms that are shown over graphs."""

    view: Annotated[CompareView, Choice(CompareView, title="view")]
    shown: Annotated[
        MechanismsShown,
        Choice(
            MechanismsShown,
            title="mechanisms shown",
            description="Shows all mechanisms, or those with the least noise without δ and with δ.",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class StructureOptions:
    """Graphs of growing density: their size, and how many random ones there are of every density."""

    nodes: Annotated[
        int,
        Parameter(r"|\mathcal I|", low=LEAST_NODES, high=MOST_NODES, typical=12, whole=True, title="nodes"),
    ]
    graphs: Annotated[
        int, Parameter("", low=1, high=MOST_GRAPHS, typical=8, whole=True, title="random graphs of each density")
    ]


class StealthAim(enum.Enum):
    """How the increment t is chosen."""

    TARGET = "by probability"
    INCREMENT = "by t"


@dataclass(frozen=True, kw_only=True)
class StealthOptions:
    """Non-negativity: what has to be non-negative, and the increment, given or found for a probability."""

    sense: Annotated[Sense, Choice(Sense, title="non-negative quantity")]
    aim: Annotated[StealthAim, Choice(StealthAim, title="choice of the increment")]
    target: Annotated[float, Parameter("P", low=0.5, high=1, typical=0.9, title="probability of non-negativity")]
    t: Annotated[float, Parameter("t", low=0, high=50, typical=0.25, title="non-negativity increment")]
