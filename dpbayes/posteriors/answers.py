"""Credible intervals of queries P(target | evidence) under a posterior and under its prior.

An answer is a sum over many rows. Its interval comes from samples of all rows' probabilities. The samples use the same
random numbers for every posterior, so an answer changes only if the posterior does.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpbayes.base.steps import slices
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import finite_number
from dpbayes.model.network import Network
from dpbayes.model.query import query

DRAWS = 512
"""The number of sampled sets of CPTs for an interval."""

LEAST_COVERAGE = 0.8
"""The probability under a vague prior of an answer's 95% interval below which the prior decides the answer. Measured in
docs/calibration.md."""

_AT_ONCE = 64
"""The number of sets of CPTs in one query."""

_SEED = 1


@dataclass(frozen=True, eq=False)
class QueryAnswer:
    """P(target | evidence) for every state of the target, with a central credible interval.

    Args:
        mean: The mean of the probability (..., r).
        low: The lower ends of the intervals (..., r).
        high: The upper ends of the intervals (..., r).
        sd: The standard deviation of the probability (..., r).
        level: The probability that an interval contains, for example 0.95.
        prior: The answer before the release; None for the prior's own answer.
        vague_coverage: The probability under a vague prior of the 95% intervals (..., r), see
            `dpbayes.posteriors.influence`; None for the prior's own answer.
        assumes: The independence that the answer assumes without an interval, as a sentence; "" if there is an
            interval. Without an interval, `low`, `high` and `sd` are NaN.

    Example:
        >>> network = dp.chain(2)
        >>> posterior = dp.Dirichlets.symmetric(network).updated([70, 30, 60, 10, 10, 20])
        >>> answer = posterior.query("v1", interval=0.95)
        >>> bool(answer.low[0] < answer.mean[0] < answer.high[0])
        True
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    sd: FloatArray
    level: float
    prior: "QueryAnswer | None" = None
    vague_coverage: FloatArray | None = None
    assumes: str = ""

    @property
    def is_of_prior(self) -> BoolArray:
        """Whether the prior decides the probability of each state (..., r): it alone makes the interval narrow."""
        coverage = np.ones_like(self.mean) if self.vague_coverage is None else self.vague_coverage
        return np.asarray((coverage < LEAST_COVERAGE) & np.isfinite(self.sd))

    @property
    def is_prior_decisive(self) -> bool:
        """Whether the prior decides the probability of some state."""
        return bool(self.is_of_prior.any())

    def assuming(self, independence: str) -> "QueryAnswer":
        """Return the answer without its interval if it assumes an independence."""
        nothing = np.full_like(self.mean, np.nan)
        return replace(self, low=nothing, high=nothing, sd=nothing, assumes=independence) if independence else self


def assumed_independence(network: Network, columns: Collection[str]) -> str:
    """Return the independence that a network adds to its tables in a question about columns, as a sentence.

    It is "" if some family contains all columns. Otherwise, each column is independent of the earlier ones in the
    order of the graph, given its parents (the local Markov property). Errors: InputError for unknown columns.
    """
    question = {network.index(name) for name in columns}
    if any(question <= set(family) for family in network.families):
        return ""
    parts = []
    for place, node in enumerate(network.order):
        earlier = question.intersection(network.order[:place]).difference(network.families[node])
        if node in question and earlier:
            others = " and ".join(network.names[other] for other in sorted(earlier))
            given = ", ".join(network.names[parent] for parent in network.families[node] if parent != node)
            parts.append(f"{network.names[node]} is independent of {others}{f' given {given}' if given else ''}")
    return f"No released table contains all of these columns. The answer assumes that {', and that '.join(parts)}."


def answer_of(
    network: Network,
    probabilities: FloatArray,
    target: str,
    evidence: Mapping[str, str],
    level: float,
) -> QueryAnswer:
    """Return the answer for sampled CPTs (S, ..., K). Errors: those of `query`, and a level outside of [0, 1]."""
    tail = (1 - finite_number("The level", level, low=0, high=1)) / 2
    answers = np.concatenate(
        [query(network, probabilities[part], target, evidence) for part in slices(len(probabilities), _AT_ONCE)]
    )
    # Order statistics outside of the sample quantiles contain a new sample at least as often as stated.
    beyond = np.floor((len(answers) + 1) * tail) / (len(answers) + 1)
    low, high = np.quantile(answers, (beyond, 1 - beyond), axis=0, method="weibull")
    return QueryAnswer(answers.mean(axis=0), low, high, answers.std(axis=0), level)


def even_scores(shape: tuple[int, ...], purpose: int) -> FloatArray:
    """Return fixed standard normal numbers (S, ...), half of them with opposite signs; `purpose` separates uses."""
    half = np.random.default_rng((_SEED, purpose)).standard_normal((-(-shape[0] // 2), *shape[1:]))
    return np.concatenate((half, -half))[: shape[0]]


def even_draws(network: Network, alpha: FloatArray) -> FloatArray:
    """Return one sample of CPTs from each set of Dirichlet rows (S, ..., K).

    A gamma variable of shape a is one of shape a + 2, times U^(1/a) V^(1/(a + 1)). The cube root of the latter variable
    is nearly normal (Wilson and Hilferty 1931). Small changes of alpha therefore cause small changes of the samples.
    """
    size, cells = alpha.shape[0], alpha.shape[-1]
    batch = (1,) * (alpha.ndim - 2)
    scores = even_scores((size, 3, cells), 2)
    z, first, second = (scores[:, k].reshape(size, *batch, cells) for k in range(3))
    shape = alpha + 2
    root = 1 - 1 / (9 * shape) + z / np.sqrt(9 * shape)
    logs = np.log(shape) + 3 * np.log(np.maximum(root, 1e-3))
    logs = logs + special.log_ndtr(first) / alpha + special.log_ndtr(second) / (alpha + 1)
    starts = network.row_starts
    logs -= network.over_cells(np.maximum.reduceat(logs, starts, axis=-1))
    weights = np.exp(logs)
    return np.asarray(weights / network.over_cells(np.add.reduceat(weights, starts, axis=-1)))
