"""[Zhang16] Theorem 1, Lemma A.1 to Lemma A.4, printed and certified."""

import math
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Counts, count
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl
from dpbayes.theory.zhang16.posterior_kl import counterexamples as cases
from dpbayes.theory.zhang16.posterior_kl.bounds import (
    LEMMA_A4,
    Constants,
    posterior_kl,
    printed_constants,
    printed_expectation,
    printed_order,
)
from dpbayes.theory.zhang16.posterior_kl.exact import (
    Rows,
    clipped_mean,
    distinct_rows,
    expected_kl,
    expected_kl_rows,
    kl_at,
    oscillation,
)
from dpbayes.theory.zhang16.posterior_kl.tail import MOST_PIECES, tail_bounds
from tests.strategies import ASIA, NAIVE_BAYES, chain

FINE_CELLS = 512
"""Cells per update for one number: eight times those of a curve."""


ALARM = 1e-9
WEATHER = Network.from_edges(
    ["sky", "wind", "rain"], [("sky", "rain"), ("wind", "rain")], {"sky": "abc", "wind": "xy", "rain": "pqrs"}
)


def counts_of(network: Network, n: int) -> Counts:
    cpts = random_cpts(network, stream(7, "cpts"))
    return count(network, sample_dataset(network, cpts, n, stream(7, "data")))


def rows_of(prior: list[float], counts: list[float], n: float) -> Rows:
    return Rows(np.array([prior]), np.array([counts], dtype=float), np.ones(1, dtype=np.int64), n)


def simulated(prior: Dirichlets, counts: Counts, scale: float, *, draws: int) -> np.ndarray:
    noise = stream(7, "noise").laplace(scale=scale, size=(draws, prior.network.cell_count))
    return kl(prior.updated(counts), prior.updated(np.clip(counts.values + noise, 0, counts.n)))


def clipped_law(d: float, n: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of one clipped update: atoms, and Gauss-Legendre pieces that shrink towards the count."""
    steps = np.concatenate([[0], b * np.geomspace(0.01, 60, 24)])
    cuts = np.unique(np.clip(np.concatenate([d - steps, d + steps, [0, n], n * np.geomspace(1e-9, 0.5, 24)]), 0, n))
    x, w = special.roots_legendre(6)
    half = np.diff(cuts)[:, None] / 2
    nodes = (cuts[:-1, None] + half * (1 + x)).ravel()
    weights = (half * w).ravel() * np.exp(-np.abs(nodes - d) / b) / (2 * b)
    return np.r_[0, n, nodes], np.r_[np.exp(-d / b) / 2, np.exp(-(n - d) / b) / 2, weights]


def quadrature(row: Rows, b: float) -> float:
    """E KL of a Beta row by two-dimensional quadrature, without any of the module's formulas for the mean."""
    (x, p), (y, q) = (clipped_law(float(d), row.n, b) for d in row.counts[0])
    assert p.sum() == pytest.approx(1, abs=1e-9)
    values = kl_at(row, np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)[..., None, :])[..., 0]
    return float(p @ values @ q)


# The exact mean


@pytest.mark.parametrize("b", [0.01, 2.0, 1e4])
@pytest.mark.parametrize(
    ("prior", "counts", "n"),
    [
        ([1, 1], [0, 0], 50),
        ([2, 2], [25, 25], 50),
        ([2, 2], [100, 0], 100),
        ([0.01, 30.0], [3, 900], 1000),
        ([1, 1], [1, 0], 1),
        ([1, 1], [400_000, 17], 1_000_000),
    ],
)
def test_the_mean_agrees_with_two_dimensional_quadrature(prior, counts, n, b):
    """[Zhang16] Theorem 1, E f."""
    row = rows_of(prior, counts, float(n))
    exact = float(expected_kl_rows(row, np.array([b]))[0, 0])
    assert exact == pytest.approx(quadrature(row, b), rel=1e-7)


@pytest.mark.parametrize("counts", [[30, 50], [3, 4, 13], [9, 8, 7, 6, 5]])
def test_the_mean_is_quadratic_in_small_noise_and_an_average_of_corners_in_large(counts):
    """[Zhang16] Theorem 1: b^2 (sum psi1(a_k) - r psi1(a_0)) as b -> 0; half the mass at each end as b -> infinity."""
    row = rows_of([1.0] * len(counts), counts, 80.0)
    a = row.posterior[0]
    small = float(expected_kl_rows(row, np.array([1e-4]))[0, 0])
    assert small == pytest.approx(
        1e-8 * (special.polygamma(1, a).sum() - len(a) * special.polygamma(1, a.sum())), rel=1e-5
    )
    corners = np.array(list(product([0.0, 80.0], repeat=len(counts))))
    average = float(kl_at(row, corners[:, None, :]).mean())
    assert float(expected_kl_rows(row, np.array([1e9]))[0, 0]) == pytest.approx(average, rel=1e-5)


@pytest.mark.parametrize("b", [0.5, 8.0, 300.0])
def test_the_mean_of_a_network_with_many_states_agrees_with_simulation(b):
    """[Zhang16] Theorem 1; |error| above 6.1 standard errors has probability 1e-9. 10% more noise is rejected."""
    counts, prior = counts_of(WEATHER, 60), Dirichlets.symmetric(WEATHER, 0.7)
    release = simulated(prior, counts, b, draws=30_000)
    groups = distinct_rows(prior, counts)
    exact, wrong = expected_kl(groups, np.array([b, 1.1 * b]))
    error = release.std() / np.sqrt(len(release))
    assert abs(release.mean() - exact) < 6.1 * error
    assert b > 100 or abs(release.mean() - wrong) > 6.1 * error


def test_equal_rows_are_merged_and_nothing_is_lost():
    counts, prior = counts_of(NAIVE_BAYES, 6), Dirichlets.symmetric(NAIVE_BAYES)
    (rows,) = distinct_rows(prior, counts)
    assert len(rows.times) < rows.times.sum() == NAIVE_BAYES.row_count
    cells = np.arange(NAIVE_BAYES.cell_count).reshape(-1, 2)
    every = Rows(prior.alpha[cells], counts.values[cells].astype(float), np.ones(33, dtype=np.int64), 6.0)
    scale = np.array([0.5, 3.0])
    assert expected_kl([rows], scale) == pytest.approx(expected_kl_rows(every, scale).sum(axis=-1), rel=1e-12)
    assert rows.total(oscillation(rows)) == pytest.approx(oscillation(every).sum(), rel=1e-12)


@given(st.integers(0, 40), st.floats(0.01, 1e4))
def test_the_mean_of_a_clipped_update(counts, b):
    """[Zhang16] Appendix A.2, E Z, corrected."""
    nodes, weights = clipped_law(float(counts), 40.0, b)
    assert float(clipped_mean(np.array(float(counts)), 40.0, np.array(b))) == pytest.approx(nodes @ weights, abs=1e-8)


# Oscillation


@given(st.data())
def test_the_largest_divergence_is_at_a_corner_found_by_sorting(data):
    """[Zhang16] Lemma A.4, exact constants."""
    r, n = data.draw(st.integers(2, 5)), data.draw(st.integers(0, 300))
    row = rows_of(
        data.draw(st.lists(st.floats(0.01, 50), min_size=r, max_size=r)),
        data.draw(st.lists(st.integers(0, n), min_size=r, max_size=r)),
        float(n),
    )
    exact = float(oscillation(row)[0])
    corners = np.array(list(product([0.0, n], repeat=r)))[:, None, :]
    assert exact == pytest.approx(float(kl_at(row, corners).max()), rel=1e-9, abs=1e-12)
    inside = np.random.default_rng(3).uniform(0, n, (200, 1, r))
    assert float(kl_at(row, inside).max()) <= exact * (1 + 1e-9) + 1e-12


def test_the_three_printed_constants():
    """[Zhang16] Lemma A.4 by hand: n = 1, alpha = beta = 0.1."""
    row = rows_of([0.1, 0.1], [1, 0], 1.0)
    values = [float(printed_constants(row, which)[0]) for which in Constants]
    assert values == pytest.approx([3 * np.log(4.2), 3 * (np.log(2.1) + 2.1), 6 * np.log(2.1)])
    assert float(oscillation(row)[0]) == pytest.approx(10, rel=1e-9)
    wide = rows_of([0.01, 0.01], [50, 0], 50.0)
    assert float(oscillation(wide)[0]) == pytest.approx(5223, abs=1)


def worst_oscillation(a: float, n: int) -> float:
    """Return max KL(Beta(a + D1, a + D2) || Beta(a + u, a + v)) over all counts and corners, by its definition."""
    counts = np.array([(x, y) for x in range(n + 1) for y in range(n + 1 - x)], dtype=float)
    x, y = (counts + a).T[:, :, None]
    u, v = np.array(list(product([a, a + n], repeat=2))).T
    logs = special.betaln(u, v) - special.betaln(x, y)
    moved = (x - u) * special.digamma(x) + (y - v) * special.digamma(y)
    return float((logs + moved + (u + v - x - y) * special.digamma(x + y)).max())


def stated_constant(which: Constants, a: float, n: int) -> float:
    return float(printed_constants(rows_of([a, a], [0, 0], float(n)), which)[0])


@pytest.mark.parametrize("which", Constants)
def test_where_the_three_constants_fail_for_equal_priors(which):
    """[Zhang16] Lemma A.4: the finding states the prior below which each constant fails; all hold from 2 on."""

    def excess(a: float) -> float:
        return max(worst_oscillation(a, n) / stated_constant(which, a, n) for n in range(1, 9)) - 1

    fails_below = optimize.brentq(excess, 0.05, 0.5, xtol=1e-5)
    assert f"{fails_below:.3f}" in re.findall(r"0\.\d+", LEMMA_A4.finding)
    assert max(excess(a) for a in (2.0, 3.0, 10.0)) < -0.5
    assert worst_oscillation(2.0, 60) < 0.5 * stated_constant(which, 2.0, 60)


# Certified tails


@pytest.mark.parametrize(("prior", "counts", "n", "b"), [([1, 1], [20, 5], 50, 6.0), ([2, 2], [100, 0], 100, 2000.0)])
def test_the_quantile_of_one_row_is_certified_and_close(prior, counts, n, b):
    """[Zhang16] Theorem 1, by the exact probability of exceeding it."""
    row = rows_of(prior, counts, float(n))
    for delta in (0.3, 0.05, 0.001):
        x = float(tail_bounds([row], np.array([b]), delta=delta, cells=FINE_CELLS).quantile[0])
        assert cases.exceedance(row, b, x * (1 + 1e-9)) <= delta * (1 + 1e-3)
        assert x >= float(oscillation(row)[0]) * 0.999 or cases.exceedance(row, b, 0.97 * x) > delta


@settings(max_examples=15)
@given(st.data())
def test_every_certified_bound_of_one_row_holds(data):
    """[Zhang16] Theorem 1, corrected: quantile, Chernoff and McDiarmid (Lemma A.1) at random settings."""
    n = data.draw(st.integers(1, 200))
    row = rows_of(
        data.draw(st.lists(st.floats(0.1, 20), min_size=2, max_size=2)),
        data.draw(st.lists(st.integers(0, n), min_size=2, max_size=2)),
        float(n),
    )
    b, delta = data.draw(st.floats(0.1, 500)), data.draw(st.floats(0.001, 0.5))
    tails = tail_bounds([row], np.array([b]), delta=delta)
    # What exceeds a larger one exceeds the least: its probability, by quadrature, decides for all three.
    least = min(float(bound[0]) for bound in (tails.quantile, tails.chernoff, tails.mcdiarmid))
    assert cases.exceedance(row, b, least * (1 + 1e-9) + 1e-12) <= delta + 1e-3


@pytest.mark.parametrize(("network", "n"), [(ASIA, 200), (chain(5), 50), (WEATHER, 100)])
def test_certified_bounds_of_a_network_are_exceeded_no_more_often_than_delta(network, n):
    """[Zhang16] Theorem 1; false alarms below 1e-9. 0.6 of the quantile is rejected."""
    counts, prior, delta, draws = counts_of(network, n), Dirichlets.symmetric(network), 0.05, 10_000
    study = posterior_kl(prior, counts, epsilon=[0.3, 3.0, 30.0], delta=delta)
    bounds = [study.tails.quantile, study.tails.chernoff, study.tails.mcdiarmid, study.tails.largest]
    for k, scale in enumerate(study.scale):
        release = simulated(prior, counts, float(scale), draws=draws)
        for bound in bounds:
            assert stats.binom.sf(int((release > bound[k]).sum()) - 1, draws, delta) > ALARM
        assert stats.binom.sf(int((release > 0.6 * bounds[0][k]).sum()) - 1, draws, delta) < ALARM
    assert np.all(study.tails.best <= study.tails.largest)


def test_chernoff_is_close_to_its_value_by_quadrature():
    """[Zhang16] Theorem 1, sharpened: inf over lambda of [ln E exp(lambda f) + ln(1/delta)]/lambda."""
    row, b = rows_of([1, 1], [20, 5], 50.0), 6.0
    (x, p), (y, q) = (clipped_law(float(d), row.n, b) for d in row.counts[0])
    values = kl_at(row, np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)[..., None, :])[..., 0]
    rates = np.geomspace(0.1, 3, 40)
    logs = np.array([special.logsumexp(rate * values, b=np.outer(p, q)) for rate in rates])
    exact = float(((logs + np.log(20)) / rates).min())
    value = float(tail_bounds([row], np.array([b]), delta=0.05).chernoff[0])
    assert exact * 0.998 <= value < 1.05 * exact, "the grid of rates leaves exact up to 0.2% too high"


def test_many_different_rows_get_chernoffs_bound():
    big = Network.from_edges([f"v{i}" for i in range(MOST_PIECES + 30)], [])
    values = np.stack([np.arange(MOST_PIECES + 30), 400 - np.arange(MOST_PIECES + 30)], axis=-1).ravel()
    tails = posterior_kl(Dirichlets.symmetric(big), Counts(big, values, 400), epsilon=10.0, delta=0.05).tails
    assert np.array_equal(tails.quantile, tails.chernoff)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
def test_without_records_nothing_can_be_lost(epsilon):
    study = posterior_kl(Dirichlets.symmetric(WEATHER), counts_of(WEATHER, 0), epsilon=epsilon, delta=0.05)
    assert study.expected[0] == study.tails.best[0] == 0


@pytest.mark.parametrize("n", [1, 2, 10**9])
@pytest.mark.parametrize("prior", [1e-3, 1.0, 1e9])
def test_extreme_settings_stay_finite_and_ordered(n, prior):
    network = chain(2)
    values = np.array([n - n // 3, n // 3, n - n // 3, 0, n // 3, 0])
    study = posterior_kl(
        Dirichlets.symmetric(network, prior), Counts(network, values, n), epsilon=[1e-3, 1.0, 1e3], delta=1e-9
    )
    assert np.all(np.isfinite(study.tails.best))
    assert np.all(study.expected > 0)
    assert np.all(study.expected <= study.tails.best * (1 + 1e-9))


# Printed


def test_theorem_1_is_violated_on_the_papers_own_network():
    """[Zhang16] Theorem 1 with the exact mean: naive Bayes, n = 50, epsilon 0.1 and 1; false alarms below 1e-9."""
    counts, draws = counts_of(NAIVE_BAYES, 50), 3_000
    for concentration in (1.0, 2.0):
        prior = Dirichlets.symmetric(NAIVE_BAYES, concentration)
        study = posterior_kl(prior, counts, epsilon=[0.1, 1.0], delta=0.01)
        assert study.theorem.applies is (concentration >= 2)
        for k, scale in enumerate(study.scale):
            seen = int((simulated(prior, counts, float(scale), draws=draws) >= study.theorem.printed[k]).sum())
            assert stats.binom.sf(seen - 1, draws, 0.01) < ALARM


def test_where_its_condition_holds_u_exceeds_the_largest_divergence():
    """[Zhang16] Theorem 1, with U: it says nothing then."""
    for network, n in [(ASIA, 50), (NAIVE_BAYES, 1000), (chain(4), 3)]:
        prior = Dirichlets.symmetric(network, 2.0)
        study = posterior_kl(prior, counts_of(network, n), epsilon=1.0, delta=0.5)
        assert study.mean.printed[0] > study.tails.largest[0]
        assert study.closed_form.printed[0] > study.mean.printed[0]
        assert study.mean.certified[0] < study.mean.printed[0]


def test_the_refined_bound_says_when_it_does_not_apply():
    """[Zhang16] Theorem 1, refined."""
    prior, counts = Dirichlets.symmetric(ASIA, 2.0), counts_of(ASIA, 50)
    assert posterior_kl(prior, counts, epsilon=1.0, delta=0.1).refined_mean.applies
    assert not posterior_kl(prior, counts, epsilon=0.1, delta=0.1).refined_mean.applies


def test_printed_formulas_by_hand():
    """[Zhang16] Theorem 1, U, and Theorem 1, last display."""
    row = rows_of([2, 3], [4, 6], 10.0)
    assert printed_expectation([row]) == pytest.approx(10 * np.log(6 * 9))
    size = 3 * 10 * np.log(10)
    expected = size * (1 - np.exp(-2)) + np.sqrt(size * np.log(20))
    assert printed_order(3, 10, np.array([5.0]), delta=0.05) == pytest.approx([expected])


# Counterexamples


def test_theorem_1_fails_where_its_conditions_hold():
    """[Zhang16] Theorem 1: P[f >= E f + deviation] by quadrature, for each printed constant."""
    failures = {which: cases.counterexample_deviation(which) for which in Constants}
    assert failures[Constants.THEOREM].truth == pytest.approx(0.4848, abs=5e-4)
    assert failures[Constants.PROOF].truth == pytest.approx(0.484, abs=1e-3)
    assert failures[Constants.LEMMA].truth == pytest.approx(0.238, abs=1e-3)
    assert all(case.refutes and math.isnan(case.certified) for case in failures.values())


def test_the_exact_exceedance_agrees_with_simulation():
    """Power: 60,000 draws tell a probability 0.03 off; false alarms below 2e-9."""
    row, b, draws = rows_of([1, 1], [20, 5], 50.0), 6.0, 60_000
    updates = np.clip(row.counts + stream(7, "row").laplace(scale=b, size=(draws, 1, 2)), 0, 50)
    kl = kl_at(row, updates)[:, 0]
    for x in (0.05, 0.5, 2.0):
        p, seen = cases.exceedance(row, b, x), int((kl >= x).sum())
        assert min(stats.binom.sf(seen - 1, draws, p), stats.binom.cdf(seen, draws, p)) > ALARM


@pytest.mark.parametrize(
    ("make", "truth", "printed"),
    [
        (cases.counterexample_expectation, 16.92, 0.0),  # [Zhang16] Theorem 1, U
        (cases.counterexample_refinement, 0.1554, 2.757e-9),  # [Zhang16] Theorem 1, refined
        (cases.counterexample_truncation, 1.683, 0.5527),  # [Zhang16] Section 3.1, truncation
        (cases.counterexample_mean_of_z, 25.0, 0.0),  # [Zhang16] Appendix A.2, E Z
        (cases.counterexample_lemma_a3, 0.8906, 0.0),  # [Zhang16] Lemma A.3
        (cases.small_prior_lemma_a4, 10.0, 8.526),  # [Zhang16] Lemma A.4
        (cases.counterexample_order, 6594, 1022),  # [Zhang16] Theorem 1, last display
    ],
)
def test_counterexamples_refute_with_known_numbers(make, truth, printed):
    """[Zhang16] Theorem 1, U; Theorem 1, refined; Theorem 1, last display; Lemma A.3; Lemma A.4.

    [Zhang16] Section 3.1, truncation.
    """
    case = make()
    assert case.refutes
    assert case.truth == pytest.approx(truth, rel=1e-3)
    assert case.printed == pytest.approx(printed, rel=1e-3)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_lemma_a2_holds(a, t):
    """[Zhang16] Lemma A.2."""
    assert special.xlogy(a + t, a + t) - special.xlogy(a, a) <= special.xlogy(t, a + t) + t + 1e-9 * (1 + a + t)


# Refusals


def test_counts_of_another_network_batches_and_bad_numbers_are_refused():
    prior, counts = Dirichlets.symmetric(ASIA), counts_of(ASIA, 5)
    with pytest.raises(InputError, match="have different networks"):
        posterior_kl(prior, counts_of(chain(2), 5), epsilon=1.0, delta=0.1)
    batch = Counts(ASIA, np.broadcast_to(counts.values, (2, 36)), 5)
    with pytest.raises(InputError, match="one set of counts"):
        posterior_kl(prior, batch, epsilon=1.0, delta=0.1)
    with pytest.raises(InputError, match="epsilon must be"):
        posterior_kl(prior, counts, epsilon=[1.0, -1.0], delta=0.1)
    with pytest.raises(InputError, match="delta must"):
        posterior_kl(prior, counts, epsilon=1.0, delta=0.0)
