"""`dp.compare`: all mechanisms on one table, those that cannot be used with the reason."""

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.mechanisms import PRIVATE

ASIA, CPTS = dp.load_named("asia")
TABLE = dp.sample_dataset(ASIA, CPTS, 1000, 1)


def test_every_mechanism_has_a_row_for_every_epsilon():
    errors = dp.compare(TABLE, ASIA, epsilons=[0.1, 10], releases=20, seed=2)
    assert errors["mechanism"].unique().tolist() == [kind.label for kind in PRIVATE]
    assert (errors.groupby("mechanism").size() == 2).all()
    wide = errors.pivot(index="mechanism", columns="epsilon", values="error")
    assert (wide[10] < wide[0.1]).loc[["Laplace", "Fourier", "Gaussian"]].all()


def test_the_error_is_that_of_simulated_releases():
    row = dp.compare(TABLE, ASIA, epsilons=[1], releases=200, seed=3).set_index("mechanism").loc["Laplace"]
    mechanism, counts = dp.LaplaceUpdates(prior=ASIA, epsilon=1), dp.count(ASIA, TABLE)
    private = mechanism.simulate(counts, 4, (200,)).noise_aware().mean
    errors = np.abs(private - mechanism.prior.updated(counts).mean).mean(axis=-1)
    # False alarms below 1e-9: the difference of two means, in its own standard errors.
    spread = np.hypot(row["standard_error"], errors.std(ddof=1) / np.sqrt(200))
    assert abs(row["error"] - errors.mean()) < 6.2 * spread


def test_a_mechanism_that_cannot_be_used_has_a_reason():
    network = dp.network("a -> b", {"a": ["x", "y", "z"]})
    table = dp.sample_dataset(network, uniform(network), 50, 1)
    errors = dp.compare(table, network, epsilons=[1], releases=2).set_index("mechanism")
    assert "binary" in errors.loc["Fourier", "reason"]
    assert np.isnan(errors.loc["Fourier", "error"])
    assert errors.loc["Laplace", "reason"] == ""


def uniform(network: dp.Network) -> np.ndarray:
    return 1 / np.repeat(network.cards, network.rows_per_node * network.cards)


@pytest.mark.parametrize("releases", [1, 0, 10**6])
def test_a_number_of_releases_out_of_range_is_refused(releases):
    with pytest.raises(dp.InputError, match="releases"):
        dp.compare(TABLE, ASIA, epsilons=[1], releases=releases)
