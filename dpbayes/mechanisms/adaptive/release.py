"""An adaptive release as a recipient has it, simulated or real: graph, tables with their noise, readings, and steps."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import generator
from dpbayes.base.references import Reference
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.adaptive.draws import Draws, OpenDPDraws, SimulatedDraws
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import Process, carried_out
from dpbayes.mechanisms.adaptive.reading import PRIOR, Measured, model_probabilities
from dpbayes.mechanisms.exact_form import rounded_up
from dpbayes.mechanisms.release import Release, ReleasedPosterior
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.synthetic import even_records
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import NoiseModel


def guarantee_of(plan: AdaptivePlan) -> Guarantee:
    """Return the guarantee of all releases with a plan: (epsilon, delta) with its rho, or a pure epsilon."""
    reference = Reference("dpbayes", f"a private graph and its tables under one {plan.measure.value}")
    epsilon, delta = float(plan.epsilon), float(plan.delta)
    if not delta:
        return Guarantee(epsilon, reference=reference)
    return Guarantee(epsilon, delta, reference=reference, rho=rounded_up(plan.rho))


@dataclass(frozen=True, eq=False)
class AdaptiveRelease:
    """An adaptive release, real or simulated, for the recipient. It contains no record and no exact count.

    Args:
        plan: The public settings.
        process: The choices and measurements in their order.
        is_simulated: Whether a generator drew the noise. Such a release has no guarantee for real records.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> table = dp.sample_dataset(network, probabilities, 5000, np.random.default_rng(1))
        >>> simulated = dp.simulate_adaptive(table, epsilon=1, delta=1e-5, rng=np.random.default_rng(1))
        >>> len(simulated.network.names), simulated.process.events[0].stage
        (8, 'columns')
    """

    plan: AdaptivePlan
    process: Process
    is_simulated: bool

    def __repr__(self) -> str:
        kind = "Simulated adaptive release" if self.is_simulated else "Adaptive release"
        return titled_lines(kind, (f"{name}: {value}" for name, value in self._facts), len(self._facts))

    def _repr_html_(self) -> str:
        kind = "Simulated adaptive release" if self.is_simulated else "Adaptive release"
        return html_table(kind, ("", ""), self._facts, len(self._facts))

    @property
    def _facts(self) -> list[tuple[str, str]]:
        network = self.network
        sizes = f"{many(len(network.names), 'column')}, {many(len(network.edges), 'arrow')}"
        return [("guarantee", self.guarantee.in_full), ("n", f"{self.measured.n:,}"), ("graph", sizes)]

    @property
    def measured(self) -> Measured:
        """The noisy residuals of the tables, and the variance of their noise."""
        return self.process.measured

    @property
    def network(self) -> Network:
        """The released graph."""
        return self.measured.network

    @cached_property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta) with the rho that gives both, or a pure epsilon: for the graph and all tables together."""
        return guarantee_of(self.plan)

    @cached_property
    def tables(self) -> Release[ReleasedPosterior]:
        """The tables with their noise model, as a release. The prior of every cell is 1/2.

        Its posteriors give no interval to a question about columns that no released table contains together. Their
        other noise-aware intervals of 95% also contain the share in the records in 95% of releases.
        """
        prior = Dirichlets(self.network, np.full(self.network.cell_count, PRIOR), is_graph_chosen=True)
        noise = NoiseModel(self.network, self.measured.variances)
        outcome = ReleasedPosterior(prior, self.measured.tables, noise)
        public = {"n": self.measured.n, "epsilon": float(self.plan.epsilon), "delta": float(self.plan.delta)}
        return Release(outcome, self.guarantee, "Adaptive release", public, self.is_simulated)

    @property
    def query(self) -> Callable[..., QueryAnswer]:
        """The answers of `tables`: `query("b", a="yes")`."""
        return self.tables.query

    @cached_property
    def probabilities(self) -> FloatArray:
        """CPTs (K,) for synthetic records: expected shares, raked to the released distribution of each column."""
        return model_probabilities(self.measured)

    def synthetic(self, n: int, seed: int | np.random.Generator = 0) -> Dataset:
        """Return n synthetic records of `probabilities`, with little sampling error; see `even_records`."""
        return even_records(self.network, self.probabilities, n, generator(seed))


def drawn_release(plan: AdaptivePlan, table: Dataset, draws: Draws) -> AdaptiveRelease:
    """Return a release with these draws. Its cost is not charged to a ledger, and each call costs the guarantee again.

    The domains of the table must not depend on its records. Errors: InputError if the table is too large or has no
    records, or if OpenDP is needed and not installed.
    """
    return AdaptiveRelease(plan, carried_out(plan, table, draws), is_simulated=not isinstance(draws, OpenDPDraws))


def simulate_adaptive(
    table: Dataset,
    *,
    epsilon: float | Fraction | str,
    delta: float | Fraction | str = 0,
    target: str = "",
    rng: np.random.Generator | int,
) -> AdaptiveRelease:
    """Simulate an adaptive release with a generator. It shows what a release does, and must not be published.

    The laws of all noise and choices are those of a real release.

    Args:
        table: The table, with public domains.
        epsilon: The epsilon of the guarantee; a float means the decimal that it is written as.
        delta: The delta of the guarantee; 0 for pure privacy, whose error is larger.
        target: A column to predict from the others; a part of the budget finds what it depends on.
        rng: A generator or a seed.

    Returns:
        The simulated release.

    Raises:
        InputError: A number is outside its range, or the table is too large or has no records.

    Example:
        >>> table = dp.load_shipped("house_votes_84")
        >>> simulated = dp.simulate_adaptive(table, epsilon=1, delta=1e-5, rng=np.random.default_rng(1))
        >>> print(simulated.guarantee)
        ε = 1, δ = 0.00001
    """
    return drawn_release(plan_for(epsilon, delta, target), table, SimulatedDraws(generator(rng)))
