"""The error of all tables of two columns by method: an adaptive release, and a public graph.

All methods have the same guarantee for the same records. A public graph costs no privacy; an adaptive release chooses
its graph within the same budget.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, in_parts, mapped
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.choices import GrowingGraph
from dpbayes.mechanisms.adaptive.release import simulate_adaptive
from dpbayes.mechanisms.adaptive.scores import pair_counts, state_starts
from dpbayes.mechanisms.residual import GaussianResiduals
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import pair_marginals
from dpbayes.posteriors.dirichlet import Dirichlets


def pair_error(data: Dataset, network: Network, probabilities: FloatArray) -> float:
    """Return the mean total variation over all pairs of columns between the records and the CPTs (K,).

    The number is computed from the true records: it is not private. With one column, it is that column's total
    variation. A model with large cliques takes long; an adaptive release keeps its cliques small.
    """
    starts = state_starts(data)
    away = np.abs(pair_counts(data) / data.n - pair_marginals(network, probabilities))
    sums = np.add.reduceat(np.add.reduceat(away, starts[:-1], axis=0), starts[:-1], axis=1) / 2
    first, second = np.triu_indices(len(data.names), 1) if len(data.names) > 1 else ([0], [0])
    return float(sums[first, second].mean())


@dataclass(frozen=True, eq=False)
class TableTrial:
    """Records of a network, and the guarantee (epsilon, delta) of one release of them."""

    data: Dataset
    network: Network
    epsilon: float
    delta: float


Method = Callable[[TableTrial, np.random.Generator], float]


def adaptive_error(trial: TableTrial, rng: np.random.Generator) -> float:
    """Return the error of an adaptive release, which chooses its own graph within the guarantee."""
    release = simulate_adaptive(trial.data, epsilon=trial.epsilon, delta=trial.delta, rng=rng)
    return pair_error(trial.data, release.network, release.probabilities)


def pure_adaptive_error(trial: TableTrial, rng: np.random.Generator) -> float:
    """Return the error of an adaptive release of the same epsilon without delta."""
    return adaptive_error(replace(trial, delta=0.0), rng)


def public_graph_error(trial: TableTrial, rng: np.random.Generator) -> float:
    """Return the error of Gaussian residuals on the graph that the records were sampled from, which costs nothing."""
    return _residuals(trial, trial.network, rng)


def _residuals(trial: TableTrial, network: Network, rng: np.random.Generator) -> float:
    mechanism = GaussianResiduals(prior=Dirichlets.symmetric(network), epsilon=trial.epsilon, delta=trial.delta)
    read = mechanism.release(count(network, trial.data), rng).noise_aware()
    return pair_error(trial.data.select(list(network.names)), network, read.mean)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "Known graph": public_graph_error,
        "Adaptive release": adaptive_error,
        "Adaptive release, pure ε": pure_adaptive_error,
    }
)
"""The methods by name; all but the first pay for their graph."""


def require_small(network: Network) -> None:
    """Refuse a graph whose tables of two columns cannot be computed exactly. Errors: InputError."""
    if not GrowingGraph.of([family[:-1] for family in network.families], network.cards).is_small:
        raise InputError("The tables of two columns take too long for this graph. Choose a graph with fewer arrows.")


def table_errors(trial: TableTrial, epsilons: Sequence[float], *, runs: int, seed: int) -> Work[FloatArray]:
    """Return the errors (runs, epsilons, methods) in steps; NaN if not simulated yet, or if a method refuses.

    Errors: those of `require_small`.
    """
    require_small(trial.network)

    names, shape = tuple(METHODS), (runs, len(epsilons), len(METHODS))

    def step(k: int) -> float:
        run, epsilon, method = (int(place) for place in np.unravel_index(k, shape))
        own = replace(trial, epsilon=epsilons[epsilon])
        rng = stream(seed, "table errors", names[method], repr(own.epsilon), str(run))
        return _error(METHODS[names[method]], own, rng)

    def filled(parts: tuple[float, ...]) -> FloatArray:
        errors = np.full(math.prod(shape), math.nan)
        errors[: len(parts)] = parts
        return errors.reshape(shape)

    return mapped(in_parts(step, math.prod(shape)), filled)


def _error(method: Method, trial: TableTrial, rng: np.random.Generator) -> float:
    try:
        return method(trial, rng)
    except InputError:
        return math.nan


def mean_errors(errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means over the runs so far, and their standard errors: (epsilons, methods), NaN if unknown."""
    is_finite = np.isfinite(errors)
    number = is_finite.sum(axis=0)
    sums = np.where(is_finite, errors, 0.0).sum(axis=0)
    means = np.divide(sums, number, out=np.full(sums.shape, math.nan), where=number > 0)
    squares = np.where(is_finite, (errors - means) ** 2, 0.0).sum(axis=0)
    variances = np.divide(squares, number - 1, out=np.full(sums.shape, math.nan), where=number > 1)
    return means, np.sqrt(variances / np.maximum(number, 1))
