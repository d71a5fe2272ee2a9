"""What Explore lets a person set besides data, network and mechanism: reading it, what matters, a belief, pictures."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.mechanisms.noise.shares import LEAST_WEIGHT, MOST_WEIGHT
from dpbayes.posteriors.noise_aware import POINTS
from dpbayes.posteriors.noise_model import Reading


class Against(enum.Enum):
    """What the probability of non-negativity is drawn against."""

    EPSILON = "against ε"
    INCREMENT = "against t"


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """The pictures of Explore."""

    against: Annotated[Against, Choice(Against, title="horizontal axis of non-negativity")]


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """How the recipient reads a release, how fine her posterior is, which tables matter, and a belief."""

    reading: Annotated[
        Reading,
        Choice(
            Reading,
            title="recipient",
            description="The distribution of the noise is public. A noise-aware reader models it, and the intervals "
            "keep their level. A naive reader treats noisy counts as true counts, as the papers do. "
            "This choice costs no privacy.",
        ),
    ]
    points: Annotated[
        int,
        Parameter(
            "S",
            low=128,
            high=8192,
            typical=POINTS,
            log=True,
            whole=True,
            title="points per row",
            description="The number of possible counts of each row in the noise-aware posterior.",
        ),
    ]
    weight: Annotated[
        float,
        Parameter(
            "w",
            low=LEAST_WEIGHT,
            high=MOST_WEIGHT,
            typical=10.0,
            log=True,
            title="weight of these tables",
            description="The weight of the squared error in these tables. All other tables have weight 1. The "
            "guarantee stays the same.",
        ),
    ]
    suspicion: Annotated[
        float,
        Parameter(
            "p",
            low=0.001,
            high=0.99,
            typical=0.1,
            log=True,
            title="belief before any release",
            description="The attacker's probability, before any release, that a statement about one person is true.",
        ),
    ]
    releases: Annotated[
        int,
        Parameter(
            "k",
            low=1,
            high=100,
            typical=1,
            log=True,
            whole=True,
            title="releases of these records",
            description="Each release uses this mechanism, this guarantee and new noise.",
        ),
    ]
