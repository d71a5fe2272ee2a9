"""Credible intervals of queries P(target | evidence) under a posterior and under its prior.

An answer is a sum over many rows. Its interval comes from samples of all rows' probabilities. The samples use the same
random numbers for every posterior, so an answer changes only if the posterior does.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.libraries import pd
from dpbayes.base.steps import slices
from dpbayes.base.text import interval_texts, whole_percent
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.model.network import Network, assignment
from dpbayes.model.query import conditioned

DRAWS = 512
"""The number of sampled sets of CPTs for an interval."""

LEAST_COVERAGE = 0.85
"""The prior decides an answer if, under a vague prior, its 95% interval contains the exact answer with a smaller
probability. Measured in docs/calibration.md."""

_AT_ONCE = 64
"""The number of sets of CPTs in one query."""

_SEED = 1


@dataclass(frozen=True, eq=False, repr=False)
class QueryAnswer:
    """P(target | evidence) for every state of the target, with a central credible interval, or a wider one.

    Given the counts or the release, the probability in the population is in a 95% interval with probability 95%.

    Args:
        mean: The mean of the probability (..., r).
        low: The lower ends of the intervals (..., r).
        high: The upper ends of the intervals (..., r).
        sd: The standard deviation of the probability (..., r).
        level: The probability that an interval contains, for example 0.95; None for an answer without intervals.
        prior: The answer before the release; None for the prior's own answer.
        vague_coverage: The probability under a vague prior that the 95% intervals contain the exact answer (..., r),
            see `dpbayes.posteriors.influence`; None for the prior's own answer.
        assumes: The independence of a graph chosen from the records that the answer assumes, as a sentence, or "". Such
            an answer has no interval. Without an interval, `low`, `high` and `sd` are NaN.
        question: The question, such as "P(dysp | smoke=yes)".
        states: The target's states.

    Raises:
        InputError: `answer[state]`, for a state that the target does not have.

    Example:
        >>> network = dp.chain(2)
        >>> posterior = dp.Dirichlets.symmetric(network).updated([70, 30, 60, 10, 10, 20])
        >>> posterior.query("x2", {"x1": "yes"}, interval=0.95)
        P(x2 | x1=yes), 95% intervals
          no: 0.344, 0.2 to 0.505
          yes: 0.656, 0.495 to 0.8
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    sd: FloatArray
    level: float | None
    prior: "QueryAnswer | None" = None
    vague_coverage: FloatArray | None = None
    assumes: str = ""
    question: str = ""
    states: tuple[str, ...] = ()

    def __getitem__(self, state: object) -> FloatArray | np.float64:
        """Return the mean probability of a state: `answer["yes"]`."""
        if str(state) not in self.states:
            listed = ", ".join(map(brief, self.states[:8]))
            raise InputError(f"{self.question} has no state {brief(state)}; it has {listed}.")
        return self.mean[..., self.states.index(str(state))][()]

    def __repr__(self) -> str:
        rows = self._rows
        return titled_lines(self._title, (f"{state}: {', '.join(texts)}" for state, *texts in rows), len(rows))

    def _repr_html_(self) -> str:
        return html_table(self._title, ("state", "probability", "interval"), self._rows, len(self._rows))

    @property
    def _title(self) -> str:
        batch = f", {self.mean.shape[:-1]} of them" if self.mean.ndim > 1 else ""
        intervals = "without intervals" if self.level is None else f"{whole_percent(self.level)} intervals"
        return f"{self.question}, {intervals}{batch}{self.assumes and f'. {self.assumes}'}"

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        """The state, its probability and its interval, as texts; none for a batch of answers."""
        if self.mean.ndim > 1:
            return []
        means = [f"{mean:.3f}" for mean in self.mean]
        ends = [] if self.level is None else [map(" to ".join, map(interval_texts, self.low, self.high))]
        return list(zip(self.states, means, *ends, strict=True))

    def to_frame(self) -> "pd.DataFrame":
        """Return the answer as a data frame with a row for each state of the target.

        Returns:
            The columns "state", "probability", "low" and "high", and "reason" if the answer has no interval because of
            its assumption. Its `attrs` have the "question" and the "level".

        Raises:
            InputError: The answer is that of a batch of releases.

        Example:
            >>> posterior = dp.Dirichlets.symmetric(dp.chain(2)).updated([70, 30, 60, 10, 10, 20])
            >>> posterior.query("x2", interval=0.95).to_frame().columns.tolist()
            ['state', 'probability', 'low', 'high']
        """
        if self.mean.ndim != 1:
            raise InputError("This answer is of a batch of releases. Ask one release: release.part(0).")
        frame = pd.DataFrame({"state": self.states, "probability": self.mean, "low": self.low, "high": self.high})
        if self.assumes:
            frame["reason"] = self.assumes
        frame.attrs = {"question": self.question, "level": self.level}
        return frame

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
        nan = np.full_like(self.mean, np.nan)
        return replace(self, low=nan, high=nan, sd=nan, level=None, assumes=independence) if independence else self

    def reaching(self, low: FloatArray, high: FloatArray) -> "QueryAnswer":
        """Return the answer with wider intervals, which contain others that do not depend on the prior."""
        return replace(self, low=np.minimum(self.low, low), high=np.maximum(self.high, high), vague_coverage=None)


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


def evidence_of(evidence: Mapping[str, str] | None, states: Mapping[str, str]) -> dict[str, str]:
    """Return states of nodes that are given as a mapping and as keyword arguments. Errors: InputError for one twice."""
    if twice := sorted(set(evidence or ()) & set(states)):
        raise InputError(f"evidence and the states both have {brief(twice[0])}. Write its state once.")
    return {name: str(state) for name, state in {**(evidence or {}), **states}.items()}  # a person may write True


def answer_of(
    network: Network,
    probabilities: FloatArray,
    target: str,
    evidence: Mapping[str, str],
    level: float,
) -> QueryAnswer:
    """Return the answer for sampled CPTs (S, ..., K). Errors: those of `query`, and a level outside of [0, 1]."""
    tail = (1 - (level := finite_number("interval", level, low=0, high=1))) / 2
    answers = np.concatenate(
        [conditioned(network, probabilities[part], target, evidence) for part in slices(len(probabilities), _AT_ONCE)]
    )
    # Order statistics outside of the sample quantiles contain a new sample at least as often as stated.
    beyond = np.floor((len(answers) + 1) * tail) / (len(answers) + 1)
    low, high = np.quantile(answers, (beyond, 1 - beyond), axis=0, method="weibull")
    plain = without_intervals(network, answers.mean(axis=0), target, evidence)
    return replace(plain, low=low, high=high, sd=answers.std(axis=0), level=level)


def without_intervals(
    network: Network, probabilities: FloatArray, target: str, evidence: Mapping[str, str]
) -> QueryAnswer:
    """Return P(target | evidence) (..., r) as an answer without intervals."""
    question = f"P({target}{' | ' if evidence else ''}{', '.join(assignment(*pair) for pair in evidence.items())})"
    nothing, states = np.full_like(probabilities, np.nan), network.states[network.index(target)]
    return QueryAnswer(probabilities, nothing, nothing, nothing, None, question=question, states=states)


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
    logs = logs + np.log(special.ndtr(first)) / alpha + np.log(special.ndtr(second)) / (alpha + 1)
    starts = network.row_starts
    logs -= network.over_cells(np.maximum.reduceat(logs, starts, axis=-1))
    weights = np.exp(logs)
    return np.asarray(weights / network.over_cells(np.add.reduceat(weights, starts, axis=-1)))
