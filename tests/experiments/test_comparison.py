"""Errors of all mechanisms: those of simulated releases, and `dp.compare`."""

import numpy as np

import dpbayes as dp
from dpbayes.base.randomness import stream
from dpbayes.experiments.comparison import UNIFORM, MechanismErrors
from dpbayes.experiments.planned_tables import planned_tables
from dpbayes.mechanisms import PRIVATE, Exact
from dpbayes.posteriors.noise_model import Reading

ASIA, CPTS = dp.load_named("asia")
TABLE = dp.sample_dataset(ASIA, CPTS, 1000, 1)


def test_errors_are_those_of_a_release_of_every_table():
    tables = planned_tables(ASIA, CPTS, 500, 3, np.random.default_rng(1))
    at = {"Laplace": lambda epsilon: dp.LaplaceUpdates(prior=ASIA, epsilon=epsilon), "no": lambda _: Exact(prior=ASIA)}
    errors = MechanismErrors(at, tables, Reading.AS_REAL, seed=2)
    mechanism = at["Laplace"](1.0)
    release = mechanism.simulate(tables, stream(2, "comparison", "Laplace"))
    off = np.abs(release.outcome.probabilities - mechanism.prior.updated(tables).mean)
    np.testing.assert_allclose(errors.at("Laplace", 1.0), off.mean(axis=-1))
    assert errors.over("Laplace", [0.1, 1.0]).mean(axis=1).argmax() == 0
    assert errors.at("no", 1.0).max() == 0


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
    table = dp.sample_dataset(network, dp.guess(network, {}), 50, 1)
    errors = dp.compare(table, network, epsilons=[1], releases=2).set_index("mechanism")
    assert "binary" in errors.loc["Fourier", "reason"]
    assert np.isnan(errors.loc["Fourier", "error"])
    assert errors.loc["Laplace", "reason"] == errors.loc["Fourier", "proved"] == ""
    assert errors.loc["Laplace", "proved"] == str(dp.LaplaceUpdates(prior=network, epsilon=1).certified)


def test_a_guess_by_names_is_the_table_of_a_network():
    named = {ASIA.cell_label(cell): probability for cell, probability in enumerate(CPTS)}
    np.testing.assert_array_equal(dp.guess(ASIA, named), CPTS)
    three = dp.network("a -> b", {"a": ["< 1", "1 to < 2", ">= 2"]})
    guess = dp.guess(three, {"a < 1": 0.5, "b=yes": 0.1, "b=yes | a >= 2": 1})
    np.testing.assert_allclose(guess, [0.5, 0.25, 0.25, 0.9, 0.1, 0.9, 0.1, 0, 1])


def test_the_least_epsilon_of_uniform_probabilities_has_a_note():
    network = dp.network("rain -> grass")
    question, leasts = dp.Question(network, "grass", "yes", {"rain": "yes"}), []
    for stated in ({}, {"rain=yes": 0.1}):
        guess = dp.guess(network, stated)
        leasts.append(dp.least_epsilon(question, guess, dp.LaplaceUpdates, n=500, tolerance=0.05))
    assert [one.note for one in leasts] == [UNIFORM, ""]
    assert leasts[0].high < leasts[1].low
    assert UNIFORM in repr(leasts[0])
