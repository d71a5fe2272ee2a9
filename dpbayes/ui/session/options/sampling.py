"""What the Posterior sampling page lets a person set: the query game."""

from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.experiments.sampling import Family


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """The query game on the Posterior sampling page: two hypothetical tables, and what answers come from."""

    family: Annotated[Family, Choice(Family, title="model of the records")]
    answers: Annotated[
        int, Parameter("j", low=1, high=2000, typical=100, log=True, whole=True, title="number of answers")
    ]
    answer_epsilon: Annotated[
        float, Parameter(r"\epsilon_1", low=0.01, high=100, typical=1, log=True, title="epsilon of one answer")
    ]
    columns: Annotated[
        int,
        Parameter("|I|", low=1, high=64, typical=1, log=True, whole=True, title="columns that the record changes"),
    ]
    records: Annotated[
        int, Parameter("n", low=1, high=100_000, typical=20, log=True, whole=True, title="records in each table")
    ]
    share: Annotated[float, Parameter("", low=0, high=1, typical=0.75, title="share of successes")]
    concentration: Annotated[
        float, Parameter("a", low=0.1, high=10_000, typical=1, log=True, title="prior concentration")
    ]
    distance: Annotated[
        float, Parameter(r"\rho", low=0.01, high=10_000, typical=1, log=True, title="distance between the two records")
    ]
