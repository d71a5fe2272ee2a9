"""The claims of the [Notes] on the Claims page: Section 2.1 to Lemma 2.2."""

import math
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.audit.loss.finite import exact_epsilon
from dpbayes.audit.loss.neighbours import die_neighbours
from dpbayes.posteriors.hellinger import Die, all_distances, log_pmf, smooth_sensitivities, smoothing_rate
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.notes import lemmas as notes_lemmas
from dpbayes.theory.notes import mechanisms, sensitivities
from dpbayes.ui.session.options.research import BoundClaim
from tests.pages.claims import curves, opened
from tests.pages.conftest import everything, figures, headline, one_sentence, sentences

NOTES_EXHIBITS = {
    BoundClaim[name]: exhibit
    for module in (sensitivities, mechanisms, notes_lemmas)
    for name, exhibit in module.EXHIBITS.items()
}

ASIA, _ = load_named("asia")
COIN = Die((1.0, 1.0), 20)
PAGE = "pages/claims.py"
CLAIMS = list(NOTES_EXHIBITS)


def at_point(at: AppTest, name: str, x: float) -> float:
    trace = curves(at)[name]
    return float(trace["y"][trace["x"].index(x)])


def chosen(axis: Axis) -> dict[str, str]:
    return {"bounds.axis": axis.value}


def test_every_claim_of_the_notes_is_here() -> None:
    assert set(CLAIMS) == {claim for claim in BoundClaim if claim.name.startswith("NOTES")}


def test_section_2_1_candidates_are_too_few_for_three_sides() -> None:
    """[Notes] Section 2.1, |R|: red for three sides, tight for two."""
    tight = headline(opened(BoundClaim.NOTES_CANDIDATES))
    assert tight.endswith("is tight here: it states 21 candidates, and the exact number is 21.")
    at = opened(BoundClaim.NOTES_CANDIDATES, **{"bounds.sides": "3"})
    bound = sensitivities.candidates(Die((1.0,) * 3, 40))
    assert [at_point(at, name, 40) for name in ("as stated, exceeded", "proved")] == [bound.printed, bound.certified]
    assert "it states 21 candidates, but the exact number is 231" in headline(at)
    assert "outside its conditions" in headline(at)


@pytest.mark.parametrize("sides", [2, 3])
def test_section_3_1_curve_is_the_core_s(sides: int) -> None:
    """[Notes] Section 3.1, for the most even table."""
    at = opened(BoundClaim.NOTES_REDUCTION, **{"bounds.sides": f"{sides}"})
    die, even = Die((1.0,) * sides, 100), [50, 50] if sides == 2 else [34, 33, 33]
    bound = sensitivities.reduction(die, counts=even)
    assert at_point(at, "as stated in the paper", 100) == float(bound.printed)
    assert at_point(at, "largest change over all candidates", 100) == float(bound.certified)
    assert "as stated, exceeded" not in curves(at)
    assert " is tight here: " in headline(at)


def test_section_3_1_beyond_what_is_enumerated_is_certified_by_the_triangle_inequality() -> None:
    """[Notes] Section 3.1: at 200 throws of three sides there are 20,301 candidates; all are enumerated here."""
    at = opened(BoundClaim.NOTES_REDUCTION, **{"bounds.sides": "3", "bounds.size": "200"})
    largest = sensitivities.largest_change(Die((1.0,) * 3, 200), counts=[67, 67, 66])
    assert at_point(at, "proved", 200) == pytest.approx(largest, rel=1e-9)
    assert 200 not in curves(at)["largest change over all candidates"]["x"]
    assert " is tight here: " in headline(at)
    assert "the proved bound is" in headline(at)


@pytest.mark.parametrize("axis", [Axis.EPSILON, Axis.DELTA, Axis.SIZE])
def test_section_2_3_1_beta_is_too_large_for_three_sides(axis: Axis) -> None:
    """[Notes] Section 2.3.1, beta: what is proved needs one that is no larger."""
    at = opened(BoundClaim.NOTES_BETA, **chosen(axis))
    assert "as stated, exceeded" not in curves(at)
    assert " is tight here: " in headline(at)
    at = opened(BoundClaim.NOTES_BETA, **chosen(axis), **{"bounds.sides": "3"})
    assert "the largest that is proved is" in headline(at)
    assert "outside its conditions" in headline(at)
    x = {Axis.EPSILON: 0.5, Axis.DELTA: 0.5, Axis.SIZE: 50}[axis]
    setting: dict[Axis, float] = {Axis.EPSILON: 1.0, Axis.DELTA: 0.05, Axis.SIZE: 20} | {axis: x}
    die = Die((1.0,) * 3, int(setting[Axis.SIZE]))
    bound = sensitivities.smoothing(die, epsilon=setting[Axis.EPSILON], delta=setting[Axis.DELTA])
    assert at_point(at, "as stated, exceeded", x) == float(bound.printed)
    assert at_point(at, "proved", x) == float(bound.certified)


@pytest.mark.parametrize(
    ("claim", "mechanism"),
    [(BoundClaim.NOTES_GLOBAL, mechanisms.global_mechanism), (BoundClaim.NOTES_LOCAL, mechanisms.local_mechanism)],
)
def test_sections_2_1_and_2_2_losses_are_the_core_s(claim: BoundClaim, mechanism: Any) -> None:
    """[Notes] Section 2.1, the mechanism, and Section 2.2."""
    at = opened(claim)
    bound: Bound = mechanism(COIN, epsilon=0.5)
    assert at_point(at, "as stated in the paper", 0.5) == 0.5
    assert at_point(at, "exact loss", 0.5) == at_point(at, "proved", 0.5) == float(bound.certified)
    assert headline(at).endswith(" 1 nat, and the exact loss is 0.601.")
    at = opened(claim, **chosen(Axis.PRIOR))
    bound = mechanism(Die((10.0, 10.0), 20), epsilon=1.0)
    assert at_point(at, "proved", 10) == float(bound.certified)


def test_section_2_2_breaks_epsilon_for_a_small_prior() -> None:
    """[Notes] Section 2.2: exact loss 1.021 at prior .1, n = 200."""
    at = opened(BoundClaim.NOTES_LOCAL, prior="0.1", **{"bounds.size": "200"})
    red = curves(at)["as stated, exceeded"]
    assert red["y"][red["x"].index(1.0)] == 1.0
    assert red["y"][red["x"].index(10.0)] is None
    assert headline(at).endswith("but the exact loss is 1.02.")
    assert any(m.value.startswith("✗") and "same for all tables" in m.value for m in at.markdown)
    assert "as stated, exceeded" not in curves(opened(BoundClaim.NOTES_LOCAL, **{"bounds.size": "200"}))


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
    assert at_point(at, "proved", 2.0) == float(bound.certified)
    assert "as stated, exceeded" not in curves(at)
    pure = mechanisms.smooth_loss(die, epsilon=1.0, delta=0.05)
    assert f"the exact loss is ${pure:.4g}$ nats" in everything(at)


def test_section_2_3_1_a_delta_that_is_enough_alone_leaves_no_loss() -> None:
    """[Notes] Section 2.3.1: laws less than delta apart."""
    at = opened(BoundClaim.NOTES_SMOOTH, epsilon="0.1")
    assert headline(at).endswith("the exact loss at δ is 0.")


def test_lemma_2_1_weights_differ_by_less_up_to_a_shift_of_one() -> None:
    """[Notes] Lemma 2.1, of weights: the curve at every shift, red beyond one."""
    at = opened(BoundClaim.NOTES_LEMMA_2_1, epsilon="2")
    drawn = curves(at)
    bound = notes_lemmas.sliding(2.0, shift=np.array(drawn["proved"]["x"]))
    assert drawn["as stated in the paper"]["y"] == bound.printed.tolist()
    assert drawn["proved"]["y"] == drawn["exact ratio of weights"]["y"] == pytest.approx(bound.certified, rel=1e-12)
    red = drawn["as stated, exceeded"]
    assert all((y is not None) == (x > 1) for x, y in zip(red["x"], red["y"], strict=True))
    assert "by at most a factor of 2.72, and the exact ratio of weights is 1.65" in headline(at)


@pytest.mark.parametrize(("shift", "fails"), [("0", False), ("1", False), ("1.5", True)])
def test_lemma_2_1_is_for_shifts_of_up_to_one(shift: str, fails: bool) -> None:
    """[Notes] Lemma 2.1."""
    at = opened(BoundClaim.NOTES_LEMMA_2_1, **{"bounds.shift": shift})
    assert ("outside its conditions" in headline(at)) == fails
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
    assert at_point(at, "as stated, exceeded", 0.32) == pytest.approx(float(bound.printed))
    assert at_point(at, "proved", 0.32) == pytest.approx(float(bound.certified))
    assert "outside its conditions" in headline(at)
    assert "as stated, exceeded" not in curves(opened(BoundClaim.NOTES_LEMMA_2_2, epsilon="5"))


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    "claim",
    [BoundClaim.NOTES_GLOBAL, BoundClaim.NOTES_LOCAL, BoundClaim.NOTES_SMOOTH, BoundClaim.NOTES_LEMMA_2_2],
)
def test_of_too_many_candidates_as_many_are_shown_as_is_possible(claim: BoundClaim) -> None:
    for query, most in (({"bounds.size": "300"}, 299), ({"bounds.sides": "6"}, 5)):
        at = opened(claim, **query)
        one_sentence(at, f"Use at most {most} throws, or fewer sides")
        assert f"The page shows the nearest possible setting: records or trials = {most}." in sentences(at)[0]
        assert "bounds" in figures(at)
        assert "of the Notes" in headline(at)
