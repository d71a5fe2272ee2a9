"""The change of each residual by one record, and the largest total change at given prices.

One record that differs in the nodes d changes t_A by c_A(d) = g_A (1 - prod_{i in A and d} -1/(r_i - 1)). For the
squared length of residuals, g_A = 2 p_A. The largest charge of a record, max_d sum_A c_A(d) y_A at prices y_A, is
computed exactly by eliminating one node after another.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.types import AnyArray, FloatArray, IntArray
from dpbayes.model.elimination import Factor, Plan, elimination_plan, largest, widest_scope
from dpbayes.model.residuals import Residuals

MAX_TABLE_BITS = 20
"""The largest table of the exact search for the worst record, as a power of two."""


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
    """The charges c_A(d) of one record for every set A of the residuals, from the factors g_A (M,)."""

    residuals: Residuals
    factors: FloatArray

    @classmethod
    def squared(cls, residuals: Residuals) -> "Charges":
        """Return the charges for the squared lengths of residuals."""
        return cls(residuals, _without_empty(2 * residuals.shares))

    def moved(self, differs: IntArray) -> FloatArray:
        """Return c_A(d) for records `differs` (D, |I|), with 1 for a differing node: (D, M)."""
        holds = self._members.T
        signs = 1 - 2 * ((differs @ holds) % 2)
        sizes = np.exp(-(differs * self._log_others) @ holds)
        return np.asarray(self.factors * (1 - signs * sizes))

    def worst(self, prices: FloatArray) -> WorstCharge:
        """Return the largest sum of c_A(d) y_A over all records, for non-negative prices y (M,)."""
        tables = self._tables(prices)
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

    @cached_property
    def _log_others(self) -> FloatArray:
        return np.log(np.maximum(np.array(self.residuals.cards, dtype=np.float64) - 1, 1.0))


def charge_tables(residuals: Residuals, prices: AnyArray) -> list[Factor]:
    """Return sum_A p_A (N_A - N_A(d)) over every family's own sets A, for every d within the family.

    Own sets are those that no earlier family contains. N_A = prod_{i in A} (r_i - 1), and N_A(d) has the factor -1 for
    each node in which d differs. The result has the type of the prices (M, *batch), so integers remain exact; a table
    has the axes of its family and then those of the batch.
    """
    closure = residuals.closure
    batch = prices.shape[1:]
    slots = np.zeros((len(closure.slots), *batch), dtype=prices.dtype)
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
        turned = turned.reshape(-1, *batch)
        tables.append((family, (turned[0] - turned).reshape(*(2,) * len(family), *batch)))
    return tables


def _without_empty(factors: FloatArray) -> FloatArray:
    """Return the factors with 0 for the empty set, because n is public."""
    factors = factors.astype(np.float64)
    factors[0] = 0.0
    return factors
