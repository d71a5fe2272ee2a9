"""Optimal noise on residuals: the scale for each set of nodes with the smallest error at a given privacy loss.

Noise of scale s_A on every set A has the privacy loss max_d sum_A c_A(d)/s_A, with the charges c_A(d) of a record that
differs in the nodes d (`dpbayes.model.charges`).

Minimising sum_A v_A s_A for variances s_A at a fixed loss is a convex problem in the prices y_A = 1/s_A. For any
weights over the d, with the mean charge c_A, the minimum is at least (sum_A sqrt(v_A c_A))^2. The prices
sqrt(v_A/c_A), up to a factor, belong to this bound. The best weights are found by projected Newton steps over the worst
d found so far. For any weights, the final scales are divided by their own worst charge, so the guarantee holds, and the
gap to the bound is known. [Xiao23] with the exact charge of a replaced record.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.charges import Charges, WorstCharge
from dpbayes.model.residuals import Residuals

MOST_SETS = 1 << 14
"""The largest number of sets in a search, which then takes some seconds."""

GAP = 2e-3
"""The relative gap at which the search ends."""

_ROUNDS, _STEPS, _HALVINGS, _MULTIPLIED = 80, 30, 10, 8
_LEAST_ROUNDS, _MANY = 3, 2048
"""The smallest number of rounds, and the number of sets above which there are fewer rounds. The guarantee holds after
any round, and the gap states the quality."""

_SMALL = 1e-4
_NEAR, _NEARLY = 10, 0.97
_DROPPED = 1e-6
_SAFE = 1 + 1e-12
"""The factor that compensates rounding errors, so that the guarantee holds."""


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
    charges, values = Charges.squared(residuals), residuals.cell_values(np.ones(len(residuals.cards)))
    noisy = np.flatnonzero(charges.factors)
    scales = np.zeros(len(values))
    if not noisy.size:
        return NoiseDesign(scales, 0.0, 0.0, exact=True)
    if prices.shape != values.shape or not np.all(prices[noisy] > 0):
        raise InputError("Every set of nodes with noise needs a price, a positive number.")
    worst = charges.worst(prices)
    scales[noisy] = _SAFE * worst.value / prices[noisy]
    return NoiseDesign(scales, float((values * scales).sum()), math.inf, exact=worst.exact)


def best_gaussian(residuals: Residuals) -> NoiseDesign:
    """Return the variances s_A with max_d sum_A c_A(d)/s_A = 1 and the least sum of the cells' variances.

    A round of the search takes less than half a second on a network of 200 nodes. Errors: InputError for more than
    MOST_SETS sets.
    """
    charges, values = Charges.squared(residuals), residuals.cell_values(np.ones(len(residuals.cards)))
    noisy = np.flatnonzero(charges.factors)
    if noisy.size > MOST_SETS:
        raise InputError(
            f"The optimal noise is computed for up to {MOST_SETS:,} sets of nodes within families, but this network "
            f"has {noisy.size:,}. Remove parents of its largest tables, or choose a mechanism with uniform noise."
        )
    scales = np.zeros(len(values))
    if not noisy.size:
        return NoiseDesign(scales, 0.0, 0.0, exact=True)
    worth, prices = values[noisy], np.zeros(len(values))
    cuts = charges.moved(_first_records(charges.residuals))[:, noisy]
    first = len(cuts)
    mass = np.full(first, 1 / first)
    best, bound, exact = math.inf, math.ulp(0.0), True
    rounds = max(_LEAST_ROUNDS, min(_ROUNDS, _ROUNDS * _MANY // noisy.size))
    for _ in range(rounds):
        mass = _best_weights(cuts, worth, mass, close=max(GAP, min(best / bound - 1, 1)) / 10)
        mean = mass @ cuts
        bound = max(bound, float((worth**0.5 * (mean / mass.sum()) ** 0.5).sum() ** 2))
        prices[noisy] = (worth / mean) ** 0.5
        worst = charges.worst(prices)
        own = prices[noisy] / worst.value
        error = float((worth / own).sum())
        if error < best:
            best, exact, scales[noisy] = error, worst.exact, _SAFE / own
        if best / bound - 1 < GAP:
            break
        more = _further_cuts(charges, worst, own, noisy)
        kept = mass > _DROPPED * mass.max()
        kept[:first] = True  # so that every set is changed by some record
        cuts = np.concatenate((cuts[kept], more))
        mass = np.append(mass[kept], np.full(len(more), 1e-3 * mass.sum() / len(more)))
    return NoiseDesign(scales, best, best / bound - 1, exact)


def _first_records(residuals: Residuals) -> IntArray:
    """Return the initial records: those that differ in one node, and the one that differs in all nodes."""
    several = (np.array(residuals.cards) > 1).astype(np.int64)
    records = np.concatenate((several[None], np.diag(several)))
    return np.unique(records[records.any(axis=1)], axis=0)


def _further_cuts(charges: Charges, worst: WorstCharge, prices: FloatArray, noisy: IntArray) -> FloatArray:
    """Return the charges of the worst record, and of the worst records one node away from it: (few, noisy)."""
    cuts = worst.charge[None, noisy]
    if not worst.exact:
        return cuts
    near = np.abs(worst.differs - np.eye(len(worst.differs), dtype=np.int64))
    charge = charges.moved(near)[:, noisy]
    lost = charge @ prices
    order = np.argsort(-lost)[:_NEAR]
    return np.concatenate((cuts, charge[order[lost[order] > _NEARLY]]))


def _best_weights(cuts: FloatArray, worth: FloatArray, start: FloatArray, *, close: float) -> FloatArray:
    """Return the weights over records (cuts,) that maximise the bound, up to a common factor.

    They maximise 2 sum_A sqrt(v_A c_A) - sum of the weights, which is concave, over weights that are not negative. Its
    slope is sum_A c_A(d) y_A - 1.
    """
    root = worth**0.5
    mass = start * (float(root @ (start @ cuts) ** 0.5) / start.sum()) ** 2

    def value(weights: FloatArray) -> float:
        return 2 * float(root @ (weights @ cuts) ** 0.5) - float(weights.sum())

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
        mass = _along(value, mass, step)
    return mass


def _along(value: Callable[[FloatArray], float], mass: FloatArray, step: FloatArray) -> FloatArray:
    """Return the weights after a step, halved until it improves the value; no weight decreases more than 100-fold."""
    now, length = value(mass), 1.0
    for _ in range(_HALVINGS):
        tried = np.maximum(mass + length * step, mass / 100)
        if value(tried) > now:
            return tried
        length /= 2
    return mass
