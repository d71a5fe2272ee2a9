"""What the picture of one replaced record depends on."""

from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.experiments.robustness import RecordFamily


@dataclass(frozen=True, kw_only=True)
class RobustnessOptions:
    """Two hypothetical tables, the range of priors, and how often an adversary may be wrong."""

    family: Annotated[RecordFamily, Choice(RecordFamily, title="records are")]
    records: Annotated[
        int, Parameter("n", low=1, high=100_000, typical=20, log=True, whole=True, title="records in each table")
    ]
    distance: Annotated[
        float, Parameter("", low=0.01, high=10_000, typical=10, log=True, title="how far one record is moved")
    ]
    value: Annotated[float, Parameter("", low=0, high=1000, typical=0.05, title="value of the other records")]
    share: Annotated[float, Parameter("", low=0, high=1, typical=0.75, title="share of ones")]
    prior: Annotated[float, Parameter("", low=0.01, high=10_000, typical=10, log=True, title="strength of the prior")]
    low: Annotated[float, Parameter("", low=0.01, high=10_000, typical=0.1, log=True, title="weakest prior shown")]
    high: Annotated[float, Parameter("", low=0.01, high=10_000, typical=1000, log=True, title="strongest prior shown")]
    error: Annotated[
        float, Parameter("d", low=0.001, high=0.45, typical=0.05, log=True, title="share of games lost, at most")
    ]
