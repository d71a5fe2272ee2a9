"""The points at which densities are drawn."""

import numpy as np

from dpbayes.experiments.releases import density_grid
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets


def test_the_points_of_a_density_are_close_in_its_tails_and_beside_it() -> None:
    network = Network.from_edges("a", [])
    mean, records = 0.8, 100_000
    theta = density_grid([Dirichlets(network, records * np.array([mean, 1 - mean]))], 0)
    sd = np.sqrt(mean * (1 - mean) / records)
    seen = theta[np.abs(theta - mean) < 8 * sd]
    assert seen.min() < mean - 7 * sd
    assert seen.max() > mean + 7 * sd
    assert np.diff(seen).max() < 0.7 * sd
    assert np.diff(seen[np.abs(seen - mean) < 4 * sd]).max() < 0.3 * sd
