"""The points at which densities are drawn."""

import numpy as np

from dpbayes.figures.posterior import density_grid


def test_the_points_of_a_density_are_close_in_its_tails_and_beside_it() -> None:
    mean, records = 0.8, 100_000
    theta = density_grid([(records * mean, records * (1 - mean))])
    sd = np.sqrt(mean * (1 - mean) / records)
    seen = theta[np.abs(theta - mean) < 8 * sd]
    assert seen.min() < mean - 7 * sd
    assert seen.max() > mean + 7 * sd
    assert np.diff(seen).max() < 0.7 * sd
    assert np.diff(seen[np.abs(seen - mean) < 4 * sd]).max() < 0.3 * sd
