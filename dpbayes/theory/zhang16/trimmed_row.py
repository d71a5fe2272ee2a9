"""A row trimmed to [omega, 1 - omega]: its densities, how far one record moves them, and what the printed MAP loses.

A row has Beta(a, b) prior, its probability theta is trimmed, so that one record moves the log-likelihood by at most
L = ln((1 - omega)/omega), and k of n records are in its first state. f_k is the density. [Zhang16] Algorithm 3.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import panel_rule
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import finite_number, whole_number
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR
from dpbayes.posteriors.trimmed import log_mass, log_odds_bound
from dpbayes.theory.zhang16.counts import checked_epsilons

MOST_RECORDS = 2000
"""Most records of a row; the sensitivity of its density goes through all its tables."""

_TABLES = 8
_SHARES, _WEIGHTS = panel_rule(nodes=16, panels=64)


@dataclass(frozen=True)
class TrimmedRow:
    """A Beta(a, b) row trimmed to [omega, 1 - omega] with n records. Errors: InputError for numbers out of range."""

    a: float = 1.0
    b: float = 1.0
    omega: float = 0.1
    n: int = 50

    def __post_init__(self) -> None:
        for prior in (self.a, self.b):
            finite_number("The prior", prior, low=LEAST_PRIOR, high=MOST_PRIOR)
        log_odds_bound(self.omega)
        object.__setattr__(self, "n", whole_number("The number of records", self.n, low=1, high=MOST_RECORDS))

    @property
    def constant(self) -> float:
        """L = ln((1 - omega)/omega)."""
        return log_odds_bound(self.omega)

    def log_masses(self, first: FloatArray) -> FloatArray:
        """Return ln Z_k, the normaliser of f_k, for k = `first` (...,): (...,)."""
        return log_mass(self.a + first, self.b + self.n - first, self.omega)

    def log_kernel(self, first: FloatArray, theta: FloatArray) -> FloatArray:
        """Return ln f_k(theta) + ln Z_k for k = `first` (...,) and theta (..., Q): (..., Q)."""
        a, b = self.a + first, self.b + self.n - first
        return (a - 1)[..., None] * np.log(theta) + (b - 1)[..., None] * np.log1p(-theta)

    @cached_property
    def density_sensitivity(self) -> float:
        """The most that one replaced record moves the posterior density at any theta, at all tables of n records.

        f_{k+1} - f_k is proportional to theta^(a-1) (1-theta)^(b-2) (theta/Z_{k+1} - (1-theta)/Z_k), a = a_k, b = b_k:
        its derivative vanishes at the roots of a quadratic, which with both ends are all there is to look at.
        [Zhang16] Algorithm 3.
        """
        # With a = b the tables k and n - k mirror each other.
        tables = self.n // 2 + 2 if self.a == self.b else self.n + 1
        every = np.arange(tables, dtype=np.float64)
        first, masses = every[:-1], self.log_masses(every)
        a, b = self.a + first, self.b + self.n - first
        # theta/Z_{k+1} - (1 - theta)/Z_k is s theta - 1 in units of 1/Z_k.
        s = 1 + np.exp(masses[:-1] - masses[1:])
        square, linear, constant = -s * (a + b - 2), s * a + a + b - 3, 1 - a
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
            half = -(linear + np.copysign(root, linear)) / 2
            roots = np.stack([half / square, constant / half], axis=-1)
        low, high = self.omega, 1 - self.omega
        sides = np.broadcast_to([low, high], roots.shape)
        theta = np.concatenate([np.clip(np.nan_to_num(roots, nan=low), low, high), sides], axis=-1)
        after = np.exp(self.log_kernel(first + 1, theta) - masses[1:, None])
        return float(np.abs(after - np.exp(self.log_kernel(first, theta) - masses[:-1, None])).max())


def printed_loss(row: TrimmedRow, *, epsilon: ArrayLike) -> FloatArray:
    """Return the exact loss of the printed law, proportional to prior exp(epsilon f / (2 sqrt(L))), at epsilons (...).

    By quadrature: the largest over the first few k, where it is largest, and both orders, at the interval's ends and
    the quadrature's nodes; every one of them is a true loss. [Zhang16] Corollary 4.
    """
    rate = checked_epsilons(epsilon)[..., None, None] / (2 * math.sqrt(row.constant))
    # theta = omega + (1 - 2 omega) sin(turn)^2 crowds the nodes at both ends, where large n puts its peaks.
    turn = np.pi / 2 * _SHARES
    log_weights = np.log(_WEIGHTS * np.sin(2 * turn))
    theta = row.omega + (1 - 2 * row.omega) * np.sin(np.concatenate([turn, [0.0, np.pi / 2]])) ** 2
    nodes = theta[: len(turn)]
    log_weights = log_weights + (row.a - 1) * np.log(nodes) + (row.b - 1) * np.log1p(-nodes)
    first = np.arange(min(row.n, _TABLES) + 1, dtype=np.float64)
    scores = rate * np.exp(row.log_kernel(first, theta) - row.log_masses(first)[:, None])
    log_law = scores - special.logsumexp(scores[..., : len(nodes)] + log_weights, axis=-1)[..., None]
    loss: FloatArray = np.abs(np.diff(log_law, axis=-2)).max(axis=(-2, -1))
    return loss
