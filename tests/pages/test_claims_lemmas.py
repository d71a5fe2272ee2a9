"""The lemmas of [Dimitrakakis14] on the Claims page: their numbers are the core's, and what fails is red."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.posteriors.smoothness import beta_concentration_from
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.dimitrakakis14 import answers, constants, empirical, families, guess
from dpbayes.theory.dimitrakakis14.game import NormalPair, normal_variation
from dpbayes.ui.session.options.research import BoundClaim
from tests.pages.claims import curves, opened
from tests.pages.conftest import charts, everything, figures, headline, one_sentence, sentences

LEMMA_EXHIBITS = {
    BoundClaim[name]: exhibit
    for module in (constants, empirical, families, answers)
    for name, exhibit in module.EXHIBITS.items()
    if "LEMMA" in name
}

PAGE = "pages/claims.py"
ASIA, _ = load_named("asia")
CLAIMS = list(LEMMA_EXHIBITS)


def red(at: AppTest) -> list[float]:
    curve = curves(at).get("as stated, exceeded", {"y": [], "x": []})
    return [x for x, y in zip(curve["x"], curve["y"], strict=True) if y is not None]


def check_words(at: AppTest) -> None:
    """No text has a number that is none; arrays of a figure may have gaps."""
    shown = [headline(at)] if any(m.value.startswith("## ") for m in at.markdown) else sentences(at)
    assert shown
    shown += [f"{metric.label} {metric.value}" for metric in at.metric]
    shown += [m.value for m in (*at.markdown, *at.caption)] + [c["alt"] for c in charts(at)]
    words = [word.strip("%.,:;()$*") for text in shown for word in text.split()]
    assert not {"nan", "inf", "-inf"} & set(words), shown


def _pair(apart: float = 1.0, records: int = 20) -> NormalPair:
    return NormalPair(np.zeros(1), np.array([1.0 + records]), apart)


def _kept_mass(level: float) -> float:
    return math.exp(-beta_concentration_from(2.0, level, trials=20) * level)


EXPECTED: dict[BoundClaim, tuple[float, Callable[[], tuple[Any, Any]], Callable[[], Any] | None, str]] = {
    BoundClaim.ALT_LEMMA_1: (
        50,
        lambda: (constants.lemma_1(2.0, records=50).printed, constants.lemma_1(2.0, records=50).certified),
        lambda: 2.0,
        "exact constant",
    ),
    BoundClaim.ALT_LEMMA_2: (
        1000,
        lambda: (
            empirical.lemma_2(1000, delta=0.05, cells=4).printed,
            empirical.lemma_2(1000, delta=0.05, cells=4).certified,
        ),
        lambda: 4 * 2 * 251 * 0.75 * stats.binom.pmf(251, 1000, 0.25) / 1000,
        "exact mean",
    ),
    BoundClaim.ALT_LEMMA_3: (
        5.0,
        lambda: (families.lemma_3(1.0, at=5.0).printed, families.lemma_3(1.0, at=5.0).certified),
        lambda: stats.expon.sf(5.0),
        "exact mass",
    ),
    BoundClaim.ALT_LEMMA_4: (
        5.0,
        lambda: (families.lemma_4(1.0, at=5.0).printed, families.lemma_4(1.0, at=5.0).certified),
        lambda: stats.expon.sf(5.0),
        "exact mass",
    ),
    BoundClaim.ALT_LEMMA_5: (
        10.0,
        lambda: (families.lemma_5(2.0, at=10.0, trials=20).printed, _kept_mass(10.0)),
        lambda: 2 * stats.beta.cdf(20 / (20 + math.exp(10)), 2, 2),
        "exact mass",
    ),
    BoundClaim.ALT_LEMMA_6: (
        5.0,
        lambda: (families.lemma_6(1.0, at=5.0).printed, families.counterexample_lemma_6(5.0).truth),
        lambda: stats.expon.cdf(1 / 10),
        "exact mass",
    ),
    BoundClaim.ALT_LEMMA_8: (
        100,
        lambda: (normal_variation(_pair(), answers=1), 1 - guess.overlap_at_least(_pair(), answers=100)),
        lambda: 2 * stats.norm.cdf(5 / math.sqrt(21)) - 1,
        "exact distance",
    ),
}


@pytest.mark.parametrize("claim", EXPECTED)
def test_the_curves_are_the_cores(claim: BoundClaim) -> None:
    """[Dimitrakakis14] Lemma 1 to Lemma 6, Lemma 8; the truth by an independent route."""
    x, numbers, truth, name = EXPECTED[claim]
    at = opened(claim)
    k = curves(at)["as stated in the paper"]["x"].index(x)
    for series, value in zip(("as stated in the paper", "proved"), numbers(), strict=True):
        assert curves(at)[series]["y"][k] == pytest.approx(np.ravel(value)[0], rel=1e-9)
    assert truth is not None
    exact = curves(at)[name]
    assert exact["y"][exact["x"].index(x)] == pytest.approx(float(truth()), rel=1e-9)


def test_lemma_7_is_the_cores_on_the_network_at_hand() -> None:
    """[Dimitrakakis14] Lemma 7: refuted where a node has children, true where none has."""
    at = opened(BoundClaim.ALT_LEMMA_7)
    x = curves(at)["as stated in the paper"]["x"]
    bounds = [constants.lemma_7(ASIA, least=least) for least in x]
    assert curves(at)["as stated in the paper"]["y"] == pytest.approx([float(b.printed) for b in bounds])
    assert curves(at)["proved"]["y"] == pytest.approx([float(b.certified) for b in bounds])
    assert curves(at)["exact largest change"]["y"] == pytest.approx(
        [constants.largest_log_move(ASIA, least=w) for w in x]
    )
    assert "the exact largest change is 6.59" in headline(at)
    assert " fails: " in headline(at)


def test_lemma_2_is_simulated_with_an_interval() -> None:
    """[Dimitrakakis14] Lemma 2: other draws than the page's have the quantile that it shows."""
    at = opened(BoundClaim.ALT_LEMMA_2)
    dots = curves(at)["0.95 quantile of simulated fair dice"]
    k = len(dots["x"]) // 2
    drawn = empirical.fair_errors(stream(9, "other"), samples=int(dots["x"][k]), cells=4, draws=20_000)
    assert dots["y"][k] == pytest.approx(np.quantile(drawn, 0.95), rel=0.1)
    assert sum(dots["error_y"]["array"]) > 0
    assert "Simulated: 4,000 empirical distributions" in everything(at)
    rare = opened(BoundClaim.ALT_LEMMA_2, **{"bounds.delta": "0.0000001"})
    assert "There are too few simulations" in everything(rare)
    assert "the proved bound is" in headline(rare)


@pytest.mark.parametrize(
    ("claim", "query", "is_red"),
    [
        (BoundClaim.ALT_LEMMA_1, {}, False),
        (BoundClaim.ALT_LEMMA_2, {}, False),
        (BoundClaim.ALT_LEMMA_2, {"bounds.cells": "50"}, True),
        (BoundClaim.ALT_LEMMA_2, {"bounds.cells": "3", "bounds.delta": "0.01"}, False),
        (BoundClaim.ALT_LEMMA_3, {}, False),
        (BoundClaim.ALT_LEMMA_4, {}, False),
        (BoundClaim.ALT_LEMMA_5, {"bounds.size": "1"}, False),
        (BoundClaim.ALT_LEMMA_5, {"bounds.size": "2", "bounds.shape": "0.1"}, True),
        (BoundClaim.ALT_LEMMA_6, {}, True),
        (BoundClaim.ALT_LEMMA_7, {}, True),
        (BoundClaim.ALT_LEMMA_8, {}, True),
    ],
)
def test_what_fails_is_red_and_nothing_else(claim: BoundClaim, query: dict[str, str], is_red: bool) -> None:
    assert bool(red(opened(claim, **query))) is is_red


def test_lemma_6_is_refuted_and_lemma_8_only_beyond_one_answer() -> None:
    """[Dimitrakakis14] Lemma 6 has no condition that fails here; [Dimitrakakis14] Lemma 8 is for one answer."""
    at = opened(BoundClaim.ALT_LEMMA_6)
    assert headline(at).endswith(
        "fails: it states a prior mass of at most 13.5% with a Lipschitz constant above L, but the exact mass is 22.1%."
    )
    assert "outside its conditions" in headline(opened(BoundClaim.ALT_LEMMA_8))
    assert min(red(opened(BoundClaim.ALT_LEMMA_8))) == 2
    assert "tight" in headline(opened(BoundClaim.ALT_LEMMA_8, **{"bounds.answers": "1"}))


def test_lemma_5_is_certain_to_lack_a_constant_below_ln_n() -> None:
    """[Dimitrakakis14] Lemma 5 at L = 2 < ln 20, and beyond what a number can hold."""
    at = opened(BoundClaim.ALT_LEMMA_5)
    assert "is vacuous here: it bounds a probability of 100% by 105,498." in headline(at)
    assert next(m.value for m in at.metric if m.label == "Exact mass") == "1"
    check_words(opened(BoundClaim.ALT_LEMMA_5, **{"bounds.level": "1000", "bounds.shape": "1000"}))


def test_a_least_probability_that_a_node_cannot_have_gives_a_sentence() -> None:
    at = opened(BoundClaim.ALT_LEMMA_7, source="survey", **{"bounds.omega": "0.45"})
    one_sentence(at, "least probability")
    assert "The page shows the nearest possible setting: omega = 0.32." in sentences(at)[0]
    assert "bounds" in figures(at)
