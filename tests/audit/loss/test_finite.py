import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from dpbayes.base.validation import InputError
from dpbayes.mechanisms.finite import exact_curve, exact_epsilon, exact_pure_epsilon

BOTH = np.array([[0, 1], [1, 0]])


def geometric(n: int, epsilon: float) -> np.ndarray:
    """The clipped two-sided geometric mechanism on counts 0 .. n: log law (x, r); exactly epsilon-private."""
    x, r = np.arange(n + 1)[:, None], np.arange(n + 1)
    rate = math.exp(-epsilon)
    inside = math.log1p(-rate) - math.log1p(rate) - epsilon * np.abs(x - r)
    edge = -epsilon * np.abs(x - r) - math.log1p(rate)
    return np.where((r == 0) | (r == n), edge, inside)


def steps(n: int) -> np.ndarray:
    up = np.stack([np.arange(n), np.arange(1, n + 1)], axis=-1)
    return np.concatenate([up, up[:, ::-1]])


def delta_over_all_events(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    places = range(len(p))
    events = (list(e) for size in range(len(p) + 1) for e in combinations(places, size))
    return max(float(p[e].sum() - math.exp(epsilon) * q[e].sum()) for e in events)


@st.composite
def laws(draw, *, zeros: bool = False):
    size = draw(st.integers(1, 6))
    weight = st.one_of(st.just(-math.inf), st.floats(-8, 0)) if zeros else st.floats(-8, 0)
    rows = np.array([draw(st.lists(weight, min_size=size, max_size=size)) for _ in range(2)])
    rows[:, 0] = np.maximum(rows[:, 0], -8)  # something must be possible
    return special.log_softmax(rows, axis=1)


@given(laws(zeros=True), st.floats(0, 5))
def test_the_curve_is_the_maximum_over_all_events(log_pmf, epsilon):
    p, q = np.exp(log_pmf)
    expected = max(delta_over_all_events(p, q, epsilon), delta_over_all_events(q, p, epsilon))
    curve = exact_curve(log_pmf, pairs=BOTH, epsilons=[epsilon])
    assert curve[0] == pytest.approx(expected, abs=1e-12)


@given(laws(), st.floats(1e-6, 0.9))
def test_the_exact_epsilon_is_the_inverse_of_the_curve(log_pmf, delta):
    needed = exact_epsilon(log_pmf, pairs=BOTH, delta=delta)
    after = exact_curve(log_pmf, pairs=BOTH, epsilons=[needed])[0]
    assert after <= delta + 1e-12
    if needed > 0:
        assert after == pytest.approx(delta, abs=1e-12)


@given(laws(zeros=True), st.lists(st.floats(-30, 30), min_size=2, max_size=2), st.floats(0, 0.9))
def test_a_law_may_be_given_before_it_is_normalised(log_pmf, masses, delta):
    masses = np.array(masses)
    own, epsilons = {"log_masses": masses}, [0.0, 0.3, 2.0]
    weights = log_pmf + masses[:, None]
    free, same = exact_pure_epsilon(weights, pairs=BOTH, **own), exact_pure_epsilon(log_pmf, pairs=BOTH)
    assert free.epsilon == pytest.approx(same.epsilon, abs=1e-12)
    free, same = (exact_epsilon(law, pairs=BOTH, delta=delta, **more) for law, more in ((weights, own), (log_pmf, {})))
    assert free == pytest.approx(same, rel=1e-9, abs=1e-9) or delta > 0
    curves = [exact_curve(law, pairs=BOTH, epsilons=epsilons, **more) for law, more in ((weights, own), (log_pmf, {}))]
    assert curves[0] == pytest.approx(curves[1], abs=1e-12)
    with pytest.raises(InputError, match="sum to one"):
        exact_curve(weights, pairs=BOTH, epsilons=epsilons, log_masses=masses + 1e-6)


def test_a_loss_that_differs_from_epsilon_by_less_than_rounding_is_distinct_from_it():
    # One output's weights differ by exactly 500, the normalisers' logarithms by e^-280 - e^-290.
    weights = np.array([[0.0, -500.0, -290.0], [-500.0, 0.0, -280.0]])
    curve = exact_curve(weights, pairs=BOTH, epsilons=[500.0], log_masses=special.logsumexp(weights, axis=1))
    assert curve == pytest.approx([math.exp(-280) - math.exp(-290)], rel=1e-9, abs=0)


@given(laws())
def test_at_delta_zero_the_exact_epsilon_is_the_pure_one(log_pmf):
    worst = exact_pure_epsilon(log_pmf, pairs=BOTH)
    assert exact_epsilon(log_pmf, pairs=BOTH, delta=0) == pytest.approx(worst.epsilon, abs=1e-12)
    if worst.epsilon:
        assert log_pmf[worst.x, worst.r] - log_pmf[worst.y, worst.r] == worst.epsilon


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_the_geometric_mechanism_loses_exactly_epsilon_and_half_its_noise_is_flagged(n, epsilon):
    honest, broken = geometric(n, epsilon), geometric(n, 2 * epsilon)
    assert exact_pure_epsilon(honest, pairs=steps(n)).epsilon == pytest.approx(epsilon, rel=1e-12)
    assert exact_pure_epsilon(broken, pairs=steps(n)).epsilon > 1.9 * epsilon
    assert exact_curve(honest, pairs=steps(n), epsilons=[epsilon * (1 + 1e-12)])[0] < 1e-14
    assert exact_curve(broken, pairs=steps(n), epsilons=[epsilon])[0] > 0.001


def test_randomised_response_in_closed_form():
    # Truth with probability 3/4: epsilon = ln 3, delta(epsilon) = 3/4 - e^epsilon / 4.
    log_pmf = np.log([[0.75, 0.25], [0.25, 0.75]])
    worst = exact_pure_epsilon(log_pmf, pairs=BOTH)
    assert worst.epsilon == pytest.approx(math.log(3))
    assert log_pmf[worst.x, worst.r] > log_pmf[worst.y, worst.r]
    curve = exact_curve(log_pmf, pairs=BOTH, epsilons=[0.0, 0.5, 2.0])
    assert curve == pytest.approx([0.5, 0.75 - math.exp(0.5) / 4, 0.0])
    assert exact_epsilon(log_pmf, pairs=BOTH, delta=0.15) == pytest.approx(math.log(0.6 / 0.25))


def test_outputs_that_one_input_excludes():
    log_pmf = special.log_softmax(np.array([[0.0, -math.inf, -3.0], [0.0, -1.0, -math.inf]]), axis=1)
    assert exact_pure_epsilon(log_pmf, pairs=BOTH).epsilon == math.inf
    tail = math.exp(log_pmf[1, 1])
    assert exact_epsilon(log_pmf, pairs=BOTH, delta=tail * 0.99) == math.inf
    assert exact_epsilon(log_pmf, pairs=BOTH, delta=tail * 1.01) < math.inf
    assert exact_curve(log_pmf, pairs=BOTH, epsilons=[800.0]) == pytest.approx([tail])


def test_at_delta_one_no_epsilon_is_needed():
    """Also where one input excludes what the other allows, and rounding lifts a sum of probabilities above one."""
    rng = np.random.default_rng(5)
    certain = np.log(rng.dirichlet(np.ones(7), size=20))
    for law in certain:
        apart = np.stack([np.append(law, -math.inf), np.append(np.full(7, -math.inf), 0.0)])
        assert exact_epsilon(apart, pairs=BOTH, delta=1) == 0
        assert exact_epsilon(apart, pairs=BOTH, delta=0.999) == math.inf


def test_probabilities_far_below_the_smallest_float_are_audited():
    far = 2000.0
    log_pmf = special.log_softmax(np.array([[0.0, -far], [0.0, -far - 7.0]]), axis=1)
    assert exact_pure_epsilon(log_pmf, pairs=BOTH).epsilon == pytest.approx(7)
    assert exact_epsilon(log_pmf, pairs=BOTH, delta=0) == pytest.approx(7)
    assert exact_epsilon(log_pmf, pairs=BOTH, delta=1e-9) == 0


def test_the_worst_pair_is_found_across_blocks():
    n = 1500  # 3000 pairs of 1501 outputs are several blocks
    table = geometric(n, 0.5)
    table[700] = geometric(n, 0.9)[700]
    worst = exact_pure_epsilon(table, pairs=steps(n))
    assert 700 in (worst.x, worst.y)
    has_700 = (steps(n) == 700).any(axis=1)
    detected, others = steps(n)[has_700], steps(n)[~has_700]
    for measured in (
        lambda pairs: float(exact_curve(table, pairs=pairs, epsilons=[0.5])[0]),
        lambda pairs: exact_epsilon(table, pairs=pairs, delta=1e-6),
    ):
        assert measured(steps(n)) == measured(detected) > measured(others)


def test_without_neighbours_nothing_is_lost():
    log_pmf, none = np.zeros((1, 1)), np.empty((0, 2), dtype=np.int64)
    assert exact_pure_epsilon(log_pmf, pairs=none).epsilon == 0
    assert exact_epsilon(log_pmf, pairs=none, delta=0.1) == 0
    assert exact_curve(log_pmf, pairs=none, epsilons=[0.0]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("log_pmf", "pairs", "words"),
    [
        (np.log([[0.5, 0.4], [0.5, 0.5]]), BOTH, "sum to one"),
        (np.full((2, 2), np.nan), BOTH, "sum to one"),
        (np.zeros(2), BOTH, "one distribution for every input"),
        (np.zeros((2, 1)), np.array([0, 1]), "pairs of inputs"),
        (np.zeros((2, 1)), np.array([[0, 2]]), "from 0 to 1"),
    ],
)
def test_what_is_no_law_or_no_pair_is_refused(log_pmf, pairs, words):
    with pytest.raises(InputError, match=words):
        exact_pure_epsilon(log_pmf, pairs=pairs)


@pytest.mark.parametrize("epsilons", [[-1.0], [math.nan], [[0.0]]])
def test_a_bad_grid_is_refused(epsilons):
    with pytest.raises(InputError, match="not negative"):
        exact_curve(np.zeros((2, 1)), pairs=BOTH, epsilons=epsilons)


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan, "some"])
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(InputError, match="delta must be"):
        exact_epsilon(np.zeros((2, 1)), pairs=BOTH, delta=delta)
