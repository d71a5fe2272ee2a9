"""The measurements of a table at integer prices: noisy residuals under a rho, noisy tables under a pure epsilon.

Prices of several measurements add up, and so do the precisions of their results: see docs/proofs.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from dpbayes.base.amounts import Amount, Rho
from dpbayes.base.types import AnyArray, BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.draws import Draws
from dpbayes.mechanisms.noise.sensitivity import largest_charge
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network

_STEPS = 64
"""The number of price steps from one power of two to the next, so that there are few distinct scales."""

_TRIES = 24
"""The largest number of levels in a search."""

_CLOSE = Fraction(999, 1000)
"""The search ends at a level that uses this share of the limit."""

_SINGLE, _SINGLE_OF_MANY = 3.0, 0.7
"""The factor for the precision of single columns, because every pair of columns depends on them: the second number is
in units of the root of the number of columns."""


@dataclass(frozen=True, eq=False)
class MeasuredNumbers:
    """The residuals (R,) of a network's sets, as measured so far: under a rho or under an epsilon, read alike.

    `unit` is S. `of_sets` (M,) states how precisely each set was measured: 0 for a set that was not. The first number
    is n.
    """

    network: Network
    unit: int
    of_sets: AnyArray
    numbers: FloatArray

    @classmethod
    def nothing(cls, network: Network, n: int, unit: int) -> Self:
        """Return the state before the first measurement, in which only n is known."""
        numbers = np.zeros(int(network.residuals.sizes.sum()))
        numbers[0] = n
        return cls(network, unit, np.zeros(len(network.closure), dtype=np.int64), numbers)

    @property
    def n(self) -> int:
        """The number of records, which is public."""
        return int(self.numbers[0])

    def within(self, network: Network) -> Self:
        """Return the measurements of the sets of another network over the same columns; new sets are not measured."""
        if network == self.network:
            return self
        places = {member: place for place, member in enumerate(self.network.closure.members)}
        of = [places.get(member, -1) for member in network.closure.members]
        parts = np.split(self.numbers, np.cumsum(self.network.residuals.sizes)[:-1])
        sizes = network.residuals.sizes.tolist()
        numbers = [parts[k] if k >= 0 else np.zeros(size) for k, size in zip(of, sizes, strict=True)]
        of_sets = np.append(self.of_sets, 0)[of]  # the last place is that of new sets
        return replace(self, network=network, of_sets=of_sets, numbers=np.concatenate(numbers))

    @property
    def tables(self) -> FloatArray:
        """The families' tables (K,), consistent and unbiased; cells may be negative."""
        return self.network.residuals.tables(self.numbers)


@dataclass(frozen=True, eq=False)
class MeasuredResiduals(MeasuredNumbers):
    """Residuals measured under a rho: `of_sets` are the whole prices, one for each set."""

    def noisy(self, data: Dataset, prices: IntArray, draws: Draws) -> tuple[int, ...]:
        """Return the whole residuals of the sets with a price (M,), with noise: the only step that counts records."""
        whole = self.network.residuals.whole(count(self.network, data).values)
        return tuple(draws.noisy(whole[self._taken(prices)], self.moves(prices)).tolist())

    def with_results(self, prices: IntArray, integers: Sequence[int]) -> "MeasuredResiduals":
        """Return the state after one more measurement, combined by precision. Errors: InputError."""
        residuals, taken = self.network.residuals, self._taken(prices)
        _require_as_many(integers, taken)
        if np.any(((self.of_sets + prices) > 0)[1:] != (residuals.sizes > 0)[1:]):
            raise InputError("Each set with free numbers needs a price above 0. All other sets need the price 0.")
        new, old = prices[residuals.set_of_number[taken]], self.of_sets[residuals.set_of_number[taken]]
        results = np.array(integers, dtype=np.float64) / residuals.lengths[taken]
        numbers = self.numbers.copy()
        numbers[taken] = (old * numbers[taken] + new * results) / (old + new)
        return replace(self, of_sets=self.of_sets + prices, numbers=numbers)

    def moves(self, prices: IntArray) -> list[Amount]:
        """Return the rho of a move by one: p_A R_A / (2 S L^2), L the length of the number."""
        residuals = self.network.residuals
        taken = self._taken(prices)
        cells, squares = np.rint(residuals.cells).astype(np.int64), np.rint(residuals.lengths**2).astype(np.int64)
        sets = residuals.set_of_number[taken]
        kinds = list(zip(prices[sets].tolist(), cells[sets].tolist(), squares[taken].tolist(), strict=True))
        costs = {kind: Rho(Fraction(kind[0] * kind[1], 2 * kind[2] * self.unit)) for kind in set(kinds)}
        return [costs[kind] for kind in kinds]

    def largest(self, prices: IntArray) -> FloatArray:
        """Return a bound on every measured number: n L, as no coefficient exceeds L."""
        return np.asarray(self.n * self.network.residuals.lengths[self._taken(prices)])

    def _taken(self, prices: IntArray) -> IntArray:
        return np.flatnonzero(prices[self.network.residuals.set_of_number])

    @cached_property
    def cost(self) -> Fraction:
        """The rho of all measurements together, for the worst record."""
        return charged(self.network, self.of_sets, self.unit)

    @property
    def variances(self) -> FloatArray:
        """s_A of every set, 0 for the empty set and for sets without numbers: (M,)."""
        cells, has = self.network.residuals.cells, self.of_sets > 0
        variances = np.zeros(len(cells))
        variances[has] = self.unit / (self.of_sets[has] * cells[has])
        return variances


def _require_as_many(integers: Sequence[int], taken: IntArray) -> None:
    """Require one integer for each number with a price. Errors: InputError."""
    if len(integers) != len(taken):
        raise InputError(f"A measurement has {len(integers):,} integers; its prices need {len(taken):,}.")


def charged(network: Network, prices: IntArray, unit: int) -> Fraction:
    """Return the rho of prices (M,) of all sets, for the worst record: max_d sum_A p_A (N_A - N_A(d)) / S."""
    return Fraction(largest_charge(network, prices).value, unit)


# The prices of a stage


def wanted_precisions(network: Network) -> FloatArray:
    """Return the wanted 1/s_A (M,) up to a common factor."""
    residuals = network.residuals
    values = residuals.cell_values(np.ones(len(network.names)))
    has_numbers = residuals.shares > 0
    wanted = np.zeros(len(values))
    wanted[has_numbers] = np.sqrt(values[has_numbers] / residuals.shares[has_numbers])
    nodes = np.array([member.bit_count() for member in network.closure.members])
    wanted[nodes == 1] *= max(_SINGLE, _SINGLE_OF_MANY * math.sqrt(len(network.names)))
    wanted[0] = 0.0
    return wanted


def new_prices(measured: MeasuredResiduals, limit: Fraction) -> IntArray:
    """Return the prices (M,) of one more measurement, at which all measurements together satisfy the limit of rho.

    Every set without a price gets one. Errors: InputError if the limit is too small for this.
    """
    relative = wanted_precisions(measured.network) / measured.network.residuals.cells
    missing = (relative > 0) & (measured.of_sets == 0)

    def at(level: float) -> tuple[IntArray, Fraction]:
        prices = np.maximum(_rounded_down(level * relative - measured.of_sets), missing)
        return prices, charged(measured.network, measured.of_sets + prices, measured.unit)

    # The charge of the worst record is at least the average charge, in which a set counts its price times its numbers.
    level = float(limit) * measured.unit / float(relative @ measured.network.residuals.sizes)
    low, high, best = 0.0, math.inf, None
    for _ in range(_TRIES):
        prices, rho = at(level)
        if rho <= limit:
            low, best = level, prices
            if rho >= limit * _CLOSE:
                break
        else:
            high = level
        level = min(2 * level, (low + high) / 2)
    if best is None:
        raise InputError("The budget is too small to measure so many tables. Use a larger epsilon or fewer columns.")
    return best


def _rounded_down(values: FloatArray) -> IntArray:
    """Return whole numbers of few digits in base two, not above the values; 0 for values below 1."""
    positive = np.maximum(values, 0.0)
    power = np.maximum(np.floor(np.log2(np.maximum(positive, 1.0))) - np.log2(_STEPS), 0.0)
    return (np.floor(positive / 2**power) * 2**power).astype(np.int64)


# Under a pure epsilon

_PARTS = 1024
"""Weights of tables are rounded to whole numbers of parts of so many."""


@dataclass(frozen=True, eq=False)
class MeasuredTables(MeasuredNumbers):
    """Residuals measured by tables under an epsilon: `of_sets` are precisions; `charge` is the sum of all prices."""

    charge: int = 0

    def noisy(self, data: Dataset, prices: IntArray, draws: Draws) -> tuple[int, ...]:
        """Return the counts of the families with a price (d,), with noise: the only step that counts records."""
        counts = count(self.network, data).values[self._taken(prices)]
        return tuple(draws.noisy(counts, self.moves(prices)).tolist())

    def with_results(self, prices: IntArray, integers: Sequence[int]) -> "MeasuredTables":
        """Return the state after one more measurement, combined by precision. Errors: InputError."""
        network, residuals, taken = self.network, self.network.residuals, self._taken(prices)
        _require_as_many(integers, taken)
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
