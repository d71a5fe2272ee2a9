"""What the page Which epsilon lets a person set: tolerance, share of releases, records, and how releases are read."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.posteriors.noise_model import Reading


class SimulatedTables(enum.Enum):
    """Whose releases are simulated: of planned tables, or of the open table, for the curator alone."""

    PLANNED = "planned tables"
    LOADED = "the table itself"


@dataclass(frozen=True, kw_only=True)
class WhichEpsilonOptions:
    """The accuracy that is required, and the tables and the reader that it is required for."""

    tolerance: Annotated[
        float,
        Parameter(
            "",
            low=1e-4,
            high=0.5,
            typical=0.05,
            log=True,
            title="tolerance",
            description="The largest acceptable absolute difference between the released and the exact probability.",
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
            description="The share of releases whose error must stay within the tolerance.",
        ),
    ]
    tables: Annotated[
        SimulatedTables,
        Choice(
            SimulatedTables,
            title="tables",
            description="Planned tables are sampled from public probabilities, so the choice of ε costs no privacy. "
            "An ε chosen from the table itself depends on its records, and no guarantee covers that choice.",
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
            title="records",
            description="The number of records in each planned table. The default is that of the open table.",
        ),
    ]
    recipient: Annotated[
        Reading,
        Choice(
            Reading,
            title="recipient",
            description="A noise-aware recipient models the added noise and needs a smaller ε for the same error. "
            "A naive recipient treats noisy counts as true counts, as the papers do. This choice costs no privacy.",
        ),
    ]
