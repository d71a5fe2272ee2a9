"""A budget in rho: what it pays, what it refuses, and that ledgers without one are as they were."""

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.amounts import PrivacyMeasure, Rho, cost_in, rho_of
from dpbayes.base.zcdp import rho_of_pure
from dpbayes.releases import ledger
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
    with pytest.raises(ledger.LedgerError, match=r"is in pure ε, .* Use a delta of 0 here, or open .* has a delta\.$"):
        ledger.spend(path, "votes", Rho(Fraction(1, 10**9)), b"q", draw)
    assert not draw.calls
    assert ledger.read_books(path).account("votes").spent == 0


def test_a_budget_is_raised_in_what_it_was_opened_in(in_rho: Path) -> None:
    ledger.raise_budget(in_rho, "clinic", Rho(Fraction(1)), reason="More.")
    assert ledger.read_books(in_rho).account("clinic").budget == 1
    for dataset, budget in (("clinic", Fraction(2)), ("votes", Rho(Fraction(2)))):
        with pytest.raises(ledger.LedgerError, match="which cannot change"):
            ledger.raise_budget(in_rho, dataset, budget, reason="In another measure.")


@pytest.mark.parametrize("rho", [Rho(Fraction(0)), Rho(Fraction(-1)), Rho(0.1)])  # type: ignore[arg-type]
def test_a_rho_is_exact_and_above_nothing(in_rho: Path, rho: Rho) -> None:
    with pytest.raises(ledger.LedgerError, match=r"^Rho must be"):
        ledger.spend(in_rho, "clinic", rho, b"q", Drawing())
    with pytest.raises(ledger.LedgerError, match=r"^The budget must be"):
        ledger.open_dataset(in_rho, "more", rho, reason="None.")
