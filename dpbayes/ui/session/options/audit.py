"""What the Audit page lets a person set."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.audit.registry import AUDITS
from dpbayes.base.parameters import Choice, Parameter
from dpbayes.experiments.hellinger.scenario import DELTA, PRIOR, SIDES
from dpbayes.mechanisms import PRIVATE
from dpbayes.mechanisms.regression import DRAWS, NOISE_VARIANCE, NORM_BOUND, PRIOR_PRECISION

AuditSubject: type[enum.Enum] = enum.Enum(  # type: ignore[misc]  # the members come from registries
    "AuditSubject",
    {"RELEASE": "the Explore page's mechanism"}
    | {kind.__name__: kind.label for kind in PRIVATE}
    | {audit.kind.__name__: audit.hypothetical.title for audit in AUDITS if audit.hypothetical is not None},
)
"""What is audited: a mechanism for a network, by its class's name, or one of hypothetical tables."""

LABELS = {"RELEASE": "as on Explore", "PrintedMap": "Density-scored MAP, as stated in the paper (one node)"}
"""What the page calls a mechanism that links have another text for."""


class AttackedTables(enum.Enum):
    """Between which two tables the attacker of the Audit page has to decide."""

    REAL = "one record of the table"
    MADE_UP = "a made-up table"


SUBJECT = Choice(
    AuditSubject,
    title="mechanism",
    labels=tuple(LABELS.get(subject.name, str(subject.value)) for subject in AuditSubject),
)
TABLES = Choice(AttackedTables, title="attacked table", labels=("open table", "example table"))


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The Audit page: what is audited, the die, node or regression where it is no network, and the attacker."""

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
    target: Annotated[float, Parameter(r"\epsilon", low=1e-3, high=1e3, typical=1, log=True, title="target epsilon")]
    tables: Annotated[AttackedTables, TABLES]
    record: Annotated[
        int, Parameter("", low=1, high=10_000_000, typical=1, log=True, whole=True, title="attacked record")
    ]
    first: Annotated[int, Parameter("", low=0, high=3000, typical=2, whole=True, title="throws on side 1")]
    odds: Annotated[float, Parameter("", low=1e-6, high=1e6, typical=1, log=True, title="attacker's prior odds")]
    releases: Annotated[int, Parameter("j", low=1, high=50, typical=20, whole=True, title="releases")]
