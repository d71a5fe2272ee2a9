"""How errors fall with epsilon, and how many records an epsilon needs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpbayes.base.steps import finished
from dpbayes.experiments.least_epsilon import planning
from dpbayes.experiments.least_epsilon.planning import ErrorCurve, LeastRecords, error_steps, least_records_steps
from dpbayes.experiments.least_epsilon.search import least_epsilon
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.mechanisms import LaplaceUpdates
from tests.experiments.least_epsilon.test_search import COIN, EVEN, exact_share, rng, wish

FAIR = np.array([0.5, 0.5])


def test_the_error_that_the_wanted_share_keeps_to_meets_the_tolerance_at_the_least_epsilon():
    wished = wish(draws=2000)
    least = least_epsilon(wished, rng())
    errors = finished(error_steps(wished, np.array([least.low / 1.1, least.epsilon, least.high * 1.1, 1e3]), rng(7)))
    assert errors.wanted[0] > 0.05 > errors.wanted[2]
    assert errors.wanted[1] == pytest.approx(0.05, rel=0.1)
    assert (np.diff(errors.wanted) < 0).all()
    assert (errors.median < errors.wanted).all()
    assert exact_share(float(errors.epsilons[1]), float(errors.median[1])) == pytest.approx(0.5, abs=0.06)


def test_errors_are_nothing_where_the_mechanism_allows_no_such_epsilon(monkeypatch):
    monkeypatch.setattr(planning, "sizes_at", refuse_below_one(planning.sizes_at))
    errors = finished(error_steps(wish(draws=100), np.array([0.5, 2.0]), rng()))
    assert np.isnan(errors.wanted[0])
    assert np.isfinite(errors.wanted[1])


def refuse_below_one(real):
    def sizes(wished, epsilon, luck):
        if epsilon < 1:
            raise planning.InputError("too small")
        return real(wished, epsilon, luck)

    return sizes


def test_the_records_that_an_epsilon_needs_need_that_epsilon():
    tables = planned_tables(COIN.network, FAIR, 1000, 500, rng(3))
    wished = wish(LaplaceUpdates(prior=COIN, epsilon=0.3), tables=tables, draws=500)
    needed = finished(least_records_steps(wished, FAIR, rng(4)))
    assert needed.low < needed.records < needed.high
    again = planned_tables(COIN.network, FAIR, round(needed.records), 500, rng(5))
    least = least_epsilon(replace(wished, tables=again), rng(6))
    assert least.low / 1.1 < 0.3 < least.high * 1.1
    # The noise does not know of the records: half of them need twice the epsilon.
    fewer = finished(
        least_records_steps(replace(wished, mechanism=LaplaceUpdates(prior=COIN, epsilon=0.6)), FAIR, rng(4))
    )
    assert fewer.records == pytest.approx(needed.records / 2, rel=0.2)


def test_no_number_of_records_that_is_tried_may_suffice():
    tables = planned_tables(COIN.network, FAIR, 10, 100, rng(3))
    wished = wish(LaplaceUpdates(prior=COIN, epsilon=0.001), tables=tables, tolerance=1e-5, draws=100)
    assert finished(least_records_steps(wished, FAIR, rng(4))).records == np.inf


def test_any_number_of_records_may_suffice():
    wished = wish(LaplaceUpdates(prior=COIN, epsilon=1.0), tables=EVEN, tolerance=1.0, draws=100)
    assert finished(least_records_steps(wished, FAIR, rng(4))) == LeastRecords(1.0, 1.0, 1.0)


def test_fewer_records_are_tried_where_they_are_drawn_one_by_one(monkeypatch):
    wished = wish(LaplaceUpdates(prior=COIN, epsilon=1.0), draws=100)
    assert planning.most_records(wished.question.network, wished.draws) == planning.MOST_RECORDS
    monkeypatch.setattr(planning, "are_drawn_together", lambda network: False)
    assert planning.most_records(wished.question.network, wished.draws) == 20_000


@pytest.mark.parametrize(
    ("tolerance", "epsilon"),
    [(1.0, 0.1), (2.0, 0.1), (0.1, 1.0), (0.05, math.sqrt(10.0)), (0.025, 10.0), (0.02, math.inf)],
)
def test_a_curve_is_read_on_logarithmic_scales_between_its_points(tolerance: float, epsilon: float) -> None:
    wanted = np.array([1.0, 0.1, 0.025])
    curve = ErrorCurve(np.array([0.1, 1.0, 10.0]), wanted / 2, wanted)
    assert curve.epsilon_within(tolerance) == pytest.approx(epsilon)


def test_a_curve_that_begins_later_is_read_where_it_begins() -> None:
    wanted = np.array([math.nan, 0.1, 0.0])
    curve = ErrorCurve(np.array([0.1, 1.0, 10.0]), wanted, wanted)
    assert curve.epsilon_within(0.2) == 1.0
    assert 1.0 < curve.epsilon_within(0.01) < 1.1, "an error of 0 has no logarithm"
    assert ErrorCurve(curve.epsilons, wanted, np.full(3, math.nan)).epsilon_within(0.2) == math.inf


def test_a_curve_that_rises_first_is_read_where_it_falls_for_good() -> None:
    wanted = np.array([0.1, 1.0, 0.1])
    assert ErrorCurve(np.array([0.1, 1.0, 10.0]), wanted, wanted).epsilon_within(0.1) == pytest.approx(10.0)
