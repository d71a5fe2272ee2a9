"""Every claim along every axis and with its options at their ends: values and words, without a page."""

import itertools
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from dpbayes.base.parameters import Parameter
from dpbayes.base.steps import in_parts
from dpbayes.base.validation import InputError
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import EvaluationPoint, Subject, moved, place
from dpbayes.theory.index import EXHIBITS
from dpbayes.ui.pages.claims.curve import BoundCurve, Evaluation
from dpbayes.ui.pages.claims.headline import finding
from dpbayes.ui.session.host import host, use_host
from dpbayes.ui.session.options.research import BoundClaim
from dpbayes.ui.session.settings import PARAMETERS, Settings
from dpbayes.ui.widgets.running import Running
from tests.pages.claims import check_words, evaluation_of
from tests.pages.claims import words as shown_words
from tests.pages.numbers import E_NOTATION

NAMES = [name for name in EXHIBITS if name.startswith(("ALT_", "NOTES_"))]
KNOBS = [(name, knob) for name in NAMES for knob in EXHIBITS[name].knobs]
NETWORK, _ = load_named("asia")
PRIORS = (0.001, 1e9)
OTHER = {"epsilon": 3.0, "prior": 0.3, "bounds.sides": 3, "bounds.size": 7, "bounds.delta": 0.2, "bounds.shift": 0.9}
OTHER |= {"bounds.omega": 0.2, "bounds.error": 0.2, "bounds.cells": 7, "bounds.rate": 0.4}
"""Values of the knobs that are neither the usual one nor an end."""


def evaluated(name: str, **values: Any) -> Evaluation:
    """Return a claim as the page shows it at these values of its knobs. Errors: InputError where it refuses them."""
    options: Any = Settings().options("bounds")
    own = {knob.removeprefix("bounds."): value for knob, value in values.items() if knob.startswith("bounds.")}
    subject = Subject(NETWORK, values.get("prior", 1.0), None, None, 1)
    at = EvaluationPoint((values.get("epsilon", 1.0),), 1, replace(options, **own))
    exhibit = EXHIBITS[name]
    bound = exhibit.bound(subject, at)
    measured = exhibit.measure(subject, at, bound)
    axis = exhibit.axes[0]
    here = place(subject, at, axis)
    curve = BoundCurve((here,), bound, measured)
    work = Running(in_parts(lambda step: curve, 1))
    return Evaluation(BoundClaim[name], axis, work, curve, here, bound, measured, at, subject)


def numbers(shown: Evaluation) -> list[float]:
    series = (shown.bound.printed, shown.bound.certified, shown.measured.exact, shown.measured.value)
    return [float(values[0]) for values in series]


def words(shown: Evaluation) -> str:
    return finding(shown) + shown.exhibit.formula(shown.subject, shown.at, shown.bound)


def ends(knob: str) -> tuple[float, float]:
    if knob == "prior":
        return PRIORS
    parameter = PARAMETERS[knob]
    assert isinstance(parameter, Parameter)
    low, high = parameter.low, parameter.high
    return (int(low), int(high)) if parameter.whole else (float(low), float(high))


def middle(knob: str) -> float:
    if knob in OTHER:
        return OTHER[knob]
    parameter = PARAMETERS[knob]
    assert isinstance(parameter, Parameter)
    return int(1.5 * parameter.typical) if parameter.whole else 1.5 * parameter.typical


def check_kind(name: str, **values: Any) -> Evaluation | None:
    """Check for numbers and words, or for one sentence; return what is shown, None where it is refused."""
    refusal, shown = "", None
    try:
        shown = evaluated(name, **values)
    except InputError as error:
        refusal = str(error)
    if shown is None:
        assert re.fullmatch(r"(epsilon|[A-Z])[^\n]*\.", refusal)
        return None
    assert len(shown.bound.printed) == len(shown.bound.certified) == len(shown.measured.exact) == 1
    assert not np.isnan([shown.bound.printed, shown.bound.certified]).any()
    assert not re.search(r"(?<![\w\\])(nan|inf|None)(?!\w)", words(shown)), words(shown)
    return shown


def test_all_claims_of_both_papers_are_here() -> None:
    assert len(NAMES) == 24
    assert all(EXHIBITS[name].knobs for name in NAMES)


@pytest.mark.parametrize(("name", "knob"), KNOBS)
def test_every_knob_moves_the_numbers_and_the_words(name: str, knob: str) -> None:
    settled = {"bounds.sides": 3} if name == "NOTES_REDUCTION" and knob != "bounds.sides" else {}
    before, after = evaluated(name, **settled), evaluated(name, **settled, **{knob: middle(knob)})
    assert words(before) != words(after)
    assert finding(before) != finding(after)
    np.testing.assert_raises(AssertionError, np.testing.assert_array_equal, numbers(before), numbers(after))


@pytest.mark.parametrize(("name", "knob"), KNOBS)
def test_every_end_of_every_knob_is_kind_and_is_another_setting(name: str, knob: str) -> None:
    usual = evaluated(name)
    others = [check_kind(name, **{knob: end}) for end in ends(knob) if end != getattr(usual.at.knobs, knob[7:], None)]
    shown = [usual, *(evaluation for evaluation in others if evaluation is not None)]
    assert others
    assert len({words(evaluation) for evaluation in shown}) == len(shown)


@pytest.mark.parametrize("name", NAMES)
def test_all_corners_of_all_knobs_are_kind(name: str) -> None:
    knobs = EXHIBITS[name].knobs
    corners = itertools.product(*(ends(knob) for knob in knobs))
    shown = [check_kind(name, **dict(zip(knobs, corner, strict=True))) for corner in corners]
    assert len(shown) == 2 ** len(knobs)
    assert any(evaluation is not None for evaluation in shown)


# As the page evaluates them, every claim of all papers


KEPT: dict[str, Any] = {}
"""What one session holds for all claims: those of one theorem are simulated once, as on the page."""


@pytest.fixture
def one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", KEPT)


@pytest.mark.usefixtures("one_session")
@pytest.mark.parametrize("claim", BoundClaim)
def test_every_claim_is_drawn_to_the_last_point_along_every_axis(
    claim: BoundClaim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The curves are the exhibit's values, here at both ends and in the middle."""
    use_host(replace(host(), first_s=math.inf))
    exhibit = EXHIBITS[claim.name]
    for axis in exhibit.axes:
        evaluation, why = evaluation_of(claim, **{"bounds.axis": axis.value})
        assert not why
        assert evaluation.work.done
        check_words(evaluation)
        curve = evaluation.curve
        assert len(curve.x) >= 13
        assert list(curve.x) == sorted(set(curve.x))
        assert np.isfinite(curve.bound.printed).any()
        assert not np.isnan(curve.bound.certified).all()
        for k in (0, len(curve.x) // 2, -1):
            bound = exhibit.bound(*moved(evaluation.subject, evaluation.at, axis, curve.x[k]))
            np.testing.assert_allclose(curve.bound.printed[k], bound.printed[0], rtol=1e-12)
            np.testing.assert_allclose(curve.bound.certified[k], bound.certified[0], rtol=1e-12)
        fields = {knob.rpartition(".")[2] for knob in exhibit.knobs} | {"n"}
        assert axis.field in fields, "what it is drawn against has a control, or is of the table"


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("claim", BoundClaim)
def test_every_option_of_every_claim_at_both_ends_has_words(claim: BoundClaim, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too much is said in a sentence that has the nearest possible value, and that is what is evaluated."""
    use_host(replace(host(), first_s=0.0))
    own = [knob for knob in EXHIBITS[claim.name].knobs if knob.startswith("bounds.")]
    for end in (0, 1):
        evaluation, why = evaluation_of(claim, **{knob: repr(ends(knob)[end]) for knob in own})
        check_words(evaluation)
        assert not E_NOTATION.search(shown_words(evaluation))
        assert not why or "nearest possible setting" in why


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    "claim",
    [claim for claim in BoundClaim if EXHIBITS[claim.name].uses is not Uses.COUNTS],
)
def test_a_claim_is_evaluated_for_the_recipient_without_the_counts(
    claim: BoundClaim, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_host(replace(host(), first_s=0.0))
    for_recipient, _ = evaluation_of(claim, seat="recipient")
    assert for_recipient.subject.counts is None
    assert for_recipient.is_private
    for_curator, _ = evaluation_of(claim)
    assert (for_curator.subject.counts is None) == (EXHIBITS[claim.name].uses is Uses.PUBLIC)
