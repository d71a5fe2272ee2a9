"""The increment t that keeps all tables of a Fourier release non-negative, from simulated noise."""

from bisect import bisect_left

import numpy as np
from scipy import special

from dpbayes.base.steps import slices
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.fourier import coefficient_noise
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.fourier import cells_per_family, marginals
from dpbayes.model.network import Network

_BLOCK = 1 << 18
"""Numbers in one step of a simulation, few enough for the processor's cache."""


def needed_increments(
    network: Network,
    calibration: Calibration,
    rng: np.random.Generator,
    *,
    draws: int = 10_000,
    law: NoiseLaw = UNIT,
    counts: IntArray | int = 0,
) -> FloatArray:
    """Simulate the smallest t that keeps every released cell of `counts` (K,) non-negative: (draws,).

    True counts can only lower t, so the result for no counts holds for every table and has no privacy cost. The result
    for true counts is for the curator only. Integer noise has a result for each scale. This corrects [Zhang16]
    Corollary 3.
    """
    cells, needed = cells_per_family(network), np.empty(draws)
    for part in slices(draws, _BLOCK // network.cell_count):
        noise = coefficient_noise(network, calibration, rng, (part.stop - part.start,), law=law)
        # Rebuilt cells are divided by 2^|F|, and so is the lift of each cell.
        needed[part] = -((marginals(network, noise) + counts) * cells).min(axis=-1)
    return np.maximum(needed / (2 * len(network.closure) * law.scale), 0.0)


def increment_for(probability: float, needed: FloatArray, *, doubt: float = 1e-3) -> float:
    """Return a t that keeps releases non-negative with at least this `probability`, from simulated increments `needed`.

    The result is an upper confidence limit of the quantile; it is too small with probability at most `doubt`. Errors:
    InputError if there are too few simulated increments for this probability.
    """
    target = finite_number("The target probability", probability, low=0.0, high=1.0)
    # The binomial quantile, by bisection: `scipy.stats` would double the time to import this package.
    draws = len(needed)
    rank = bisect_left(range(draws + 1), 1 - doubt, key=lambda below: float(special.bdtr(below, draws, target)))
    if rank >= draws:
        raise InputError(f"A probability of {numeral(target, 12)} needs more than {draws:,} simulated samples.")
    return float(np.partition(needed, rank)[rank])
