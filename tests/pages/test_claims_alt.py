"""The theorems of [Dimitrakakis14] on the Claims page: numbers are the core's, truths found by another route."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from streamlit.testing.v1 import AppTest

from dpbayes.base.privacy import worst_chain
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14 import answers, draws, neighbours, robustness
from dpbayes.theory.dimitrakakis14.game import BetaPair, GammaPair
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.options.research import BoundClaim
from dpbayes.ui.session.settings import Settings
from tests.pages.claims import curves, opened
from tests.pages.conftest import everything, fine, headline, sentences

ALT_EXHIBITS = {
    BoundClaim[name]: exhibit
    for module in (neighbours, robustness, draws, answers)
    for name, exhibit in module.EXHIBITS.items()
    if "LEMMA" not in name
}

PAGE = "pages/claims.py"
CLAIMS = tuple(ALT_EXHIBITS)
RED = "as stated, exceeded"


def moved(at: AppTest, claim: BoundClaim, **query: str) -> AppTest:
    """Return the same session at the settings of a link."""
    at.session_state["settings"], problems = settings_from({"bounds.claim": claim.value, **query})
    assert not problems
    return fine(at.run())


def exponential(apart: float, n: int = 20) -> GammaPair:
    return GammaPair(np.asarray(n + 1.0), np.asarray(1.0), apart)


def coin(log_ratio: float) -> BetaPair:
    return BetaPair(np.asarray(2.0), np.asarray(1.0), 1, log_ratio)


CORE: dict[BoundClaim, Callable[[float], Bound]] = {
    BoundClaim.ALT_REMARK_1: lambda x: neighbours.remark_1(1.0, delta=0.05, records=x),
    BoundClaim.ALT_THEOREM_1_I: robustness.theorem_1_i,
    BoundClaim.ALT_THEOREM_1_II: lambda x: robustness.theorem_1_ii(exponential(x), concentration=1.0, distance=x),
    BoundClaim.ALT_THEOREM_2_I: draws.theorem_2_i,
    BoundClaim.ALT_THEOREM_2_II: lambda x: draws.theorem_2_ii(exponential(x), concentration=1.0, distance=x),
    BoundClaim.ALT_THEOREM_3: lambda x: answers.theorem_3(coin(x), log_ratio=x, error=0.05),
    BoundClaim.ALT_THEOREM_3_TAIL: lambda x: answers.theorem_3_tail(
        exponential(x, 1), concentration=1.0, distance=x, error=0.05
    ),
    BoundClaim.ALT_ALGORITHM_1: lambda x: draws.algorithm_1(0.5, answers=x),
}
"""The core's bound at x on a claim's usual axis, all else at its default."""

WHOLE = (BoundClaim.ALT_THEOREM_3, BoundClaim.ALT_THEOREM_3_TAIL)
"""Shown in whole answers, rounded up."""


@pytest.mark.parametrize("claim", CLAIMS)
def test_either_seat_sees_the_curves_of_the_core(claim: BoundClaim) -> None:
    shown, at = {}, opened(claim, seat="curator")
    for seat in ("curator", "recipient"):
        at = at if seat == "curator" else moved(at, claim, seat=seat)
        assert not sentences(at)
        assert "of ALT 2014" in headline(at)
        assert "nan" not in everything(at)
        shown[seat] = curves(at)
    assert shown["curator"] == shown["recipient"]
    for k in (0, 7, 20):
        x = shown["curator"]["as stated in the paper"]["x"][k]
        bound = CORE[claim](x)
        for name, series in (("as stated in the paper", bound.printed), ("proved", bound.certified)):
            value = float(series)
            expected = max(math.ceil(value), 1) if claim in WHOLE else value
            assert shown["curator"][name]["y"][k] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_truth_is_never_above_the_proved_and_red_is_where_it_is_above_the_stated(claim: BoundClaim) -> None:
    drawn = curves(opened(claim))
    truth = next(
        trace
        for name, trace in drawn.items()
        if name not in ("as stated in the paper", "proved", RED) and "here" not in name
    )
    printed, certified, exact = (
        np.array(line["y"], dtype=float) for line in (drawn["as stated in the paper"], drawn["proved"], truth)
    )
    red = np.array(drawn[RED]["y"], dtype=float) if RED in drawn else np.full(len(printed), np.nan)
    assert np.all(exact <= certified * (1 + 1e-9))
    np.testing.assert_array_equal(np.isfinite(red), exact > printed * (1 + 1e-9))
    holds = claim in (BoundClaim.ALT_THEOREM_1_I, BoundClaim.ALT_THEOREM_2_I, BoundClaim.ALT_THEOREM_2_II)
    assert np.isfinite(red).any() != holds


@pytest.mark.parametrize(
    ("claim", "query", "said"),
    [
        (BoundClaim.ALT_THEOREM_1_II, {"bounds.size": "5", "bounds.apart": "100"}, ("491", "exact divergence is 572")),
        (BoundClaim.ALT_THEOREM_2_II, {"bounds.size": "200", "bounds.apart": "0.2"}, ("0.701", "distance is 0.804")),
        (BoundClaim.ALT_THEOREM_3, {"bounds.log_ratio": "0.01"}, ("225", "any attacker needs is 199,290")),
        (BoundClaim.ALT_THEOREM_3_TAIL, {"bounds.apart": "0.01"}, ("92", "exact number is 54,653")),
    ],
)
def test_false_claims_are_refuted_where_the_core_refutes_them(
    claim: BoundClaim, query: dict[str, str], said: tuple[str, str]
) -> None:
    """[Dimitrakakis14] Theorem 1(ii), [Dimitrakakis14] Theorem 2(ii), as in the referee's report.

    [Dimitrakakis14] Theorem 3 (4.3), [Dimitrakakis14] Theorem 3 (4.4).
    """
    text = headline(opened(claim, **query))
    assert " fails: it states " in text
    assert all(part in text for part in said), text


def test_a_tail_theorem_is_red_along_the_records() -> None:
    """[Dimitrakakis14] Theorem 2(ii): 122 is the smallest n that violates it at any distance."""
    at = opened(BoundClaim.ALT_THEOREM_2_II, **{"bounds.axis": Axis.SIZE.value, "bounds.apart": "0.25"})
    red = curves(at)[RED]
    assert min(x for x, y in zip(red["x"], red["y"], strict=True) if y is not None) >= 122


def test_an_undecided_number_of_answers_is_not_called_true() -> None:
    """[Dimitrakakis14] Theorem 3 (4.3): between what is needed and what suffices, only the latter is compared."""
    at = opened(BoundClaim.ALT_THEOREM_3, **{"bounds.error": "0.45", "bounds.log_ratio": "0.3"})
    assert headline(at).endswith("the least that any attacker needs is 2.")
    assert RED in curves(at)


# Truths


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(1.0, 0.05, 5), (0.3, 0.1, 3), (0.1, 0.01, 6), (0.0, 0.3, 4)])
def test_the_worst_chain_by_linear_programming(epsilon: float, delta: float, k: int) -> None:
    """[Dimitrakakis14] Remark 1: largest P_k(B) - e^(k epsilon) P_0(B) over chains of private laws."""
    rows, ratio = [], math.exp(epsilon)
    for one, two in [(j, j + 1) for j in range(k)] + [(j + 1, j) for j in range(k)]:
        inside, outside = np.zeros(k + 1), np.zeros(k + 1)
        inside[[one, two]] = -ratio, 1
        outside[[one, two]] = ratio, -1
        rows += [(inside, delta), (outside, ratio - 1 + delta)]
    gain = np.zeros(k + 1)
    gain[0], gain[k] = math.exp(k * epsilon), -1
    optimum = optimize.linprog(gain, A_ub=[row for row, _ in rows], b_ub=[most for _, most in rows], bounds=(0, 1))
    assert optimum.fun is not None
    assert worst_chain(epsilon, delta=delta, records=k) == pytest.approx(-optimum.fun, rel=1e-9)


def test_the_worst_chain_of_three_is_the_counterexample() -> None:
    """[Dimitrakakis14] Remark 1."""
    counterexample = neighbours.counterexample_definition_2()
    assert worst_chain(0.5, delta=0.1, records=2) == pytest.approx(counterexample.truth, rel=1e-12)


def measured(claim: BoundClaim, **knobs: float) -> float:
    """Return the truth beside a claim, as its picture shows it."""
    subject, options = Subject(load_named("asia")[0], 1.0, None, None, 1), Settings().options("bounds")
    at = EvaluationPoint((1.0,), 1, type(options)(**{**vars(options), **knobs}))
    exhibit = ALT_EXHIBITS[claim]
    return float(exhibit.measure(subject, at, exhibit.bound(subject, at)).exact[0])


@pytest.mark.parametrize(("n", "apart"), [(1, 0.01), (20, 1.0), (500, 0.1), (3, 50.0)])
def test_divergence_and_distance_by_quadrature(n: int, apart: float) -> None:
    """[Dimitrakakis14] Theorem 1(ii), [Dimitrakakis14] Theorem 2(ii)."""
    one, two = stats.gamma(n + 1), stats.gamma(n + 1, scale=1 / (1 + apart))
    top = one.ppf(1 - 1e-16) * 2
    points = [one.mean(), two.mean(), (n + 1) * math.log1p(apart) / apart]
    kl = integrate.quad(lambda t: one.pdf(t) * (one.logpdf(t) - two.logpdf(t)), 0, top, points=points, limit=200)[0]
    tv = integrate.quad(lambda t: abs(one.pdf(t) - two.pdf(t)) / 2, 0, top, points=points, limit=200)[0]
    assert measured(BoundClaim.ALT_THEOREM_1_II, size=n, apart=apart) == pytest.approx(kl, rel=1e-6, abs=1e-9)
    assert measured(BoundClaim.ALT_THEOREM_2_II, size=n, apart=apart) == pytest.approx(tv, rel=1e-6)


@pytest.mark.parametrize(("apart", "error"), [(1.0, 0.05), (0.1, 0.2), (0.01, 1e-6), (30.0, 0.01), (1000.0, 0.4)])
def test_the_best_adversary_errs_too_often_with_one_answer_less(apart: float, error: float) -> None:
    """[Dimitrakakis14] Theorem 3 (4.4): the sum of N answers against the point where both laws are as likely."""
    enough = int(measured(BoundClaim.ALT_THEOREM_3_TAIL, apart=apart, error=error))

    def share(n: int) -> float:
        edge = 2 * n * math.log1p(apart) / apart
        return float(stats.gamma(2 * n).cdf(edge) + stats.gamma(2 * n, scale=1 / (1 + apart)).sf(edge)) / 2

    assert share(enough) <= error * (1 + 1e-9)
    assert enough == 1 or share(enough - 1) > error * (1 - 1e-9)


def test_the_best_adversary_simulated() -> None:
    """[Dimitrakakis14] Theorem 3 (4.4): d = .05 at 12 answers, by draws of the pair; false alarms below 1e-9."""
    games_played, enough = 200_000, int(measured(BoundClaim.ALT_THEOREM_3_TAIL))
    rng = np.random.default_rng(18)
    wrong = {
        n: sum(
            int(np.sum(pair.gains(rng, (games_played, n)).sum(axis=1) < 0))
            for pair in (exponential(1.0, 1), exponential(1.0, 1).swapped())
        )
        / (2 * games_played)
        for n in (enough - 1, enough)
    }
    far = 6.2 * math.sqrt(0.05 * 0.95 / (2 * games_played))
    assert enough == 12
    assert wrong[enough - 1] > 0.05 - far
    assert wrong[enough] < 0.05 + far


def test_losses_of_rare_parameters_reach_the_bound() -> None:
    """[Dimitrakakis14] Theorem 2(i), [Dimitrakakis14] Algorithm 1: at both ends of the slider."""
    for moved in (1e-3, 0.5, 20.0):
        assert measured(BoundClaim.ALT_THEOREM_2_I, log_ratio=moved) == pytest.approx(2 * moved, rel=1e-6)
        loss = measured(BoundClaim.ALT_ALGORITHM_1, log_ratio=moved, answers=10**6)
        assert loss == pytest.approx(2e6 * moved, rel=1e-6)
