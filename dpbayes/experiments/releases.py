"""The probabilities that recipients conclude from simulated releases, and posterior densities."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms import Mechanism, Outcome, Release
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import Reading

MechanismAt = Callable[[float], Mechanism[Outcome]]
"""A mechanism at an epsilon. Errors: InputError if it cannot be used."""

POINTS = 64
"""Points of every row of the noise-aware posteriors, of which there are many thousands."""

_ROW = 8
"""About how many numbers the computation of a row has in memory for each point."""

_MOST_VALUES = 1 << 22
"""Values of noise-aware posteriors in memory at a time."""


def at_any_epsilon(mechanism: Any) -> Callable[[float], Any]:
    """Return the settings of a mechanism at any epsilon."""
    return lambda epsilon: replace(mechanism, epsilon=epsilon)


def concluded(release: Release[Outcome], reading: Reading, cells: IntArray | None = None) -> FloatArray:
    """Return the probabilities that a recipient concludes from each release of a batch.

    The answer to a question about the next record is a ratio of two probabilities of this record. Rows are independent,
    so these are products of mean probabilities, and no samples of the posteriors are necessary.

    Args:
        release: Releases (R,).
        reading: Naive: the posterior after the released counts, or the released probabilities, as in the paper.
        cells: The cells (C,) that matter; all by default. A noise-aware recipient's probabilities of others are 1.

    Returns:
        The mean probabilities (R, K).

    Raises:
        InputError: If a noise-aware recipient reads releases that do not state their noise.
    """
    if reading is Reading.AS_REAL:
        return np.asarray(release.outcome.probabilities)
    cells = np.arange(release.outcome.probabilities.shape[-1]) if cells is None else cells
    probabilities = np.ones(release.outcome.probabilities.shape)
    for part in slices(len(probabilities), _MOST_VALUES // (POINTS * _ROW * len(cells))):
        probabilities[part, cells] = release.part(part).noise_aware_means(cells, points=POINTS)
    return probabilities


def density(posterior: Dirichlets, cell: int, theta: FloatArray) -> FloatArray:
    """Return one cell's marginal density at theta (grid,): (..., grid)."""
    return np.exp(posterior.log_density(cell, theta))
