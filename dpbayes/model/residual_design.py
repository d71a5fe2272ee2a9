"""Optimal noise on residuals: the scale for each set of nodes with the smallest error at a given privacy loss.

One record that differs in the nodes d changes t_A by c_A(d) = g_A (1 - prod_{i in A and d} -1/(r_i - 1)). For the
squared length of residuals, g_A = 2 p_A. The largest charge of a record, max_d sum_A c_A(d) y_A at prices y_A, is
computed exactly by eliminating one node after another. Noise of scale s_A on every set A has the privacy loss
max_d sum_A c_A(d)/s_A.

Minimising sum_A v_A s_A for variances s_A at a fixed loss is a convex problem in the prices y_A = 1/s_A. For any
weights over the d, with the mean charge c_A, the minimum is at least (sum_A sqrt(v_A c_A))^2. The prices
sqrt(v_A/c_A), up to a factor, belong to this bound. The best weights are found by projected Newton steps over the worst
d found so far. For any weights, the final scales are divided by their own worst charge, so the guarantee holds, and the
gap to the bound is known. [Xiao23] with the exact charge of a replaced record.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbayes.base.types import AnyArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.elimination import MAX_TABLE_BITS, Factor, Plan, elimination_plan, largest, widest_scope
from dpbayes.model.residuals import Residuals

MOST_SETS = 1 << 14
"""The largest number of sets in a search, which then takes some seconds."""

GAP = 2e-3
"""The relative gap at which the search ends."""

_ROUNDS, _STEPS, _MULTIPLIED = 80, 30, 8
_LEAST_ROUNDS, _MANY = 3, 2048
"""The smallest number of rounds, and the number of sets above which there are fewer rounds. The guarantee holds after
any round, and the gap states the quality."""

_SMALL = 1e-4
_SAFE = 1 + 1e-12
"""The factor that compensates rounding errors, so that the guarantee holds."""


# Charges


@dataclass(frozen=True, eq=False)
class WorstCharge:
    """max over d of sum_A c_A(d) y_A, or an upper bound if it is not `exact`, and its c (M,).

    The bound maximises over the differing nodes separately for every family. The record `differs` (|I|,), 1 for a
    differing node, is charged at least `at_least`.
    """

    value: float
    at_least: float
    charge: FloatArray
    differs: IntArray

    @property
    def exact(self) -> bool:
        return self.value <= self.at_least * (1 + 1e-9)


@dataclass(frozen=True, eq=False)
class Charges:
    """The charges c_A(d) of one record for the squared length of every residual."""

    residuals: Residuals

    @cached_property
    def factors(self) -> FloatArray:
        """g_A (M,): 0 for the empty set, because n is public."""
        return np.concatenate(([0.0], 2 * self.residuals.shares[1:]))

    @cached_property
    def worth(self) -> FloatArray:
        """v_A (M,): what a unit of s_A adds to the sum of the cells' variances."""
        return self.residuals.cell_values(np.ones(len(self.residuals.cards)))

    def moved(self, differs: IntArray) -> FloatArray:
        """Return c_A(d) for records `differs` (D, |I|), with 1 for a differing node: (D, M)."""
        holds = self._members.T
        signs = 1 - 2 * ((differs @ holds) % 2)
        others = np.maximum(np.array(self.residuals.cards) - 1.0, 1.0)
        sizes = np.exp(-(differs * np.log(others)) @ holds)
        return np.asarray(self.factors * (1 - signs * sizes))

    def worst(self, prices: FloatArray) -> WorstCharge:
        """Return the largest sum of c_A(d) y_A over all records, for non-negative prices y (M,)."""
        tables = self._tables(prices)
        differs = np.zeros(len(self.residuals.cards), dtype=np.int64)
        if widest_scope(self._plan) <= MAX_TABLE_BITS:
            best, chosen = largest(tables, self._plan)
            differs[list(chosen)] = list(chosen.values())
            value = max(float(best), 0.0)
            return WorstCharge(value, value, self.moved(differs[None])[0], differs)
        differs[:] = np.array(self.residuals.cards) > 1
        value, charge = self._bounded(tables)
        at_least = float(self.moved(differs[None])[0] @ np.where(self.factors > 0, prices, 0.0))
        return WorstCharge(value, at_least, charge, differs)

    def _tables(self, prices: FloatArray) -> list[Factor]:
        """Return the charges within every family for prices (M,)."""
        sizes, weights = self.residuals.sizes, np.where(self.factors > 0, prices * self.factors, 0.0)
        return charge_tables(self.residuals, np.divide(weights, sizes, out=np.zeros_like(weights), where=sizes > 0))

    def _bounded(self, tables: list[Factor]) -> tuple[float, FloatArray]:
        """Return the sum of the families' largest charges, each over the family's own sets, and their c."""
        value, charge = 0.0, np.zeros(len(self.factors))
        for (family, table), own in zip(tables, self._own, strict=True):
            best = np.unravel_index(int(table.argmax()), table.shape)
            value += float(table.max())
            differs = np.zeros((1, len(self.residuals.cards)), dtype=np.int64)
            differs[0, list(family)] = best
            charge[own] = self.moved(differs)[0, own]
        return value, charge

    @cached_property
    def _plan(self) -> Plan:
        return elimination_plan(self.residuals.closure.families)

    @cached_property
    def _own(self) -> list[IntArray]:
        """The sets of every family that no earlier family contains."""
        closure = self.residuals.closure
        starts = np.cumsum([2 ** len(family) for family in closure.families])
        holder = np.searchsorted(starts, closure.representatives, side="right")
        return [np.flatnonzero(holder == k) for k in range(len(closure.families))]

    @cached_property
    def _members(self) -> FloatArray:
        """Whether every set contains each node: (M, |I|)."""
        nodes = range(len(self.residuals.cards))
        return np.array([[mask >> i & 1 for i in nodes] for mask in self.residuals.closure.members], dtype=np.float64)


def charge_tables(residuals: Residuals, prices: AnyArray) -> list[Factor]:
    """Return sum_A p_A (N_A - N_A(d)) over every family's own sets A, for every d within the family.

    Own sets are those that no earlier family contains. N_A = prod_{i in A} (r_i - 1), and N_A(d) has the factor -1 for
    each node in which d differs. The tables have the type of the prices (M,), so integers remain exact.
    """
    closure = residuals.closure
    slots = np.zeros(len(closure.slots), dtype=prices.dtype)
    slots[closure.representatives] = prices
    tables: list[Factor] = []
    start = 0
    for family in closure.families:
        turned = slots[start : start + 2 ** len(family)]
        start += 2 ** len(family)
        for k, node in enumerate(family):
            without, having = np.moveaxis(turned.reshape(2**k, 2, -1), 1, 0)
            turned = np.stack((without + (residuals.cards[node] - 1) * having, without - having), axis=1)
        # The first entry is for equal records. A node with one state is in no set that has a price.
        turned = turned.reshape((2,) * len(family))
        tables.append((family, turned.flat[0] - turned))
    return tables


# Scales


@dataclass(frozen=True, eq=False)
class NoiseDesign:
    """Scales s_A (M,) with a privacy loss of at most 1, 0 for sets without noise, and their quality.

    `error` is sum_A v_A s_A. It exceeds the minimum at the same loss by at most the share `gap` of the minimum. For
    stated prices, the gap is not known and is infinite. `exact` states whether a record attains the loss, or whether it
    is an upper bound.
    """

    scales: FloatArray
    error: float
    gap: float
    exact: bool


def gaussian_at(residuals: Residuals, prices: FloatArray) -> NoiseDesign:
    """Return variances s_A proportional to 1/prices (M,) with max_d sum_A c_A(d)/s_A = 1; the gap is unknown.

    Errors: InputError for prices that are not positive.
    """
    charges = Charges(residuals)
    if prices.shape != charges.factors.shape or not np.all(prices[charges.factors > 0] > 0):
        raise InputError("Every set of nodes with noise needs a price, a positive number.")
    return _scaled(charges, prices)[0]


def _scaled(charges: Charges, prices: FloatArray) -> tuple[NoiseDesign, WorstCharge]:
    """Return the design at stated prices, and their worst charge."""
    worst, scales = charges.worst(prices), np.zeros(len(prices))
    np.divide(_SAFE * worst.value, prices, out=scales, where=charges.factors > 0)
    return NoiseDesign(scales, float(charges.worth @ scales), math.inf, exact=worst.exact), worst


def best_gaussian(residuals: Residuals) -> NoiseDesign:
    """Return the variances s_A with max_d sum_A c_A(d)/s_A = 1 and the least sum of the cells' variances.

    A round of the search takes less than half a second on a network of 200 nodes. Errors: InputError for more than
    MOST_SETS sets.
    """
    charges, prices = Charges(residuals), np.zeros(len(residuals.shares))
    noisy = np.flatnonzero(charges.factors)
    if noisy.size > MOST_SETS:
        raise InputError(
            f"The optimal noise is computed for up to {MOST_SETS:,} sets of nodes within families, but this network "
            f"has {noisy.size:,}. Remove parents of its largest tables, or choose a mechanism with uniform noise."
        )
    if not noisy.size:
        return NoiseDesign(prices, 0.0, 0.0, exact=True)
    worth = charges.worth[noisy]
    cuts = charges.moved(_first_records(charges.residuals))[:, noisy]
    first = len(cuts)
    mass = np.full(first, 1 / first)
    best, bound = NoiseDesign(prices, math.inf, math.inf, exact=True), math.ulp(0.0)
    rounds = max(_LEAST_ROUNDS, min(_ROUNDS, _ROUNDS * _MANY // noisy.size))
    for _ in range(rounds):
        mass = _best_weights(cuts, worth, mass, close=max(GAP, min(best.error / bound - 1, 1)) / 10)
        mean = mass @ cuts
        bound = max(bound, float((worth**0.5 * (mean / mass.sum()) ** 0.5).sum() ** 2))
        prices[noisy] = (worth / mean) ** 0.5
        design, worst = _scaled(charges, prices)
        best = min(best, design, key=lambda design: design.error)
        if best.error / bound - 1 < GAP:
            break
        kept = mass > 1e-6 * mass.max()
        kept[:first] = True  # so that every set is changed by some record
        cuts = np.vstack((cuts[kept], worst.charge[noisy]))
        mass = np.append(mass[kept], 1e-3 * mass.sum())
    return replace(best, gap=best.error / bound - 1)


def _first_records(residuals: Residuals) -> IntArray:
    """Return the initial records: those that differ in one node, and the one that differs in all nodes."""
    several = (np.array(residuals.cards) > 1).astype(np.int64)
    records = np.concatenate((several[None], np.diag(several)))
    return np.unique(records[records.any(axis=1)], axis=0)


def _best_weights(cuts: FloatArray, worth: FloatArray, start: FloatArray, *, close: float) -> FloatArray:
    """Return the weights over records (cuts,) that maximise the bound, up to a common factor.

    They maximise 2 sum_A sqrt(v_A c_A) - sum of the weights, which is concave, over weights that are not negative. Its
    slope is sum_A c_A(d) y_A - 1.
    """
    root = worth**0.5
    mass = start * (float(root @ (start @ cuts) ** 0.5) / start.sum()) ** 2

    for _ in range(_STEPS):
        for _ in range(_MULTIPLIED):
            mass = mass * (cuts @ (root * (mass @ cuts) ** -0.5))
        mean = mass @ cuts
        prices = root * mean**-0.5
        slope = cuts @ prices - 1
        if slope.max() < close:
            break
        free = (mass > _SMALL * mass.max()) | (slope > 0)
        bent = (cuts[free] * (prices / mean / 2)) @ cuts[free].T
        bent[np.diag_indices_from(bent)] += 1e-9 * np.trace(bent) / len(bent)
        step = np.zeros(len(mass))
        step[free] = np.linalg.solve(bent, slope[free])
        mass = np.maximum(mass + step, mass / 100)
    return mass
