"""What each page lets a person set besides data, network and mechanism; the link carries it as `page.name`."""

import enum
from dataclasses import dataclass
from typing import Annotated, Any

from dpbayes.audit.registry import AUDITS
from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.experiments.hellinger.scenario import (
    BALANCE,
    CALIBRATION,
    DELTA,
    PRIOR,
    SHARE,
    SIDES,
    THROWS,
    Balance,
)
from dpbayes.experiments.regression.scenario import RegressionScenario
from dpbayes.experiments.sampling import Family
from dpbayes.mechanisms import PRIVATE, Calibration
from dpbayes.mechanisms.regression import DRAWS, NOISE_VARIANCE, NORM_BOUND, PRIOR_PRECISION
from dpbayes.mechanisms.stealth import Sense
from dpbayes.ui.session.options.accuracy import AccuracyOptions
from dpbayes.ui.session.options.bounds import BoundsOptions
from dpbayes.ui.session.options.papers import PapersOptions
from dpbayes.ui.session.options.robustness import RobustnessOptions
from dpbayes.ui.session.options.structure import StructureOptions


class ShownSensitivity(enum.Enum):
    """Which sensitivity colours the candidates of a die of three sides."""

    SMOOTH = "smooth"
    LOCAL = "local"


class OutputRange(enum.Enum):
    """How much of what may be released is in the picture."""

    NEAR = "near the data"
    ALL = "all counts"


@dataclass(frozen=True, kw_only=True)
class HellingerOptions:
    """The Hellinger page: a die, its hypothetical throws, delta and how the smooth mechanism is run."""

    sides: Annotated[int, SIDES]
    n: Annotated[int, THROWS]
    balance: Annotated[Balance, BALANCE]
    share: Annotated[float, SHARE]
    prior: Annotated[float, PRIOR]
    delta: Annotated[float, DELTA]
    calibration: Annotated[Calibration, CALIBRATION]
    shown: Annotated[ShownSensitivity, Choice(ShownSensitivity, title="sensitivity shown")]
    range: Annotated[OutputRange, Choice(OutputRange, title="range shown")]


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """The query game on the Posterior sampling page: two hypothetical tables, and what answers come from."""

    family: Annotated[Family, Choice(Family, title="answers are drawn from")]
    answers: Annotated[int, Parameter("j", low=1, high=2000, typical=100, log=True, whole=True, title="answers asked")]
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
        float, Parameter(r"\rho", low=0.01, high=10_000, typical=1, log=True, title="distance of the two records")
    ]


AuditSubject: type[enum.Enum] = enum.Enum(  # type: ignore[misc]  # the members come from the registries
    "AuditSubject",
    {"RELEASE": "the Release page's mechanism"}
    | {kind.__name__: kind.label for kind in PRIVATE}
    | {audit.kind.__name__: audit.hypothetical.title for audit in AUDITS if audit.hypothetical is not None},
)
"""What is audited: a mechanism for a network, by its class's name, or one of hypothetical tables."""


class AttackedTables(enum.Enum):
    """Between which two tables the attacker of the Audit page has to decide."""

    REAL = "one record of the table"
    MADE_UP = "a made-up table"


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The Audit page: what is audited, the die, node or regression where it is no network, and the attacker."""

    subject: Annotated[enum.Enum, Choice(AuditSubject, title="what is audited")]
    n: Annotated[int, Parameter("n", low=1, high=3000, typical=200, log=True, whole=True, title="throws or records")]
    sides: Annotated[int, SIDES]
    prior: Annotated[float, PRIOR]
    delta: Annotated[float, DELTA]
    omega: Annotated[
        float,
        Parameter(
            r"\omega", low=1e-4, high=0.49, typical=0.1, log=True, title="omega", description="The least probability."
        ),
    ]
    features: Annotated[int, Parameter("d", low=1, high=64, typical=2, log=True, whole=True, title="features")]
    precision: Annotated[float, PRIOR_PRECISION]
    variance: Annotated[float, NOISE_VARIANCE]
    norm: Annotated[float, NORM_BOUND]
    draws: Annotated[int, DRAWS]
    target: Annotated[
        float, Parameter(r"\epsilon", low=1e-3, high=1e3, typical=1, log=True, title="epsilon that is asked for")
    ]
    tables: Annotated[AttackedTables, Choice(AttackedTables, title="the attacker looks at")]
    record: Annotated[
        int, Parameter("", low=1, high=10_000_000, typical=1, log=True, whole=True, title="record in question")
    ]
    first: Annotated[int, Parameter("", low=0, high=3000, typical=2, whole=True, title="throws on side 1")]
    odds: Annotated[
        float, Parameter("", low=1e-6, high=1e6, typical=1, log=True, title="attacker's odds before any release")
    ]
    releases: Annotated[int, Parameter("j", low=1, high=50, typical=20, whole=True, title="releases")]


class StealthAim(enum.Enum):
    """How the increment of the Stealth page is chosen."""

    TARGET = "by probability"
    INCREMENT = "by t"


@dataclass(frozen=True, kw_only=True)
class StealthOptions:
    """The Stealth page: what has to be non-negative, and the increment, given or found for a probability."""

    sense: Annotated[Sense, Choice(Sense, title="what has to be non-negative")]
    aim: Annotated[StealthAim, Choice(StealthAim, title="choose the increment")]
    target: Annotated[float, Parameter("P", low=0.5, high=1, typical=0.9, title="probability of non-negativity")]
    t: Annotated[float, Parameter("t", low=0, high=50, typical=0.25, title="stealth increment")]


OPTIONS: dict[str, type[Any]] = {
    "robustness": RobustnessOptions,
    "structure": StructureOptions,
    "papers": PapersOptions,
    "sampling": SamplingOptions,
    "hellinger": HellingerOptions,
    "audit": AuditOptions,
    "stealth": StealthOptions,
    "bounds": BoundsOptions,
    "accuracy": AccuracyOptions,
    "regression": RegressionScenario,
}
"""The options of every page that has some: a frozen dataclass of fields annotated as a mechanism's are."""


def described_options() -> dict[str, Parameter | Choice]:
    """Return every page's options by the name they have in the link, as `page.name`."""
    return {
        f"{page}.{name}": note for page, options in OPTIONS.items() for name, note in parameters_of(options).items()
    }
