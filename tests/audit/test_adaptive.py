"""The audit of adaptive releases: exact losses of simulated outputs, and a variant that breaks its promise."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, special

import dpbayes as dp
from dpbayes.audit.registry import UNKNOWN, audit_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import AdaptiveTables
from dpbayes.mechanisms.adaptive import choices, process
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network

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
    assert (audit.first.shape, audit.second.shape) == ((30,), (30,))


@pytest.mark.usefixtures("_all_choices")
def test_losses_at_a_positive_delta_satisfy_its_rho() -> None:
    """Under rho, E_P[exp((alpha - 1) L)] <= exp((alpha - 1) alpha rho); at alpha = 2 the mean of 24 losses is below."""
    audit = audited(1, 1e-3, draws=12)
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


def test_the_bound_of_exact_losses_is_the_largest_one_at_delta_0_and_below_it_at_a_positive_delta() -> None:
    losses = np.array([0.5] * 50 + [2.0] * 50)
    pure = dp.AdaptiveAudit(dp.Guarantee(1.0), losses, -losses)
    assert pure.loss_bound() == 2
    assert pure.is_refuted
    approximate = dp.AdaptiveAudit(dp.Guarantee(1.0, 1e-5), losses, -losses)
    assert 1 < approximate.loss_bound() < 2
    assert approximate.loss_bound(doubt=1e-12) < approximate.loss_bound() < approximate.loss_bound(doubt=0.1)
    assert approximate.is_refuted
    none = dp.AdaptiveAudit(dp.Guarantee(1.0, 1e-5), -losses, -losses)
    assert none.loss_bound() == 0
    assert not none.is_refuted
    with pytest.raises(InputError):
        approximate.loss_bound(doubt=0)


def test_the_bound_of_exact_losses_at_a_delta_meets_that_of_gaussian_noise() -> None:
    """N(0, 1) and N(1, 1) have losses of N(1/2, 1): their exact epsilon at delta = 0.01 is an upper limit."""
    rng, delta = np.random.default_rng(1), 0.01
    audit = dp.AdaptiveAudit(dp.Guarantee(1.0, delta), *(rng.normal(0.5, 1, (2, 100_000))))

    def excess(epsilon: float) -> float:
        return float(special.ndtr(0.5 - epsilon) - np.exp(epsilon) * special.ndtr(-0.5 - epsilon)) - delta

    exact = optimize.brentq(excess, 0, 10)
    assert 0.9 * exact < audit.loss_bound() < exact


def of_one_record(epsilon: float, delta: float, number: int) -> dp.AdaptiveAudit:
    """Audit releases of a table of one record with one column."""
    table, rng = Dataset(("a",), STATES[:1], np.array([[0]])), np.random.default_rng(1)
    return dp.audit_adaptive(table, table.replace(0, (1,)), epsilon=epsilon, delta=delta, rng=rng, draws=number)


def test_noise_of_a_third_of_the_size_is_refuted_at_a_positive_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = of_one_record(4, 1e-5, 15)
    assert 0.5 < sound.loss_bound() < 4
    assert not sound.is_refuted
    exact = process.new_prices
    monkeypatch.setattr(process, "new_prices", lambda own, limit: exact(own, 9 * limit))
    monkeypatch.setattr(process.Process, "cost", 0)
    broken = of_one_record(4, 1e-5, 30)
    assert broken.loss_bound() > 4
    assert broken.is_refuted


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


def test_the_registry_has_the_audit_of_the_outputs_for_exactly_this_mechanism() -> None:
    mechanism = AdaptiveTables(prior=Network.from_edges(TABLE.names, [], {}), epsilon=1, delta=1e-5)
    outputs = audit_of(mechanism).outputs
    assert outputs is not None
    audit = outputs(mechanism, TABLE, NEIGHBOUR, rng=np.random.default_rng(1), draws=5)
    same = audited(1, 1e-5, draws=5)
    np.testing.assert_array_equal(audit.first, same.first)
    np.testing.assert_array_equal(audit.second, same.second)
    assert audit.claimed == same.claimed == mechanism.claimed
    with pytest.raises(InputError, match="no exact audit"):
        dp.audit_report(mechanism, n=3, epsilons=[])

    class Other(AdaptiveTables):
        pass

    assert audit_of(Other(prior=mechanism.prior, epsilon=1)) is UNKNOWN
