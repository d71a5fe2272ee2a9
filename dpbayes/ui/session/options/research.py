"""The options of the pages Proofs (the papers' claims), Compare mechanisms, Posterior sampling and Hellinger."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.boards.proofs import PRIOR, RECORDS, STRENGTH
from dpbayes.experiments.hellinger import scenario
from dpbayes.experiments.robustness import RecordFamily
from dpbayes.experiments.sampling import Family
from dpbayes.mechanisms.stealth import Sense
from dpbayes.theory.claims.setting import Axis, ClaimParameters
from dpbayes.theory.index import CLAIMS, EXHIBITS

# Compare mechanisms


class CompareView(enum.Enum):
    """What is compared."""

    NOISE = "Noise per cell"
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
"""The bounds of claims, by the names and titles that they have themselves."""


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


# Posterior sampling


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


# Hellinger


@dataclass(frozen=True, kw_only=True)
class HellingerOptions:
    """The Hellinger page: a die, its hypothetical throws, delta and how the smooth mechanism is run."""

    sides: Annotated[int, scenario.SIDES]
    n: Annotated[int, scenario.THROWS]
    balance: Annotated[scenario.Balance, scenario.BALANCE]
    share: Annotated[float, scenario.SHARE]
    prior: Annotated[float, scenario.PRIOR]
    delta: Annotated[float, scenario.DELTA]
    calibration: Annotated[scenario.SmoothRun, scenario.CALIBRATION]
