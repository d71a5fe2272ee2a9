"""The claims of the [Notes] on the Bounds page: Sections 2.1, 2.2, 2.3.1, 3.1, Lemmas 2.1 and 2.2."""

import math
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.audit.loss.finite import exact_epsilon
from dpbayes.audit.loss.neighbours import die_neighbours
from dpbayes.base.parameters import Parameter
from dpbayes.posteriors.hellinger import Die, all_distances, log_pmf, smooth_sensitivities, smoothing_rate
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.notes import lemmas as notes_lemmas
from dpbayes.theory.notes import mechanisms, sensitivities
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.session.settings import PARAMETERS
from tests.conftest import crossed
from tests.pages.conftest import everything, figures, fine, headline, one_sentence, open_page, sentences

NOTES_EXHIBITS = {
    BoundClaim[name]: exhibit
    for module in (sensitivities, mechanisms, notes_lemmas)
    for name, exhibit in module.EXHIBITS.items()
}

ASIA, _ = load_named("asia")
COIN = Die((1.0, 1.0), 20)
PAGE = "pages/bounds.py"
CLAIMS = list(NOTES_EXHIBITS)


def opened(claim: BoundClaim, **query: str) -> AppTest:
    return open_page(PAGE, None, **{"bounds.claim": claim.value, **query})


def traces(at: AppTest) -> dict[str, Any]:
    return {trace["name"]: trace for trace in figures(at)["bounds"]["data"]}


def at_point(at: AppTest, name: str, x: float) -> float:
    trace = traces(at)[name]
    return float(trace["y"][trace["x"].index(x)])


def shown(at: AppTest) -> str:
    """Return all that is shown but the link, in which anything may be."""
    text = everything(at)
    for code in at.code:
        text = text.replace(code.value, "")
    return text


def kind(at: AppTest) -> None:
    """Check that the page has a headline or one sentence, and no number that is none."""
    assert [m for m in at.markdown if m.value.startswith("## At ")] or len(sentences(at)) == 1
    assert not re.search(r"\b(nan|inf|None)\b", "\n".join([*(m.value for m in at.markdown), *sentences(at)]))
    assert "nan" not in [metric.value for metric in at.metric]


def chosen(axis: Axis) -> dict[str, str]:
    return {"bounds.axis": axis.value}


def test_every_claim_of_the_notes_is_here() -> None:
    assert set(CLAIMS) == {claim for claim in BoundClaim if claim.name.startswith("NOTES")}


def test_section_2_1_candidates_are_too_few_for_three_sides() -> None:
    """[Notes] Section 2.1, |R|: red for three sides, tight for two."""
    assert headline(opened(BoundClaim.NOTES_CANDIDATES)).endswith(
        "counts 21 candidates; the exact number is 21: the printed one is tight."
    )
    at = opened(BoundClaim.NOTES_CANDIDATES, **{"bounds.sides": "3"})
    bound = sensitivities.candidates(Die((1.0,) * 3, 40))
    assert [at_point(at, name, 40) for name in ("printed, violated", "certified")] == [bound.printed, bound.certified]
    assert "counts 21 candidates; the exact number is 231" in headline(at)
    assert "not all of its conditions hold" in headline(at)


@pytest.mark.parametrize("sides", [2, 3])
def test_section_3_1_curve_is_the_core_s(sides: int) -> None:
    """[Notes] Section 3.1, for the most even table."""
    at = opened(BoundClaim.NOTES_REDUCTION, **{"bounds.sides": f"{sides}"})
    die, even = Die((1.0,) * sides, 100), [50, 50] if sides == 2 else [34, 33, 33]
    bound = sensitivities.reduction(die, counts=even)
    assert at_point(at, "printed", 100) == float(bound.printed)
    assert at_point(at, "largest change over all candidates", 100) == float(bound.certified)
    assert "printed, violated" not in traces(at)
    assert headline(at).endswith("the printed one is tight.")


def test_section_3_1_beyond_what_is_enumerated_is_certified_by_the_triangle_inequality() -> None:
    """[Notes] Section 3.1: at 200 throws of three sides there are 20,301 candidates; all are enumerated here."""
    at = opened(BoundClaim.NOTES_REDUCTION, **{"bounds.sides": "3", "bounds.size": "200"})
    largest = sensitivities.largest_change(Die((1.0,) * 3, 200), counts=[67, 67, 66])
    assert at_point(at, "certified", 200) == pytest.approx(largest, rel=1e-9)
    assert 200 not in traces(at)["largest change over all candidates"]["x"]
    assert "is certified: the printed one is tight" in headline(at)


@pytest.mark.parametrize("axis", [Axis.EPSILON, Axis.DELTA, Axis.SIZE])
def test_section_2_3_1_beta_is_too_large_for_three_sides(axis: Axis) -> None:
    """[Notes] Section 2.3.1, beta: what is proved needs one that is no larger."""
    at = opened(BoundClaim.NOTES_BETA, **chosen(axis))
    assert "printed, violated" not in traces(at)
    assert headline(at).endswith("the printed one is tight.")
    at = opened(BoundClaim.NOTES_BETA, **chosen(axis), **{"bounds.sides": "3"})
    assert "the largest that is proved is" in headline(at)
    assert "not all of its conditions hold" in headline(at)
    x = {Axis.EPSILON: 0.5, Axis.DELTA: 0.5, Axis.SIZE: 50}[axis]
    setting: dict[Axis, float] = {Axis.EPSILON: 1.0, Axis.DELTA: 0.05, Axis.SIZE: 20} | {axis: x}
    die = Die((1.0,) * 3, int(setting[Axis.SIZE]))
    bound = sensitivities.smoothing(die, epsilon=setting[Axis.EPSILON], delta=setting[Axis.DELTA])
    assert at_point(at, "printed, violated", x) == float(bound.printed)
    assert at_point(at, "certified", x) == float(bound.certified)


@pytest.mark.parametrize(
    ("claim", "mechanism"),
    [(BoundClaim.NOTES_GLOBAL, mechanisms.global_mechanism), (BoundClaim.NOTES_LOCAL, mechanisms.local_mechanism)],
)
def test_sections_2_1_and_2_2_losses_are_the_core_s(claim: BoundClaim, mechanism: Any) -> None:
    """[Notes] Section 2.1, the mechanism, and Section 2.2."""
    at = opened(claim)
    bound: Bound = mechanism(COIN, epsilon=0.5)
    assert at_point(at, "printed", 0.5) == 0.5
    assert at_point(at, "exact loss", 0.5) == at_point(at, "certified", 0.5) == float(bound.certified)
    assert "1 nat; the exact loss is 0.601: the printed one is 1.7 times the true one." in headline(at)
    at = opened(claim, **chosen(Axis.PRIOR))
    bound = mechanism(Die((10.0, 10.0), 20), epsilon=1.0)
    assert at_point(at, "certified", 10) == float(bound.certified)


def test_section_2_2_breaks_epsilon_for_a_small_prior() -> None:
    """[Notes] Section 2.2: exact loss 1.021 at prior .1, n = 200."""
    at = opened(BoundClaim.NOTES_LOCAL, prior="0.1", **{"bounds.size": "200"})
    red = traces(at)["printed, violated"]
    assert red["y"][red["x"].index(1.0)] == 1.0
    assert red["y"][red["x"].index(10.0)] is None
    assert "the exact loss is 1.02, and 1.02 is certified: it fails, though not all" in headline(at)
    assert any(m.value.startswith("✗") and "same for all tables" in m.value for m in at.markdown)
    assert "printed, violated" not in traces(opened(BoundClaim.NOTES_LOCAL, **{"bounds.size": "200"}))


def test_section_2_2_keeps_epsilon_where_all_tables_have_one_sensitivity() -> None:
    """[Notes] Section 2.2: one throw of a coin."""
    at = opened(BoundClaim.NOTES_LOCAL, **{"bounds.size": "1"})
    assert any(m.value.startswith("✓") and "same for all tables" in m.value for m in at.markdown)


@pytest.mark.parametrize("sides", [2, 3])
def test_section_2_3_1_loss_at_delta_is_that_over_all_neighbours(sides: int) -> None:
    """[Notes] Section 2.3.1: the page looks at sorted tables only, this test at all of them."""
    at = opened(BoundClaim.NOTES_SMOOTH, **{"bounds.sides": f"{sides}", "bounds.size": "8"})
    die = Die((1.0,) * sides, 8)
    smooth = smooth_sensitivities(die, beta=smoothing_rate(die, epsilon=2.0, delta=0.05))
    law = log_pmf(all_distances(die), epsilon=2.0, sensitivity=smooth)
    whole = exact_epsilon(law, pairs=die_neighbours(die), delta=0.05).epsilon
    assert at_point(at, "exact loss at δ", 2.0) == pytest.approx(whole, rel=1e-9)
    bound = mechanisms.smooth_mechanism(die, epsilon=2.0, delta=0.05)
    assert at_point(at, "certified", 2.0) == float(bound.certified)
    assert "printed, violated" not in traces(at)
    pure = mechanisms.smooth_loss(die, epsilon=1.0, delta=0.05)
    assert f"it is ${pure:.4g}$ nats" in everything(at)


def test_section_2_3_1_a_delta_that_is_enough_alone_leaves_no_loss() -> None:
    """[Notes] Section 2.3.1: laws less than delta apart."""
    at = opened(BoundClaim.NOTES_SMOOTH, epsilon="0.1")
    assert headline(at).endswith("the exact loss at δ is 0: the printed one is far too large.")


def test_lemma_2_1_weights_differ_by_less_up_to_a_shift_of_one() -> None:
    """[Notes] Lemma 2.1, of weights: the curve at every shift, red beyond one."""
    at = opened(BoundClaim.NOTES_LEMMA_2_1, epsilon="2")
    drawn = traces(at)
    bound = notes_lemmas.sliding(2.0, shift=np.array(drawn["certified"]["x"]))
    assert drawn["printed"]["y"] == bound.printed.tolist()
    assert drawn["certified"]["y"] == drawn["exact ratio of weights"]["y"] == pytest.approx(bound.certified, rel=1e-12)
    red = drawn["printed, violated"]
    assert all((y is not None) == (x > 1) for x, y in zip(red["x"], red["y"], strict=True))
    assert "of one table differ by a factor of 2.72; the exact ratio of weights is 1.65" in headline(at)


@pytest.mark.parametrize(("shift", "fails"), [("0", False), ("1", False), ("1.5", True)])
def test_lemma_2_1_is_for_shifts_of_up_to_one(shift: str, fails: bool) -> None:
    """[Notes] Lemma 2.1."""
    at = opened(BoundClaim.NOTES_LEMMA_2_1, **{"bounds.shift": shift})
    assert ("not all of its conditions hold" in headline(at)) == fails
    assert any(m.value.startswith("✗" if fails else "✓") and "at most S(x)" in m.value for m in at.markdown)


def test_lemma_2_2_probability_is_summed_over_every_table() -> None:
    """[Notes] Lemma 2.2: printed .017 with n + 1 for |R|, exactly .082 for three sides."""
    query = {"bounds.sides": "3", "bounds.rate": "0.32", "epsilon": "5"}
    at = opened(BoundClaim.NOTES_LEMMA_2_2, **query)
    die = Die((1.0,) * 3, 20)
    bound = notes_lemmas.dilation(die, epsilon=5.0, rate=0.32)
    smooth, distance = smooth_sensitivities(die, beta=0.32), all_distances(die)
    worst = max(
        weights[row > s / math.expm1(0.32)].sum() / weights.sum()
        for row, s in zip(distance, smooth, strict=True)
        for weights in [np.exp(-5.0 * row / (2 * s))]
    )
    assert bound.printed < worst < bound.certified
    assert at_point(at, "exact probability", 0.32) == pytest.approx(worst, rel=1e-9)
    assert at_point(at, "printed, violated", 0.32) == pytest.approx(float(bound.printed))
    assert at_point(at, "certified", 0.32) == pytest.approx(float(bound.certified))
    assert "not all of its conditions hold" in headline(at)
    assert "printed, violated" not in traces(opened(BoundClaim.NOTES_LEMMA_2_2, epsilon="5"))


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("claim", [claim for claim, exhibit in NOTES_EXHIBITS.items() if exhibit.fails])
def test_counterexamples_are_shown_and_refute(claim: BoundClaim) -> None:
    """[Notes] Section 2.2, Lemmas 2.1 and 2.2."""
    (make,) = NOTES_EXHIBITS[claim].fails
    example = make()
    assert example.refutes
    at = opened(claim)
    at.session_state["bounds.fails"] = True
    assert f"{example.truth:.6g}" in everything(fine(at.run()))


def extremes(knob: str) -> tuple[str, str]:
    if knob == "prior":
        return "0.001", "1000000000"
    parameter = PARAMETERS[knob]
    assert isinstance(parameter, Parameter)
    return f"{parameter.low!r}", f"{parameter.high!r}"


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(("claim", "ends"), crossed(CLAIMS, [(0, 1), (1, 0)], each=1))
def test_corners_of_all_knobs_are_kind(claim: BoundClaim, ends: tuple[int, int]) -> None:
    """Alternating ends of the claim's knobs; values at every end and corner are tested without a page."""
    knobs = NOTES_EXHIBITS[claim].knobs
    kind(opened(claim, **{knob: extremes(knob)[ends[place % 2]] for place, knob in enumerate(knobs)}))


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    "claim",
    [BoundClaim.NOTES_GLOBAL, BoundClaim.NOTES_LOCAL, BoundClaim.NOTES_SMOOTH, BoundClaim.NOTES_LEMMA_2_2],
)
def test_of_too_many_candidates_as_many_are_shown_as_is_possible(claim: BoundClaim) -> None:
    for query, most in (({"bounds.size": "300"}, 299), ({"bounds.sides": "6"}, 5)):
        at = opened(claim, **query)
        one_sentence(at, f"use at most {most} throws or fewer sides")
        assert f"The page shows the nearest possible setting: records or trials = {most}." in sentences(at)[0]
        assert "bounds" in figures(at)
        assert headline(at).startswith("At ")
