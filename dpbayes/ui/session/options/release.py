"""What the Explore page lets a person set besides data, network and mechanism: reading it, what matters, a belief."""

from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.mechanisms.noise.shares import LEAST_WEIGHT, MOST_WEIGHT
from dpbayes.posteriors.noise_aware import POINTS
from dpbayes.posteriors.noise_model import Reading


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """How the recipient reads what is released, how closely her posterior is worked out, what matters, and a belief."""

    reading: Annotated[
        Reading,
        Choice(
            Reading,
            title="the recipient",
            description="What was added is public, and only its draw is not: whoever reckons with it gets intervals "
            "that hold what they say. The papers take noisy counts as real. Both cost no privacy.",
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
            title="points of every row",
            description="How many possible counts of every row the posterior that knows of the noise is made of.",
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
            title="their weight",
            description="How many times the squared error in these tables counts, that in all others once. The noise "
            "is shared out for the least sum; what is promised stays the same.",
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
            description="How probable somebody holds what is suspected of one person.",
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
            description="Each with this mechanism and this promise, drawn anew.",
        ),
    ]
