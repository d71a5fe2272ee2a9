"""Which noise is the least: sizes by hand and by the formulas of the mechanisms, and who wins where."""

import pytest

from dpbayes.experiments.best_noise import Comparison, Promise, compared, noisy_kinds
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
)
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import chain, load_named

PROMISE = Promise(1.0, 1e-6)


@pytest.fixture(scope="module")
def asia() -> Network:
    return load_named("asia")[0]


@pytest.fixture(scope="module")
def on_asia(asia: Network) -> Comparison:
    return compared(asia, PROMISE)


def test_every_mechanism_that_tells_its_noise_is_compared(on_asia: Comparison) -> None:
    assert set(noisy_kinds()) == {
        LaplaceUpdates,
        LaplaceFourier,
        ConsistentLaplace,
        GaussianUpdates,
        GaussianResiduals,
    }
    assert [type(noise.mechanism) for noise in on_asia.noises] == list(noisy_kinds())
    assert not on_asia.refused


def test_squared_errors_on_asia_are_those_that_are_known(on_asia: Comparison) -> None:
    """Laplace 2 (2 * 8)^2 = 512; least squares lower it by the free numbers over the cells, 20 of 36."""
    squared = {noise.label: noise.noise**2 for noise in on_asia.noises}
    assert squared["Laplace"] == pytest.approx(512)
    assert squared["Consistent Laplace"] == pytest.approx(512 * 20 / 36)
    assert squared["Fourier"] == pytest.approx(250, abs=0.6)
    shift = next(noise.mechanism.shift for noise in on_asia.noises if noise.label == "Gaussian")
    assert squared["Gaussian"] == pytest.approx(16 / shift**2)
    assert squared["Gaussian residuals"] * shift**2 == pytest.approx(7.4, abs=0.05)


def test_what_a_network_is_not_for_is_said() -> None:
    network = Network.from_edges(["a", "b"], [("a", "b")], {"a": ("x", "y", "z"), "b": ("no", "yes")})
    comparison = compared(network, PROMISE)
    assert set(comparison.refused) == {"Fourier"}
    assert all("binary" in why for why in comparison.refused.values())


def test_a_network_with_nothing_to_tell_has_no_noise() -> None:
    network = Network.from_edges(["a"], [], {"a": ("only",)})
    assert {noise.noise for noise in compared(network, PROMISE).noises} == {0.0}


# Over graphs


@pytest.mark.parametrize(
    ("network", "best"), [(chain(12), LaplaceFourier), (load_named("sachs")[0], ConsistentLaplace)]
)
def test_sparse_binary_graphs_are_for_best_weights_others_for_least_squares(network: Network, best: type) -> None:
    pure = [noise for noise in compared(network, PROMISE).noises if noise.is_pure]
    assert type(min(pure, key=lambda noise: noise.noise).mechanism) is best
