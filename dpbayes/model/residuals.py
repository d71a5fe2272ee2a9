"""Residuals of a contingency table: the information of each set of nodes that no subset contains.

With orthonormal (Helmert) contrasts H_i of node i's r_i states, (r_i - 1, r_i), the residual of a subset A of a family
is t_A = sum over records x of kron_{i in A} H_i[:, x_i]; the empty set's is n. A family's table is the sum over A
within it of the contrasts' transpose times t_A, divided by the states of the nodes that A leaves out. For binary nodes
t_A is the Walsh coefficient of A over 2^(|A|/2), up to its sign. [Xiao23]
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.types import AnyArray, FloatArray, IntArray
from dpbayes.model.closure import Closure


@dataclass(frozen=True)
class Residuals:
    """The residuals of the families' tables: one set A for each of the M members of the closure, in the same order.

    The flat axis of K cells is that of the network, by family; `cards` are the numbers of the nodes' states. The R
    numbers of all residuals have a separate axis, by set. A set with a node of one state has no numbers.
    """

    closure: Closure
    cards: tuple[int, ...]

    # The sets

    @cached_property
    def shares(self) -> FloatArray:
        """p_A = prod_{i in A} (1 - 1/r_i), the squared length of a record's part of t_A; 0 where t_A is empty: (M,)."""
        return self._of_sets(lambda r: 1 - 1 / r)

    @cached_property
    def sizes(self) -> IntArray:
        """prod_{i in A} (r_i - 1), the number of entries of t_A, 1 for the empty set: (M,)."""
        return self._of_sets(lambda r: r - 1).astype(np.int64)

    @cached_property
    def cells(self) -> FloatArray:
        """prod_{i in A} r_i, the number of cells of the table of A, 1 for the empty set: (M,)."""
        return self._of_sets(float)

    def _of_sets(self, factor: Callable[[int], float]) -> FloatArray:
        """Return the products of a factor for each node of a set, from its number of states: (M,)."""
        products = np.concatenate([_products([factor(r) for r in cards]) for cards in self._family_cards])
        return np.asarray(products[self.closure.representatives])

    @cached_property
    def set_of_number(self) -> IntArray:
        """The index of the set of every entry of the residuals: (R,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    # The cells

    def of_tables(self, tables: FloatArray) -> FloatArray:
        """Return the least-squares residuals (..., R) of inconsistent tables (..., K), which are weighted means.

        For independent noise with equal variances in all cells, family F has the weight w_F = prod_{i in F - A} 1/r_i
        in the mean of t_A.
        """
        return self.weighted(tables, np.ones(len(self.closure.families)))[0]

    def weighted(self, tables: FloatArray, precisions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the residuals (..., R) by least squares from tables (..., K) with these precisions of cells, (|I|,).

        The second result is the precision of every residual, sum_F w_F precision_F: (M,). A residual without precision
        is 0.
        """
        slots = np.diff([*self._slot_starts, len(self._rest)])
        of_slots = self._rest * np.repeat(precisions, slots)
        of_sets = np.asarray(np.bincount(self.closure.slots, of_slots), dtype=np.float64)
        cells = np.repeat(precisions, [math.prod(cards) for cards in self._family_cards])
        # In orthonormal coordinates, a family's table has the entries sqrt(w_F) t_A.
        turned = self._turned(tables, {r: basis.T for r, basis in self._bases.items()})
        numbers = turned * np.sqrt(self._weights) * cells
        order, starts = self._by_number
        sums, total = np.asarray(np.add.reduceat(numbers[..., order], starts, axis=-1)), of_sets[self.set_of_number]
        return np.divide(sums, total, out=np.zeros_like(sums), where=total > 0), of_sets

    def whole(self, counts: IntArray) -> IntArray:
        """Return the residuals of consistent tables (..., K) times `lengths`, as exact whole numbers: (..., R)."""
        return self._of_numbers(counts, {r: _whole_basis(r).T for r in self.cards})

    def tables(self, residuals: FloatArray) -> FloatArray:
        """Return the families' tables (..., K) from residuals (..., R); they agree on shared nodes."""
        return self._turned(residuals[..., self._number] * np.sqrt(self._weights), self._bases)

    def consistent(self, tables: FloatArray, n: float) -> FloatArray:
        """Return the consistent tables (..., K) of n records with the smallest squared distance from these tables."""
        residuals = self.of_tables(tables)
        residuals[..., 0] = n
        return self.tables(residuals)

    # Variances

    @cached_property
    def of_unit_cells(self) -> FloatArray:
        """Variance of the least-squares t_A for cells of variance 1 and known n: 1 / sum_F w_F, (M,)."""
        variances = 1 / np.bincount(self.closure.slots, self._rest)
        variances[0] = 0.0
        return variances

    def row_variances(self, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the variances of a node's row totals and row contrasts, from variances s_A (..., M): (..., |I|) each.

        A row of r cells has covariance a J/r^2 + c (I - J/r), J all ones: a = sum_{A in pi} s_A p_A
        prod_{pi - A} r_i^-2 and c = sum_{A with v} s_A p_{A - v} prod_{F - A} r_i^-2; one state has no contrasts.
        """
        parts = (variances * self.shares)[..., self.closure.slots] * self._rest**2
        starts = self._slot_starts
        card = np.array([cards[-1] for cards in self._family_cards], dtype=np.float64)
        # The node itself is the last of its family, so every other set contains it.
        within = np.arange(len(self._rest)) - np.repeat(starts, np.diff([*starts, len(self._rest)]))
        holds_node = within % 2 == 1
        totals = np.add.reduceat(np.where(holds_node, 0.0, parts), starts, axis=-1) * card**2
        contrasts = np.add.reduceat(np.where(holds_node, parts, 0.0), starts, axis=-1)
        return totals, np.divide(contrasts, 1 - 1 / card, out=np.zeros_like(contrasts), where=card > 1)

    def cell_variances(self, variances: FloatArray) -> FloatArray:
        """Return the variance of every cell of each family's table from variances s_A (..., M): (..., |I|).

        sum_{A in F} s_A p_A prod_{i in F - A} r_i^-2.
        """
        parts = (variances * self.shares)[..., self.closure.slots] * self._rest**2
        return np.asarray(np.add.reduceat(parts, self._slot_starts, axis=-1))

    def cell_values(self, weights: FloatArray) -> FloatArray:
        """Return what a unit of s_A adds to the sum over families of w_F times the variances of F's cells: (M,).

        p_A sum_{F with A} w_F prod_F r_i prod_{i in F - A} r_i^-2, from weights (|I|,).
        """
        cells = np.array([math.prod(cards) for cards in self._family_cards], dtype=np.float64)
        of_slots = np.repeat(weights * cells, np.diff([*self._slot_starts, len(self._rest)]))
        return np.asarray(self.shares * np.bincount(self.closure.slots, of_slots * self._rest**2))

    @cached_property
    def lengths(self) -> FloatArray:
        """By how much every number of the residuals is to be multiplied to be whole: (R,).

        The contrast of state k against those before it is (1, .., 1, -k, 0, ..) over sqrt(k (k + 1)).
        """
        of_card = {r: np.diag([1.0, *np.sqrt(np.arange(1.0, r) * np.arange(2.0, r + 1))]) for r in self.cards}
        return self._of_numbers(np.ones(len(self._number)), of_card)

    # The layout

    @cached_property
    def _family_cards(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(self.cards[i] for i in family) for family in self.closure.families)

    @cached_property
    def _slot_starts(self) -> IntArray:
        sizes = [2 ** len(family) for family in self.closure.families]
        return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)

    @cached_property
    def _rest(self) -> FloatArray:
        """prod_{i in F - A} 1/r_i for every slot of the closure: subsets of family after family."""
        return np.concatenate([math.prod(1 / r for r in cards) * _products(cards) for cards in self._family_cards])

    @cached_property
    def _layout(self) -> tuple[IntArray, IntArray]:
        """For every number of the turned tables (K,): its slot of the closure, and its place among all residuals."""
        first = np.concatenate(([0], np.cumsum(self.sizes)[:-1]))
        slots, numbers = [], []
        for start, family, cards in zip(self._slot_starts, self.closure.families, self._family_cards, strict=True):
            which = np.indices(cards).reshape(len(cards), -1)
            pattern = np.zeros(which.shape[1], dtype=np.int64)
            for states in which:
                pattern = 2 * pattern + (states > 0)
            # Families list their nodes in orders of their own; within a residual it is the network's.
            place, step = np.zeros_like(pattern), np.ones_like(pattern)
            for k in sorted(range(len(family)), key=family.__getitem__, reverse=True):
                place += np.maximum(which[k] - 1, 0) * step
                step *= np.where(which[k] > 0, cards[k] - 1, 1)
            slots.append(start + pattern)
            numbers.append(first[self.closure.slots[start + pattern]] + place)
        return np.concatenate(slots), np.concatenate(numbers)

    @property
    def _number(self) -> IntArray:
        return self._layout[1]

    @cached_property
    def _weights(self) -> FloatArray:
        """w_F of every number of the turned tables: (K,)."""
        return np.asarray(self._rest[self._layout[0]])

    @cached_property
    def _by_number(self) -> tuple[IntArray, IntArray]:
        order = np.argsort(self._number, kind="stable")
        return order, np.searchsorted(self._number[order], np.arange(int(self.sizes.sum())))

    def _turned(self, values: AnyArray, matrices: Mapping[int, AnyArray]) -> AnyArray:
        """Multiply every axis of every family's table by the matrix for its number of states.

        The axis goes last each time, so that all axes are in their places at the end.
        """
        turned = np.empty(values.shape, np.result_type(values, *matrices.values()))
        for cards, cells in self.families_by_shape:
            tables = values[..., cells]
            shape, families = tables.shape, tables.size // math.prod(cards)
            for r in cards:
                tables = tables.reshape(families, r, -1).swapaxes(1, 2).reshape(-1, r) @ matrices[r]
            turned[..., cells] = tables.reshape(shape)
        return turned

    def _of_numbers(self, values: AnyArray, matrices: Mapping[int, AnyArray]) -> AnyArray:
        """Return the turned tables where every number of the residuals is first: (..., R)."""
        order, starts = self._by_number
        return np.asarray(self._turned(values, matrices)[..., order[starts]])

    @cached_property
    def _bases(self) -> dict[int, FloatArray]:
        return {r: _basis(r) for r in self.cards}

    @cached_property
    def families_by_shape(self) -> tuple[tuple[tuple[int, ...], IntArray], ...]:
        """The numbers of states of the nodes of a family, and the cells (families, cells) of all families like it."""
        first = np.cumsum([0, *map(math.prod, self._family_cards)])
        return tuple(
            (
                cards,
                first[[k for k, own in enumerate(self._family_cards) if own == cards], None]
                + np.arange(math.prod(cards)),
            )
            for cards in dict.fromkeys(self._family_cards)
        )


def contrasts(states: int) -> FloatArray:
    """Return the orthonormal Helmert contrasts of a node's states: (r - 1, r)."""
    return _basis(states)[1:]


def _basis(states: int) -> FloatArray:
    """The mean of the states, then their contrasts: an orthonormal matrix (r, r)."""
    whole = _whole_basis(states)
    return np.asarray(whole / np.sqrt((whole**2).sum(axis=1, keepdims=True)))


def _whole_basis(states: int) -> IntArray:
    """The basis without norms: ones, then (1, .., 1, -k, 0, ..) for each state k but the first, (r, r)."""
    row, state = np.arange(1, states)[:, None], np.arange(states)
    helmert = np.where(state < row, 1, np.where(state == row, -row, 0))
    return np.concatenate((np.ones((1, states), dtype=np.int64), helmert))


def _products(factors: Sequence[float]) -> FloatArray:
    """Return the product of each subset of the factors, subsets as the closure's slots have them: (2^factors,)."""
    products = np.ones(1)
    for factor in factors:
        products = np.multiply.outer(products, [1.0, factor]).ravel()
    return products
