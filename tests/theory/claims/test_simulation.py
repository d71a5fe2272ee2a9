import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Counts, count
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl
from dpbayes.theory.claims.exhibit import Simulation
from dpbayes.theory.zhang16.posterior_kl import exhibits as coverage
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.theory.zhang16.posterior_kl.exhibits import simulate_kl
from tests.strategies import ASIA, V_STRUCTURE, chain

ALARM = 1e-9
PRIOR = Dirichlets.symmetric(ASIA)
COUNTS = count(ASIA, sample_dataset(ASIA, random_cpts(ASIA, stream(1, "cpts")), 300, stream(1, "data")))


def study(epsilon, releases=2_000, **options) -> Simulation:
    settings = {"prior": PRIOR, "counts": COUNTS} | options
    prior, counts = settings["prior"], settings["counts"]
    return simulate_kl(prior, counts, epsilon=epsilon, releases=releases, rng=stream(2, "noise"))


def test_the_simulated_law_is_that_of_the_mechanisms_releases():
    """Two-sample Kolmogorov-Smirnov at p = 1e-9; 10% more noise is rejected."""
    size = 60_000
    result = study(1.0, size).values[0]

    def released(epsilon):
        mechanism, rng = LaplaceUpdates(prior=PRIOR, epsilon=epsilon), stream(3, "noise")
        parts = (mechanism.simulate(COUNTS, rng, (size // 10,)).outcome.posterior for _ in range(10))
        return np.concatenate([kl(PRIOR.updated(COUNTS), part) for part in parts])

    assert stats.ks_2samp(result, released(1.0), method="asymp").pvalue > ALARM
    assert stats.ks_2samp(result, released(1 / 1.1), method="asymp").pvalue < ALARM


def test_the_quick_and_the_stable_formula_agree(monkeypatch):
    quick = study([0.1, 1.0, 10.0])
    monkeypatch.setattr(coverage, "_ROUNDING", 0.0)
    stable = study([0.1, 1.0, 10.0])
    assert quick.values == pytest.approx(stable.values, rel=1e-7, abs=1e-9)
    assert not np.array_equal(quick.values, stable.values)


def test_at_a_billion_records_the_stable_formula_is_used():
    n = 10**9
    counts = Counts(V_STRUCTURE, np.full(12, n // 4), n)
    result = study(1.0, 2_000, prior=Dirichlets.symmetric(V_STRUCTURE), counts=counts)
    exact = posterior_kl(Dirichlets.symmetric(V_STRUCTURE), counts, epsilon=1.0, delta=0.1).expected[0]
    error = result.values.std() / np.sqrt(2_000)
    assert abs(result.values.mean() - exact) < 6.1 * error
    assert 0 < error < 0.05 * exact


def test_what_cannot_be_simulated_is_refused():
    with pytest.raises(InputError, match="number of releases must be"):
        study(1.0, 0)
    with pytest.raises(InputError, match="needs more than"):
        study(np.ones(101), 1_000_000)
    with pytest.raises(InputError, match="have different networks"):
        study(1.0, 5, prior=Dirichlets.symmetric(chain(2)))
    with pytest.raises(InputError, match="epsilon must be"):
        study([1.0, 0.0], 5)


@pytest.mark.parametrize("releases", [10, 40, 365, 2_000])
@pytest.mark.parametrize("tenths", [1, 5, 9])
def test_the_interval_of_a_quantile_is_the_narrowest_that_the_binomial_law_allows(releases, tenths):
    """The k-th of the ordered releases lies above the quantile if fewer than k fall below it."""
    ordered = np.arange(1.0, releases + 1)  # the k-th is k
    interval = Simulation(ordered[None]).quantile(tenths / 10)

    def fewer_than(k):
        ways = (math.comb(releases, i) * tenths**i * (10 - tenths) ** (releases - i) for i in range(int(k)))
        return sum(ways) / 10**releases

    low, high = interval[1][0], interval[2][0]
    if not np.isnan(low):
        assert fewer_than(low) <= 0.025 < fewer_than(low + 1)
    else:
        assert fewer_than(1) > 0.025
    if not np.isnan(high):
        assert 1 - fewer_than(high) <= 0.025 < 1 - fewer_than(high - 1)
    else:
        assert 1 - fewer_than(releases) > 0.025
