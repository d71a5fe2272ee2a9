import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import bregman_loggamma, hellinger, kl, kl_rows, log1p_excess, log_bhattacharyya_rows
from tests.strategies import V_STRUCTURE


def hellinger_rows(p: Dirichlets, q: Dirichlets) -> np.ndarray:
    """Return the Hellinger distance of every CPT row: (..., m)."""
    return np.sqrt(-np.expm1(log_bhattacharyya_rows(p, q)))


mpmath.mp.dps = 60
SIZES = [1e-4, 1e-2, 0.5, 1.0, 3.3, 8.999, 9.0, 25.0, 1e3, 1e6, 1e9]
RATIOS = [1e-3, 0.5, 1 - 1e-6, 1.0, 1 + 1e-9, 1.01, 1.29, 1.31, 7.0, 1e3]
POSITIVE = st.floats(1e-3, 1e9)
NEAR_AND_FAR = [
    ([0.5, 1.5], [0.7, 3.0]),
    ([1.0, 1.0], [1.0, 2.0]),
    ([5.0, 0.01], [5.0, 0.02]),
    ([1e-3, 5.0], [1.5e-3, 5.0]),
    ([1e-3, 1e-3], [0.5, 0.5]),
    ([30.0, 40.0], [31.0, 39.0]),
    ([30.0, 40.0], [60.0, 80.0]),
    ([2.0, 900.0], [900.0, 2.0]),
    ([1e5, 2e5], [1.001e5, 2e5]),
    ([5e8, 5e8], [5e8 + 100, 5e8 - 100]),
    ([1e9, 1.0], [1e9, 1.5]),
]


def beta(pair) -> Dirichlets:
    return Dirichlets(Network.from_edges("a", []), np.array(pair, dtype=float))


def exact_bregman(x, y) -> mpmath.mpf:
    x, y = mpmath.mpf(x), mpmath.mpf(y)
    return mpmath.loggamma(y) - mpmath.loggamma(x) - (y - x) * mpmath.digamma(x)


def exact_log_beta(values) -> mpmath.mpf:
    return mpmath.fsum(map(mpmath.loggamma, values)) - mpmath.loggamma(mpmath.fsum(values))


def exact_kl(p, q) -> mpmath.mpf:
    p, q = ([mpmath.mpf(float(v)) for v in values] for values in (p, q))
    total = mpmath.digamma(mpmath.fsum(p))
    drift = mpmath.fsum((a - b) * (mpmath.digamma(a) - total) for a, b in zip(p, q, strict=True))
    return exact_log_beta(q) - exact_log_beta(p) + drift


def exact_hellinger(p, q) -> mpmath.mpf:
    p, q = ([mpmath.mpf(float(v)) for v in values] for values in (p, q))
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return mpmath.sqrt(-mpmath.expm1(exact_log_beta(middle) - (exact_log_beta(p) + exact_log_beta(q)) / 2))


@pytest.mark.parametrize("u", [-1 + 1e-12, -0.9, -0.3, -1e-8, 0.0, 1e-300, 1e-9, 0.29, 0.31, 5.0, 1e12])
def test_log1p_excess_is_accurate_everywhere(u):
    exact = mpmath.mpf(u) - mpmath.log1p(mpmath.mpf(u))
    assert float(log1p_excess(u)) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize("x", SIZES)
@pytest.mark.parametrize("y", SIZES)
def test_the_divergence_of_log_gamma_is_accurate_between_all_sizes(x, y):
    assert float(bregman_loggamma(x, y)) == pytest.approx(float(exact_bregman(x, y)), rel=2e-12, abs=0)


@pytest.mark.parametrize("x", SIZES)
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_divergence_of_log_gamma_is_accurate_near_equality(x, ratio):
    y = x * ratio
    exact = float(exact_bregman(x, y))
    # The series' terms cancel there, which leaves an absolute error far below anything that is shown.
    assert float(bregman_loggamma(x, y)) == pytest.approx(exact, rel=1e-11, abs=1e-21)


@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=1, max_size=6))
def test_the_divergence_of_log_gamma_is_non_negative_and_elementwise(pairs):
    x, y = np.array(pairs).T
    values = bregman_loggamma(x, y)
    assert np.all(values >= 0)
    assert values.tolist() == [float(bregman_loggamma(a, b)) for a, b in pairs]


@pytest.mark.parametrize(("p", "q"), NEAR_AND_FAR)
def test_kl_and_hellinger_agree_with_sixty_digits(p, q):
    assert float(kl(beta(p), beta(q))) == pytest.approx(float(exact_kl(p, q)), rel=1e-9, abs=0)
    assert float(hellinger(beta(p), beta(q))) == pytest.approx(float(exact_hellinger(p, q)), rel=1e-9, abs=0)


@given(
    st.lists(st.tuples(st.floats(-3, 9), st.floats(-1, 1)), min_size=2, max_size=5),
    st.floats(-8, 1),
    st.floats(-8, 0),
    st.sampled_from([-1, 1]),
)
def test_a_row_that_nearly_keeps_its_proportions_loses_few_digits(cells, growth, apart, way):
    """The total's term takes off nearly all of the cells' terms."""
    sizes, turns = np.array(cells).T
    p = 10.0**sizes
    q = p * np.exp(way * 10.0**growth) * np.exp(10.0**apart * turns)
    network = Network.from_edges("a", [], {"a": [str(k) for k in range(len(p))]})
    first, second = Dirichlets(network, p), Dirichlets(network, q)
    lost = 1e-11 * float(mpmath.fsum(exact_bregman(*pair) for pair in zip(p, q, strict=True))) + 1e-15 * (
        1 + abs(q.sum() - p.sum())
    )
    assert float(kl(first, second)) == pytest.approx(float(exact_kl(p, q)), rel=1e-9, abs=lost)
    assert float(hellinger(first, second)) ** 2 == pytest.approx(float(exact_hellinger(p, q)) ** 2, rel=1e-7, abs=lost)


def test_known_values_of_kl_between_betas():
    # Clipping an update from 31 to 11 raises the divergence: truncation does not always help.
    assert float(kl(beta([11, 1]), beta([31, 3]))) == pytest.approx(0.553, abs=5e-4)
    assert float(kl(beta([11, 1]), beta([11, 3]))) == pytest.approx(1.683, abs=5e-4)


@given(st.data())
def test_distances_obey_their_laws(data):
    cells = V_STRUCTURE.cell_count
    alphas = st.lists(st.floats(0.01, 1e6), min_size=cells, max_size=cells)
    p, q = (Dirichlets(V_STRUCTURE, np.array(data.draw(alphas))) for _ in range(2))
    h, k = hellinger_rows(p, q), kl_rows(p, q)
    assert np.all((k >= 0) & (h >= 0) & (h <= 1))
    assert np.all(h**2 <= -np.expm1(-k / 2) + 1e-9), "KL is at least the Renyi divergence of order 1/2"
    assert h == pytest.approx(hellinger_rows(q, p), abs=1e-7)
    assert float(kl(p, q)) == pytest.approx(k.sum())
    assert float(hellinger(p, q)) == pytest.approx(np.sqrt(1 - np.prod(1 - h**2)), abs=1e-7)


@given(st.lists(POSITIVE, min_size=12, max_size=12))
def test_a_posterior_is_at_distance_exactly_zero_from_itself(alpha):
    p = Dirichlets(V_STRUCTURE, np.array(alpha))
    assert not np.any(kl_rows(p, p))
    assert not np.any(hellinger_rows(p, p))
    assert not np.any(log_bhattacharyya_rows(p, p))


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e3, 1e6])
def test_different_posteriors_are_at_a_positive_distance(scale):
    p, q = beta([scale, scale]), beta([scale, scale * (1 + 1e-5)])
    assert kl(p, q) > 0
    assert hellinger(p, q) > 0


def test_a_row_with_one_state_is_at_distance_zero():
    network = Network.from_edges("a", [], {"a": "x"})
    p, q = (Dirichlets(network, np.array([value])) for value in (1.0, 5.0))
    assert float(kl(p, q)) == 0
    assert float(hellinger(p, q)) == 0
