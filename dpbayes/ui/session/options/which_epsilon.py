"""What the page Which epsilon lets a person set: how near, how often, of how many records, and how it is read."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter


class Recipient(enum.Enum):
    """How whoever gets the release answers from it; the first answers while a slider moves, and needs the larger ε."""

    AS_REAL = "takes counts as real"
    NOISE_AWARE = "knows of the noise"


class AskedTables(enum.Enum):
    """Whose releases are simulated: of tables that are planned, or of the one that is loaded, for the curator alone."""

    PLANNED = "planned tables"
    LOADED = "the table itself"


@dataclass(frozen=True, kw_only=True)
class WhichEpsilonOptions:
    """What is wished for."""

    tolerance: Annotated[
        float,
        Parameter(
            "",
            low=1e-4,
            high=0.5,
            typical=0.05,
            log=True,
            title="within",
            description="How far a released answer may be from that of the exact posterior.",
        ),
    ]
    confidence: Annotated[
        float,
        Parameter(
            "",
            low=0.5,
            high=0.99,
            typical=0.95,
            title="share of releases",
            description="In how large a share of releases the answer is to be as near as that.",
        ),
    ]
    tables: Annotated[
        AskedTables,
        Choice(
            AskedTables,
            title="worked out on",
            description="Planned tables are drawn from public probabilities, and cost no privacy. What is worked out "
            "on the table itself is for the curator alone: an ε that is chosen by it tells of the records.",
        ),
    ]
    records: Annotated[
        int,
        Parameter(
            "n",
            low=1,
            high=100_000,
            typical=1000,
            log=True,
            whole=True,
            title="planned records",
            description="As many as the open table has, unless you choose another number.",
        ),
    ]
    recipient: Annotated[
        Recipient,
        Choice(
            Recipient,
            title="the recipient",
            description="Whoever reckons with the noise needs less epsilon for the same error, and waits longer for "
            "the answer. The papers take noisy counts as real.",
        ),
    ]
