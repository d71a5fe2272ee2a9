"""An adaptive release as a mechanism for a given network: it releases its own graph, and answers for the given rows.

The other mechanisms release the counts of a given network. This one reads the records. Contracts about counts of a
network therefore do not apply to it: it is listed in `OF_RECORDS` and not in `MECHANISMS`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import OLIVE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.draws import SimulatedDraws
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import require_feasible
from dpbayes.mechanisms.adaptive.release import drawn_release, guarantee_of
from dpbayes.mechanisms.base import OfCounts, Prior
from dpbayes.mechanisms.parameters import DELTA, EPSILON, TABLE_NOISE, TableNoise
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.query import joint_probabilities, query


@dataclass(frozen=True, eq=False)
class CountedRecords(Counts):
    """The counts of a network, with the records (n, |I|) of its columns in network order."""

    records: Dataset

    @cached_property
    def digest(self) -> str:
        """A text that identifies the records, as a key for cached results."""
        return hashlib.sha256(np.ascontiguousarray(self.records.codes).tobytes()).hexdigest()


@dataclass(frozen=True, eq=False)
class ReleasedModels:
    """Released models (R,), each with its own graph, and the `probabilities` (R, K) that they give a given network.

    `models` are pairs of a network and its CPTs. A single release has one model, and probabilities (K,).
    """

    models: tuple[tuple[Network, FloatArray], ...]
    probabilities: FloatArray

    @property
    def numbers(self) -> FloatArray:
        """The probabilities that a recipient computes for the given network."""
        return self.probabilities

    def part(self, releases: int | slice | IntArray) -> "ReleasedModels":
        """Return some of a batch."""
        places = np.atleast_1d(np.arange(len(self.models))[releases])
        return ReleasedModels(tuple(self.models[k] for k in places), self.probabilities[releases])

    def query(self, target: str, evidence: Mapping[str, str]) -> FloatArray:
        """Return P(target | evidence) under every released model, exactly: (R, r). Errors: those of `query`."""
        return np.stack([query(network, cpts, target, evidence) for network, cpts in self.models])


@dataclass(frozen=True, kw_only=True)
class AdaptiveTables(OfCounts):
    """An adaptive release, simulated: its own graph and tables under one (epsilon, delta), or one pure epsilon.

    A recipient computes P(child | parents) for every row of a given network by exact queries on the released model. The
    prior only gives the network.

    Args:
        prior: A `Dirichlets` (K,), or a `Network`, whose rows the recipient asks for.
        epsilon: The epsilon of the guarantee, 0.001 to 1000.
        delta: The delta of the guarantee with Gaussian noise.
        table_noise: The `TableNoise`.

    Raises:
        InputError: The prior is neither a network nor a single `Dirichlets`, or a number is outside its range.
    """

    label: ClassVar[str] = "Adaptive"
    named: ClassVar[str] = "adaptive release"
    colour: ClassVar[str] = OLIVE
    summary: ClassVar[str] = "Chooses graph and tables from the records."
    facts: ClassVar[tuple[str, ...]] = ("epsilon", "table_noise")
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float, DELTA] = 1e-5
    table_noise: Annotated[TableNoise, TABLE_NOISE] = TableNoise.GAUSSIAN

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.plan

    @property
    def formula(self) -> str:
        noise = f"integer {self.table_noise.value.capitalize()} noise"
        budget = "The epsilons of all steps add up to $\\varepsilon$."
        if self.plan.delta:
            rho = latex(float(self.plan.rho))
            budget = f"All steps share $\\rho = {rho}$, from which $(\\varepsilon, \\delta)$ follows."
        return (
            f"A graph is chosen by noisy scores, and its tables are measured with {noise}. {budget} The probabilities "
            "follow from the released model."
        )

    @cached_property
    def plan(self) -> AdaptivePlan:
        """The public settings of the release."""
        return plan_for(self.epsilon, 0 if self.table_noise is TableNoise.LAPLACE else self.delta)

    @property
    def certified(self) -> Guarantee:
        """(epsilon, delta) with the rho that gives both, or epsilon: for the graph and all tables together."""
        return guarantee_of(self.plan)

    def statistic(self, data: Dataset) -> CountedRecords:
        """Return the records of the network's columns with their counts. Errors: InputError, also those of `count`."""
        network = self.prior.network
        counts = count(network, data)
        records = data.select(list(network.names))
        require_feasible(records.states, records.n)
        return CountedRecords(network, counts.values, counts.n, records)

    def outcome_for(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> ReleasedModels:
        """Simulate releases one after another, (*size,) with at most one axis. Errors: InputError without records."""
        if not isinstance(statistic, CountedRecords):
            raise InputError(
                "An adaptive release needs the records of a table, and this computation has only counts. Choose "
                "another mechanism."
            )
        draws, network = SimulatedDraws(rng), self.prior.network
        releases = (drawn_release(self.plan, statistic.records, draws) for _ in range(size[0] if size else 1))
        models = [(release.network, release.probabilities) for release in releases]
        probabilities = np.stack([conditionals(network, *model) for model in models])
        return ReleasedModels(tuple(models), probabilities if size else probabilities[0])


def conditionals(network: Network, model: Network, cpts: FloatArray) -> FloatArray:
    """Return P(child | parents) for all rows of a network under another model: (K,), uniform for impossible parents.

    Errors: InputError where the released graph is too dense for exact queries.
    """
    families = [tuple(model.index(network.names[member]) for member in family) for family in network.families]
    joint = np.concatenate([table.ravel() for table in joint_probabilities(model, cpts[None], *families)])
    joint = np.where(network.over_cells(network.row_sums(joint)) > 0, joint, 1.0)
    return np.asarray(joint / network.over_cells(network.row_sums(joint)))
