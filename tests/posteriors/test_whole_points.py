"""Whole numbers by even luck: each is drawn as often as its chance says."""

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.posteriors.whole_points import Ends, point_between

LUCKS = (np.arange(200_000) + 0.5) / 200_000


@pytest.mark.parametrize("centre", [-3.0, 0.4, 11.0, 33.0])
@pytest.mark.parametrize("sd", [1e-6, 0.3, 4.0])
@pytest.mark.parametrize(
    ("chances", "powers"),
    [((0.0, 0.0), (1.0, 1.0)), ((0.3, 0.0), (0.1, 1.0)), ((0.2, 0.5), (0.5, 0.01)), ((0.1, 0.1), (2.0, 1e-9))],
)
def test_numbers_are_drawn_as_often_as_their_chances_say(centre, sd, chances, powers):
    """Of 200,000 even lucks; an end that no point is sent to has a power too."""
    most = np.full(LUCKS.shape, 30.0)
    drawn, log = point_between(LUCKS, np.array(centre), np.array(sd), most, Ends(np.array(chances), np.array(powers)))
    values, first, times = np.unique(drawn, return_index=True, return_counts=True)
    assert values[0] >= 0
    assert values[-1] <= 30
    np.testing.assert_allclose(np.exp(log[first]), times / len(LUCKS), atol=2e-5)


def test_an_end_without_points_may_have_a_large_power():
    """In a row with parameters of 0.1 and 1,000, only the first end has points."""
    most, ends = np.full(LUCKS.shape, 5000.0), Ends(np.array([0.3, 0.0]), np.array([0.1, 1000.0]))
    drawn, log = point_between(LUCKS, np.array(4000.0), np.array(300.0), most, ends)
    assert np.isfinite(log).all()
    assert drawn.min() < 10


def test_points_thin_out_from_an_end_by_their_power():
    """With power 1/2 a number below 25 of 100 is as likely as not: ((24 + 1)/(99 + 1))^(1/2)."""
    most, ends = np.full(LUCKS.shape, 99.0), Ends(np.array([0.5, 0.0]), np.array([0.5, 1.0]))
    drawn, _ = point_between(LUCKS, np.array(80.0), np.array(50.0), most, ends)
    near = drawn[LUCKS < 0.5]
    assert (near < 25).mean() == pytest.approx(0.5, abs=1e-3)
    assert near.max() == 99


def test_few_points_are_at_an_end_that_is_far_from_the_centre():
    """By Cantelli's inequality, at most 1/(1 + 8^2) of a distribution is 8 standard deviations below its mean."""
    most, ends = np.full(LUCKS.shape, 99.0), Ends(np.array([0.5, 0.0]), np.array([0.5, 1.0]))
    drawn, _ = point_between(LUCKS, np.array(80.0), np.array(10.0), most, ends)
    assert (drawn < 25).mean() == pytest.approx(0.5 * 0.5 * 4 / 65, abs=1e-3)


@pytest.mark.parametrize("most", [0, 3, 1000])
@pytest.mark.parametrize("sd", [0.3, 5.0, 1e4])
@pytest.mark.parametrize("centre", [-1e4, -30.0, -0.2, 0.0, 0.4, 2.0, 999.7, 1030.0, 1e4])
def test_chances_keep_their_digits_however_far_off_the_centre_is(centre, sd, most):
    luck = (np.arange(2000) + 0.5) / 2000
    ends = Ends(np.zeros((2, 1)), np.ones((2, 1)))
    drawn, log = point_between(luck, np.array([centre]), np.array([sd]), np.array([float(most)]), ends)
    numbers = np.arange(most + 1.0)
    scale = sd * np.sqrt(3) / np.pi
    start, end = stats.logistic.logsf, stats.logistic.logcdf  # of the side on which digits are kept
    lower, upper = (numbers - 0.5 - centre) / scale, (numbers + 0.5 - centre) / scale
    larger, smaller = np.where(lower > 0, start(lower), end(upper)), np.where(lower > 0, start(upper), end(lower))
    mass = larger + np.log(-np.expm1(smaller - larger))
    expected = mass - special.logsumexp(mass)
    assert ((drawn >= 0) & (drawn <= most) & (drawn == np.rint(drawn))).all()
    log_expected = expected[drawn.astype(int)]
    assert (np.abs(log - log_expected) <= np.maximum(1e-9 * np.abs(log_expected), 1e-8)).all()
