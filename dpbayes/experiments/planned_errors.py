"""The error of simulated releases of tables, and whether two errors differ clearly."""

from typing import Any

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.types import FloatArray
from dpbayes.experiments.releases import concluded
from dpbayes.model.counts import Counts
from dpbayes.posteriors.noise_model import Reading

CERTAIN = 2.0
"""The least error is named only if it is below every other error by at least so many standard errors..."""

MARGIN = 0.03
"""...and by this share of the least error, because a real table differs from the average of the planned tables."""


def is_near(differences: FloatArray, least: float) -> bool:
    """Return whether paired differences of errors (tables,) show no clear difference, given the least error."""
    if len(differences) < 2:
        return True
    error = float(standard_error(differences[:, None])[0])
    return bool(differences.mean() < CERTAIN * error + MARGIN * least)


def release_errors(tables: Counts, mechanism: Any, reading: Reading, rng: np.random.Generator) -> FloatArray:
    """Return the mean absolute error of the probabilities in one simulated release of every table.

    Args:
        tables: Counts of tables (T, K).
        mechanism: The mechanism.
        reading: How a recipient reads a release; one that does not state its noise is read naively.
        rng: The source of the noise.

    Returns:
        The mean over all cells of |released - exact|: (T,).

    Raises:
        InputError: Of `Release.noise_aware_means`.
    """
    exact = mechanism.prior.updated(tables).mean
    release = mechanism.simulate(tables, rng)
    private = concluded(release, reading if release.tells_noise else Reading.AS_REAL)
    return np.asarray(np.abs(private - exact).mean(axis=-1))
