"""A simulated number is said as exactly as it is known."""

import math

import pytest

from dpbayes.base.estimates import Estimate


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (32.44, 0.83, "32.4 ± 0.8"),
        (32.44, 1.53, "32.4 ± 1.5"),
        (26194.6, 210.4, "26,195 ± 210"),
        (0.0, 0.33, "0.0 ± 0.3"),
        (-0.01, 0.33, "0.0 ± 0.3"),
        (1275.12, 1e-13, "1,275"),
        (0.0, 0.0, "0"),
        (1.6674, math.nan, "1.667"),
        (0.9999999, 0.0, "0.9999999"),
        (99.99, 0.0141, "99.990 ± 0.014"),
    ],
)
def test_an_estimate_is_as_long_as_its_error_allows(value, error, text):
    assert str(Estimate(value, error)) == text


def test_the_mean_of_one_draw_has_no_known_error():
    assert math.isnan(Estimate.of([3.0]).error)
    assert Estimate.of([1.0, 3.0]) == Estimate(2.0, 1.0)
