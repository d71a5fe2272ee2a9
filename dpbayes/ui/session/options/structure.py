"""What the Structure page lets a person set besides epsilon."""

from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Parameter
from dpbayes.experiments.graph_families import LEAST_NODES, MOST_GRAPHS, MOST_NODES


@dataclass(frozen=True, kw_only=True)
class StructureOptions:
    """The Structure page: how large its graphs are, and how many random ones there are of every density."""

    nodes: Annotated[
        int,
        Parameter(r"|\mathcal I|", low=LEAST_NODES, high=MOST_NODES, typical=12, whole=True, title="nodes"),
    ]
    graphs: Annotated[
        int, Parameter("", low=1, high=MOST_GRAPHS, typical=8, whole=True, title="random graphs of each density")
    ]
