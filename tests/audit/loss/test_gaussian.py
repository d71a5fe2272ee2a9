import itertools
import math
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from dpbayes.audit.loss.gaussian import exact_loss, largest_in_ball, likelihood_difference, log_posterior_mass
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.regression import Moments, ScaledRegression, moments
from tests.conftest import crossed, thorough

ROOT3 = math.sqrt(3)
FLAT = 1e-3
"""The weakest prior that the mechanism takes."""

Record = tuple[Sequence[float], float]


def table(*rows: tuple[int, Record]) -> Moments:
    """Moments of records with how often each occurs."""
    many = np.array([count for count, _ in rows], dtype=float)
    x, y = np.array([record[0] for _, record in rows], dtype=float), np.array([record[1] for _, record in rows])
    return Moments((x.T * many) @ x, x.T @ (many * y), np.asarray(many @ (y * y)), int(many.sum()))


def sampler(bound: float, variance: float = 1.0, b: float = FLAT) -> RegressionSampler:
    return RegressionSampler(prior_precision=b, noise_variance=variance, norm_bound=bound)


def loss(mechanism: RegressionSampler, first: Moments, second: Moments) -> np.ndarray:
    """The worse of both orders."""
    settings = {
        "prior_precision": mechanism.prior_precision,
        "noise_variance": mechanism.noise_variance,
        "norm_bound": mechanism.norm_bound,
    }
    return np.maximum(exact_loss(first, second, **settings), exact_loss(second, first, **settings))


def one_feature_attack(n: int) -> tuple[Moments, Moments]:
    """All records say that the weight is large; one of them says the opposite in the other table."""
    rest = (n - 1, ([1.0], 1.0))
    return table(rest, (1, ([1.0], 1.0))), table(rest, (1, ([1.0], -1.0)))


def two_feature_attack(n: int) -> tuple[Moments, Moments]:
    """For B = 2: the rest draws w to (1, -sqrt(3)), where one record's residual is 0 and the other's is 3.

    At w = (-2, 0) it is the other way round.
    """
    half = (n - 1) // 2
    rest = (half, ([1.0, 0.0], 1.0)), (n - 1 - half, ([0.0, 1 / ROOT3], -1.0))
    return table(*rest, (1, ([1.0, 0.0], 1.0))), table(*rest, (1, ([-0.5, ROOT3 / 2], 1.0)))


# The largest value of a quadratic over a ball


@pytest.mark.parametrize(("seed", "radius"), crossed(range(6), [0.3, 1.0, 4.0], times=1))
def test_the_largest_value_in_a_disc_is_what_a_grid_finds(seed, radius):
    draw = np.random.default_rng(seed)
    curvature = draw.standard_normal((2, 2))
    curvature, slope = curvature + curvature.T, draw.standard_normal(2)
    r, theta = np.meshgrid(np.linspace(0, radius, 400), np.linspace(0, 2 * math.pi, 4_000))
    w = np.stack([r * np.cos(theta), r * np.sin(theta)], axis=-1)
    values = np.einsum("...i,ij,...j->...", w, curvature, w) / 2 + w @ slope
    largest = largest_in_ball(curvature, slope, radius)
    assert values.max() <= largest * (1 + 1e-12)
    assert largest == pytest.approx(values.max(), rel=1e-4)


@pytest.mark.parametrize(
    ("curvature", "slope", "radius", "largest"),
    [
        ([[-2.0]], [2.0], 3.0, 1.0),  # inside
        ([[-2.0]], [2.0], 0.5, 0.75),  # on the edge
        ([[2.0]], [0.0], 3.0, 9.0),  # either edge
        ([[0.0]], [0.0], 3.0, 0.0),
        ([[0.0]], [-2.0], 3.0, 6.0),
        ([[2.0, 0.0], [0.0, 1.0]], [0.0, 0.5], 1.0, 1.125),  # no slope along the steepest axis
        ([[0.0, 0.0], [0.0, -2.0]], [0.0, 1.0], 1.0, 0.25),
    ],
)
def test_known_largest_values(curvature, slope, radius, largest):
    assert largest_in_ball(curvature, slope, radius) == pytest.approx(largest, abs=1e-12)


@pytest.mark.parametrize("slope", [0.0, 1e-200, 1e-17, 1e-9])
@pytest.mark.parametrize("turn", [0.0, 0.3, 2.0])
def test_next_to_no_slope_along_the_steepest_axis_changes_next_to_nothing(turn, slope):
    axes = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    for steep, expected in ((2.0, 1.125), (0.0, 0.0)):
        curvature = axes @ np.diag([steep, steep / 2]) @ axes.T
        largest = largest_in_ball(curvature, axes @ [slope, steep / 4], 1.0)
        assert largest == pytest.approx(expected, abs=2e-9)


# The loss, against brute force


def slow_loss(first: Moments, second: Moments, mechanism: RegressionSampler) -> float:
    """The largest ratio of two densities on a fine grid, each normalised by Simpson's rule; one feature."""
    w = np.linspace(-mechanism.norm_bound, mechanism.norm_bound, 20_001)
    logs = []
    for part in (first, second):
        residuals = part.square - 2 * w * part.cross[0] + w * w * part.gram[0, 0]
        log_density = -residuals / (2 * mechanism.noise_variance) - mechanism.prior_precision * w * w / 2
        top = log_density.max()
        logs.append(log_density - top - math.log(integrate.simpson(np.exp(log_density - top), x=w)))
    return float((logs[0] - logs[1]).max())


@pytest.mark.parametrize("bound", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("variance", [0.5, 2.0])
@pytest.mark.parametrize("b", [FLAT, 5.0])
def test_the_loss_is_the_largest_log_ratio_of_the_densities(bound, variance, b):
    mechanism = sampler(bound, variance, b)
    rest = (5, ([0.7], 0.4)), (2, ([-0.3], 0.9))
    first, second = table(*rest, (1, ([1.0], 1.0))), table(*rest, (1, ([-0.6], 1.0)))
    for one, other in ((first, second), (second, first)):
        loss = exact_loss(one, other, prior_precision=b, noise_variance=variance, norm_bound=bound)
        assert loss == pytest.approx(slow_loss(one, other, mechanism), rel=1e-6)


# The promise


@pytest.mark.parametrize(
    ("bound", "n", "expected"),
    [
        (0.25, 1, 0.5),
        (0.25, 1_000, 0.998),
        (0.25, 10**5, 1.0),
        (1.0, 1, 2.0),
        (1.0, 10**6, 4.0),
    ],
)
def test_the_attack_on_one_feature_has_its_known_loss(bound, n, expected):
    mechanism = sampler(bound)
    value = float(loss(mechanism, *one_feature_attack(n)))
    assert value == pytest.approx(expected, abs=2e-3)
    assert value <= mechanism.certified.epsilon


@pytest.mark.parametrize(("n", "expected"), [(1, 4.5), (100, 8.393), (10**6, 8.995)])
def test_the_attack_on_two_features_has_its_known_loss(n, expected):
    mechanism = sampler(2.0)
    value = float(loss(mechanism, *two_feature_attack(n)))
    assert value == pytest.approx(expected, abs=1e-3)
    assert value <= mechanism.certified.epsilon == 9


@pytest.mark.parametrize("n", [10**5, 10**6])
@pytest.mark.parametrize("bound", [0.01, 0.25, 1.0])
@pytest.mark.parametrize("variance", [0.5, 1.0, 4.0])
def test_the_promise_is_tight_up_to_a_norm_bound_of_one(n, bound, variance):
    mechanism = sampler(bound, variance)
    value = float(loss(mechanism, *one_feature_attack(n)))
    share = value / mechanism.certified.epsilon
    assert share <= 1
    # The edge is felt once n B/sigma^2 is large.
    assert 1 - share < max(0.02, 5 * variance / (n * bound))


@pytest.mark.parametrize("bound", [0.1, 0.25, 2 / 3, 1.0])
def test_a_ball_half_as_large_again_or_half_the_noise_is_found_out(bound):
    promise = sampler(bound).certified.epsilon
    neighbours = one_feature_attack(10**6)
    assert loss(sampler(bound), *neighbours) <= promise
    assert loss(sampler(1.5 * bound), *neighbours) > 1.2 * promise
    assert loss(sampler(bound, variance=0.5), *neighbours) > 1.9 * promise


@pytest.mark.parametrize(
    ("bound", "setting"), crossed([0.25, 1.0, 3.0], [(1, FLAT), (30, 5.0), (30, FLAT), (1, 5.0)], times=1)
)
def test_no_neighbours_on_a_grid_of_single_feature_records_beat_the_promise(bound, setting):
    n, b = setting
    mechanism = sampler(bound, b=b)
    records = [([x], y) for x in (-1, -0.5, 0, 1) for y in (-1.0, 0.0, 0.5, 1.0)]
    rests = [(n - 1 - k, k, one, other) for one, other in itertools.combinations(records, 2) for k in {0, n // 2}]
    rests = thorough(rests, sample=rests[::5])
    pairs = list(itertools.permutations(records, 2))

    def tables(side: int) -> Moments:
        x = np.array([[pair[side][0] for pair in pairs]] * len(rests))
        y = np.array([[pair[side][1] for pair in pairs]] * len(rests))
        before = [(a * np.square(r[0][0]) + c * np.square(s[0][0])) for a, c, r, s in rests]
        both = [(a * r[0][0] * r[1] + c * s[0][0] * s[1]) for a, c, r, s in rests]
        squares = [(a * r[1] ** 2 + c * s[1] ** 2) for a, c, r, s in rests]
        gram = np.array(before)[:, None, None, None] + (x**2)[..., None]
        cross = np.array(both)[:, None, None] + x * y[..., None]
        return Moments(gram, cross, np.array(squares)[:, None] + y**2, n)

    loss = exact_loss(tables(0), tables(1), prior_precision=b, noise_variance=1.0, norm_bound=bound)
    assert loss.shape == (len(rests), len(pairs))
    assert loss.max() <= mechanism.certified.epsilon * (1 + 1e-9)
    assert loss.max() > 0.2 * mechanism.certified.epsilon


# What one record can do whatever the others are


def likelihood_range(first, second, *, noise_variance, norm_bound):
    """By how much ln p(first | w) - ln p(second | w) varies over the ball."""
    curvature, slope = likelihood_difference(first, second, noise_variance)
    return largest_in_ball(curvature, slope, norm_bound) + largest_in_ball(-curvature, -slope, norm_bound)


@given(st.integers(1, 14), st.floats(0.01, 20), st.floats(0.05, 20), st.integers(0, 2**32 - 1), st.booleans())
def test_no_two_records_differ_by_a_wider_range_than_certified(d, bound, variance, seed, edge):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((2, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True) * (1 if edge else 1 + draw.random((2, 1)))
    y = draw.choice([-1.0, 1.0], 2) if edge else draw.uniform(-1, 1, 2)
    names = tuple(f"c{j}" for j in range(d + 1))
    first, second = (moments(ScaledRegression(x[k : k + 1], y[k : k + 1], names)) for k in (0, 1))
    value = float(likelihood_range(first, second, noise_variance=variance, norm_bound=bound))
    assert 0 <= value <= sampler(bound, variance).certified.epsilon * (1 + 1e-9)
    w = draw.standard_normal((200, d))
    w *= bound * draw.random((200, 1)) / np.linalg.norm(w, axis=1, keepdims=True)
    ratio = ((y[1] - w @ x[1]) ** 2 - (y[0] - w @ x[0]) ** 2) / (2 * variance)
    assert np.ptp(ratio) <= value * (1 + 1e-9) + 1e-12


def test_equal_tables_lose_nothing():
    part, _ = two_feature_attack(50)
    assert loss(sampler(2.0), part, part) == 0


# Refusals


def test_tables_that_are_no_neighbours_are_refused():
    with pytest.raises(InputError, match="same number of records and features"):
        loss(sampler(1.0), table((3, ([1.0], 1.0))), table((4, ([1.0], 1.0))))
    with pytest.raises(InputError, match="same number of records and features"):
        loss(sampler(1.0), table((1, ([1.0], 1.0))), table((1, ([1.0, 0.0], 1.0))))


SPARE = [(2, 1.0, 11), (9, 4.0, 11), (400, 1e-3, 41)]
"""Spare features, precision, and into how many parts mpmath has to cut the line."""


@pytest.mark.parametrize(("spare", "b", "parts"), thorough(SPARE, sample=SPARE[1:]))
def test_spare_features_are_the_mass_of_the_ball_across(spare, b, parts):
    """mpmath: the density of w_1 in the ball is that on a line times the lower incomplete gamma function."""
    first, second = one_feature_attack(5)
    kept = []
    for t in (first, second):
        p, h = mpmath.mpf(float(t.gram[0, 0]) + b), mpmath.mpf(float(t.cross[0]))
        f = lambda w, p=p, h=h: (  # noqa: E731
            mpmath.exp(h * w - p * w * w / 2)
            * mpmath.gammainc(mpmath.mpf(spare) / 2, 0, b * (1 - w * w) / 2, regularized=True)
        )
        with mpmath.workdps(40):
            kept.append(mpmath.log(mpmath.quad(f, mpmath.linspace(-1, 1, parts))))
    options = {"prior_precision": b, "noise_variance": 1.0, "norm_bound": 1.0, "spare": spare}
    log_masses = [float(log_posterior_mass(t, **options)) for t in (first, second)]
    assert log_masses[0] - log_masses[1] == pytest.approx(float(mpmath.fsub(*kept, exact=True)), abs=1e-9)


def test_two_features_have_no_spare_ones():
    first, second = two_feature_attack(5)
    with pytest.raises(InputError, match="one other feature"):
        exact_loss(first, second, prior_precision=1.0, noise_variance=1.0, norm_bound=1.0, spare=1)


def test_three_features_are_too_many_for_the_loss():
    part = table((1, ([1.0, 0.0, 0.0], 1.0)))
    with pytest.raises(InputError, match="one or two"):
        loss(sampler(1.0), part, part)
