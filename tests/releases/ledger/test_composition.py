import math
import sys
from fractions import Fraction

import pytest

from dpbayes.base.validation import InputError
from dpbayes.releases.ledger import composed


def least_epsilon(epsilon: float, times: int, delta: float) -> float:
    """Bisect the exact curve of `times` randomized responses: binomially many ±epsilon."""

    def exact_delta(together: float) -> float:
        logs = [
            (math.log(math.comb(times, no)) + (times - no) * epsilon - times * math.log1p(math.exp(epsilon)), no)
            for no in range(times + 1)
        ]
        return sum(
            math.exp(log) * max(0.0, -math.expm1(min(together - (times - 2 * no) * epsilon, 0.0))) for log, no in logs
        )

    low, high = 0.0, times * epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if exact_delta(middle) > delta else (low, middle)
    return high


@pytest.mark.parametrize("delta", [1e-10, 1e-6, 0.01])
@pytest.mark.parametrize(("epsilon", "times"), [("1/10", 1), ("1/10", 100), ("1/3", 7), ("2", 20), ("0.001", 300)])
def test_it_is_what_randomized_response_exactly_composes_to(epsilon: str, times: int, delta: float) -> None:
    together = composed([Fraction(epsilon)] * times, delta)
    assert together == pytest.approx(least_epsilon(float(Fraction(epsilon)), times, delta), rel=1e-5, abs=1e-12)


def test_it_is_never_more_than_the_sum_nor_less_than_without_rounding() -> None:
    coarse = [Fraction(1, 7), Fraction(1, 11), Fraction(3, 1013), Fraction(7, 100_003)] * 20  # no step divides them all
    fine = coarse[:-1]
    assert composed(fine, 1e-6) <= composed(coarse, 1e-6) <= float(sum(coarse))
    assert composed(coarse, 1e-6) >= composed([e for e in coarse if e.denominator < 2000], 1e-6) - 1e-9
    assert composed([Fraction(1000)] * 3, 1e-6) == 3000


def test_nothing_costs_nothing() -> None:
    assert composed([], 1e-6) == 0


@pytest.mark.parametrize("delta", [0, 1, -1, 1e-11, math.nan])
def test_delta_is_a_number_that_doubles_can_answer_for(delta: float) -> None:
    with pytest.raises(InputError, match=r"^Delta must be"):
        composed([Fraction(1)], delta)


def test_epsilons_are_exact() -> None:
    with pytest.raises(InputError, match=r"^Epsilon must be an exact fraction"):
        composed([0.1], 1e-6)  # type: ignore[list-item]


def test_an_account_without_the_packages_of_releases_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(InputError, match=r'needs dp_accounting, .* pip install "dpbayes\[release\]"\.$'):
        composed([Fraction(1, 10)] * 2, 1e-6)
