"""What all methods of an accuracy experiment predict from: the parts of one plan that do not depend on the data.

The samples of a method at all epsilons start from the same random numbers. Neighbouring points of a curve therefore
share their luck, which smooths the curve, and a grid can be changed without changing the other points. Scales, bounds
and rates are those of the mechanisms. Only the families that contain the target matter to a prediction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

from dpbayes.base.parameters import Parameter
from dpbayes.base.randomness import seed_of, stream
from dpbayes.base.steps import Work
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.blanket import Blanket
from dpbayes.mechanisms.map.exponential import CELLS
from dpbayes.mechanisms.parameters import MOST_DRAWS, NOISE, Noise
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.prior_rules import PRIOR, PriorRule
from dpbayes.sources.synthetic import MAX_RECORDS

Generator = np.random.Generator
Mechanism = TypeVar("Mechanism")


TRAINING = Parameter(
    "n",
    low=1,
    high=MAX_RECORDS,
    typical=50,
    log=True,
    whole=True,
    title="training records",
    description="The number of records from which each release is made.",
)
REPEATS = Parameter(
    "",
    low=2,
    high=10**9,
    typical=100,
    log=True,
    whole=True,
    title="repeats",
    description="Every repeat uses a new split and, for synthetic records, a new random model.",
)
TESTING = Parameter(
    "",
    low=1,
    high=MAX_RECORDS,
    typical=100_000,
    log=True,
    whole=True,
    title="test records (at most)",
    description="If fewer records are left after training, all of them are test records.",
)
STEALTH = Parameter(
    "",
    low=0.5,
    high=0.999,
    typical=0.9,
    title="share of non-negative releases",
    description="The share of Fourier releases without a negative count; it sets the increment t.",
)
DRAWS = Parameter(
    "N",
    low=1,
    high=MOST_DRAWS,
    typical=100,
    log=True,
    whole=True,
    title="samples of the paper's sampler",
    description="The number of posterior samples in one release. Predictions use their average.",
)


@dataclass(frozen=True, kw_only=True)
class ReleasePlan:
    """The part of an accuracy plan that its releases depend on; `AccuracyPlan` describes the fields and checks them."""

    network: Network
    target: str
    epsilons: tuple[float, ...]
    training: Annotated[int, TRAINING] = 50
    testing: Annotated[int, TESTING] = MAX_RECORDS
    repeats: Annotated[int, REPEATS] = 100
    prior: Annotated[PriorRule, PRIOR] = PriorRule()
    stealth: Annotated[float, STEALTH] = 0.9
    draws: Annotated[int, DRAWS] = 100
    cells: Annotated[int, CELLS] = 20
    noise: Annotated[Noise, NOISE] = Noise.REAL
    weights: tuple[float, ...] = ()
    seed: Annotated[int, seed_of("all random numbers")] = 1

    @cached_property
    def grid(self) -> FloatArray:
        """The epsilons: (E,)."""
        return np.array(self.epsilons)

    @property
    def simulated_releases(self) -> int:
        """How many simulated releases determine the certified Fourier increment, as on the Release page."""
        if self.stealth > 0.99:
            return 20_000
        return 10_000 if self.network.cell_count < 1000 else 2_000


class Streams:
    """The streams of one study by name. Each goes on from repeat to repeat, so that blocks may be cut anywhere."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._streams: dict[tuple[str | int, ...], np.random.Generator] = {}
        self._copies: dict[str, list[np.random.Generator]] = {}

    def __call__(self, *labels: str | int) -> np.random.Generator:
        """Return the stream of this name, where its last use left it."""
        if labels not in self._streams:
            self._streams[labels] = stream(self.seed, "accuracy", *labels)
        return self._streams[labels]

    def copies(self, name: str, copies: int) -> list[np.random.Generator]:
        """Return copies of the stream of this name. Each returns the same numbers, and goes on from its last use."""
        kept = self._copies.setdefault(name, [])
        kept += [stream(self.seed, "accuracy", name) for _ in range(len(kept), copies)]
        return kept[:copies]


class Releases:
    """A plan, and what is prepared once for all of its methods.

    `simulated` is the certified Fourier increment, which takes long to compute; it is None until it is computed. So are
    the `increments` (E,) for noise of whole numbers, which depend on epsilon.
    """

    drawn_at_once: ClassVar[int] = 1 << 19
    """Values drawn at a time, so that they stay in the processor's cache and a step is short."""

    def __init__(self, plan: ReleasePlan, *, simulated: float | None = None) -> None:
        self.plan = plan
        self.simulated = simulated
        self.increments: FloatArray | None = None
        self.prior = plan.prior.on(plan.network)
        self.decisions = Decisions(plan.network)
        self.blanket = Blanket(plan.network, plan.network.index(plan.target))
        self.local = self.blanket.local.network
        """The families that hold the target: K counts their cells, m their rows and D their decisions."""
        self.local_alpha = plan.prior.on(self.local).alpha
        """The prior's parameters (K,) in these families."""
        self.decided = Decisions(self.local)
        self._mechanisms: dict[str, list[Any]] = {}

    def mechanisms(self, name: str, at: Callable[[float], Mechanism]) -> list[Mechanism]:
        """Return the mechanisms of a method at all epsilons, built once: some search for their noise."""
        if name not in self._mechanisms:
            self._mechanisms[name] = [at(epsilon) for epsilon in self.plan.epsilons]
        return self._mechanisms[name]

    def log_mean(self, updates: FloatArray) -> FloatArray:
        """Return ln of the posterior means (..., K)."""
        network, alpha = self.local, updates + self.local_alpha
        totals = np.log(network.row_sums(alpha))
        logs = np.log(alpha, out=alpha)
        if network.is_binary:
            logs.reshape(*logs.shape[:-1], -1, 2)[...] -= totals[..., None]
        else:
            logs -= totals[..., network.row_of_cell]
        return logs


def exact_log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    """Return ln CPTs (R, 1, K) of the exact posterior, after counts of all cells."""
    yield 0.0
    return releases.log_mean(releases.blanket.local_counts(counts)[:, None])
