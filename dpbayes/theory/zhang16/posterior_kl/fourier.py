"""A proved bound on the KL divergence between the exact posterior and that of a Fourier release.

The paper has none. With probability at least 1 - delta, the noise of every cell is within the radius that its exact
tail gives for delta/K. Clipping at zero maps this box of counts to a box, and its corners to corners. KL(exact ||
released) is convex in the released parameters, so that its largest value within the box is, row by row, at a corner.
"""

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.quadrature import turning_point
from dpbayes.base.types import FloatArray
from dpbayes.model.dataset import Counts
from dpbayes.model.fourier import cells_per_family
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl_rows
from dpbayes.theory.zhang16.counts import checked_delta
from dpbayes.theory.zhang16.fourier import CoefficientNoise
from dpbayes.theory.zhang16.stealth import signed_sum_tail

_START = 10.0
"""How many terms plus logarithms a signed sum reaches at most, as a start of the bisection."""


def fourier_kl_bound(
    prior: Dirichlets, counts: Counts, *, noise: CoefficientNoise, epsilon: ArrayLike, t: float, delta: float
) -> FloatArray:
    """Bound KL(exact || released) of a Fourier release at epsilons (E,), with probability at least 1 - delta: (E,).

    Args:
        prior: The prior of a binary network.
        counts: The true counts (K,).
        noise: The noise of the coefficients.
        epsilon: The epsilons.
        t: The increment.
        delta: The probability of a larger divergence, above 0.

    Returns:
        The bound in nats. It depends on the counts, so it is for the curator only.

    Raises:
        InputError: Delta is out of range.
    """
    network, cells = prior.network, cells_per_family(prior.network)
    scale = noise.scale(np.atleast_1d(epsilon))[:, None]
    reach = _reaches(cells, noise, checked_delta(delta) / network.cell_count)
    lift = 2 * t * len(network.closure) * scale / cells
    radius = reach * scale / cells
    exact = prior.updated(counts)
    corners = []
    for signs in product((-1.0, 1.0), repeat=2):
        corner = counts.values + lift + radius * np.tile(signs, network.cell_count // 2)
        corners.append(kl_rows(exact, prior.updated(np.maximum(corner, 0.0))))
    return np.asarray(np.max(corners, axis=0).sum(axis=-1))


def _reaches(cells: FloatArray, noise: CoefficientNoise, delta: float) -> FloatArray:
    """Return the x that a cell's signed sum of noise exceeds on either side with probability delta: (K,)."""
    reaches = np.zeros_like(cells)
    for size in np.unique(cells):
        terms = int(size) - noise.public
        most = _START * (terms - np.log(delta))
        _, beyond = turning_point(lambda x, n=terms: 2 * signed_sum_tail(n, x) > delta, 0.0, most)  # type: ignore[misc]
        reaches[cells == size] = float(beyond) + terms * noise.beyond
    return reaches
