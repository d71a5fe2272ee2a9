"""How a stage shares its budget among the sets of a network: whole prices up to a cumulative limit of rho.

The error of the tables is sum_A v_A s_A, with v_A the cells that s_A adds to. A randomly replaced record is charged
2 p_A/s_A on average, p_A the share of `Residuals.shares`. At a limit of the average charge, the least error is at
1/s_A proportional to sqrt(v_A/p_A). A stage raises every set to this precision times a common level, where earlier
stages have not reached it, and takes the largest level at which the charge of the worst record is within the limit.
"""

import math
from fractions import Fraction

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals, charged
from dpbayes.model.network import Network

_STEPS = 64
"""Prices have so many steps from one power of two to the next, so that few scales differ."""

_TRIES = 24
"""Levels that are tried at most."""

_CLOSE = Fraction(999, 1000)
"""The search ends at a level that uses this share of the limit."""


_SINGLE = 3.0
"""By how much more precisely single columns are measured: every pair of columns depends on them."""


def wanted_precisions(network: Network) -> FloatArray:
    """Return the wanted 1/s_A (M,) up to a common factor."""
    residuals = network.residuals
    values = residuals.cell_values(np.ones(len(network.names)))
    has_numbers = residuals.shares > 0
    wanted = np.zeros(len(values))
    wanted[has_numbers] = np.sqrt(values[has_numbers] / residuals.shares[has_numbers])
    nodes = np.array([member.bit_count() for member in network.closure.members])
    wanted[nodes == 1] *= _SINGLE
    wanted[0] = 0.0
    return wanted


def new_prices(measured: MeasuredResiduals, wanted: FloatArray, limit: Fraction) -> IntArray:
    """Return the prices (M,) of one more measurement, at which all measurements together satisfy the limit of rho.

    Every set without a price so far gets one. Errors: InputError where the limit leaves no room for that.
    """
    relative = wanted / measured.network.residuals.cells
    if not relative.any():
        return np.zeros(len(relative), dtype=np.int64)
    missing = (relative > 0) & (measured.prices == 0)

    def at(level: float) -> tuple[IntArray, Fraction]:
        prices = np.maximum(_rounded_down(level * relative - measured.prices), missing)
        return prices, charged(measured.network, measured.prices + prices, measured.unit)

    # The worst record is charged at least the average, at which a set costs its price times its numbers.
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
        if best is None:
            level /= 2
        elif math.isinf(high):
            level *= 2
        else:
            level = (low + high) / 2
    if best is None:
        raise InputError("The budget is too small to measure so many tables. Use a larger epsilon or fewer columns.")
    return best


def _rounded_down(values: FloatArray) -> IntArray:
    """Return whole numbers of few digits in base two, not above the values; 0 for values below 1."""
    positive = np.maximum(values, 0.0)
    power = np.maximum(np.floor(np.log2(np.maximum(positive, 1.0))) - np.log2(_STEPS), 0.0)
    return (np.floor(positive / 2**power) * 2**power).astype(np.int64)
