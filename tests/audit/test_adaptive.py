"""The audit of adaptive releases: exact losses of simulated outputs, and a variant that breaks its promise."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive import choices, process
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.model.dataset import Dataset

STATES = (("x", "y"),) * 2
TABLE = Dataset(("a", "b"), STATES, np.array([[0, 0], [0, 0], [1, 1]]))
NEIGHBOUR = TABLE.replace(0, (1, 1))


def audited(epsilon: float, delta: float = 0.0, draws: int = 30) -> dp.AdaptiveAudit:
    rng = np.random.default_rng(1)
    return dp.audit_adaptive(TABLE, NEIGHBOUR, epsilon=epsilon, delta=delta, rng=rng, draws=draws)


@pytest.fixture
def _all_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so few records every stage would be hopeless; here all choices are made."""
    monkeypatch.setattr(choices, "HOPELESS", math.inf)


@pytest.mark.usefixtures("_all_choices")
def test_no_output_loses_more_than_a_pure_epsilon_and_some_lose_much_of_it() -> None:
    audit = audited(4)
    assert 0.5 * 4 < audit.largest <= 4
    assert not audit.is_refuted
    assert audit.lower_bound().epsilon <= 4
    assert (audit.first.shape, audit.second.shape) == ((30,), (30,))


@pytest.mark.usefixtures("_all_choices")
def test_losses_at_a_positive_delta_satisfy_its_rho() -> None:
    """Under rho, E_P[exp((alpha - 1) L)] <= exp((alpha - 1) alpha rho); at alpha = 2 the mean of 80 losses is below."""
    audit = audited(1, 1e-3, draws=40)
    rho = float(plan_for(Fraction(1), Fraction(1, 1000)).total)
    losses = np.concatenate([audit.first, audit.second])
    assert np.exp(losses).mean() < math.exp(2 * rho) * 1.5
    assert np.abs(losses).max() > 0.01
    assert not audit.is_refuted


@pytest.mark.usefixtures("_all_choices")
def test_a_variant_that_spends_more_than_its_plan_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = process.table_prices
    monkeypatch.setattr(process, "table_prices", lambda own, limit: 2 * exact(replace(own, charge=0), limit))
    monkeypatch.setattr(process.Process, "cost", 0)
    audit = audited(4)
    assert audit.largest > 4
    assert audit.is_refuted


def test_the_bound_counts_an_event_fixed_on_other_outputs() -> None:
    ones = np.ones(4000)
    audit = dp.AdaptiveAudit(dp.Guarantee(0.1, 1e-5), ones, ones)
    bound = audit.lower_bound()
    assert bound.epsilon > 3
    assert bound.counted == 2000
    assert bound.hits == (2000, 0)
    assert audit.is_refuted
    alike = dp.AdaptiveAudit(dp.Guarantee(0.1, 1e-5), ones, -ones)
    assert alike.lower_bound().epsilon == 0
    assert not alike.is_refuted


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (TABLE.take(slice(0, 2)), "same number of records"),
        (Dataset(("a", "c"), STATES, TABLE.codes), "same columns"),
        (Dataset(("a", "b"), STATES, 1 - TABLE.codes), "at most one record"),
    ],
)
def test_tables_that_are_no_neighbours_are_refused(other: Dataset, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dp.audit_adaptive(TABLE, other, epsilon=1, rng=np.random.default_rng(1))


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(InputError):
        audited(1, draws=1)
    with pytest.raises(InputError):
        audited(-1)
