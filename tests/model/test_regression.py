import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.model.regression import Moments, RegressionData, ScaledRegression, mean_squared_error, moments, scaled
from tests.strategies import rng

BOUNDS = {"age": (0, 100), "hours": (-40, 40), "income": (0, 50_000)}
NAMES = ("age", "hours", "income")


def people() -> RegressionData:
    features = [[50.0, 0.0], [100.0, 40.0], [25.0, -80.0], [0.0, 10.0]]
    return RegressionData(np.array(features), np.array([25_000.0, 50_000.0, 60_000.0, 0.0]), NAMES)


def simulated(n: int, d: int) -> ScaledRegression:
    draw = rng()
    features = draw.uniform(-1, 1, (n, d)) / math.sqrt(d)
    return ScaledRegression(features, draw.uniform(-1, 1, n), tuple(f"c{j}" for j in range(d + 1)))


# Scaling


def test_every_column_is_mapped_by_its_public_bounds_and_clipped():
    table = scaled(people(), BOUNDS)
    root = math.sqrt(2)
    assert table.features * root == pytest.approx(np.array([[0, 0], [1, 1], [-0.5, -1], [-1, 0.25]]))
    assert table.target == pytest.approx([0, 1, 1, -1])
    assert table.names == NAMES
    assert table.n == 4


def test_no_map_depends_on_the_other_records():
    data, table = people(), scaled(people(), BOUNDS)
    changed = data.features.copy()
    changed[1] = [-1e9, 1e9]
    neighbour = scaled(RegressionData(changed, data.target, NAMES), BOUNDS)
    same = [0, 2, 3]
    assert np.array_equal(neighbour.features[same], table.features[same])
    assert not np.array_equal(neighbour.features[1], table.features[1])


@given(
    st.integers(1, 6).flatmap(
        lambda d: st.tuples(
            st.lists(st.tuples(*[st.floats(-1e300, 1e300)] * (d + 1)), min_size=0, max_size=5),
            st.lists(st.tuples(st.floats(-1e150, 1e150), st.floats(-1e150, 1e150)), min_size=d + 1, max_size=d + 1),
        )
    )
)
def test_scaled_records_are_in_the_unit_ball_whatever_the_values(drawn):
    rows, ends = drawn
    values = np.array(rows, dtype=float).reshape(len(rows), len(ends))
    names = tuple(f"c{j}" for j in range(len(ends)))
    limits = {name: (min(pair), max(pair)) for name, pair in zip(names, ends, strict=True)}
    data = RegressionData(values[:, :-1], values[:, -1], names)
    assume(all(low / 2 < high / 2 for low, high in limits.values()))
    table = scaled(data, limits)
    assert np.all(np.linalg.norm(table.features, axis=1) <= 1 + 1e-12)
    assert np.all(np.abs(table.target) <= 1)


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (math.nan, 1), (0, math.inf), (-math.inf, 0)])
def test_bad_bounds_are_refused(limits):
    with pytest.raises(InputError, match="the lower one first"):
        scaled(people(), BOUNDS | {"age": limits})


# Records


@pytest.mark.parametrize("kind", [RegressionData, ScaledRegression])
@pytest.mark.parametrize(
    ("features", "target", "names", "message"),
    [
        (np.zeros(3), np.zeros(3), ("x", "y"), "at least one feature"),
        (np.zeros((3, 0)), np.zeros(3), ("y",), "at least one feature"),
        (np.zeros((3, 1)), np.zeros(2), ("x", "y"), "one target value"),
        (np.zeros((3, 1)), np.zeros((3, 1)), ("x", "y"), "one target value"),
        (np.zeros((3, 2)), np.zeros(3), ("x", "y"), "names of the 2 features"),
        (np.zeros((3, 1)), np.zeros(3), ("x", "x"), "used twice"),
        (np.array([[math.nan]]), np.zeros(1), ("x", "y"), "missing or infinite"),
        (np.zeros((1, 1)), np.array([math.inf]), ("x", "y"), "missing or infinite"),
        ([["tall"]], np.zeros(1), ("x", "y"), "must be a number"),
    ],
)
def test_records_that_do_not_fit_are_refused(kind, features, target, names, message):
    with pytest.raises(InputError, match=message):
        kind(features, target, names)


@pytest.mark.parametrize(("x", "y"), [([0.8, 0.7], 0), ([1.0001, 0], 0), ([0, 0], 1.0001), ([0, 0], -2)])
def test_nothing_outside_the_unit_ball_passes_as_scaled(x, y):
    with pytest.raises(InputError, match="outside the unit ball"):
        ScaledRegression(np.array([[0, 0], x]), np.array([0, y]), NAMES)


@pytest.mark.parametrize("kind", [RegressionData, ScaledRegression])
def test_records_are_read_only_copies(kind):
    mine = np.zeros((2, 1))
    data = kind(mine, np.zeros(2), ("x", "y"))
    mine[0] = 5
    assert data.features[0] == 0
    for part in (data.features, data.target):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1


# Moments


def test_moments_are_sums_over_the_records():
    table = simulated(50, 3)
    part = moments(table)
    assert part.gram == pytest.approx(sum(np.outer(x, x) for x in table.features))
    assert part.cross == pytest.approx(sum(x * y for x, y in zip(table.features, table.target, strict=True)))
    assert part.square == pytest.approx(sum(y * y for y in table.target))
    assert (part.n, part.d) == (50, 3)


def test_records_in_their_own_units_have_no_moments():
    with pytest.raises(InputError, match="is not scaled"):
        moments(people())  # type: ignore[arg-type]


@pytest.mark.parametrize("cut", [0, 1, 20, 50])
def test_what_training_leaves_over_is_the_test_set(cut):
    table = simulated(50, 3)
    whole, train, test = moments(table), moments(table.take(slice(cut))), moments(table.take(range(cut, 50)))
    left = whole - train
    assert left.n == test.n == 50 - cut
    for name in ("gram", "cross", "square"):
        assert getattr(left, name) == pytest.approx(getattr(test, name), abs=1e-13)


def test_the_error_is_the_mean_of_squared_residuals():
    table, weights = simulated(40, 3), rng().standard_normal((5, 2, 3))
    residuals = table.target - weights @ table.features.T
    error = mean_squared_error(moments(table), weights)
    assert error.shape == (5, 2)
    assert error == pytest.approx((residuals**2).mean(axis=-1))


def test_a_perfect_fit_has_no_error_and_never_a_negative_one():
    features = rng().uniform(-0.5, 0.5, (200, 3))
    weights = np.array([0.3, -0.5, 0.7])
    table = ScaledRegression(features, features @ weights, ("a", "b", "c", "y"))
    error = mean_squared_error(moments(table), weights + rng().normal(0, 1e-12, (100, 3)))
    assert np.all(error >= 0)
    assert error.max() < 1e-15


def test_an_error_needs_records():
    with pytest.raises(InputError, match="no test records"):
        mean_squared_error(moments(simulated(0, 2)), [0, 0])


@pytest.mark.parametrize(
    ("gram", "cross", "square", "n", "message"),
    [
        (np.zeros((2, 3)), np.zeros(2), 0.0, 1, "one row and one column"),
        (np.zeros((2, 2)), np.zeros(3), 0.0, 1, "one row and one column"),
        (np.zeros(()), np.zeros(()), 0.0, 1, "one row and one column"),
        (np.zeros((0, 0)), np.zeros(0), 0.0, 1, "one row and one column"),
        (np.zeros((1, 1)), np.zeros(1), np.zeros(3), 1, "one y'y"),
        (np.zeros((1, 1)), np.zeros(1), 0.0, -1, "not negative"),
        (np.full((1, 1), math.nan), np.zeros(1), 0.0, 1, "finite"),
    ],
)
def test_moments_that_do_not_fit_are_refused(gram, cross, square, n, message):
    with pytest.raises(InputError, match=message):
        Moments(gram, cross, square, n)
