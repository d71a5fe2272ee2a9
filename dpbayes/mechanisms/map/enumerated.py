"""The private MAP estimate at the largest rate at which every table of n records was compared.

[Zhang16] Algorithm 3, scored by mass, with the noise that this n and prior need. The proof of `MapExponential` serves
every n, and bounds the change of a score and that of a normaliser separately. Both together, at one n, change less.

Proof. Decisions are drawn independently, so the loss of an output is the sum of its decisions' losses, and the largest
loss of a pair of tables is the sum of the largest of every decision. One replaced record changes only decisions that
lead to its old or its new state, at every node; each of them has one count more in one of the two tables, or, where the
paths to two states of one row part, one count of the other half. A decision's counts are at most n - 1 without that
record, and exactly n - 1 for the first decision of a node without parents. For each of these finitely many counts,
`DecisionLaws` has the loss in either direction. `map_loss_bound` adds the largest ones along every possible path, and
over the nodes. That is at least the loss of every pair of tables, and the largest loss itself for one binary node.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.bisection import turning_point
from dpbayes.base.parameters import Parameter
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.base import Prior, check_mechanism, count_table, public_facts
from dpbayes.mechanisms.map.exponential import CELLS, MapEstimate, MapExponential
from dpbayes.mechanisms.map.scores import cell_masses, children
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.mechanisms.release import Release
from dpbayes.model.counts import Counts
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.posteriors.trimmed import distinct_pairs

MOST_MASSES = 500_000
"""Masses of cells beyond which nothing is enumerated; thirty rates then take a second or two."""

RECORDS = Parameter(
    "n",
    low=1,
    high=2000,
    typical=50,
    log=True,
    whole=True,
    title="Records",
    description="The public number of records.",
)

_DOUBLINGS, _HALVINGS = 12, 20

_ROUNDING = 1e-9
"""Allowance for the rounding of a loss, in units of 1 + epsilon. Masses have errors below 1e-13."""


@dataclass(frozen=True, kw_only=True)
class MapEnumerated:
    """`MapExponential` at the largest internal epsilon found at which it is epsilon-private for n records.

    P[g] ~ prior(g) exp(epsilon_0 u(g) / (2 Delta)), where u is a posterior mass; `inner_epsilon` is epsilon_0. The
    module's docstring has the proof. It concerns this n and prior only. epsilon_0 does not depend on the records, so
    its choice has no privacy cost. For one binary node the guarantee is tight.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for the uniform prior over its rows.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        n: The number of records, which is public.
        cells: G, the number of cells that (0, 1) is divided into.

    Raises:
        InputError: The prior is neither a network nor a single `Dirichlets`, a number is outside its range, or there
            are more than `MOST_MASSES` masses to compare.

    Example:
        >>> mechanism = dp.MapEnumerated(prior=dp.chain(2), epsilon=1, n=10)
        >>> round(mechanism.inner_epsilon, 1)
        3.5
    """

    label: ClassVar[str] = "Private MAP by enumeration"
    named: ClassVar[str] = "private MAP by enumeration"
    own_prior: ClassVar[PriorRule] = PriorRule.symmetric()
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    n: Annotated[int, RECORDS]
    cells: Annotated[int, CELLS] = 20

    def __post_init__(self) -> None:
        check_mechanism(self)
        require_few_masses(self.prior, n=self.n, cells=self.cells)

    @property
    def formula(self) -> str:
        return (
            f"For every row, one of $G = {self.cells:,}$ cells is chosen, with probability proportional to its prior "
            f"mass times $\\exp(\\varepsilon_0 u / 2\\Delta)$ at $\\varepsilon_0 = {latex(self.inner_epsilon)}$, the "
            f"largest value found at which no two tables of {self.n:,} records differ by more than $\\varepsilon = "
            f"{latex(self.epsilon)}$."
        )

    @cached_property
    def inner_epsilon(self) -> float:
        """The epsilon in the exponent, which depends on public numbers only."""
        return inner_map_epsilon(self.prior, epsilon=self.epsilon, n=self.n, cells=self.cells)

    @cached_property
    def at_inner(self) -> MapExponential:
        """The same distributions as a mechanism for every n, at the internal epsilon."""
        return MapExponential(prior=self.prior, epsilon=self.inner_epsilon, cells=self.cells)

    @property
    def claimed(self) -> Guarantee:
        """The proved guarantee; [Zhang16] does not contain this mechanism."""
        return self.certified

    @property
    def certified(self) -> Guarantee:
        """epsilon: the losses of all tables of n records were compared."""
        proved = self.epsilon if self.at_inner.sensitivity else 0.0
        return Guarantee(proved, reference=Reference("dpbayes", "private MAP by enumeration"))

    statistic = count_table

    def log_pmf(self, counts: ArrayLike) -> FloatArray:
        """Return ln P[g | counts] for every decision, all independent, after `counts` (..., K): (..., K - m, G)."""
        return self.at_inner.log_pmf(counts)

    def release(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()) -> Release[MapEstimate]:
        """Sample one cell for every decision: CPTs (*size, ..., K). Errors: InputError for another number of records.

        The error concerns the public n, not the records.
        """
        if statistic.n != self.n:
            raise InputError(
                f"The noise was computed for {self.n:,} records, but the table has {statistic.n:,}. Use the number of "
                "records of the table as n."
            )
        outcome = self.at_inner.release(statistic, rng, size).outcome
        public = public_facts(self, statistic, "epsilon", "cells", "inner_epsilon")
        return Release(outcome, self.certified, self.label, public)


def require_few_masses(prior: Dirichlets, *, n: int, cells: int) -> None:
    """Check that the enumeration is small. Errors: InputError for more than `MOST_MASSES` masses."""
    masses = len(_kinds(prior)[0]) * (n + 1) * (n + 2) // 2 * cells
    if masses > MOST_MASSES:
        raise InputError(
            f"The enumeration of {n:,} records would compare {masses:,} masses, more than {MOST_MASSES:,}. Use fewer "
            "cells or records, or the private MAP estimate for every number of records."
        )


def inner_map_epsilon(prior: Dirichlets, *, epsilon: float, n: int, cells: int) -> float:
    """Return the largest internal epsilon found at which `map_loss_bound` is at most epsilon.

    The returned value was itself tested, with an allowance for rounding, or is epsilon, for which `MapExponential` has
    a proof. Errors: InputError for more than `MOST_MASSES` masses.
    """
    require_few_masses(prior, n=n, cells=cells)
    sensitivity = MapExponential(prior=prior, epsilon=epsilon, cells=cells).sensitivity
    if not sensitivity:
        return epsilon
    laws = DecisionLaws.of(prior, n=n, cells=cells)
    most = epsilon - _ROUNDING * (1 + epsilon)

    def holds(inner: FloatArray) -> BoolArray:
        return np.asarray(map_loss_bound(prior, laws.losses(float(inner) / (2 * sensitivity))) <= most)

    low = epsilon
    for _ in range(_DOUBLINGS):
        if 2 * low > EPSILON.high or not holds(np.asarray(2 * low)):
            break
        low *= 2
    high = min(2 * low, EPSILON.high)
    return float(turning_point(holds, low, high, halvings=_HALVINGS)[0])


@dataclass(frozen=True, eq=False)
class DecisionLaws:
    """Masses (P, N, G) of P kinds of decisions after each of N pairs of counts, and ln prior masses (P, G).

    `places` (n + 1, n + 1) says where a pair of counts is; `base` are the pairs of at most n - 1 records (2, N'), and
    `is_full` says which kinds have all records; `kinds` (D,) are the decisions' kinds.
    """

    masses: FloatArray
    log_base: FloatArray
    places: IntArray
    base: IntArray
    is_full: BoolArray
    kinds: IntArray

    @classmethod
    def of(cls, prior: Dirichlets, *, n: int, cells: int) -> "DecisionLaws":
        """Return the masses of all decisions of a prior."""
        one, other, is_full, kinds = _kinds(prior)
        pairs = np.array([(k, total - k) for total in range(n + 1) for k in range(total + 1)]).T
        places = np.zeros((n + 1, n + 1), dtype=np.int64)
        places[pairs[0], pairs[1]] = np.arange(pairs.shape[1])
        masses = cell_masses(one[:, None] + pairs[0], other[:, None] + pairs[1], cells=cells)
        with np.errstate(divide="ignore"):
            log_base = np.log(cell_masses(one, other, cells=cells))
        return cls(masses, log_base, places, pairs[:, pairs.sum(axis=0) < n], is_full, kinds)

    def losses(self, rate: float) -> FloatArray:
        """Return the largest losses (6, D) of every decision by one record, at this rate in nats per unit of mass.

        The first is that of the table with one count more in the first half, over that without it, and the second the
        reverse; the next two are the same for the second half. The fifth has the record in the first half, the other
        table in the second one; the sixth is the reverse.
        """
        logs = rate * self.masses + self.log_base[:, None]
        logs = logs - np.log(np.exp(logs).sum(axis=-1, keepdims=True))
        a, b = self.base
        here, more, less = self.places[a, b], self.places[a + 1, b], self.places[a, b + 1]
        # A decision that has all records has n - 1 of them without the one that is replaced.
        left_out = self.is_full[:, None] & (a + b < (a + b).max())
        most = [
            self._most(logs[:, x] - logs[:, y], left_out)
            for x, y in ((more, here), (here, more), (less, here), (here, less), (more, less), (less, more))
        ]
        return np.stack(most)[:, self.kinds]

    def _most(self, losses: FloatArray, left_out: BoolArray) -> FloatArray:
        """Return the largest losses of every kind; a cell without prior mass is never an output."""
        possible = np.where(np.isfinite(self.log_base)[:, None], losses, -math.inf).max(axis=-1)
        return np.asarray(np.where(left_out, -math.inf, possible).max(axis=-1))


def map_loss_bound(prior: Dirichlets, losses: FloatArray) -> float:
    """Return the largest sum of losses (6, D) over all pairs of states at every node: a bound of the privacy loss."""
    network, spans = prior.network, Decisions(prior.network).spans
    left, right = children(spans)
    first, from_first, second, from_second, replaced, from_replaced = losses
    to, back = np.zeros(len(spans) + 1), np.zeros(len(spans) + 1)  # the last entries are for single states
    for _ in range(int(Decisions(network).depths.max())):
        to[:-1] = np.maximum(first + to[left], second + to[right])
        back[:-1] = np.maximum(from_first + back[left], from_second + back[right])
    parted = np.maximum(replaced + to[left] + back[right], from_replaced + to[right] + back[left])
    row = network.row_of_cell[spans[:, 0]]
    rows, tops = np.unique(row, return_index=True)
    total = 0.0
    for node in range(len(network.names)):
        own = tops[network.node_of_row[rows] == node]
        if not own.size:  # one state
            continue
        worst = float(parted[network.node_of_row[row] == node].max())
        pairs = to[own][:, None] + back[own]
        np.fill_diagonal(pairs, -math.inf)
        total += max(worst, float(pairs.max()))
    return total


def _kinds(prior: Dirichlets) -> tuple[FloatArray, FloatArray, BoolArray, IntArray]:
    """Return the parameters of all kinds of decisions (P,), whether they have all records, and the kinds (D,)."""
    network, decisions = prior.network, Decisions(prior.network)
    a, b = decisions.parameters(prior.alpha)
    row = network.row_of_cell[decisions.spans[:, 0]]
    is_root = network.rows_per_node[network.node_of_row[row]] == 1
    is_full = is_root & (np.diff(row, prepend=-1) != 0)
    one, other, pairs = distinct_pairs(a, b)
    pair, full, kinds = distinct_pairs(pairs.astype(np.float64), is_full.astype(np.float64))
    chosen = pair.astype(np.int64)
    return one[chosen], other[chosen], full > 0, kinds
