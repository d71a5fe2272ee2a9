"""What the Network page lets a person set besides epsilon and the drawing: what its bars by node are of."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice


class ByNode(enum.Enum):
    """What is shown of each node; the first one moves with epsilon, the other one follows when the hand rests."""

    NOISE = "noise in counts"
    ERROR = "error of probabilities"


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """The Network page: its bars by node."""

    by_node: Annotated[
        ByNode,
        Choice(
            ByNode,
            title="quantity by node",
            description="Noise is what a mechanism adds to the counts of a node’s table. Error is the mean absolute "
            "error of the node’s probabilities on planned tables. The error is larger in rows with few records.",
        ),
    ]
