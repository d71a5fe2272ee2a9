"""The increment t that keeps a Fourier release non-negative, from simulated noise, in three senses.

With all counts zero, nothing depends on the data. With true counts, all results are for the curator only.
"""

import enum
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.steps import slices
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.exact_class import described, oddity
from dpbayes.mechanisms.fourier import LaplaceFourier, coefficient_noise
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.elimination import Factor, eliminated, widest_scope
from dpbayes.model.fourier import cells_per_family, coefficients, marginals
from dpbayes.model.network import Network

_BLOCK = 1 << 18
"""Numbers in one step of a simulation, few enough for the processor's cache."""

MOST_SCOPE = 18
"""The largest table of the elimination, as a power of two."""

LeastSum = Callable[[FloatArray], FloatArray]
"""Maps noise (draws, |N_I|) to the least signed sum in a cell of each release (draws,)."""


class Sense(enum.Enum):
    """The quantity that must be non-negative."""

    MARGINALS = "all released tables"
    PARAMETERS = "all released parameters"
    TABLE = "all cells of the whole table"


def needed_increments(
    network: Network,
    calibration: Calibration,
    rng: np.random.Generator,
    *,
    draws: int = 10_000,
    law: NoiseLaw = UNIT,
    least: LeastSum | None = None,
) -> FloatArray:
    """Simulate the smallest t that keeps every released cell non-negative if all counts are zero: (draws,).

    Only noise is simulated, and true counts can only lower t, so the result holds for every table and has no privacy
    cost. Integer noise has a result for each scale. This corrects [Zhang16] Corollary 3. `least` replaces the sums of
    empty tables.
    """
    least = least or _least_sums(network)
    needed = np.empty(draws)
    for part in slices(draws, _BLOCK // network.cell_count):
        needed[part] = -least(coefficient_noise(network, calibration, rng, (part.stop - part.start,), law=law))
    return np.maximum(needed / (2 * len(network.closure) * law.scale), 0.0)


def _least_sums(network: Network, before: FloatArray | float = 0.0) -> LeastSum:
    """Rebuilt cells are divided by 2^|F|, and so is the lift of each cell; `before` are the cells without noise."""
    cells = cells_per_family(network)
    return lambda noise: ((marginals(network, noise) + before) * cells).min(axis=-1)


def increments_for_counts(
    sense: Sense, mechanism: LaplaceFourier, rng: np.random.Generator, *, draws: int, counts: ArrayLike = 0
) -> FloatArray:
    """Simulate the t that keeps a mechanism's release of `counts` (K,) non-negative in one sense: (draws,).

    The whole table is rebuilt from N_I; true counts can raise its t. [Zhang16] Corollary 3. Errors: InputError if the
    mechanism is not exactly a `LaplaceFourier`, because another class may use other noise, and those of `least_cells`.
    """
    if oddity(mechanism, LaplaceFourier):
        raise InputError(f"The noise of {described(mechanism)} is unknown and cannot be simulated.")
    network = mechanism.prior.network
    values = np.broadcast_to(np.asarray(counts, dtype=np.float64), (network.cell_count,))
    if sense is Sense.TABLE:
        exact = coefficients(network, values)
        least: LeastSum = lambda noise: least_cells(network, noise + exact)  # noqa: E731
    else:
        least = _least_sums(network, values + mechanism.prior.alpha if sense is Sense.PARAMETERS else values)
    law = mechanism.noise_law
    return needed_increments(network, mechanism.calibration, rng, draws=draws, law=law, least=least)


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


# The smallest cell of the whole table


def least_cells(network: Network, values: FloatArray) -> FloatArray:
    """Return min over eta of sum_gamma (-1)^<gamma, eta> values_gamma for coefficients (draws, |N_I|): (draws,).

    Nodes are eliminated one by one. Errors: InputError for a graph that needs a table beyond 2^MOST_SCOPE.
    """
    plan = network.elimination
    if widest_scope(plan) > MOST_SCOPE:
        raise InputError(
            f"The joint table of this graph is too large: its elimination needs tables of 2^{widest_scope(plan)} "
            f"cells, and the limit is 2^{MOST_SCOPE}. The released tables are not affected."
        )
    return eliminated(_own_factors(network, values), plan, np.min)


def _own_factors(network: Network, values: FloatArray) -> list[Factor]:
    """For every family, the signed sums of the coefficients that no earlier family contains: (2, ..., 2, draws)."""
    closure = network.closure
    own = np.zeros((len(closure.slots), len(values)))
    own[closure.representatives] = values.T
    factors = []
    for family, start in zip(network.families, network.cell_offsets[:-1], strict=True):
        table = own[start : start + 2 ** len(family)].reshape((2,) * len(family) + (-1,))
        for axis in range(len(family)):
            zero, one = np.moveaxis(table, axis, 0)
            table = np.stack((zero + one, zero - one), axis)
        factors.append((family, table))
    return factors
