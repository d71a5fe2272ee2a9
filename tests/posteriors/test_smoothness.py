import math
from itertools import product

import numpy as np
import pytest
from mpmath import mp
from scipy import special, stats

from dpbayes.base.validation import InputError
from dpbayes.posteriors.smoothness import (
    beta_concentration,
    beta_concentration_from,
    discrete_log_ratio_bound,
    exponential_concentration,
    hamming_weights,
    kl_bound_sharp,
    laplace_concentration,
    network_concentration,
    network_log_ratio_bound,
    normal_concentration,
)
from tests.strategies import DIAMOND, all_records, chain, counts_per_record, random_networks, rng

RATES = [0.1, 1.0, 7.0]


def beta_tail(a: float, edge: float) -> float:
    """2 I_x(a, a), x = 1/(1 + exp(edge)), in 40 digits by its series of positive terms: the mass of |logit| > edge."""
    with mp.workdps(40):
        half, x = mp.mpf(a), 1 / (1 + mp.exp(mp.mpf(edge)))
        term = total = mp.mpf(1)
        k = 0
        while term > total * mp.eps:
            term *= x * (2 * half + k) / (half + 1 + k)
            total += term
            k += 1
        return 2 * (x * (1 - x)) ** half / (half * mp.beta(half, half)) * total


# Networks, Assumption 1


def random_cpts(network, least, random):
    theta = random.random(network.cell_count) ** 3
    theta = theta / network.row_sums(theta)[network.row_of_cell]
    lengths = network.cards[network.node_of_row][network.row_of_cell]
    return least + (1 - lengths * least) * theta


@pytest.mark.parametrize("network", [chain(3), DIAMOND, *random_networks(5, most_nodes=4, states=(2, 3))])
def test_both_bounds_hold_for_every_pair_of_records(network):
    least, random = 0.1, rng()
    constants = [discrete_log_ratio_bound(least, int(card)) for card in network.cards]
    records = np.array(all_records(network))
    cells = counts_per_record(network)
    families = [[tuple(r[list(f)]) for f in network.families] for r in records]
    for _ in range(20):
        log_p = cells @ np.log(random_cpts(network, least, random))
        for i, j in product(range(0, len(records), 3), range(len(records))):
            gap = abs(log_p[i] - log_p[j])
            rho = [float(x != y) for x, y in zip(families[i], families[j], strict=True)]
            assert gap <= network_log_ratio_bound(constants, rho) + 1e-9
            apart = hamming_weights(network) @ (records[i] != records[j])
            assert gap <= max(constants) * apart + 1e-9


@pytest.mark.parametrize(("w", "states", "bound"), [(0.1, 2, 2.1972), (0.1, 3, 2.0794), (0.5, 2, 0.0), (0.25, 4, 0.0)])
def test_the_bound_of_one_node_is_attained_and_below_the_printed_one(w, states, bound):
    assert discrete_log_ratio_bound(w, states) == pytest.approx(bound, abs=5e-5)
    assert bound <= math.log(1 / w)


# Networks, Assumption 2


def test_the_concentration_of_a_network_is_the_printed_statement_not_the_appendix():
    c = network_concentration((1, 2, 3), 5.0)
    assert c == pytest.approx(1 - math.log(3) / 5)
    union = sum(math.exp(-k * 5) for k in (1, 2, 3))
    assert union == pytest.approx(0.00678, abs=5e-6)
    assert union <= math.exp(-c * 5)
    assert union > math.exp(-math.log(3) * 5) == pytest.approx(0.0041, abs=5e-5)
    for start in (5.0, 6.0, 20.0):  # for all L >= L0
        assert sum(math.exp(-k * start) for k in (1, 2, 3)) <= math.exp(-c * start)


@pytest.mark.parametrize("start", [0.1, math.log(3) / 1])
def test_a_threshold_too_small_for_the_network_is_refused(start):
    with pytest.raises(InputError, match=r"L0 must be above .* 1\.099"):
        network_concentration((1, 2, 3), start)


# Beta priors


@pytest.mark.parametrize(("a", "c"), [(1, 0.5), (2, 0.75), (10, 1.762), (100, 5.635)])
def test_the_best_concentration_for_all_thresholds(a, c):
    assert beta_concentration(a) == pytest.approx(c, abs=5e-4)
    assert beta_concentration(a) == pytest.approx(math.sqrt(a / math.pi), rel=0.2 / math.sqrt(a))


@pytest.mark.parametrize("a", [0.1, 1.0, 2.0, 10.0, 100.0])
def test_the_best_concentration_holds_everywhere_and_a_larger_one_fails_near_zero(a):
    c = beta_concentration(a)
    for edge in (1e-4, 0.01, 0.1, 1.0, 5.0, 30.0):
        assert beta_tail(a, edge) <= mp.exp(-c * edge) * (1 + mp.mpf(10) ** -30)
    assert beta_tail(a, 1e-4) > mp.exp(-1.001 * c * 1e-4)


@pytest.mark.parametrize("a", [0.01, 1.0, 3.5, 100.0, 5_000.0])
@pytest.mark.parametrize("start", [1e-6, 0.3, 2.0, 20.0])
def test_the_concentration_from_a_threshold_agrees_with_forty_digits(a, start):
    truth = float(-mp.log(beta_tail(a, start)) / start)
    assert beta_concentration_from(a, start) == pytest.approx(truth, rel=1e-9)


def test_with_the_binomial_coefficient_kept_smoothness_starts_at_ln_n():
    for n, a, start in [(10, 2.0, 3.0), (5, 1.0, 4.0)]:
        z = n / (n + math.exp(start))
        assert beta_concentration_from(a, start, trials=n) == pytest.approx(
            -math.log(2 * special.betainc(a, a, z)) / start
        )
        # The parameters with constant L, by brute force over all pairs of outcomes.
        theta = np.linspace(0.001, 0.999, 999)
        log_p = stats.binom.logpmf(np.arange(n + 1)[:, None], n, theta)
        smooth = np.ones(theta.size, dtype=bool)
        for x, y in product(range(n + 1), repeat=2):
            smooth &= np.abs(log_p[x] - log_p[y]) <= start * abs(x - y) + 1e-12
        assert np.array_equal(smooth, (theta >= z) & (theta <= 1 - z))
    with pytest.raises(InputError, match="above ln n"):
        beta_concentration_from(2.0, math.log(10), trials=10)


# Other conjugate pairs


@pytest.mark.parametrize("rate", RATES)
def test_an_exponential_prior_makes_exponential_records_smooth_with_equality(rate):
    c = exponential_concentration(rate)
    for edge in (0.1, 1.0, 4.0):
        assert math.exp(-c * edge) == pytest.approx(stats.expon(scale=1 / rate).sf(edge))
    x, y, theta = 0.3, 2.0, 1.7
    gap = abs(stats.expon(scale=1 / theta).logpdf(x) - stats.expon(scale=1 / theta).logpdf(y))
    assert gap == pytest.approx(theta * abs(x - y))


@pytest.mark.parametrize("rate", RATES)
def test_laplace_records_are_smooth_where_the_scale_is_at_least_one_over_the_constant(rate):
    for edge, x, y, mu in [(0.5, -1.0, 3.0, 0.0), (2.0, 0.1, 0.2, -4.0)]:
        gap = abs(stats.laplace(mu, 1 / edge).logpdf(x) - stats.laplace(mu, 1 / edge).logpdf(y))
        assert gap <= edge * abs(x - y) + 1e-12
        assert math.exp(-laplace_concentration(rate) * edge) == pytest.approx(stats.expon(scale=1 / rate).sf(edge))
    # Printed: s >= L. At L = 2 the scale 2 is smooth, but so is 1/2, and at L = 1/2 the scale 1/2 is not.
    assert abs(stats.laplace(0, 0.5).logpdf(0) - stats.laplace(0, 0.5).logpdf(1)) > 0.5


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("mean_bound", [0.0, 0.5, 3.0])
def test_normal_records_are_smooth_under_an_exponential_prior_of_the_precision(rate, mean_bound):
    c, m = normal_concentration(rate, mean_bound=mean_bound), max(mean_bound, 1.0)
    for edge in (0.2, 1.0, 5.0):
        # smooth with L = m tau / 2
        assert stats.expon(scale=1 / rate).sf(2 * edge / m) == pytest.approx(math.exp(-c * edge))
    random = rng()
    x, y = random.normal(0, 5, (2, 10_000))
    mu, tau = random.uniform(-mean_bound, mean_bound, 10_000), 1.3
    gap = np.abs((x - mu) ** 2 - (y - mu) ** 2) * tau / 2
    assert np.all(gap <= m * tau / 2 * (np.abs(x**2 - y**2) + 2 * np.abs(x - y)) + 1e-9)


# The divergence


@pytest.mark.parametrize("eta", [1e-12, 1e-6, 0.01, 0.2, 0.999, 1.0, 1.001, 5.0, 40.0, 800.0])
def test_the_sharp_divergence_agrees_with_fifty_digits(eta):
    with mp.workdps(80):
        r = mp.mpf(eta) / mp.expm1(mp.mpf(eta))
        truth = float(r - 1 - mp.log(r))
    assert float(kl_bound_sharp(eta)) == pytest.approx(truth, rel=1e-13)
    assert truth <= min(eta, eta**2 / 8) * (1 + 1e-9)


def test_the_sharp_divergence_is_attained_by_two_points_and_never_beaten():
    assert float(kl_bound_sharp(0.2)) == pytest.approx(0.004997, abs=1e-6)
    assert float(kl_bound_sharp(0.0)) == 0.0
    p = np.linspace(1e-6, 1 - 1e-6, 200_001)
    for eta in (0.2, 2.0, 6.0):
        # q = p times ratios e^s and e^(s - eta) that average to 1 under p; KL(p || q) = -(mean log ratio).
        s = -np.log(p + (1 - p) * math.exp(-eta))
        divergence = -(s - (1 - p) * eta)
        assert divergence.max() == pytest.approx(float(kl_bound_sharp(eta)), rel=1e-8)
    random = rng()
    for _ in range(2_000):
        p, q = random.dirichlet(np.ones(4), 2)
        ratio = np.log(p / q)
        assert float((p * ratio).sum()) <= float(kl_bound_sharp(np.ptp(ratio))) + 1e-12


# Refusals


@pytest.mark.parametrize("bad", [-1, 0, math.nan, math.inf, "much", None])
@pytest.mark.parametrize(
    "constant",
    [
        exponential_concentration,
        laplace_concentration,
        normal_concentration,
        beta_concentration,
        lambda bad: beta_concentration_from(bad, 1.0),
        lambda bad: beta_concentration_from(1.0, bad),
        lambda bad: network_concentration([1.0], bad),
        discrete_log_ratio_bound,
    ],
)
def test_what_is_no_positive_number_is_refused_in_a_sentence(constant, bad):
    with pytest.raises(InputError, match=r"must be .*\."):
        constant(bad)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: network_log_ratio_bound([1, 2], [1]),
        lambda: network_log_ratio_bound([1, -2], [1, 1]),
        lambda: network_log_ratio_bound([1, math.nan], [1, 1]),
        lambda: network_concentration([], 1.0),
        lambda: network_concentration([1.0, 0.0], 1.0),
        lambda: discrete_log_ratio_bound(0.4, 3),
        lambda: discrete_log_ratio_bound(0.4, 0),
        lambda: beta_concentration_from(1.0, 1.0, trials=0),
        lambda: normal_concentration(1.0, mean_bound=-1.0),
        lambda: kl_bound_sharp([0.1, -0.1]),
        lambda: kl_bound_sharp(math.inf),
    ],
)
def test_impossible_arguments_are_refused(attempt):
    with pytest.raises(InputError):
        attempt()
