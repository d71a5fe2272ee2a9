"""Which noise is the least: sizes by hand and by the formulas of the mechanisms, and who wins where."""

import math

import pytest

import dpbayes as dp
from dpbayes.audit.registry import audit
from dpbayes.base.steps import Partial, finished
from dpbayes.experiments.best_noise import (
    Comparison,
    Promise,
    compare_steps,
    compared_graphs,
    compared_on,
    graph_steps,
    noisy_kinds,
    recount_steps,
)
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
)
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import chain, load_named, naive_bayes
from tests.conftest import thorough

PROMISE = Promise(1.0, 1e-6)


@pytest.fixture(scope="module")
def asia() -> Network:
    return load_named("asia")[0]


@pytest.fixture(scope="module")
def on_asia(asia: Network) -> Comparison:
    return finished(compare_steps(asia, PROMISE, recount=(LaplaceUpdates,)))


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


def test_the_winners_and_their_factors_on_asia(on_asia: Comparison) -> None:
    assert on_asia.best_pure.label == "Fourier"
    assert on_asia.best.label == "Gaussian residuals"
    assert on_asia.factor(on_asia.best_pure) == pytest.approx(math.sqrt(512 / 250), rel=2e-3)
    squared_gain = on_asia.factor(on_asia.best) ** 2
    assert squared_gain == pytest.approx(3.5, abs=0.05), "against Laplace recounted; 3.9 against Laplace as it is"


def test_laplace_recounted_keeps_the_promise_and_hardly_more_would(on_asia: Comparison, asia: Network) -> None:
    again = on_asia.laplace.recounted
    assert again.epsilon == pytest.approx(1.055, abs=0.005)
    assert audit(again, n=1000, epsilons=[1.0]).curve.deltas[0] <= 1e-6
    more = LaplaceUpdates(prior=asia, epsilon=again.epsilon * 1.001)
    assert audit(more, n=1000, epsilons=[1.0]).curve.deltas[0] > 1e-6


def test_all_mechanisms_are_recounted_and_none_needs_more_noise_then() -> None:
    kinds = (ConsistentLaplace, LaplaceFourier, GaussianUpdates)
    comparison = finished(compare_steps(chain(12), PROMISE, kinds=kinds))
    assert all(noise.recounted is not None for noise in comparison.noises)
    assert all(noise.noise_with_delta <= noise.noise for noise in comparison.noises)
    assert [noise.noise_with_delta < noise.noise for noise in comparison.noises] == [True, True, False]


def test_a_mechanism_without_an_audit_is_compared_as_it_is(asia: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise dp.InputError("Nothing is known of it.")

    monkeypatch.setattr("dpbayes.experiments.best_noise.audit", refuse)
    mechanism = LaplaceUpdates(prior=asia, epsilon=1)
    assert finished(recount_steps(mechanism, PROMISE)) is mechanism


def test_steps_tell_what_is_in_and_laplace_comes_first(asia: Network) -> None:
    seen = [step for step in compare_steps(asia, PROMISE, recount=()) if isinstance(step, Partial)]
    assert [len(step.result.noises) for step in seen] == [1, 2, 3, 4, 5]
    assert all(step.result.laplace.noise == seen[0].result.laplace.noise for step in seen)
    assert any(noise.recounted is None for noise in seen[-1].result.noises)
    assert math.isnan(seen[-1].result.factor(seen[-1].result.noises[-1])), "Laplace with the delta is not known yet"


def test_the_search_for_the_best_noise_is_taken_in_steps_and_known_then() -> None:
    network = naive_bayes(16)
    work = compare_steps(network, PROMISE, recount=(), kinds=(LaplaceUpdates, GaussianResiduals))
    steps = list(work)
    shares = [step.share if isinstance(step, Partial) else step for step in steps]
    assert shares == sorted(shares)
    assert sum(not isinstance(step, Partial) for step in steps) > 2, "rounds of the search"
    mechanism = steps[-1].result.noises[-1].mechanism
    assert not list(mechanism.design_steps())
    again = GaussianResiduals(prior=network, epsilon=2.0)
    assert not list(again.design_steps()), "it is kept for these weights whatever epsilon is"
    assert again.design is mechanism.design


def test_graphs_are_compared_in_steps_with_the_first_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: compared_graphs()[name] for name in ("chain, 12", "Asia")}
    monkeypatch.setattr("dpbayes.experiments.best_noise.compared_graphs", lambda: few)
    steps = list(graph_steps(PROMISE))
    assert isinstance(steps[0], Partial)
    assert [graph.name for graph in steps[0].result] == ["chain, 12"]
    compared = finished(graph_steps(PROMISE))
    assert [graph.factors for graph in compared] == [
        finished(compared_on(*arguments, PROMISE)).factors for arguments in few.items()
    ]


def test_what_a_network_is_not_for_is_said() -> None:
    network = Network.from_edges(["a", "b"], [("a", "b")], {"a": ("x", "y", "z"), "b": ("no", "yes")})
    comparison = finished(compare_steps(network, PROMISE, recount=()))
    assert set(comparison.refused) == {"Fourier"}
    assert all("binary" in why for why in comparison.refused.values())


def test_a_network_with_nothing_to_tell_has_no_noise() -> None:
    network = Network.from_edges(["a"], [], {"a": ("only",)})
    comparison = finished(compare_steps(network, PROMISE))
    assert not comparison.is_noisy
    assert all(noise.recounted is not None for noise in comparison.noises)


# Over graphs


BEST = [("chain, 12", "Fourier"), ("Sachs", "Consistent Laplace"), ("complete, 7", "Consistent Laplace")]


@pytest.mark.parametrize(("name", "best"), thorough(BEST, sample=BEST[:2]))
def test_sparse_binary_graphs_are_for_best_weights_others_for_least_squares(name: str, best: str) -> None:
    pure = ("Laplace", "Consistent Laplace", "Fourier")
    assert finished(compared_on(name, compared_graphs()[name], PROMISE)).best(pure) == best


def test_the_graphs_are_the_same_objects_and_not_too_large() -> None:
    graphs = compared_graphs()
    assert graphs is compared_graphs()
    assert {"Asia", "Alarm"} <= {name.split()[0] for name in graphs}
    assert max(len(network.names) for network in graphs.values()) <= 40


# Residuals


# Answers
