"""The claims of [Zhang16] that need no counts on the Claims page: the bounds beside the truth, at every setting."""

import math
import re

import pytest

from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.index import EXHIBITS
from dpbayes.theory.zhang16 import regression
from dpbayes.ui.pages.claims.headline import finding
from dpbayes.ui.session.options.research import BoundClaim
from dpbayes.ui.session.settings import PARAMETERS
from tests.pages.claims import check_words, curves, evaluation_of, opened
from tests.pages.conftest import headline, sentences

CLAIMS = (
    BoundClaim.LEMMA_1,
    BoundClaim.COROLLARY_1,
    BoundClaim.RERUNS,
    BoundClaim.LEMMA_2,
    BoundClaim.LEMMA_3,
    BoundClaim.ALGORITHM_3,
    BoundClaim.APPENDIX_D,
    BoundClaim.GRADIENT,
    BoundClaim.PROPORTIONAL,
)
ZHANG_EXHIBITS = {claim: EXHIBITS[claim.name] for claim in CLAIMS}

ASIA, _ = load_named("asia")
NODES = 8

LEMMA_3 = {"bounds.level": "12"}
"""Lemma 3 says nothing below L0, as at the usual level."""

OTHERS = {
    "epsilon": "0.5",
    "draws": "3",
    "prior": "2",
    "bounds.runs": "3",
    "bounds.level": "16",
    "bounds.concentration": "2",
    "bounds.start": "5",
    "bounds.log_ratio": "1.6",
    "bounds.size": "3",
    "bounds.norm_bound": "4",
    "bounds.features": "2",
    "bounds.noise_variance": "2",
}
"""Another value for every knob."""


@pytest.mark.parametrize(
    ("claim", "query", "violated"),
    [
        (BoundClaim.LEMMA_1, {}, False),
        (BoundClaim.COROLLARY_1, {}, False),
        (BoundClaim.RERUNS, {}, False),
        (BoundClaim.LEMMA_2, {}, False),
        (BoundClaim.LEMMA_3, {}, False),
        (BoundClaim.ALGORITHM_3, {}, True),
        (BoundClaim.APPENDIX_D, {}, False),
        (BoundClaim.APPENDIX_D, {"bounds.size": "1"}, True),
        (BoundClaim.GRADIENT, {}, True),
        (BoundClaim.PROPORTIONAL, {}, True),
    ],
)
def test_what_is_printed_and_exceeded_is_red(claim: BoundClaim, query: dict[str, str], *, violated: bool) -> None:
    """The truth is red where it is above what is printed, and nowhere above what is certified."""
    drawn = curves(opened(claim, **query))
    exact = next(trace for name, trace in drawn.items() if name.startswith(("exact", "largest")))
    truth = dict(zip(exact["x"], exact["y"], strict=True))
    printed, certified = (
        dict(zip(drawn[name]["x"], drawn[name]["y"], strict=True)) for name in ("as stated in the paper", "proved")
    )
    assert len(truth) >= 16
    assert all(y <= certified[x] * (1 + 1e-9) for x, y in truth.items())
    above = {x for x, y in truth.items() if printed[x] is not None and y > printed[x] * 1.001}
    assert bool(above) == violated
    red = drawn.get("as stated, exceeded", {"x": [], "y": []})
    assert {x for x, y in zip(red["x"], red["y"], strict=True) if y is not None} == above


KNOBS = [(claim, knob) for claim, exhibit in ZHANG_EXHIBITS.items() for knob in exhibit.knobs]


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(("claim", "knob"), KNOBS)
def test_every_knob_changes_the_picture_or_the_headline(claim: BoundClaim, knob: str) -> None:
    usual = LEMMA_3 if claim is BoundClaim.LEMMA_3 else {}
    (before, _), (after, why) = evaluation_of(claim, **usual), evaluation_of(claim, **{**usual, knob: OTHERS[knob]})
    drawn = [
        str([*evaluation.curve.x, *evaluation.curve.bound.printed, *evaluation.curve.bound.certified])
        for evaluation in (before, after)
    ]
    assert not why
    assert (finding(before), drawn[0]) != (finding(after), drawn[1])


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(("claim", "knob"), KNOBS)
def test_the_ends_of_every_knob_are_kind(claim: BoundClaim, knob: str) -> None:
    parameter = PARAMETERS.get(knob)
    ends = (parameter.low, parameter.high) if isinstance(parameter, Parameter) else (1e-3, 1e9)
    for end in ends:
        refusal = ""
        try:
            check_words(evaluation_of(claim, **{knob: repr(end)})[0])
        except InputError as error:
            refusal = str(error)
        assert re.fullmatch(r"([^\n]{10,400}\.)?", refusal)


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("claim", ZHANG_EXHIBITS)
def test_it_is_evaluated_on_a_network_that_is_not_binary(claim: BoundClaim) -> None:
    evaluation, why = evaluation_of(claim, source="survey")
    check_words(evaluation)
    assert not why
    assert not evaluation.subject.network.is_binary


# What is said


@pytest.mark.usefixtures("first_look")
def test_the_headlines() -> None:
    said = {claim: headline(opened(claim)) for claim in ZHANG_EXHIBITS}
    assert said[BoundClaim.LEMMA_1] == (
        "Lemma 1 is tight here: it states that one record changes the counts by at most 16 in total, and the largest "
        "exact change is 16."
    )
    assert "it states a privacy loss of at most 1 nat, and" in said[BoundClaim.COROLLARY_1]
    assert said[BoundClaim.RERUNS].endswith("at most 10 nats, and the exact loss of an example is 1.99.")
    assert "by at most 16 nats, and the largest exact change is 9" in said[BoundClaim.LEMMA_2]
    assert said[BoundClaim.ALGORITHM_3].endswith("but the exact change of the density is 3.94.")
    assert "it states a norm of the gradient of at most 5.24" in said[BoundClaim.GRADIENT]
    assert said[BoundClaim.PROPORTIONAL].startswith("Section 5.2 is tight here")


def test_lemma_3_says_nothing_below_its_start_and_what_is_exact_from_there_on() -> None:
    """[Zhang16] Lemma 3, at L0 = 10 and c = 1."""
    below = opened(BoundClaim.LEMMA_3, **{"bounds.level": "5"})
    assert headline(below).startswith("Lemma 3 gives no number here")
    assert headline(below).endswith("is proved.")
    assert next(m.value for m in below.metric if m.label == "Proved") == f"{NODES * math.exp(-5):.3g}"
    assert any(m.value.startswith("✗") and "at least L0" in m.value for m in below.markdown)
    assert "it states a prior mass of at most" in headline(opened(BoundClaim.LEMMA_3, **LEMMA_3))
    small = opened(BoundClaim.LEMMA_3, **{"bounds.level": "3", "bounds.start": "2"})
    assert "gives no number" in headline(small)
    assert any("is not positive" in m.value for m in small.markdown)


def test_a_violated_number_is_refuted_only_where_its_conditions_hold() -> None:
    """[Zhang16] Section 5.2 and Appendix D, in a large ball."""
    for claim, query, bound in (
        (BoundClaim.PROPORTIONAL, {"bounds.norm_bound": "4"}, regression.proportionality(4.0)),
        (
            BoundClaim.APPENDIX_D,
            {"bounds.norm_bound": "20", "bounds.size": "1"},
            regression.appendix_d(1, norm_bound=20.0, features=5),
        ),
    ):
        said = headline(opened(claim, **query))
        assert (" fails: " if bound.applies else " is exceeded outside its conditions: ") in said


def test_without_records_none_can_be_replaced() -> None:
    """[Zhang16] Lemma 1."""
    assert "the largest exact change is 0" in headline(opened(BoundClaim.LEMMA_1, records="0"))


@pytest.mark.usefixtures("first_look")
def test_more_records_than_the_core_goes_through_give_a_sentence() -> None:
    (sentence,) = sentences(opened(BoundClaim.ALGORITHM_3, **{"bounds.size": "5000"}))
    assert "records" in sentence
