"""Independent Dirichlet distributions, one per CPT row: prior and posterior are the same type."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.display import distribution_bar, html_table, titled_lines
from dpbayes.base.memo import Memo
from dpbayes.base.randomness import generator
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, brief, finite_number, leading, type_checked
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.model.query import conditioned
from dpbayes.posteriors.answers import (
    DRAWS,
    QueryAnswer,
    answer_of,
    assumed_independence,
    even_draws,
    evidence_of,
    without_intervals,
)
from dpbayes.posteriors.influence import exact_cells, vague_coverage

LEAST_PRIOR, MOST_PRIOR = 1e-3, 1e9

WIDE_SIZE = 4.0
"""The equivalent sample size of wide nodes under the recommended prior; docs/calibration.md explains the choice."""

LEAST_CAPPED = 0.125
"""The smallest parameter of the recommended prior. With smaller ones, the prior of a question is hardly wider, but rows
with few records have probabilities near 0 or 1."""

LEVEL = 0.95
"""The level of the displayed credible intervals."""

_MOST_READINGS = 8
"""The number of row selections that a prior caches."""


class AnsweringPosterior(ABC):
    """A posterior of CPTs that answers questions."""

    network: Network

    @property
    @abstractmethod
    def mean(self) -> FloatArray: ...

    @type_checked
    def query(
        self,
        target: str,
        evidence: Mapping[str, str] | None = None,
        *,
        interval: float | None = None,
        prior: "Dirichlets | None" = None,
        **states: str,
    ) -> QueryAnswer:
        """Return P(target | evidence) of the next record, with credible intervals if a level is given.

        Given the counts or the release, the probability in the population is in a 95% interval with probability 95%.

        Args:
            target: The node in question.
            evidence: States of other nodes, by name.
            interval: The level of the credible intervals, such as 0.95; without it, the answer has no intervals.
            prior: The prior, for the prior's own interval in the result; a noise-aware posterior has its own.
            states: More states of other nodes: `query("grass", rain="yes")`.

        Returns:
            The answer, which has the probabilities (..., r) of the target's r states as `mean`.

        Raises:
            InputError: The errors of `dp.query`, and a level outside of [0, 1].
        """
        given = evidence_of(evidence, states)
        means = self._means(target, given)
        if interval is None:
            return without_intervals(self.network, means, target, given)
        return replace(self._answer(target, given, interval, prior), mean=means)

    def _means(self, target: str, evidence: Mapping[str, str]) -> FloatArray:
        return conditioned(self.network, self.mean, target, evidence)

    @abstractmethod
    def _answer(
        self, target: str, evidence: Mapping[str, str], level: float, prior: "Dirichlets | None"
    ) -> QueryAnswer: ...


@type_checked
@dataclass(frozen=True, eq=False)
class Dirichlets(AnsweringPosterior):
    """Dirichlet(alpha) for every CPT row of a network, as a prior or a posterior.

    For binary nodes a row is a Beta distribution ([Zhang16] Example 1).

    Args:
        network: The network.
        alpha: The parameters (..., K), positive and finite.
        is_graph_chosen: Whether a mechanism chose the graph from the records. Its independences may then be wrong, and
            an answer that rests on them has no interval.

    Raises:
        InputError: `alpha` has another shape, or a value that is not positive and finite.

    Example:
        >>> prior = dp.Dirichlets.symmetric(dp.chain(2))
        >>> prior.updated([7, 3, 6, 1, 1, 2]).mean.round(2)
        array([0.67, 0.33, 0.78, 0.22, 0.4 , 0.6 ])
    """

    network: Network
    alpha: FloatArray
    is_graph_chosen: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.shape[-1:] != (self.network.cell_count,):
            raise InputError(f"A prior needs one value for each of the network's {self.network.cell_count} cells.")
        if not np.all(alpha > 0) or not np.all(np.isfinite(alpha)):
            raise InputError("Every Dirichlet parameter must be a positive, finite number.")
        object.__setattr__(self, "alpha", alpha)

    def __repr__(self) -> str:
        return f"<{self._title}>"

    def __str__(self) -> str:
        return titled_lines(self._title, (f"{label}: {means}" for label, means, _ in self._rows()), self._shown)

    def _repr_html_(self) -> str:
        rows = ((label, distribution_bar(means), text) for label, text, means in self._rows())
        return html_table(self._title, ("row", "distribution", "mean of each state"), rows, self._shown)

    @property
    def _shown(self) -> int:
        """The number of rows for display; 0 for a batch."""
        return self.network.row_count if self.alpha.ndim == 1 else 0

    @property
    def _title(self) -> str:
        batch = f", {self.alpha.shape[:-1]} of them" if self.alpha.ndim > 1 else ""
        return f"Dirichlets of {many(self.network.row_count, 'row')}{batch}"

    def _rows(self) -> Iterator[tuple[str, str, list[float]]]:
        """Yield the label, the means as text and the means of every row."""
        for row in range(self._shown):
            means = self.mean[self.network.cells_of_row(row)].tolist()
            yield self.network.row_label(row), ", ".join(f"{mean:.3f}" for mean in means), means

    @classmethod
    @type_checked
    def symmetric(cls, network: Network, concentration: float = 1.0) -> "Dirichlets":
        """Return the prior with the same parameter in every cell; 1 is uniform over every row's simplex."""
        value = finite_number("The prior", concentration, low=LEAST_PRIOR, high=MOST_PRIOR)
        return cls(network, np.full(network.cell_count, value))

    @classmethod
    def bdeu(cls, network: Network, sample_size: float = 1.0) -> "Dirichlets":
        """Return the BDeu prior: every node's cells share one equivalent sample size evenly.

        A cell of a node with q rows of r states has the parameter N'/(q r). The prior knows as much of a node with many
        rows as of one with few, so that a sum over many rows is not nearly certain before the release.

        Args:
            network: The network.
            sample_size: The equivalent sample size N', in records.

        Returns:
            The prior.

        Raises:
            InputError: The sample size is outside of its range.

        Example:
            >>> dp.Dirichlets.bdeu(dp.chain(2), 4).alpha
            array([2., 2., 1., 1., 1., 1.])
        """
        size = finite_number("The equivalent sample size", sample_size, low=LEAST_PRIOR, high=MOST_PRIOR)
        cells = np.diff(network.cell_offsets)
        return cls(network, np.repeat(size / cells, cells))

    @classmethod
    @type_checked
    def capped(cls, network: Network, sample_size: float = WIDE_SIZE) -> "Dirichlets":
        """Return the prior that has BDeu's parameters, but at least 0.125 and at most 1 in every cell.

        It is the recommended prior. Nodes that have no more cells than the sample size have the uniform prior. The
        network is public, and so is the prior.

        Args:
            network: The network.
            sample_size: The equivalent sample size N', in records.

        Returns:
            The prior.

        Raises:
            InputError: The sample size is outside of its range.

        Example:
            >>> dp.Dirichlets.capped(dp.chain(2), 2).alpha
            array([1. , 1. , 0.5, 0.5, 0.5, 0.5])
        """
        return cls(network, np.clip(cls.bdeu(network, sample_size).alpha, LEAST_CAPPED, 1.0))

    def updated(self, counts: Counts | ArrayLike) -> "Dirichlets":
        """Return the posterior for these counts (..., K), which conjugacy adds to alpha."""
        try:
            values = counts.values if isinstance(counts, Counts) else np.asarray(counts, dtype=np.float64)
        except (TypeError, ValueError):
            kind = brief(type(counts).__name__)
            raise InputError(f"counts must be a Counts or an array, not {kind}. Use dp.count.") from None
        if values.shape[-1:] != (cells := self.alpha.shape[-1:]):
            raise InputError(f"counts needs the shape (..., {cells[0]}), not {values.shape}. Use dp.count.")
        return replace(self, alpha=self.alpha + values)

    @cached_property
    def readings(self) -> Memo:
        """Quantities of the rows' counts that depend only on this prior, cached for the posteriors of many releases."""
        return Memo(most=_MOST_READINGS)

    @cached_property
    def totals(self) -> FloatArray:
        """alpha_0 of every cell's row, spread back over the cells: (..., K)."""
        return self.network.over_cells(self.network.row_sums(self.alpha))

    @cached_property
    def mean(self) -> FloatArray:
        """E theta for every cell: (..., K); also the predictive probability of the next record's state."""
        return self.alpha / self.totals

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviation of theta for every cell: (..., K)."""
        return np.sqrt(self.mean * (1 - self.mean) / (self.totals + 1))

    @property
    def rest(self) -> FloatArray:
        """alpha_0 - alpha: the second parameter of every cell's Beta marginal (..., K)."""
        return self.totals - self.alpha

    def rest_of(self, cell: int) -> FloatArray:
        """`rest` of one cell (...,), from its row alone."""
        row = self.alpha[..., self.network.cells_of_row(int(self.network.row_of_cell[cell]))]
        return np.asarray(row.sum(axis=-1) - self.alpha[..., cell])

    @type_checked
    def part(self, draws: int | slice) -> "Dirichlets":
        """Return a part of a batch (draws, K)."""
        return replace(self, alpha=self.alpha[draws])

    def interval(
        self, level: float = 0.95, *, cells: IntArray | slice | int = slice(None)
    ) -> tuple[FloatArray, FloatArray]:
        """Return the central credible interval of the cells' Beta marginals: two arrays (..., cells).

        The cell of a row with a single state has the probability 1.
        """
        tail = (1 - finite_number("interval", level, low=0, high=1)) / 2
        alpha = self.alpha[..., cells]
        rest = self.rest_of(cells) if isinstance(cells, int) else self.rest[..., cells]
        positive = np.maximum(rest, np.finfo(float).tiny)
        low = np.where(rest > 0, special.betaincinv(alpha, positive, tail), 1.0)
        high = np.where(rest > 0, special.betainccinv(alpha, positive, tail), 1.0)
        return low, high

    def log_density(self, cell: int, theta: ArrayLike) -> FloatArray:
        """Return the log density of one cell's Beta marginal at `theta` (points,): (..., points)."""
        a, b = self.alpha[..., cell, None], self.rest_of(cell)[..., None]
        points = np.asarray(theta, dtype=np.float64)
        return special.xlogy(a - 1, points) + special.xlog1py(b - 1, -points) - special.betaln(a, b)

    def _answer(
        self, target: str, evidence: Mapping[str, str], level: float, prior: "Dirichlets | None"
    ) -> QueryAnswer:
        draws = even_draws(self.network, np.broadcast_to(self.alpha, (DRAWS, *self.alpha.shape)))
        answer = answer_of(self.network, draws, target, evidence, level)
        if prior is not None:
            exact = exact_cells(self.network, prior.alpha, self.alpha[None])
            answer = prior.compared(answer, exact, draws, target, evidence)
        return answer.assuming(self.independence_for((target, *evidence)))

    def independence_for(self, columns: Collection[str]) -> str:
        """Return the independence that a question about columns assumes of a graph chosen from the records, or ""."""
        return assumed_independence(self.network, columns) if self.is_graph_chosen else ""

    def compared(
        self,
        answer: QueryAnswer,
        exact: tuple[FloatArray, FloatArray],
        draws: FloatArray,
        target: str,
        evidence: Mapping[str, str],
    ) -> QueryAnswer:
        """Return the answer of a posterior, compared with that of this prior; arguments as in `vague_coverage`."""
        key = target, tuple(sorted(evidence.items())), answer.level  # one answer for the releases that have this prior
        before = self._prior_answers.once(key, self.query, target, evidence, interval=answer.level)
        coverage = vague_coverage(self.network, self.alpha, exact, draws, target, evidence)
        return replace(answer, prior=before, vague_coverage=coverage)

    @cached_property
    def _prior_answers(self) -> Memo:
        return Memo()

    @type_checked
    def sample(self, rng: np.random.Generator | int, size: int | tuple[int, ...] = ()) -> FloatArray:
        """Sample CPTs from the rows: (*size, ..., K). Normalisation in log space avoids 0/0 for tiny parameters.

        Example: `posterior.sample(np.random.default_rng(1), 200).mean(axis=0)` is near `posterior.mean`.
        """
        rng, shape = generator(rng), (*leading(size), *self.alpha.shape)
        # G(a) = G(a + 1) U^(1/a) keeps the logarithm finite where the sample itself would underflow.
        log_gamma = np.log(np.asarray(rng.standard_gamma(self.alpha + 1, size=shape)))
        log_gamma += np.log(rng.random(shape)) / self.alpha
        starts, rows = self.network.row_starts, self.network.row_of_cell
        log_gamma -= np.maximum.reduceat(log_gamma, starts, axis=-1)[..., rows]
        weights = np.exp(log_gamma)
        return weights / np.add.reduceat(weights, starts, axis=-1)[..., rows]
