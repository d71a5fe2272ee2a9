"""Many releases read by someone who knows of the noise, some at a time: the numbers are those of all at once."""

import numpy as np
import pytest

from dpbayes.experiments.releases import (
    cumulative,
    density,
    density_grid,
)
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named


@pytest.mark.parametrize(("parents", "covered", "is_of_the_prior"), [(("a", "b", "c"), 0, True), (("a",), 12, False)])
def test_an_answer_whose_interval_the_prior_makes_narrow_is_marked(
    parents: tuple[str, ...], covered: int, is_of_the_prior: bool
) -> None:
    """64 rows with a uniform prior each say "about half" of a marginal, whatever 228 records say."""
    states = {"a": ("0", "1"), "b": tuple("0123"), "c": tuple("01234567"), "d": ("0", "1")}
    network = Network.from_edges(states, [(parent, "d") for parent in parents], states)
    rng = np.random.default_rng(1)
    codes = np.column_stack([*(rng.integers(0, len(states[name]), 228) for name in "abc"), rng.random(228) < 0.28])
    counts = count(network, Dataset(network.names, network.states, codes.astype(int)))
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(network), epsilon=1.0)
    exact = mechanism.prior.updated(counts).query("d")[0]
    hits, marks = 0, []
    for seed in range(12):
        release = mechanism.release(counts, np.random.default_rng(seed))
        answer = release.noise_aware().query("d", interval=0.95)
        hits += bool(answer.low[0] <= exact <= answer.high[0])
        marks.append(answer.is_prior_decisive)
    assert hits == covered
    assert marks == [is_of_the_prior] * 12


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
