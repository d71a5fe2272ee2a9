"""The curve of any mechanism: real releases of its own, at its typical parameters.

Every repeat has a seed of its own, and its releases at all epsilons start from that: where noise is scaled by epsilon,
neighbouring points of a curve share their luck, and a grid may be changed without changing the other points.
"""

from typing import Any

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.steps import Work
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.size import Size
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms.base import NetworkMechanism, simulated
from dpbayes.mechanisms.noise.shares import takes_weights
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts
from dpbayes.posteriors.dirichlet import Dirichlets

_LEAST = 1e-300
"""Probabilities below are taken for this, which has a logarithm."""

_RELEASE, _VALUE = 2e-4, 2e-7
"""About how many seconds a release takes, and each of its values."""


def typical(
    kind: type[NetworkMechanism[Outcome]], *, prior: Dirichlets, epsilon: float, weights: tuple[float, ...] = ()
) -> NetworkMechanism[Outcome]:
    """Return a mechanism at this epsilon, if it has one, and else at its typical numbers and first choices.

    Its noise is shared out by the weights of the tables, if it can be.
    Errors: InputError for a network that it does not fit.
    """
    values: dict[str, Any] = {
        name: parameter.typical if isinstance(parameter, Parameter) else next(iter(parameter.options))
        for name, parameter in parameters_of(kind).items()
    }
    shared = {"weights": weights} if takes_weights(kind) else {}
    own = {name: epsilon if name == "epsilon" else value for name, value in values.items()}
    return kind(prior=prior, **own, **shared)


def curves_of(kind: type[NetworkMechanism[Outcome]]) -> Curves:
    """Return the one curve of a mechanism of which nothing is known but itself."""

    def mechanisms_of(releases: Releases) -> list[NetworkMechanism[Outcome]]:
        return [at(releases, float(epsilon)) for epsilon in releases.plan.grid]

    def at(releases: Releases, epsilon: float) -> NetworkMechanism[Outcome]:
        return typical(kind, prior=releases.prior, epsilon=epsilon, weights=releases.plan.weights)

    def log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
        mechanisms, plan = mechanisms_of(releases), releases.plan
        seeds = streams(method.name.upper()).integers(2**63, size=len(counts))
        logs = np.empty((len(counts), len(mechanisms), releases.local.cell_count))
        for repeat, (seed, values) in enumerate(zip(seeds, counts, strict=True)):
            table = Counts(plan.network, values.astype(np.int64), plan.training)
            for k, mechanism in enumerate(mechanisms):
                outcome = simulated(mechanism, table, np.random.default_rng(int(seed))).outcome
                logs[repeat, k] = releases.blanket.local_counts(np.log(np.maximum(outcome.probabilities, _LEAST)))
            yield (repeat + 1) / len(counts)
        return logs

    def certified(releases: Releases) -> FloatArray:
        return np.array([mechanism.certified.epsilon for mechanism in mechanisms_of(releases)])

    def seconds(size: Size) -> float:
        return size.epsilons * (_RELEASE + _VALUE * size.cells)

    def formulas(methods: object, releases: Releases) -> list[str]:
        return [f"- **{kind.label}**: {at(releases, 1.0).formula} (ε = 1)"]

    method = Method(
        name=kind.__name__.lower(),
        titled=Look(kind.label, kind.colour),
        kind=kind,
        option=(kind.__name__, kind.label),
        log_cpts=log_cpts,
        certified=certified,
        seconds=seconds,
    )
    return Curves(kind=kind, methods=(method,), formulas=formulas)
