"""A private MAP estimate by the exponential mechanism, scored by mass. [Zhang16] Section 4.2, Algorithm 3."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.looks import BROWN
from dpbayes.base.parameters import Parameter
from dpbayes.base.privacy import Guarantee
from dpbayes.base.quadrature import last_reached
from dpbayes.base.references import Reference
from dpbayes.base.steps import slices
from dpbayes.base.text import latex, numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import type_checked
from dpbayes.mechanisms.base import OfCounts, Prior
from dpbayes.mechanisms.exact_form import (
    GUMBEL_MAXIMUM,
    Releasable,
    ReleaseSpec,
    Scores,
    Sensitivity,
    gumbel_choices,
    whole,
)
from dpbayes.mechanisms.map_scores import MOST_CELLS, cell_masses, node_sensitivities
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.posteriors.trimmed import distinct_pairs

CELLS = Parameter(
    "G",
    low=2,
    high=MOST_CELLS,
    typical=20,
    log=True,
    whole=True,
    title="Cells",
    description="The number of equal cells of the interval from 0 to 1 to which MAP estimates are rounded; "
    "the guarantee does not depend on it.",
)

_BLOCK = 1 << 20
"""The largest number of masses in memory."""


@dataclass(frozen=True, eq=False)
class MapEstimate:
    """Point estimates of all CPTs: the index `places` (..., K - m) of every decision's selected cell, of `cells`."""

    network: Network
    places: IntArray
    cells: int

    @property
    def numbers(self) -> FloatArray:
        """All released numbers, as CPTs (..., K)."""
        return self.probabilities

    @cached_property
    def probabilities(self) -> FloatArray:
        """CPTs (..., K) of the cells' midpoints (g + 1/2) / G."""
        doubled = 2 * self.places
        return Decisions(self.network).probabilities(np.log(doubled + 1) - np.log(2 * self.cells - doubled - 1))

    def part(self, releases: int | slice | IntArray) -> "MapEstimate":
        """Return a part of a batch (releases, K - m)."""
        return MapEstimate(self.network, self.places[releases], self.cells)


@type_checked
@dataclass(frozen=True, kw_only=True)
class MapExponential(OfCounts):
    """P[g] ~ prior(g) exp(epsilon u(g) / (2 Delta)), where u is a posterior mass. [Zhang16] Algorithm 3.

    The mechanism selects one of G equal cells of (0, 1) for every decision of every CPT row. A binary row is one
    decision (see `dpbayes.posteriors.decisions`). The score u of an output is the sum of the posterior masses of the
    selected cells. Delta = sum_i Delta_i is an upper bound of the change of u by one replaced record, for every n (see
    `dpbayes.mechanisms.map_scores`). All decisions are sampled independently, at the same rate epsilon / (2 Delta).

    In the paper u is the posterior density and Delta = sqrt(L r). This Delta bounds the change of a set's probability,
    not of a density, and the guarantee fails (see `PrintedMap`). Masses of cells are probabilities of sets.

    The base measure prior(g) is the cell's prior mass, as in the paper. This mass is public and positive for every
    prior, so it has no privacy cost. As epsilon tends to 0, the distribution tends to the prior, rounded to cells. A
    cell with a prior mass below 1e-308 is never selected, for any data.

    Delta grows as the prior's parameters get smaller. For a node with five parents, all binary, Delta would be 1.3
    times as large under a capped prior. The mechanism therefore uses the uniform prior instead of a capped prior.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for the uniform prior over its rows.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        cells: G, the number of cells that (0, 1) is divided into.

    Raises:
        InputError: The prior is neither a network nor a single `Dirichlets`, or a number is outside its range.

    Example:
        >>> mechanism = dp.MapExponential(prior=dp.chain(2), epsilon=1, cells=10)
        >>> counts = dp.Counts(dp.chain(2), np.array([7, 3, 6, 1, 1, 2]), 10)
        >>> mechanism.simulate(counts, np.random.default_rng(1)).outcome.probabilities.shape
        (6,)
    """

    label: ClassVar[str] = "Private MAP"
    named: ClassVar[str] = "private MAP"
    colour: ClassVar[str] = BROWN
    summary: ClassVar[str] = "Releases one set of probable parameters, chosen at random."
    own_prior: ClassVar[PriorRule] = PriorRule.symmetric()
    facts: ClassVar[tuple[str, ...]] = ("epsilon", "cells", "sensitivity")
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    cells: Annotated[int, CELLS] = 20

    @property
    def formula(self) -> str:
        """The choice and its scale, as a formula."""
        return (
            f"For every row, one of $G = {self.cells:,}$ cells is chosen, with probability proportional to its prior "
            f"mass times $\\exp(\\varepsilon u / 2\\Delta)$, where $u$ is its posterior mass. One record moves the sum "
            f"of all $u$ by at most $\\Delta = {latex(self.sensitivity)}$. "
            "All nodes share $\\varepsilon$, so large networks need a large $\\varepsilon$."
        )

    @cached_property
    def _decisions(self) -> Decisions:
        return Decisions(self.prior.network)

    @cached_property
    def sensitivity(self) -> float:
        """Delta = sum_i Delta_i: the largest change of the score of any output by one replaced record."""
        return float(node_sensitivities(self.prior).sum())

    @property
    def rate(self) -> float:
        """epsilon / (2 Delta), in nats per unit of posterior mass; zero if the scores do not depend on the data."""
        return self.epsilon / (2 * self.sensitivity) if self.sensitivity else 0.0

    @property
    def claimed(self) -> Guarantee:
        """epsilon, as [Zhang16] Corollary 4 states, for tables that differ in one record."""
        return Guarantee(self.epsilon, reference=Reference("Zhang16", "Corollary 4, scored by mass"))

    @property
    def certified(self) -> Guarantee:
        """epsilon: the scores and the logarithms of the normalisers each change by at most epsilon/2."""
        proved = self.epsilon if self.sensitivity else 0.0
        return Guarantee(proved, reference=Reference("dpbayes", "Corollary 4 of Zhang16, scored by mass"))

    def log_pmf(self, counts: ArrayLike) -> FloatArray:
        """Return ln P[g | counts] for every decision, all independent, after `counts` (..., K): (..., K - m, G)."""
        return self.log_pmf_of_rows(self.prior, counts)

    def log_pmf_of_rows(self, rows: Dirichlets, counts: ArrayLike) -> FloatArray:
        """Return `log_pmf` of some rows at this mechanism's rate; `rows` has their priors (..., C), a node per row."""
        a, b = Decisions(rows.network).parameters(rows.alpha)
        masses, kinds = self._log_masses(a, b)
        a, b = Decisions(rows.network).parameters(rows.updated(counts).alpha)
        return special.log_softmax(self.rate * cell_masses(a, b, cells=self.cells) + masses[kinds], axis=-1)

    def outcome_for(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> MapEstimate:
        """Sample one cell for every decision: CPTs (*size, ..., K). Rows with equal parameters share a distribution."""
        parameters = self._decisions.parameters(self.prior.updated(statistic).alpha)
        shape = parameters[0].shape
        kinds = np.broadcast_to(self._log_base[1], shape).ravel()
        first, second, pairs = distinct_pairs(*(values.ravel() for values in parameters))
        pair, kind, laws = distinct_pairs(pairs.astype(np.float64), kinds.astype(np.float64))
        distinct = pair.astype(np.int64)
        levels = rng.random((*size, *shape)).reshape(math.prod(size), math.prod(shape))
        places = self._draw(levels, first[distinct], second[distinct], kind.astype(np.int64), laws)
        return MapEstimate(self.prior.network, places.reshape(*size, *shape), self.cells)

    @cached_property
    def _log_base(self) -> tuple[FloatArray, IntArray]:
        """ln prior mass (kinds, G) for every kind of decision, and the kind (..., K - m) of each decision."""
        return self._log_masses(*self._decisions.parameters(self.prior.alpha))

    def _log_masses(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, IntArray]:
        first, second, kinds = distinct_pairs(a.ravel(), b.ravel())
        with np.errstate(divide="ignore"):
            return np.log(cell_masses(first, second, cells=self.cells)), kinds.reshape(a.shape)

    def _draw(self, uniforms: FloatArray, a: FloatArray, b: FloatArray, kinds: IntArray, laws: IntArray) -> IntArray:
        """Select a cell for every level (draws, rows); each row follows one of the `laws` of these parameters."""
        places = np.empty(uniforms.shape, dtype=np.int64)
        order = np.argsort(laws, kind="stable")
        for part in slices(len(a), _BLOCK // self.cells):
            scores = self.rate * cell_masses(a[part], b[part], cells=self.cells) + self._log_base[0][kinds[part]]
            rows = order[slice(*np.searchsorted(laws[order], (part.start, part.stop)))]
            places[:, rows] = choose_by_law(uniforms[:, rows], log_weights=scores, laws=laws[rows] - part.start)
        return places


def choose_by_law(uniforms: FloatArray, *, log_weights: FloatArray, laws: IntArray) -> IntArray:
    """Return the cell that contains each level in [0, 1): (draws, rows), from weights exp(.) of (L, G).

    `laws` (rows,) are the indices of the rows' weights. Cells of weight zero are never returned.
    """
    cumulative = np.cumsum(np.exp(log_weights - log_weights.max(axis=-1, keepdims=True)), axis=-1)
    cumulative /= cumulative[:, -1:].copy()
    starts = np.concatenate((np.zeros((len(cumulative), 1)), cumulative[:, :-1]), axis=-1)
    return last_reached(starts, uniforms, laws)


# The exact form

UNIT = 2**30
"""Scores are posterior masses times this number, rounded to integers."""

_ROUNDING = 2
"""The units that rounding may add to the change of a score: at most a half for each of the two scores, and less than a
quarter each for the numerical error of a mass, which is assumed to be below 1e-10."""

_MARGIN = 1 + 2.0**-20


def _score_sensitivity(spec: ReleaseSpec) -> Sensitivity:
    # One record changes the decisions that lead to two states of every node.
    touched = 2 * int(Decisions(spec.network).depths.sum())
    moved = float(node_sensitivities(spec.dirichlets).sum())
    return Sensitivity(
        (math.ceil(moved * UNIT * _MARGIN) + _ROUNDING * touched) if moved else 0,
        "the sum of all scores, posterior masses in units of 1/2^30",
        "Zhang, Rubinstein and Dimitrakakis 2016, Algorithm 3, scored by mass: one more count moves a mass of a "
        "Beta(a, b) by at most D(a) = a^a e^-a / Gamma(a + 1), one replaced by D(a) D(b) / D(a + b), and rounding by "
        "two units; the masses are taken to be computed within 1e-10",
    )


def _cells(spec: ReleaseSpec) -> int:
    return int(spec.settings["cells"])


def _decisions(spec: ReleaseSpec) -> int:
    return spec.network.cell_count - spec.network.row_count


def cell_scores(spec: ReleaseSpec, counts: IntArray, scale: Fraction) -> Callable[[slice], Scores]:
    """Return a function that returns the cells of positive prior mass of some decisions, and their integer scores.

    A score is the posterior mass in units plus scale times ln prior mass, so that P[g] ~ exp(score_g / scale).
    """
    decisions, cells = Decisions(spec.network), _cells(spec)
    prior = decisions.parameters(spec.dirichlets.alpha)
    posterior = decisions.parameters(spec.dirichlets.updated(counts).alpha)

    def scored(block: slice) -> Scores:
        with np.errstate(divide="ignore"):
            offsets = float(scale) * np.log(cell_masses(prior[0][block], prior[1][block], cells=cells))
        masses = whole(UNIT * cell_masses(posterior[0][block], posterior[1][block], cells=cells))
        allowed = [np.flatnonzero(np.isfinite(row)) for row in offsets]
        return [(at, row[at] + whole(base[at])) for at, row, base in zip(allowed, masses, offsets, strict=True)]

    return scored


MAP = Releasable(
    kind=MapExponential,
    integers="the cell chosen for every decision of every row of the tables, counted from 0",
    noise=GUMBEL_MAXIMUM,
    sensitivity=_score_sensitivity,
    length=_decisions,
    span=lambda spec, scale: (0, _cells(spec) - 1),
    choose=lambda spec, counts, scale: gumbel_choices(cell_scores(spec, counts, scale), _decisions(spec), scale),
    read=lambda mechanism, integers, n: MapEstimate(mechanism.prior.network, integers, mechanism.cells),
    accuracy=lambda spec, scale: (
        f"Every probability was chosen by lot from steps of {numeral(float(1 / spec.settings['cells']))}, the likelier "
        "the better it fits; where there are many tables or few records it says little."
    ),
)
