"""[Zhang16] section 3.2: what is printed and what is proved of noise on Fourier coefficients."""

import itertools
import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration, Noise
from dpbayes.mechanisms.fourier import coefficient_noise
from dpbayes.mechanisms.noise.law import NoiseLaw
from dpbayes.model.dataset import count
from dpbayes.model.fourier import cells_per_family, coefficients, marginals
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import chain, empty, full
from dpbayes.theory.zhang16 import stealth
from dpbayes.theory.zhang16.fourier import (
    certified_noise,
    comparison_bound,
    counterexample_denser,
    epsilon_of_printed_noise,
    invented_records,
    noise_ratio,
    printed_noise,
    scale_bound,
)
from dpbayes.theory.zhang16.rebuilt_tables import printed_table_error, table_error, table_error_bound
from dpbayes.theory.zhang16.stealth import (
    certified_increment,
    counterexample_corollary_3,
    counterexample_corollary_3_rebuilt,
    maximal_families,
    negative_marginal_bound,
    negative_marginal_probability,
    negative_table_probability,
    printed_increment,
    rerun_bound,
    signed_sum_tail,
)
from tests.conftest import crossed
from tests.strategies import ASIA, NAIVE_BAYES, V_STRUCTURE, networks, random_networks, table_of

ALARM = 1e-9
RANDOM = random_networks(8, most_nodes=6)
NETWORKS = [NAIVE_BAYES, ASIA, V_STRUCTURE, empty(1), chain(5), full(4), *RANDOM]
IDS = ["NB16", "Asia", "v", "one", "chain", "full", *map(str, range(len(RANDOM)))]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def unit_noise(network, noise, draws):
    values = rng().laplace(size=(draws, len(network.closure)))
    values[:, : noise.public] = 0
    return values


# Corollary 2


def test_corollary_2_of_zhang16_charges_more_than_one_record_can_change():
    """[Zhang16] Corollary 2."""
    bound = scale_bound(NAIVE_BAYES, [0.5, 1.0])
    assert bound.printed == pytest.approx([136, 68])
    assert bound.certified == pytest.approx([128, 64])
    assert bound.applies
    assert epsilon_of_printed_noise(full(5), [1.0, 2.0]) == pytest.approx([0.5, 1.0])


@pytest.mark.parametrize("network", RANDOM[:4], ids=range(4))
def test_corollary_2_is_the_largest_change_over_all_pairs_of_records(network):
    """[Zhang16] Corollary 2, sharpened, by brute force."""
    records = list(itertools.product((0, 1), repeat=len(network.names)))
    values = np.array([coefficients(network, count(network, table_of(network, [r])).values) for r in records])
    worst = max(np.abs(values - other).sum(axis=-1).max() for other in values)
    assert certified_noise(network).sensitivity == worst <= printed_noise(network).sensitivity


# Theorem 2, consistency and Algorithm 2


def said_of(network: Network, coefficients: FloatArray, *, node: int) -> FloatArray:
    """Return what every family with `node` in it says about that node: (families, ..., 2), all the same.

    Tables are rebuilt from any coefficients (..., |N_I|). [Zhang16] Section 3.2, Consistency; Theorem 2.
    """
    cells = marginals(network, coefficients)
    said = []
    for k, family in enumerate(network.families):
        if node in family:
            table = np.moveaxis(network.table(cells, k), cells.ndim - 1 + family.index(node), cells.ndim - 1)
            said.append(table.reshape(*table.shape[: cells.ndim], -1).sum(axis=-1))
    return np.stack(said)


@given(networks(most_nodes=5), st.integers(0, 10**6))
def test_theorem_2_tables_rebuilt_from_any_coefficients_agree_on_every_node(network, seed):
    """[Zhang16] Section 3.2, Consistency."""
    values = np.random.default_rng(seed).laplace(size=(3, len(network.closure)))
    for node in range(len(network.names)):
        said = said_of(network, values, node=node)
        assert said.shape[1:] == (3, 2)
        assert said == pytest.approx(np.broadcast_to(said[0], said.shape), abs=1e-9)
        assert said.sum(axis=-1) == pytest.approx(np.broadcast_to(values[:, 0], said.shape[:2]), abs=1e-9)


# Corollary 3


@pytest.mark.parametrize(("terms", "x"), crossed([1, 2, 7, 34], [0.0, 0.3, 5.0, 40.0], times=2))
def test_the_tail_of_a_sum_of_laplace_draws_is_that_of_a_difference_of_gammas(terms, x):
    def integrand(y):
        density = y ** (terms - 1) * mpmath.exp(-y) / mpmath.factorial(terms - 1)
        return density * mpmath.gammainc(terms, x + y, mpmath.inf, regularized=True)

    wanted = mpmath.quad(integrand, [0, terms / 2, terms, 2 * terms, 4 * terms + 20, mpmath.inf])
    assert float(signed_sum_tail(terms, x)) == pytest.approx(float(wanted), rel=1e-9)


@pytest.mark.parametrize("terms", [1024, 1500, 4095])
def test_the_tail_of_many_terms_is_the_sum_over_all_of_them(terms, monkeypatch):
    x = np.sqrt(2 * terms) * np.array([[0.0, 1e-3, 0.3], [1.0, 4.0, 20.0]])
    quick = signed_sum_tail(terms, x)
    monkeypatch.setattr(stealth, "MANY_TERMS", terms + 1)
    assert quick == pytest.approx(signed_sum_tail(terms, x), rel=1e-10)


def test_the_tail_of_a_million_terms_is_normal_and_takes_no_function_of_each(monkeypatch):
    terms = 2**20 - 1
    monkeypatch.delattr(special, "gammaincc")
    sd = np.array([0.0, 1.0, 3.0, 5.0])
    tail = signed_sum_tail(terms, sd * np.sqrt(2 * terms))
    # Edgeworth: the kurtosis of a Laplace draw is 3 above the normal one.
    density = np.exp(-sd * sd / 2) / np.sqrt(2 * np.pi)
    assert tail == pytest.approx(special.ndtr(-sd) + density * (sd**3 - 3 * sd) / 8 / terms, rel=1e-9)
    assert np.array_equal(signed_sum_tail(terms, np.array([1e7, 1e12])), [0.0, 0.0])


@pytest.mark.parametrize("make", [printed_noise, certified_noise])
@pytest.mark.parametrize("network", NETWORKS, ids=IDS)
def test_corollary_3_corrected_is_never_below_what_is_simulated(network, make):
    """[Zhang16] Corollary 3, corrected."""
    noise, draws, size = make(network), 20_000, len(network.closure)
    values = unit_noise(network, noise, draws)
    needed = -(marginals(network, values) * cells_per_family(network)).min(axis=-1) / (2 * size)
    for t in (0.05, 0.1, 0.2, 0.5, 1.0):
        failures = int((needed > t).sum())
        bound = float(negative_marginal_probability(network, noise=noise, t=t))
        assert bound == 1 or stats.binom.sf(failures - 1, draws, bound) > ALARM
        table = float(negative_table_probability(network, noise=noise, t=t))
        assert table >= bound - 1e-12 or len(maximal_families(network)) > 1


def kept_by_empty_graph(k, lift):
    """P(X_0 + lift >= |X_1| + ... + |X_k|), by one quadrature over X_0."""

    def integrand(x):
        return math.exp(-abs(x)) / 2 * special.gammainc(k, lift + x)

    parts = [(-lift, 0.0), (0.0, lift), (lift, math.inf)]
    return sum(integrate.quad(integrand, *part, epsabs=1e-14, epsrel=1e-13)[0] for part in parts)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_corollary_3_corrected_holds_for_the_whole_table_of_an_empty_graph(k):
    """[Zhang16] Corollary 3, corrected, by quadrature."""
    noise = printed_noise(empty(k))
    for t in (0.1, 0.5, 1.0, 2.0):
        kept = kept_by_empty_graph(k, 2 * t * (k + 1))
        assert float(negative_table_probability(empty(k), noise=noise, t=t)) >= 1 - kept - 1e-12
        assert certified_noise(empty(k)).public == 1
    # Without noise on n the sum of |X_i| is Gamma(k, 1): the bound is the exact value.
    exact = stats.gamma.sf(2 * 0.5 * (k + 1), k)
    probability = negative_table_probability(empty(k), noise=certified_noise(empty(k)), t=0.5)
    assert float(probability) == pytest.approx(min(exact, 2**k * float(signed_sum_tail(k, k + 1.0))))


def test_corollary_3_at_t_zero_is_an_assumption_that_fails():
    """[Zhang16] Corollary 3."""
    bound = negative_marginal_bound(ASIA, noise=certified_noise(ASIA), t=[0.0, 1.0])
    assert not bound.applies
    assert negative_marginal_bound(ASIA, noise=certified_noise(ASIA), t=0.01).applies
    assert bound.certified[0] == bound.printed[0] == 1


def test_corollary_3_small_increments_break_the_printed_promise():
    """[Zhang16] Corollary 3."""
    example = counterexample_corollary_3()
    assert example.printed == pytest.approx(math.exp(-0.1))
    network, draws = full(4), 20_000
    cells = marginals(network, unit_noise(network, printed_noise(network), draws)) * cells_per_family(network)
    negative = int((cells.min(axis=-1) < -2 * 0.1 * 16).sum())
    assert stats.binom.sf(negative - 1, draws, example.printed) < ALARM
    assert stats.binom.cdf(negative, draws, example.truth) > 0.5, "the truth is a lower limit"
    assert negative / draws == pytest.approx(example.truth, abs=0.03)


def test_corollary_3_on_the_table_rebuilt_from_the_closure_fails_without_noise():
    """[Zhang16] Corollary 3, read for the table rebuilt from N_I."""
    lift, scale = 10.8, 0.6
    noise = rng().laplace(scale=scale, size=(200_000, 3)).sum(axis=1)
    for n, share in ((1000, 1.0), (12, 1 - np.exp(-2) * (8 + 5 * 2 + 2**2) / 16)):
        assert counterexample_corollary_3_rebuilt(n).truth == pytest.approx(share, abs=1e-12)
        assert np.mean((n - lift + noise) > 0) == pytest.approx(share, abs=0.005)
    assert counterexample_corollary_3_rebuilt(10).truth < 0.5


@pytest.mark.parametrize("network", NETWORKS, ids=IDS)
def test_the_certified_increment_is_the_least_that_is_proved(network):
    for noise in (printed_noise(network), certified_noise(network)):
        t = certified_increment(network, 0.9, noise=noise)
        assert float(negative_marginal_probability(network, noise=noise, t=t)) <= 0.1
        assert float(negative_marginal_probability(network, noise=noise, t=t * 0.999)) > 0.1
        assert t < float(printed_increment(0.9))
    assert certified_increment(network, 0.0, noise=printed_noise(network)) == 0


@pytest.mark.parametrize("bad", [1.0, -0.1, math.nan, "x"])
def test_a_target_that_cannot_be_proved_is_one_sentence(bad):
    with pytest.raises(InputError, match="target probability"):
        certified_increment(ASIA, bad, noise=printed_noise(ASIA))


def test_the_loss_called_minor_is_many_times_the_records():
    """[Zhang16] Section 3.2, Non-negativity."""
    # Section 3.2, Non-negativity: NB16, epsilon 1, the printed t for 90% and the two that suffice.
    lifts = invented_records(NAIVE_BAYES, noise=printed_noise(NAIVE_BAYES), epsilon=1.0, t=[math.log(10), 0.491, 0.127])
    assert lifts == pytest.approx([10_647, 2_270, 587], rel=2e-3)
    assert invented_records(ASIA, noise=certified_noise(ASIA), epsilon=2.0, t=1.0) == pytest.approx(2 * 21 * 28 / 2)


def test_running_until_the_first_success_costs_between_one_and_two_epsilon():
    """[Zhang16] Section 3.2, Re-running."""
    # Section 3.2, Re-running, by enumeration: geometric noise of odds e^-epsilon on 0 or 1, success where it is >= 0.
    epsilon, values = 0.7, np.arange(-60, 61)
    laws = [np.exp(-epsilon * np.abs(values - x)) * np.tanh(epsilon / 2) for x in (0, 1)]
    assert [law.sum() for law in laws] == pytest.approx([1, 1])
    first = [law[values >= 0] / law[values >= 0].sum() for law in laws]
    loss = float(np.abs(np.log(first[0] / first[1])).max())
    assert epsilon * 1.2 < loss <= float(rerun_bound(epsilon, 50).certified)
    assert rerun_bound(1.0, [1, 2, 10]).certified == pytest.approx([1, 2, 2])
    assert rerun_bound([1.0, 2.0], 10).printed == pytest.approx([10, 20])


# Theorem 3


def test_theorem_3_has_its_known_values():
    """[Zhang16] Theorem 3."""
    bound = table_error_bound(NAIVE_BAYES, epsilon=1.0, t=0.0, delta=0.05)
    assert bound.printed[1] == pytest.approx(1774, abs=1)
    assert bound.certified[1] < 596, "the union over the table's own coefficients"
    assert bound.confidence == 0.95
    assert table_error_bound(NAIVE_BAYES, epsilon=1.0, t=1.0, delta=0.05).certified[1] > 4624


@pytest.mark.parametrize("make", [printed_noise, certified_noise])
@pytest.mark.parametrize("network", NETWORKS, ids=IDS)
def test_theorem_3_sharpened_is_exceeded_no_more_often_than_stated(network, make):
    """[Zhang16] Theorem 3, sharpened."""
    noise, draws, delta, t, epsilon = make(network), 20_000, 0.05, 0.3, 0.5
    values = unit_noise(network, noise, draws) * float(noise.scale(epsilon))
    values[:, 0] += float(invented_records(network, noise=noise, epsilon=epsilon, t=t))
    errors = np.add.reduceat(np.abs(marginals(network, values)), network.cell_offsets[:-1], axis=-1)
    bound = table_error(network, noise=noise, epsilon=epsilon, t=t, delta=delta)
    for failures in (errors > bound).sum(axis=0):
        assert stats.binom.sf(failures - 1, draws, delta) > ALARM
    assert np.all(bound <= printed_table_error(network, epsilon=epsilon, t=t, delta=delta))


# Remark 1


@pytest.mark.parametrize("network", NETWORKS, ids=IDS)
def test_remark_1_scale_the_closure_is_as_small_as_printed(network):
    """[Zhang16] Remark 1, scale."""
    assert len(network.closure) <= 2 * len(network.names) * network.rows_per_node.max()


def test_remark_1_comparison_has_its_known_ratios():
    """[Zhang16] Remark 1, comparison."""
    # Noise sd per cell at epsilon 1: NB16 68 and 48.1 beside 48.1; the complete graph of five 64 to 16 beside 14.1.
    laplace = math.sqrt(2) * 2 * 17
    assert noise_ratio(NAIVE_BAYES, noise=printed_noise(NAIVE_BAYES))[:2] * laplace == pytest.approx(
        [68, 48.08], abs=0.1
    )
    five = noise_ratio(full(5), noise=printed_noise(full(5))) * math.sqrt(2) * 10
    assert five[[0, -1]] == pytest.approx([64, 16])
    tight = noise_ratio(full(5), noise=certified_noise(full(5))) * math.sqrt(2) * 10
    assert tight[0] == pytest.approx(32 / math.sqrt(2))  # one noisy coefficient of two


def test_remark_1_comparison_is_false_where_its_condition_holds_and_denser_is_worse():
    """[Zhang16] Remark 1, comparison."""
    bound = comparison_bound(chain(10))
    assert bound.applies
    assert bound.certified > 1 > bound.printed
    assert not comparison_bound(full(8)).applies
    none, sparse, all_of = counterexample_denser()
    assert none < sparse < all_of
    assert all_of > 1


def test_more_than_two_states_are_refused_by_name():
    network = Network.from_edges(["smoke", "sky"], [], {"sky": "xyz"})
    for make in (printed_noise, certified_noise):
        with pytest.raises(InputError, match="sky"):
            make(network)


# Whole numbers


def whole_noise(network, scale, draws):
    """Noise of whole numbers at a scale on every coefficient but the public one, in units of the scale."""
    law = NoiseLaw(Noise.WHOLE, scale)
    noise = replace(certified_noise(network), beyond=1 / scale)
    return noise, coefficient_noise(network, Calibration.CERTIFIED, rng(), (draws,), law=law) / scale


@pytest.mark.parametrize("network", NETWORKS, ids=IDS)
@pytest.mark.parametrize("scale", [0.5, 2.0, 16.0, 300.0])
def test_what_is_proved_of_real_noise_holds_of_whole_numbers_once_each_may_lie_a_step_further(network, scale):
    draws, size = 20_000, len(network.closure)
    noise, values = whole_noise(network, scale, draws)
    needed = -(marginals(network, values) * cells_per_family(network)).min(axis=-1) / (2 * size)
    for t in (0.05, 0.1, 0.2, 0.5, 1.0):
        failures = int((needed > t + 1e-9).sum())
        bound = float(negative_marginal_probability(network, noise=noise, t=t))
        assert bound == 1 or stats.binom.sf(failures - 1, draws, bound) > ALARM
        real = float(negative_marginal_probability(network, noise=certified_noise(network), t=t))
        assert real <= bound
        assert float(negative_table_probability(network, noise=noise, t=t)) <= 1
    t = certified_increment(network, 0.9, noise=noise)
    assert t >= certified_increment(network, 0.9, noise=certified_noise(network))
    assert float(negative_marginal_probability(network, noise=noise, t=t)) <= 0.1


def test_without_that_step_the_bound_for_real_noise_would_be_too_low_for_whole_numbers():
    """One binary node, certified: |D| > x with probability 2 q^(k + 1)/(1 + q) just below x = k + 1, above e^(-x/b)."""
    network, scale = empty(1), 0.5
    t = 0.999 / (2 * 2 * scale)
    q = math.exp(-1 / scale)
    exact = 2 * q / (1 + q)
    assert float(negative_marginal_probability(network, noise=certified_noise(network), t=t)) < exact
    noise = replace(certified_noise(network), beyond=1 / scale)
    assert float(negative_marginal_probability(network, noise=noise, t=t)) >= exact


@pytest.mark.parametrize("scale", [0.5, 16.0])
def test_theorem_3_sharpened_holds_of_whole_numbers(scale):
    noise, values = whole_noise(ASIA, scale, 20_000)
    errors = np.abs(marginals(ASIA, values * scale))
    for node, bound in enumerate(table_error(ASIA, noise=noise, epsilon=noise.sensitivity / scale, t=0.0, delta=0.05)):
        own = errors[:, ASIA.cell_offsets[node] : ASIA.cell_offsets[node + 1]].sum(axis=-1)
        assert stats.binom.sf(int((own > bound + 1e-9).sum()) - 1, 20_000, 0.05) > ALARM
