"""What one record moves: how far each residual, and the most over all records at given prices.

One record that differs in the nodes d moves t_A by c_A(d) = g_A (1 - prod_{i in A and d} -1/(r_i - 1)): in squared
length with g_A = 2 p_A, and integer Walsh coefficients in absolute value with g_A = 1, which is 2 if A and d share an
odd number of nodes. The most that a record is charged, max_d sum_A c_A(d) y_A at prices y_A, is found exactly, by
eliminating node after node.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.model.elimination import Factor, Plan, elimination_plan, largest, widest_scope
from dpbayes.model.residuals import Residuals

MAX_TABLE_BITS = 20
"""Largest table, as a power of two, that the exact search for the worst record may build on its way."""


@dataclass(frozen=True, eq=False)
class WorstCharge:
    """max over d of sum_A c_A(d) y_A, or an upper bound where not `exact`, and the c (M,) that give it.

    A bound lets every family differ in nodes of its own choice; `differs` (|I|,), one for each node, gives at least
    `at_least`.
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
    """What one record moves: c_A(d) for every set A of the residuals, from the factors g_A (M,)."""

    residuals: Residuals
    factors: FloatArray

    @classmethod
    def squared(cls, residuals: Residuals) -> "Charges":
        """Return the charges of residuals in squared length."""
        return cls(residuals, _without_empty(2 * residuals.shares))

    @classmethod
    def of_coefficients(cls, residuals: Residuals) -> "Charges":
        """Return the charges of integer Walsh coefficients in absolute value, for binary nodes."""
        return cls(residuals, _without_empty(np.ones(len(residuals.shares))))

    def moved(self, differs: IntArray) -> FloatArray:
        """Return c_A(d) for records that differ in the nodes marked 1 (D, |I|): (D, M)."""
        holds = self._members.T
        signs = 1 - 2 * ((differs @ holds) % 2)
        sizes = np.exp(-(differs * self._log_others) @ holds)
        return np.asarray(self.factors * (1 - signs * sizes))

    def worst(self, prices: FloatArray) -> WorstCharge:
        """Return the largest sum of c_A(d) y_A over all records, for prices y (M,), none negative."""
        weights = np.where(self.factors > 0, prices * self.factors, 0.0)
        tables = self._tables(weights)
        differs = np.zeros(len(self.residuals.cards), dtype=np.int64)
        if widest_scope(self._plan) <= MAX_TABLE_BITS:
            value, chosen = largest(tables, self._plan)
            differs[list(chosen)] = list(chosen.values())
            value = max(value, 0.0)
            return WorstCharge(value, value, self.moved(differs[None])[0], differs)
        differs[:] = np.array(self.residuals.cards) > 1
        value, charge = self._bounded(tables)
        at_least = float(self.moved(differs[None])[0] @ np.where(self.factors > 0, prices, 0.0))
        return WorstCharge(value, at_least, charge, differs)

    def _bounded(self, tables: list[Factor]) -> tuple[float, FloatArray]:
        """The sum of the families' largest charges, each for its own sets, and the c of those."""
        value, charge = 0.0, np.zeros(len(self.factors))
        for (family, table), own in zip(tables, self._own, strict=True):
            best = np.unravel_index(int(table.argmax()), table.shape)
            value += float(table.max())
            differs = np.zeros((1, len(self.residuals.cards)), dtype=np.int64)
            differs[0, list(family)] = best
            charge[own] = self.moved(differs)[0, own]
        return value, charge

    def _tables(self, weights: FloatArray) -> list[Factor]:
        """sum over a family's own sets of w_A (1 - turn_A(d)), for every d within the family."""
        closure = self.residuals.closure
        slots = np.zeros(len(closure.slots))
        slots[closure.representatives] = weights
        tables: list[Factor] = []
        start = 0
        for family in closure.families:
            own = slots[start : start + 2 ** len(family)]
            start += 2 ** len(family)
            turned = own
            for k, node in enumerate(family):
                without, having = np.moveaxis(turned.reshape(2**k, 2, -1), 1, 0)
                card = self.residuals.cards[node]
                turn = -1 / (card - 1) if card > 1 else 1.0
                turned = np.stack((without + having, without + turn * having), axis=1)
            tables.append((family, (own.sum() - turned).reshape((2,) * len(family))))
        return tables

    @cached_property
    def _plan(self) -> Plan:
        return elimination_plan(self.residuals.closure.families)

    @cached_property
    def _own(self) -> list[IntArray]:
        """The sets of which every family is the first holder."""
        closure = self.residuals.closure
        starts = np.cumsum([2 ** len(family) for family in closure.families])
        holder = np.searchsorted(starts, closure.representatives, side="right")
        return [np.flatnonzero(holder == k) for k in range(len(closure.families))]

    @cached_property
    def _members(self) -> FloatArray:
        """Whether every set holds each node: (M, |I|)."""
        nodes = range(len(self.residuals.cards))
        return np.array([[mask >> i & 1 for i in nodes] for mask in self.residuals.closure.members], dtype=np.float64)

    @cached_property
    def _log_others(self) -> FloatArray:
        return np.log(np.maximum(np.array(self.residuals.cards, dtype=np.float64) - 1, 1.0))


def _without_empty(factors: FloatArray) -> FloatArray:
    """The factors, but for the empty set's: n is public."""
    factors = factors.astype(np.float64)
    factors[0] = 0.0
    return factors
