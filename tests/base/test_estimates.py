"""A simulated number is said as exactly as it is known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.integers(2, 10**6), st.data())
def test_a_share_has_its_binomial_error_and_is_never_shown_as_all_or_none(draws, data):
    kept = data.draw(st.integers(0, draws))
    share = Estimate.share(kept, draws=draws)
    near = (kept + 1) / (draws + 2)
    assert share.error == pytest.approx(math.sqrt(near * (1 - near) / draws))
    said = float(str(Estimate(100 * share.value, 100 * share.error)).split(" ±")[0])
    assert (said == 100) is (kept == draws)
    assert (said == 0) is (kept == 0)


def test_the_mean_of_one_draw_has_no_known_error():
    assert math.isnan(Estimate.of([3.0]).error)
    assert Estimate.of([1.0, 3.0]) == Estimate(2.0, 1.0)
