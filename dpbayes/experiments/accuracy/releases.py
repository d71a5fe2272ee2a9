"""What all methods of an accuracy experiment predict from: the parts of one plan that do not depend on the data.

The samples of a method at all epsilons start from the same random numbers. Neighbouring points of a curve therefore
share their luck, which smooths the curve, and a grid can be changed without changing the other points. Scales, bounds
and rates are those of the mechanisms. Only the families that contain the target matter to a prediction.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from dpbayes.base.steps import Work
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.blanket import Blanket
from dpbayes.experiments.accuracy.size import Size
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms.parameters import Noise
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets

Generator = np.random.Generator
Mechanism = TypeVar("Mechanism")


class ReleasePlan(Protocol):
    """What a plan says of releases: all but where the records come from, and which methods are compared."""

    @property
    def network(self) -> Network: ...

    @property
    def target(self) -> str: ...

    @property
    def epsilons(self) -> tuple[float, ...]: ...

    @property
    def grid(self) -> FloatArray: ...

    @property
    def training(self) -> int: ...

    @property
    def repeats(self) -> int: ...

    @property
    def prior(self) -> float: ...

    @property
    def stealth(self) -> float: ...

    @property
    def draws(self) -> int: ...

    @property
    def cells(self) -> int: ...

    @property
    def noise(self) -> Noise: ...

    @property
    def weights(self) -> tuple[float, ...]: ...

    @property
    def size(self) -> Size: ...


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
        self.prior = Dirichlets.symmetric(plan.network, plan.prior)
        self.decisions = Decisions(plan.network)
        self.blanket = Blanket(plan.network, plan.network.index(plan.target))
        self.local = self.blanket.local.network
        """The families that hold the target: K counts their cells, m their rows and D their decisions."""
        self.decided = Decisions(self.local)
        self._mechanisms: dict[str, list[Any]] = {}

    def mechanisms(self, name: str, at: Callable[[float], Mechanism]) -> list[Mechanism]:
        """Return the mechanisms of a method at all epsilons, built once: some search for their noise."""
        if name not in self._mechanisms:
            self._mechanisms[name] = [at(epsilon) for epsilon in self.plan.epsilons]
        return self._mechanisms[name]

    def log_mean(self, updates: FloatArray) -> FloatArray:
        """Return ln of the posterior means (..., K)."""
        network, alpha = self.local, updates + self.plan.prior
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
