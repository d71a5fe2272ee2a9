"""The measurements of a table under a pure epsilon: noisy tables of columns, each with an integer price.

A measurement adds discrete Laplace noise to the counts of families of columns. A family that another family contains is
not measured. With the price q_F, every cell of the table of F has noise of scale b_F = 2 S/q_F, where S is the common
`unit`. Every table that contains a set A measures its residual (`dpbayes.model.residuals`): F with the precision
w_F/(2 b_F^2), w_F = prod_{i in F - A} 1/r_i. The precisions of all measurements add up.

Privacy. A replaced record takes 1 from one cell of a table and adds 1 to another, if it differs in a column of F. The
privacy loss of F is at most 2/b_F = q_F/S. The losses of all tables and stages add up to the sum of the prices over S,
which is the charge of the worst record, a record that differs in every column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpbayes.base.amounts import Amount
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.draws import Draws
from dpbayes.mechanisms.adaptive.measured import MeasuredNumbers, require_as_many
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network

_PARTS = 1024
"""Weights of tables are rounded to whole numbers of parts of so many."""


@dataclass(frozen=True, eq=False)
class MeasuredTables(MeasuredNumbers):
    """Residuals measured by tables under an epsilon: `of_sets` are precisions; `charge` is the sum of all prices."""

    charge: int = 0

    @property
    def prices_needed(self) -> int:
        """The number of prices of a measurement: one for each family."""
        return len(self.network.names)

    def noisy(self, data: Dataset, prices: IntArray, draws: Draws) -> tuple[int, ...]:
        """Return the counts of the families with a price (d,), with noise: the only step that counts records."""
        counts = count(self.network, data).values[self._taken(prices)]
        return tuple(draws.noisy(counts, self.moves(prices)).tolist()) if len(counts) else ()

    def with_results(self, prices: IntArray, integers: Sequence[int]) -> "MeasuredTables":
        """Return the state after one more measurement, combined by precision. Errors: InputError."""
        network, residuals, taken = self.network, self.network.residuals, self._taken(prices)
        require_as_many(integers, taken)
        if np.any(prices[~measurable(network)]):
            raise InputError("A table of one cell, or a table that another one contains, must have the price 0.")
        tables = np.zeros(network.cell_count)
        tables[taken] = integers
        new, precisions = residuals.weighted(tables, (prices / self.unit) ** 2 / 8)
        total = self.of_sets + precisions
        total[0] = 0.0
        if np.any((total > 0)[1:] != (residuals.sizes > 0)[1:]):
            raise InputError("The measured tables leave out a column or a pair of columns.")
        old, own = self.of_sets[residuals.set_of_number], precisions[residuals.set_of_number]
        numbers = self.numbers.copy()
        numbers[1:] = (old * numbers + own * new)[1:] / (old + own)[1:]
        return replace(self, of_sets=total, numbers=numbers, charge=self.charge + sum(prices.tolist()))

    def moves(self, prices: IntArray) -> list[Amount]:
        """Return the epsilon of a move by one of a cell: q_F/(2 S)."""
        cells = np.diff(self.network.cell_offsets)
        of_family = [Fraction(price, 2 * self.unit) for price in prices.tolist()]
        return [own for own, size in zip(of_family, cells.tolist(), strict=True) if own for _ in range(size)]

    def largest(self, prices: IntArray) -> FloatArray:
        """Return the largest count of every measured cell: n."""
        return np.full(len(self._taken(prices)), float(self.n))

    def _taken(self, prices: IntArray) -> IntArray:
        return np.flatnonzero(np.repeat(prices, np.diff(self.network.cell_offsets)))

    @property
    def cost(self) -> Fraction:
        """The epsilon of all measurements together."""
        return Fraction(self.charge, self.unit)

    @property
    def variances(self) -> FloatArray:
        """The variance of every number of each set, 0 for the empty set and for sets without numbers: (M,)."""
        return np.divide(1, self.of_sets, out=np.zeros(len(self.of_sets)), where=self.of_sets > 0)


def measurable(network: Network) -> BoolArray:
    """Return whether each family has a table with several cells, and no other family contains it: (d,)."""
    sets = [frozenset(family) for family in network.families]
    is_within = np.array([any(own < other for other in sets) for own in sets])
    return np.asarray(~is_within & (np.diff(network.cell_offsets) > 1))


def table_prices(measured: MeasuredTables, limit: Fraction) -> IntArray:
    """Return the prices (d,) of one more measurement, at which all measurements together cost at most the limit.

    sum_F R_F b_F^2 is least at 1/b_F proportional to R_F^(1/3), R_F the number of cells of F. Errors: InputError where
    the limit leaves no room for that.
    """
    network = measured.network
    cells = np.diff(network.cell_offsets)
    weights = np.where(measurable(network), np.rint(_PARTS * np.cbrt(cells)), 0).astype(np.int64).tolist()
    room = int(limit * measured.unit) - measured.charge
    prices = [room * weight // sum(weights) if weight else 0 for weight in weights]
    if any(weight and price < 1 for weight, price in zip(weights, prices, strict=True)):
        raise InputError("The budget is too small to measure so many tables. Use a larger epsilon or fewer columns.")
    return np.array(prices, dtype=np.int64)
