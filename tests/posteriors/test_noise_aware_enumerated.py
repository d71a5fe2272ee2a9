"""The noise-aware posterior against one that lists every table of up to six records, on two nodes.

Without an arrow nothing is approximated but by points: distribution functions agree within a hundredth. With an arrow
the noise of other cells is taken as normal and a row's total as Beta: on average over releases and values distribution
functions are .017 apart (.025 for Fourier, whose own noise is taken as normal too). So few records with so much noise
are the worst of it.
"""

import numpy as np
import pytest

from benchmarks.ranks import drawn_counts
from dpbayes import Counts, Dirichlets, Network
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, Noise
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import noise_aware
from dpbayes.posteriors.noise_model import NoiseModel
from tests.conftest import thorough
from tests.posteriors.enumerated import exact_posterior, log_prior, multisets, real_cell, whole_cell
from tests.strategies import chain, empty

PAIR, APART = chain(2), empty(2)
TERNARY = Network.from_edges("ab", ["ab"], {"a": "xyz", "b": "01"})
VALUES = np.linspace(0.05, 0.95, 10)
RELEASES = 30

ARROWS = [
    (LaplaceUpdates(prior=PAIR, epsilon=2.0), 0.02),
    (LaplaceUpdates(prior=PAIR, epsilon=2.0, noise=Noise.WHOLE), 0.02),
    (LaplaceFourier(prior=PAIR, epsilon=2.0), 0.03),
    (LaplaceUpdates(prior=TERNARY, epsilon=2.0), 0.02),
]
"""Mechanisms, and how far apart distribution functions of six records may be on average."""


def releases_of(mechanism, n: int, number: int = RELEASES) -> np.ndarray:
    rng, network = np.random.default_rng(1), mechanism.prior.network
    theta = mechanism.prior.sample(rng, (number,))
    return mechanism.simulate(Counts(network, drawn_counts(network, theta, n, rng), n), rng).numbers


def distributions(law: DirichletMixtures) -> np.ndarray:
    shape = law.mean.shape
    return np.stack([law.marginals().cumulative(np.full(shape, value)) for value in VALUES], axis=-2)


def exact_distributions(mechanism, released: np.ndarray, n: int) -> np.ndarray:
    return np.array([distributions(exact_posterior(mechanism, numbers, n)) for numbers in released])


def approximate(mechanism, noise: NoiseModel, released: np.ndarray, n: int, points: int = 512) -> np.ndarray:
    return distributions(noise_aware(mechanism.prior, noise, released, n, points=points))


# The enumeration itself


@pytest.mark.parametrize("network", [PAIR, APART, TERNARY], ids=["arrow", "no arrow", "ternary"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_chances_of_all_tables_sum_to_one(network, n):
    prior = Dirichlets(network, np.random.default_rng(1).uniform(0.3, 3, network.cell_count))
    assert np.exp(log_prior(prior, multisets(network, n))).sum() == pytest.approx(1)


@pytest.mark.parametrize("count", range(4))
def test_chances_of_all_that_one_cell_may_release_sum_to_one(count):
    whole = [whole_cell(value, count, 3, 1.7) for value in range(4)]
    assert np.exp(whole).sum() == pytest.approx(1)
    inside = np.linspace(0, 3, 3002)[1:-1]
    density = np.exp([real_cell(value, count, 3, 1.7) for value in inside])
    ends = np.exp([real_cell(value, count, 3, 1.7) for value in (0.0, 3.0)])
    assert density.sum() * 3 / 3001 + ends.sum() == pytest.approx(1, abs=1e-3)


# Without an arrow


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("epsilon", thorough([0.5, 2.0, 8.0], sample=[2.0]))
@pytest.mark.parametrize("n", [1, 6])
def test_without_an_arrow_it_is_exact(noise, epsilon, n):
    mechanism = LaplaceUpdates(prior=APART, epsilon=epsilon, noise=noise)
    released = releases_of(mechanism, n, 10)
    exact = exact_distributions(mechanism, released, n)
    assert np.abs(approximate(mechanism, mechanism.noise_model, released, n, points=2048) - exact).max() < 0.01


# With one


@pytest.fixture(
    scope="module",
    params=thorough(ARROWS, sample=ARROWS[:3]),
    ids=lambda case: f"{case[0].label}, {case[0].noise.value}",
)
def arrow(request):
    mechanism, most = request.param
    released = releases_of(mechanism, 6)
    exact = exact_distributions(mechanism, released, 6)

    def apart(noise: NoiseModel = mechanism.noise_model, numbers: np.ndarray = released) -> float:
        return float(np.abs(approximate(mechanism, noise, numbers, 6) - exact).mean())

    return mechanism, released, apart, most


def test_with_an_arrow_it_is_as_near_as_said(arrow):
    _, _, apart, most = arrow
    assert apart() < most
