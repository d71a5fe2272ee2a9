import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl, log_bhattacharyya_rows
from dpbayes.posteriors.trimmed import log_odds_rule
from dpbayes.theory.dimitrakakis14.game import (
    KAPPA,
    BetaPair,
    GammaPair,
    NormalPair,
    necessary_answers,
    needed_answers_bracket,
    printed_answers,
    printed_answers_tail,
    symmetric_kl_bound,
    too_few_answers,
)
from tests.conftest import FAR

DRAWS = 100_000
PAIRS = {
    "trimmed": BetaPair(np.float64(16.0), np.float64(6.0), 1, 0.5),
    "trimmed, other way": BetaPair(np.float64(15.0), np.float64(7.0), -1, 0.5),
    "trimmed, three columns": BetaPair(np.float64(2.0), np.float64(30.0), 1, 0.2, 3),
    "binomial": BetaPair(np.float64(16.0), np.float64(6.0)),
    "binomial, small prior": BetaPair(np.float64(0.1), np.float64(20.1), -1),
    "exponential": GammaPair(np.float64(6.0), np.float64(6.0), 2.0),
    "exponential, other way": GammaPair(np.float64(6.0), np.float64(8.0), -2.0),
    "normal": NormalPair(np.float64(11.0), 1.5),
}


def rng() -> np.random.Generator:
    return np.random.default_rng(20140610)


def densities(pair):
    """ln of both posterior densities as functions of theta (log-odds for Betas), normalised by quadrature, and ends."""
    if isinstance(pair, NormalPair):
        raw = [lambda t, m=m: -pair.precision * (t - m) ** 2 / 2 for m in (0.0, pair.apart / pair.precision)]
        return normalised(raw, (-20.0, 20.0))
    other = pair.swapped()
    if isinstance(pair, BetaPair):
        ends = (-min(pair.bound, 400), min(pair.bound, 400))
        raw = [lambda z, p=p: p.a * special.log_expit(z) + p.b * special.log_expit(-z) for p in (pair, other)]
    else:
        ends = (1e-12, 40.0)
        raw = [lambda t, p=p: (p.shape - 1) * np.log(t) - p.rate * t for p in (pair, other)]
    return normalised(raw, ends)


def normalised(raw, ends):
    masses = [math.log(integral(lambda t, f=f: np.exp(f(t)), ends)) for f in raw]
    return [lambda t, f=f, m=m: f(t) - m for f, m in zip(raw, masses, strict=True)], ends


def integral(function, ends) -> float:
    """Composite Gauss-Legendre, fine enough for every pair above; not the rule under test."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    edges = np.linspace(*ends, 2001)
    half = np.diff(edges)[:, None] / 2
    return float((function(edges[:-1, None] + half * (nodes + 1)) * half * weights).sum())


# The rule


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.1, 5), (1000, 0.1), (16, 6), (1e6, 3e5), (1e-3, 1e-3), (1e-3, 1e9)])
def test_the_rule_without_trimming_is_the_beta_function_and_digamma(a, b):
    rule = log_odds_rule(a, b)
    assert rule.log_mass == pytest.approx(special.betaln(a, b), rel=1e-12)
    assert rule.mean(rule.nodes) == pytest.approx(special.psi(a) - special.psi(b), rel=1e-11, abs=1e-12)
    assert rule.weights.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("a", "b", "bound"), [(16, 6, 0.5), (2, 900, 0.3), (0.5, 0.5, 8), (300, 300, 1e-6)])
def test_the_trimmed_mass_is_that_of_high_precision(a, b, bound):
    with mpmath.workdps(400):
        edge = 1 / (1 + mpmath.exp(bound))
        mass = mpmath.log(mpmath.betainc(a, b, edge, 1 - edge))
    assert log_odds_rule(a, b, bound).log_mass == pytest.approx(float(mass), rel=1e-12, abs=1e-12)


# Divergences


@pytest.mark.parametrize("name", PAIRS)
def test_divergence_affinity_and_movement_are_integrals(name):
    pair = PAIRS[name]
    (x, y), ends = densities(pair)
    columns = getattr(pair, "columns", 1)
    divergence = columns * integral(lambda t: np.exp(x(t)) * (x(t) - y(t)), ends)
    affinity = -columns * math.log(integral(lambda t: np.exp((x(t) + y(t)) / 2), ends))
    assert float(pair.kl) == pytest.approx(divergence, rel=1e-6)
    assert float(pair.affinity) == pytest.approx(affinity, rel=1e-6)

    if isinstance(pair, NormalPair):
        return

    def moved(t):
        return np.abs(t) if isinstance(pair, BetaPair) else abs(pair.apart) * t

    total = columns * integral(lambda t: (np.exp(x(t)) + np.exp(y(t))) * moved(t), ends)
    assert float(pair.movement) == pytest.approx(total, rel=1e-5)


def test_untrimmed_binomial_is_the_closed_form_of_dirichlets():
    network = Network.from_edges("x", [])
    k = np.arange(1, 30.0)
    x = Dirichlets(network, np.stack([0.7 + k, 30.7 - k], axis=-1))
    y = Dirichlets(network, np.stack([-0.3 + k, 31.7 - k], axis=-1))
    pair = BetaPair(0.7 + k, 30.7 - k)
    assert pair.kl == pytest.approx(kl(x, y), rel=1e-9)
    assert pair.swapped().kl == pytest.approx(kl(y, x), rel=1e-9)
    assert pair.affinity == pytest.approx(-log_bhattacharyya_rows(x, y)[..., 0], rel=1e-9)


@given(st.integers(1, 500), st.floats(0.1, 50), st.floats(0.01, 20), st.data())
def test_the_symmetric_bound_holds(n, a, bound, data):
    k = data.draw(st.integers(1, n))
    for pair in (
        BetaPair(np.float64(a + k), np.float64(a + n - k), 1, bound),
        BetaPair(np.float64(a + k), np.float64(a + n - k)),
        GammaPair(np.float64(n + 1), np.float64(a), bound * 10),
    ):
        total = float(pair.kl + pair.swapped().kl)
        assert total <= float(symmetric_kl_bound(pair)) * (1 + 1e-9)


# Gains


@pytest.mark.parametrize("name", [name for name in PAIRS if "trimmed" in name])
def test_gains_have_the_mean_and_the_moments_of_their_law(name):
    """E gain = KL, E exp(-gain/2) = BC, E exp(-gain) = 1: six standard errors each."""
    pair = PAIRS[name]
    gains = pair.gains(rng(), (DRAWS,))
    for values, expected in (
        (gains, float(pair.kl)),
        (np.exp(-gains / 2), math.exp(-float(pair.affinity))),
    ):
        error = values.std() / math.sqrt(DRAWS)
        assert abs(values.mean() - expected) < FAR * error
        assert abs(values.mean() - 1.3 * expected) > FAR * error or expected < 1e-3
    low, high = pair.gain_range
    assert gains.min() >= low - 1e-9
    assert gains.max() <= high + 1e-9


@pytest.mark.parametrize(("n", "w", "exact"), [(20, 0.3, 1.5404), (20, 0.1, 3.9890), (100, 0.1, 4.2991)])
def test_the_largest_gain_over_all_tables_is_the_exact_epsilon(n, w, exact):
    """Known values of the trimmed Bernoulli sampler: below 2 ln((1 - w)/w)."""
    k = np.arange(1, n + 1.0)
    pair = BetaPair(1 + k, 1 + n - k, 1, math.log((1 - w) / w))
    low, high = pair.gain_range
    assert max(np.abs(low).max(), np.abs(high).max()) == pytest.approx(exact, abs=1e-4)
    assert exact <= 2 * math.log((1 - w) / w)


@given(st.integers(1, 60), st.floats(0.01, 6), st.integers(1, 5), st.data())
def test_no_gain_is_beyond_twice_the_bound_in_every_column(n, bound, columns, data):
    k = data.draw(st.integers(1, n))
    pair = BetaPair(np.float64(1 + k), np.float64(1 + n - k), 1, bound, columns)
    low, high = pair.gain_range
    assert -2 * bound * columns <= low <= 0 <= high <= 2 * bound * columns
    assert high - low == pytest.approx(2 * bound * columns)


# Answers needed


@given(st.floats(0.01, 3), st.floats(1e-4, 0.4))
def test_the_bracket_holds_the_exact_number_of_a_normal_pair(apart, error):
    pair = NormalPair(np.float64(5.0), apart)
    exact = 2 * stats.norm.ppf(error) ** 2 / float(pair.kl)
    least, most = needed_answers_bracket(pair, error=error)
    assert least <= exact * (1 + 1e-12) <= most * (1 + 1e-9)
    assert exact >= -math.log(4 * error) / float(pair.kl)


def test_theorem_3_as_printed_calls_too_few_answers_enough():
    pair = PAIRS["trimmed"]
    least, _ = needed_answers_bracket(pair, error=0.05)
    printed = printed_answers(0.5, error=0.05)
    assert printed == pytest.approx(1.5 * math.log(20))
    assert printed < least
    assert necessary_answers(0.5, error=0.05) <= least
    assert printed_answers_tail([2.0, 1.0], 3.0, error=0.05) * KAPPA == pytest.approx([math.log(20), math.log(20) / 2])


# Refusals


@pytest.mark.parametrize("error", [0, 0.5, 0.7, -1, math.nan, "many"])
def test_a_bad_error_is_refused(error):
    with pytest.raises(InputError):
        needed_answers_bracket(PAIRS["normal"], error=error)


def test_a_record_that_is_not_there_cannot_be_replaced():
    with pytest.raises(InputError, match="no record"):
        BetaPair(np.float64(0.5), np.float64(3.0), 1)
    with pytest.raises(InputError, match="negative"):
        GammaPair(np.float64(2.0), np.float64(3.0), -4.0)


def test_what_is_printed_is_too_few_only_where_its_next_whole_number_is_below_what_is_needed():
    assert too_few_answers([0.2, 0.2, 2.1, 3.1], [1.0, 1.01, 3.0, 4.2]).tolist() == [False, True, False, True]
