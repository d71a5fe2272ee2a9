"""Draws that follow a script: what they return does not depend on the data, and they record what was asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy import special

from dpbayes.base.amounts import Amount, number_of
from dpbayes.base.types import IntArray
from dpbayes.mechanisms.adaptive.draws import choice_scale


@dataclass(eq=False)
class Scripted:
    """Choices along a path, then always the first; measurements return numbers that depend on the call alone.

    `measured` has the whole numbers and the costs of every measurement, `costs` those of the choices, `log_p` is ln of
    the probability of the path given the measurements, and `options` the scores of each choice's candidates.
    """

    path: tuple[int, ...] = ()
    seed: int = 0
    measured: list[tuple[IntArray, list[Amount]]] = field(default_factory=list)
    costs: list[Amount] = field(default_factory=list)
    options: list[IntArray] = field(default_factory=list)
    log_p: float = 0.0

    def noisy(self, values: IntArray, costs: Sequence[Amount]) -> IntArray:
        self.measured.append((values, list(costs)))
        rng = np.random.default_rng([self.seed, len(self.measured)])
        scales = np.array([(2 * float(number_of(cost))) ** -0.5 for cost in costs])
        return np.rint(scales * rng.standard_normal(len(values))).astype(np.int64)

    def chosen(self, scores: IntArray, sensitivity: int, cost: Amount) -> int:
        at = self.path[len(self.options)] if len(self.options) < len(self.path) else 0
        self.options.append(scores)
        self.costs.append(cost)
        self.log_p += float(special.log_softmax(scores / float(choice_scale(sensitivity, cost)))[at])
        return at


def every_path(carry_out: Callable[[Scripted], object], seed: int) -> Iterator[tuple[tuple[int, ...], Scripted]]:
    """Yield every path of choices that a process can take where its measurements are those of a seed."""
    starts: list[tuple[int, ...]] = [()]
    while starts:
        start = starts.pop()
        draws = Scripted(start, seed)
        carry_out(draws)
        path = (*start, *(0,) * (len(draws.options) - len(start)))
        yield path, draws
        starts += [(*path[:k], at) for k in range(len(start), len(path)) for at in range(1, len(draws.options[k]))]


def renyi(log_p: list[float], log_q: list[float], order: float) -> float:
    """Return the Renyi divergence of an order above 1 of two laws over the same outcomes."""
    p, q = np.array(log_p), np.array(log_q)
    return float(special.logsumexp(order * p - (order - 1) * q)) / (order - 1)


def measured_cost(one: Scripted, other: Scripted, *, power: int) -> Fraction:
    """Return the cost of all measurements for two tables whose whole numbers two scripts recorded.

    The power of the differences is 2 for a rho, and 1 for an epsilon.
    """
    total = Fraction(0)
    for (values, costs), (others, same) in zip(one.measured, other.measured, strict=True):
        assert costs == same  # prices depend on what was released only
        for a, b, cost in zip(values, others, costs, strict=True):
            total += abs(int(a) - int(b)) ** power * number_of(cost)
    return total
