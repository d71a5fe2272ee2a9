"""What pages let a person set besides data, network and mechanism, in groups; the link carries it as `group.name`."""

import enum
from dataclasses import dataclass
from typing import Annotated, Any

from dpbayes.audit.registry import AUDITS
from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.boards.which_epsilon import TOLERANCE
from dpbayes.experiments import die
from dpbayes.experiments.accuracy import plan
from dpbayes.experiments.claims import BoundClaim, BoundsOptions, ClaimShown
from dpbayes.experiments.regression_scenario import RegressionScenario
from dpbayes.mechanisms import OF_RECORDS, PRIVATE
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.mechanisms.regression import DRAWS, NOISE_VARIANCE, NORM_BOUND, PRIOR_PRECISION
from dpbayes.posteriors.noise_model import Reading

# Explore


class ExploreView(enum.Enum):
    """The two boards of the page."""

    RELEASE = "what the public sees"
    EPSILON = "which epsilon"


class SimulatedTables(enum.Enum):
    """Whose releases are simulated: of made-up tables, or of the open table, for the curator alone."""

    PLANNED = "planned tables"
    LOADED = "the table itself"


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """The board of Explore that is shown, and of the second one the tolerance and the tables."""

    view: Annotated[ExploreView, Choice(ExploreView, title="view", labels=("Answer", "Which epsilon"))]
    tolerance: Annotated[float, TOLERANCE]
    tables: Annotated[
        SimulatedTables,
        Choice(
            SimulatedTables,
            title="tables",
            labels=("made-up tables", "the table itself"),
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """How the recipient reads a release."""

    reading: Annotated[
        Reading,
        Choice(
            Reading,
            title="reader",
            description="A noise-aware reader models the noise, whose distribution is public, so that 95% intervals "
            "keep their level: the default. A naive reader treats noisy counts as true counts, as the papers do. Its "
            "error can be smaller, but its intervals can miss most true values. This choice costs no privacy.",
        ),
    ]


# Audit


AuditSubject: type[enum.Enum] = enum.Enum(  # type: ignore[misc]  # the members come from registries
    "AuditSubject",
    {"RELEASE": "the Explore page's mechanism"}
    | {kind.__name__: kind.label for kind in (*PRIVATE, *OF_RECORDS)}
    | {audit.kind.__name__: audit.hypothetical.title for audit in AUDITS if audit.hypothetical is not None},
)
"""What is audited: a mechanism for a network, by its class's name, or one of hypothetical tables."""

LABELS = {"RELEASE": "mine", "PrintedMap": "MAP by density (one node)"}
"""What the page calls a mechanism that links have another text for."""


Example: type[enum.Enum] = enum.Enum(  # type: ignore[misc]  # the members come from a registry
    "Example", {"NONE": "none"} | {f"example_{k}": case for k, case in enumerate(c for a in AUDITS for c in a.cases)}
)
"""A question that one audit answers, in place of the chosen mechanism."""


SUBJECT = Choice(
    AuditSubject,
    title="mechanism",
    labels=tuple(LABELS.get(subject.name, str(subject.value).replace(" sensitivity", "")) for subject in AuditSubject),
)


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The Proofs page: what is audited, and the die, node or regression where it is no network."""

    subject: Annotated[enum.Enum, SUBJECT]
    example: Annotated[enum.Enum, Choice(Example, title="example")]
    n: Annotated[int, Parameter("n", low=1, high=3000, typical=200, log=True, whole=True, title="throws or records")]
    sides: Annotated[int, die.SIDES]
    prior: Annotated[float, die.PRIOR]
    delta: Annotated[float, die.DELTA]
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


# Proofs


class ProofsView(enum.Enum):
    """The two parts of the page."""

    MECHANISM = "this mechanism"
    CLAIMS = "the papers' claims"


@dataclass(frozen=True, kw_only=True)
class ProofsOptions:
    """The part of the page, the claim that is shown, and its bound if it has several."""

    view: Annotated[ProofsView, Choice(ProofsView, title="part", labels=("This mechanism", "The papers’ claims"))]
    claim: Annotated[enum.Enum, Choice(ClaimShown, title="claim")]
    bound: Annotated[enum.Enum, Choice(BoundClaim, title="bound")]


# Lab


class Experiment(enum.Enum):
    """The experiments of the page, those with fewer prerequisites first."""

    ACCURACY = "Predictions"
    GAME = "Query game"
    COMPARISON = "Mechanisms compared"
    SAMPLING = "Posterior sampling"
    REGRESSION = "Regression"
    DIE = "Coin or die"


@dataclass(frozen=True, kw_only=True)
class LabOptions:
    """The experiment that is shown."""

    experiment: Annotated[Experiment, Choice(Experiment, title="experiment")]


# Accuracy


class Scene(enum.Enum):
    """Which network predicts which records: by default the chosen table and graph."""

    TABLE = "the table and its network"
    NETWORK = "the drawn network, synthetic"
    NAIVE_BAYES = "naive Bayes, synthetic"


class MechanismsShown(enum.Enum):
    """Which curves are drawn: by default Laplace, Fourier and the chosen mechanism."""

    FIGURE_1 = "Figure 1"
    ALL = "all"


MECHANISMS = Choice(
    MechanismsShown,
    title="mechanisms",
    labels=("Laplace, Fourier, mine", "all, also noise-aware"),
    description="A noise-aware reader models the added noise. Such curves take longer and use fewer repeats.",
)
SCENE = Choice(
    Scene,
    title="records to predict",
    labels=("my table", "my graph, synthetic", "Zhang et al. 2016, synthetic"),
)


@dataclass(frozen=True, kw_only=True)
class AccuracyOptions:
    """The records that are predicted, the curves, and the size of the simulation."""

    scene: Annotated[Scene, SCENE]
    mechanisms: Annotated[MechanismsShown, MECHANISMS]
    training: Annotated[int, plan.TRAINING]
    repeats: Annotated[int, plan.REPEATS]


# Posterior sampling


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """The query game: two hypothetical tables, and the epsilon of one answer."""

    answers: Annotated[
        int, Parameter("j", low=1, high=2000, typical=100, log=True, whole=True, title="number of answers")
    ]
    answer_epsilon: Annotated[
        float, Parameter(r"\epsilon_1", low=0.01, high=100, typical=1, log=True, title="privacy loss of one answer")
    ]
    columns: Annotated[
        int,
        Parameter("", low=1, high=64, typical=1, log=True, whole=True, title="columns of a record"),
    ]
    records: Annotated[
        int, Parameter("n", low=1, high=100_000, typical=20, log=True, whole=True, title="records in each table")
    ]
    share: Annotated[float, Parameter("", low=0, high=1, typical=0.75, title="share of successes")]
    concentration: Annotated[
        float, Parameter("a", low=0.1, high=10_000, typical=1, log=True, title="prior concentration")
    ]


# All


OPTIONS: dict[str, type[Any]] = {
    "explore": ExploreOptions,
    "lab": LabOptions,
    "release": ReleaseOptions,
    "proofs": ProofsOptions,
    "sampling": SamplingOptions,
    "hellinger": die.Scenario,
    "audit": AuditOptions,
    "bounds": BoundsOptions,
    "accuracy": AccuracyOptions,
    "regression": RegressionScenario,
}
"""The options of every group, which saved links name: a frozen dataclass of fields annotated as a mechanism's are."""


def described_options() -> dict[str, Parameter | Choice]:
    """Return all options by the name they have in the link, as `group.name`."""
    return {
        link_name(group, name): note
        for group, options in OPTIONS.items()
        for name, note in parameters_of(options).items()
    }


def link_name(group: str, name: str) -> str:
    """Return the name in the link of a field of a group: `group.name`, and "epsilon" for the epsilon of all pages."""
    return "epsilon" if parameters_of(OPTIONS[group])[name] is EPSILON else f"{group}.{name}"
