"""Many releases read by someone who knows of the noise, some at a time: the numbers are those of all at once."""

import numpy as np
import pytest

from dpbayes.experiments.releases import (
    cumulative,
    density,
    density_grid,
)
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named


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


def test_a_cells_distribution_function_is_the_integral_of_its_density() -> None:
    network = load_named("asia")[0]
    prior, theta = Dirichlets.capped(network), np.linspace(0.3, 0.6, 2001)
    below = cumulative(prior, 9, theta)
    assert below[-1] - below[0] == pytest.approx(np.trapezoid(density(prior, 9, theta), theta), rel=1e-6)
