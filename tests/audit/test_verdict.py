"""The verdict on a claim, at the edges between one word and the next."""

import numpy as np
import pytest

from dpbayes.audit.report import SLACK, AuditReport, AuditVerdict, DeltaCurve
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference

FLAT = DeltaCurve(np.zeros(1), np.zeros(1), np.zeros(1))


def reported(needed_at_least: float, certified: float = 1.0, curve: DeltaCurve = FLAT) -> AuditReport:
    """A report on a claim of epsilon 1 of which this loss was found."""
    place = Reference("Zhang16", "Algorithm 1")
    return AuditReport(
        claimed=Guarantee(1.0, reference=place),
        certified=Guarantee(certified, reference=place),
        exact=1.0,
        at_least=needed_at_least,
        needed=1.0,
        needed_at_least=needed_at_least,
        curve=curve,
        worst=None,
        scope="",
    )


def test_tight_is_a_millionth_and_refuted_is_more_than_rounding():
    assert reported(1 - 0.9e-6).verdict is AuditVerdict.PROVED_AND_TIGHT
    assert reported(1 - 1.1e-6).verdict is AuditVerdict.HOLDS
    assert reported(1 + 0.9 * SLACK).verdict is AuditVerdict.PROVED_AND_TIGHT
    assert reported(1 + 1.1 * SLACK).verdict is AuditVerdict.CLAIM_REFUTED
    assert reported(1 - 0.9e-6, certified=1.1).verdict is AuditVerdict.HOLDS, "tight, but by no proof"


@pytest.mark.parametrize(
    ("at_least", "promise", "broken"),
    [
        (1.5, Guarantee(1.0), [False, True, True, False]),
        (1.0, Guarantee(1.0), [False, False, False, False]),
        (1.5, Guarantee(0.5, 0.2), [True, True, False, False]),
        (1.5, Guarantee(1.0, 0.2), [False, True, False, False]),
        (1.5, Guarantee(1.0, 0.5), [False, False, False, False]),
    ],
)
def test_a_promise_is_broken_from_its_epsilon_on_where_delta_is_above_its_delta(at_least, promise, broken):
    epsilons, deltas = np.array([0.5, 1.0, 1.4, 2.0]), np.array([0.6, 0.3, 0.1, 0.0])
    lower = deltas if promise.delta else np.zeros(4)
    report = reported(at_least, curve=DeltaCurve(epsilons, deltas, lower))
    assert report.broken_at(promise).tolist() == broken


def test_an_upper_bound_on_delta_breaks_no_promise():
    curve = DeltaCurve(np.array([0.5, 1.0]), np.array([0.6, 0.3]), np.zeros(2))
    assert not reported(1.5, curve=curve).broken_at(Guarantee(0.5, 0.2)).any()


def test_a_loss_that_exceeds_a_pure_promise_by_rounding_alone_breaks_it_nowhere():
    curve = DeltaCurve(np.array([0.5, 1.0, 1.4]), np.full(3, 1e-16), np.full(3, 1e-16))
    assert not reported(1 + 0.9 * SLACK, curve=curve).broken_at(Guarantee(1.0)).any()
    assert reported(1 + 1.1 * SLACK, curve=curve).broken_at(Guarantee(1.0)).tolist() == [False, True, True]
