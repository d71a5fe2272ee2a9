"""The truth beside a bound: simulations agree with exact laws, and a wrong bound is found out."""

from dataclasses import replace

import numpy as np
import pytest

from dpbayes.base.types import FloatArray
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import chain, empty
from dpbayes.theory.claims import setting
from dpbayes.theory.claims.exhibit import Measured, Simulation, exactly, mean_beside, not_measured, quantile_beside
from dpbayes.theory.claims.setting import ClaimParameters, EvaluationPoint, Subject
from dpbayes.theory.index import EXHIBITS
from dpbayes.theory.zhang16.counts import exact_largest_noise, noise_scale
from dpbayes.theory.zhang16.fourier import printed_noise
from dpbayes.theory.zhang16.rebuilt_tables import table_error
from dpbayes.theory.zhang16.stealth import negative_share

EPSILON = np.array([0.1, 1.0, 10.0])
NETWORK = chain(3)
COUNTS = Counts(NETWORK, np.array([60, 40, 30, 30, 20, 20, 50, 10, 10, 30]), 100)
DRAWS = 100_000


@pytest.fixture(autouse=True)
def many_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setting, "MOST_RELEASES", DRAWS)
    monkeypatch.setattr(setting, "MOST_VALUES", 10**12)


def measured(name: str, network: Network, printed: FloatArray, *, delta: float = 0.1, **knobs: float) -> Measured:
    """Return what is simulated for an exhibit, beside numbers in the place of its printed bound."""
    counts = COUNTS if network == NETWORK else None
    subject = Subject(network, 1.0, 100, counts, 1)
    at = EvaluationPoint(tuple(EPSILON), 1, ClaimParameters.usual(delta=delta, **knobs))
    exhibit = EXHIBITS[name]
    return exhibit.measure(subject, at, replace(exhibit.bound(subject, at), printed=printed))


def test_the_largest_noise_agrees_with_its_exact_law_and_mean() -> None:
    """[Zhang16] Proposition 1: the exact quantile is exceeded by a share delta; one a tenth too small is violated."""
    exact = exact_largest_noise(NETWORK, epsilon=EPSILON, delta=0.1)
    largest = measured("PROPOSITION_1", NETWORK, exact)
    assert np.all(np.abs(largest.exceeded - 0.1) < 6.2 * np.sqrt(0.09 / DRAWS))
    assert not largest.violated.any()
    np.testing.assert_allclose(largest.exact, noise_scale(NETWORK, EPSILON) * sum(1 / k for k in range(1, 11)))
    assert np.all((largest.low <= largest.value) & (largest.value <= largest.high))
    np.testing.assert_allclose(largest.value, exact, rtol=0.03)
    assert measured("PROPOSITION_1", NETWORK, 0.9 * exact).violated.all()


def test_clipped_changes_are_within_n_and_those_of_small_noise_the_noise() -> None:
    """[Zhang16] Proposition 1, for the clipped updates."""
    printed = exact_largest_noise(NETWORK, epsilon=EPSILON, delta=0.1)
    change = measured("CLIPPED", NETWORK, printed)
    assert change.value.max() <= COUNTS.n
    np.testing.assert_allclose(change.value[2], printed[2], rtol=0.1)
    assert not change.violated.any()


def test_the_error_of_a_table_is_that_of_its_definition_and_below_what_is_certified() -> None:
    """[Zhang16] Theorem 3: one node's table has cells (x + y)/2 and (x - y)/2, whose L1 norm is max(|x|, |y|)."""
    network, delta = empty(1), 0.2
    noise = printed_noise(network)
    exact = -np.log(1 - np.sqrt(1 - delta)) * noise.scale(EPSILON)
    error = measured("THEOREM_3", network, exact, delta=delta, t=1e-3)
    assert np.all(np.abs(error.exceeded - delta) < 6.2 * np.sqrt(0.16 / DRAWS))
    np.testing.assert_allclose(error.value, exact, rtol=0.03)
    certified = table_error(network, noise=noise, epsilon=EPSILON, t=0.3, delta=0.05)[:, 0]
    lifted = measured("THEOREM_3", network, certified, delta=0.05, t=0.3)
    assert not lifted.violated.any()
    assert np.all(lifted.value <= certified)


def test_shares_and_exact_values_tell_violations() -> None:
    share = negative_share(np.linspace(0, 1, 10_001), np.array([0.25, 0.5]), printed=np.array([0.5, 0.6]))
    assert list(share.violated) == [True, False]
    np.testing.assert_allclose(share.value, [0.75, 0.5], atol=1e-3)
    share = exactly(np.array([2.0, 1.0, np.nan]), printed=np.array([1.0, 1.0, 1.0]), name="loss")
    assert list(share.violated) == [True, False, False]
    assert not not_measured(2).violated.any()


def test_quantile_and_mean_of_a_known_law() -> None:
    """The KL of a study that is 1, 2, ..., 1000: too few releases say nothing of a rare quantile."""
    study = Simulation(np.arange(1.0, 1001.0)[None])
    expected, printed = np.array([500.5]), np.array([899.5])
    quantile = quantile_beside(study, expected, printed=printed, delta=0.05)
    assert quantile.value == 950
    assert quantile.exceeded == pytest.approx(0.101)
    assert quantile.violated.all()
    assert np.isnan(quantile_beside(study, expected, printed=printed, delta=1e-4).value).all()
    assert not mean_beside(study, expected, printed=np.array([500.5])).violated.any()
    assert mean_beside(study, expected, printed=np.array([500.4])).violated.all()
