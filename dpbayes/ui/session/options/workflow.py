"""The options of the pages Explore and Proofs."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.audit.registry import AUDITS
from dpbayes.base.parameters import Choice, Parameter
from dpbayes.boards.which_epsilon import TOLERANCE
from dpbayes.experiments.die import DELTA, PRIOR, SIDES
from dpbayes.mechanisms import OF_RECORDS, PRIVATE
from dpbayes.mechanisms.regression import DRAWS, NOISE_VARIANCE, NORM_BOUND, PRIOR_PRECISION
from dpbayes.posteriors.noise_model import Reading

# Explore


class ExploreView(enum.Enum):
    """The two boards of the page."""

    RELEASE = "what the public sees"
    EPSILON = "which epsilon"


class SimulatedTables(enum.Enum):
    """Whose releases are simulated: of planned tables, or of the open table, for the curator alone."""

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
            description="Planned tables are sampled from public probabilities, so the choice of ε costs no privacy. "
            "An ε chosen from the table itself depends on its records, and no guarantee covers that choice.",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """How the recipient reads a release, a belief before it, and how many releases there are."""

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


# Audit


AuditSubject: type[enum.Enum] = enum.Enum(  # type: ignore[misc]  # the members come from registries
    "AuditSubject",
    {"RELEASE": "the Explore page's mechanism"}
    | {kind.__name__: kind.label for kind in (*PRIVATE, *OF_RECORDS)}
    | {audit.kind.__name__: audit.hypothetical.title for audit in AUDITS if audit.hypothetical is not None},
)
"""What is audited: a mechanism for a network, by its class's name, or one of hypothetical tables."""

LABELS = {"RELEASE": "as on Explore", "PrintedMap": "Density-scored MAP, as stated in the paper (one node)"}
"""What the page calls a mechanism that links have another text for."""


class AttackedTables(enum.Enum):
    """The two tables of the audit of an adaptive release."""

    REAL = "one record of the table"
    MADE_UP = "a made-up table"


SUBJECT = Choice(
    AuditSubject,
    title="mechanism",
    labels=tuple(LABELS.get(subject.name, str(subject.value)) for subject in AuditSubject),
)
TABLES = Choice(AttackedTables, title="audited table", labels=("open table", "example table"))


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The Proofs page: what is audited, and the die, node or regression where it is no network."""

    subject: Annotated[enum.Enum, SUBJECT]
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
    tables: Annotated[AttackedTables, TABLES]
    record: Annotated[
        int, Parameter("", low=1, high=10_000_000, typical=1, log=True, whole=True, title="replaced record")
    ]
