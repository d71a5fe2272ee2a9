"""A budget in rho: what it pays, what it refuses, and that ledgers without one are as they were."""

import math
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.amounts import PrivacyMeasure, Rho, cost_in, rho_of
from dpbayes.base.zcdp import rho_of_pure, zcdp_epsilon
from dpbayes.releases import ledger
from dpbayes.releases.ledger import composed
from tests.releases.ledger.drawing import Drawing

TENTH = Fraction(1, 10)


@pytest.fixture
def in_rho(path: Path) -> Path:
    """The ledger with a second dataset, whose budget is a rho of a half."""
    ledger.open_dataset(path, "clinic", Rho(Fraction(1, 2)), reason="Gaussian noise.")
    return path


# What pure epsilon costs


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=1000, max_denominator=10**12))
def test_a_pure_epsilon_costs_its_least_rho_rounded_up(epsilon: Fraction) -> None:
    with mpmath.workdps(60):
        exact = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        least = exact * mpmath.tanh(exact / 2)
        cost = mpmath.mpf(rho_of(epsilon).numerator) / rho_of(epsilon).denominator
    assert least <= cost <= least * (1 + 1e-6) + 1e-12
    assert 10**12 % rho_of(epsilon).denominator == 0
    assert float(cost) == pytest.approx(rho_of_pure(float(epsilon)), rel=1e-6, abs=1e-12)


def test_no_rho_keeps_to_a_pure_epsilon() -> None:
    assert cost_in(PrivacyMeasure.EPSILON, Rho(TENTH)) is None
    assert cost_in(PrivacyMeasure.RHO, Rho(TENTH)) == cost_in(PrivacyMeasure.EPSILON, TENTH) == TENTH


# Spending


def test_a_budget_in_rho_pays_both_kinds_exactly(in_rho: Path) -> None:
    ledger.spend(in_rho, "clinic", Rho(Fraction(1, 3)), b"gaussian", Drawing())
    ledger.spend(in_rho, "clinic", TENTH, b"laplace", Drawing())
    account = ledger.read_books(in_rho).account("clinic")
    assert account.measure is PrivacyMeasure.RHO
    assert account.spent == Fraction(1, 3) + rho_of(TENTH)
    assert [spending.amount for spending in ledger.read_books(in_rho).of("clinic")] == [Rho(Fraction(1, 3)), TENTH]
    assert [spending.cost for spending in ledger.read_books(in_rho).of("clinic")] == [Fraction(1, 3), rho_of(TENTH)]
    assert ledger.read_books(in_rho).account("votes").spent == 0


def test_more_than_is_left_in_rho_is_refused_before_anything_is_drawn(in_rho: Path) -> None:
    ledger.spend(in_rho, "clinic", Rho(Fraction(1, 2) - rho_of(TENTH)), b"q", Drawing())
    draw = Drawing()
    with pytest.raises(ledger.OverBudgetError, match=r"less than ρ = 0\.006\. Choose a smaller amount"):
        ledger.spend(in_rho, "clinic", Rho(Fraction(6, 1000)), b"more", draw)
    with pytest.raises(
        ledger.OverBudgetError, match=r"less than the ρ = .* that ε = 0\.11 costs\. Choose a smaller amount"
    ):
        ledger.spend(in_rho, "clinic", Fraction(11, 100), b"more", draw)
    assert not draw.calls
    ledger.spend(in_rho, "clinic", TENTH, b"the rest", draw)
    assert ledger.read_books(in_rho).account("clinic").left == 0


def test_a_rho_is_refused_by_a_budget_of_pure_epsilon(path: Path) -> None:
    draw = Drawing()
    with pytest.raises(ledger.LedgerError, match=r"is in pure ε, .* Use Laplace noise\.$"):
        ledger.spend(path, "votes", Rho(Fraction(1, 10**9)), b"q", draw)
    assert not draw.calls
    assert ledger.read_books(path).account("votes").spent == 0


def test_a_budget_is_raised_in_what_it_was_opened_in(in_rho: Path) -> None:
    ledger.raise_budget(in_rho, "clinic", Rho(Fraction(1)), reason="More.")
    assert ledger.read_books(in_rho).account("clinic").budget == 1
    for dataset, budget in (("clinic", Fraction(2)), ("votes", Rho(Fraction(2)))):
        with pytest.raises(ledger.LedgerError, match="State the new budget in"):
            ledger.raise_budget(in_rho, dataset, budget, reason="In another measure.")


@pytest.mark.parametrize("rho", [Rho(Fraction(0)), Rho(Fraction(-1)), Rho(0.1)])  # type: ignore[arg-type]
def test_a_rho_is_exact_and_above_nothing(in_rho: Path, rho: Rho) -> None:
    with pytest.raises(ledger.LedgerError, match=r"^Rho must be"):
        ledger.spend(in_rho, "clinic", rho, b"q", Drawing())
    with pytest.raises(ledger.LedgerError, match=r"^The budget must be"):
        ledger.open_dataset(in_rho, "more", rho, reason="None.")


# Together


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01])
def test_rhos_alone_compose_by_their_sum(delta: float) -> None:
    assert composed([Rho(TENTH)] * 5, delta) == pytest.approx(zcdp_epsilon(0.5, delta=delta), rel=1e-9)


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


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01])
@pytest.mark.parametrize(("epsilon", "times"), [("1/10", 1), ("1/10", 100), ("1/3", 7), ("2", 20), ("0.001", 300)])
def test_pure_releases_compose_to_no_less_than_randomized_response(epsilon: str, times: int, delta: float) -> None:
    together, exact = (
        composed([Fraction(epsilon)] * times, delta),
        least_epsilon(float(Fraction(epsilon)), times, delta),
    )
    assert exact * (1 - 1e-9) <= together <= times * float(Fraction(epsilon)) * (1 + 1e-12)
    assert together <= zcdp_epsilon(times * rho_of_pure(float(Fraction(epsilon))), delta=delta) + 1e-9


@pytest.mark.parametrize(("epsilon", "times", "rho"), [("1/10", 40, "1/5"), ("1", 1, "1/100"), ("3", 4, "1")])
def test_both_kinds_compose_to_no_more_than_their_sum_and_no_less_than_either(epsilon, times, rho) -> None:
    pure, own = [Fraction(epsilon)] * times, Rho(Fraction(rho))
    together = composed([*pure, own], 1e-6)
    assert together <= float(sum(pure)) + zcdp_epsilon(float(own.value), delta=1e-6) + 1e-9
    assert together >= max(composed(pure, 1e-6), composed([own], 1e-6))
    assert composed([], 1e-6) == 0
