"""The claims of the rest of [Zhang16] on the Bounds page: the core's numbers beside the truth, at every setting."""

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.parameters import Parameter
from dpbayes.base.randomness import stream
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.sources.named_networks import full, load_named
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import At, Axis, Subject
from dpbayes.theory.zhang16 import counts as updates
from dpbayes.theory.zhang16 import map, regression, stealth
from dpbayes.theory.zhang16 import smoothness as lipschitz
from dpbayes.theory.zhang16.exhibits_more import EXHIBITS as MODULE
from dpbayes.theory.zhang16.exhibits_more import mass_without, moved_counts
from dpbayes.theory.zhang16.formulas_more import first_success_loss, worst_range
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.session.settings import PARAMETERS, Settings
from tests.pages.conftest import everything, figures, fine, headline, open_page, sentences

ZHANG_EXHIBITS = {BoundClaim[name]: exhibit for name, exhibit in MODULE.items()}

ASIA, _ = load_named("asia")
NODES = 8
UNKNOWN = re.compile(r"\b(nan|inf|-inf)\b", re.IGNORECASE)

LEMMA_3 = {"bounds.level": "12"}
"""Lemma 3 says nothing below L0, as at the usual level."""

AXES = {BoundClaim.RERUNS: {"bounds.axis": Axis.RUNS.value}}
"""The axis to ask for, where there are several."""

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

CORE: dict[BoundClaim, tuple[float, Callable[[float], Bound]]] = {
    BoundClaim.LEMMA_1: (1000, lambda _: updates.lemma_1(ASIA)),
    BoundClaim.COROLLARY_1: (2.5, lambda x: updates.corollary_1(ASIA, epsilon=x)),
    BoundClaim.RERUNS: (20, lambda x: stealth.rerun_bound(1.0, x)),
    BoundClaim.LEMMA_2: (
        5.0,
        lambda x: lipschitz.lemma_2([x * i / NODES for i in range(1, NODES + 1)], distances=[1.0] * NODES),
    ),
    BoundClaim.LEMMA_3: (16.0, lambda x: lipschitz.lemma_3([1.0] * NODES, start=10.0, at=x)),
    BoundClaim.APPENDIX_D: (4.0, lambda x: regression.appendix_d(20, norm_bound=x, features=5)),
    BoundClaim.GRADIENT: (4.0, lambda x: regression.gradient_norm(x, features=5)),
    BoundClaim.PROPORTIONAL: (4.0, lambda x: regression.proportionality(x)),
}
"""Where each curve is checked, and the bound there, of the core."""


def opened(claim: BoundClaim, **query: str) -> AppTest:
    return open_page("pages/bounds.py", None, **{"bounds.claim": claim.value, **query})


def traces(at: AppTest) -> dict[str, dict[str, Any]]:
    return {trace["name"]: trace for trace in figures(at)["bounds"]["data"]}


def at_x(trace: dict[str, Any], x: float) -> float:
    return float(trace["y"][trace["x"].index(x)])


def setting(**knobs: float) -> At:
    options = Settings()
    for name, value in knobs.items():
        options = options.with_parameter(f"bounds.{name}", value)
    return At((1.0,), 1, options.options("bounds"))


def kind(at: AppTest) -> None:
    """Check that the page says something plain: a headline, or one sentence in its place; and no number that is none.

    A figure's arrays are left out: they have gaps.
    """
    assert sentences(at) or headline(at).startswith("At ")
    assert len(sentences(at)) <= 1
    shown = everything(at).replace(repr(figures(at)), "")
    assert not UNKNOWN.search(shown), UNKNOWN.findall(shown)


@pytest.mark.parametrize("seat", ["curator", "recipient"])
@pytest.mark.parametrize("claim", ZHANG_EXHIBITS)
def test_it_opens_in_either_seat(claim: BoundClaim, seat: str) -> None:
    at = opened(claim, seat=seat)
    kind(at)
    assert not sentences(at)
    assert ZHANG_EXHIBITS[claim].uses is Uses.PUBLIC
    assert "Nothing here depends on the counts" in everything(at)


@pytest.mark.parametrize("claim", CORE)
def test_the_curves_are_the_core_s(claim: BoundClaim) -> None:
    x, bound = CORE[claim]
    drawn, expected = traces(opened(claim, **AXES.get(claim, {}))), bound(x)
    assert at_x(drawn["printed"], x) == pytest.approx(float(expected.printed), rel=1e-12)
    assert at_x(drawn["certified"], x) == pytest.approx(float(expected.certified), rel=1e-12)


def test_algorithm_3_is_shown_for_its_printed_score_a_density() -> None:
    """[Zhang16] Algorithm 3: the density's own sensitivity, here from its definition on a fine grid."""
    drawn = traces(opened(BoundClaim.ALGORITHM_3, **{"bounds.size": "6"}))
    x = 2.0
    assert at_x(drawn["printed"], x) == pytest.approx(math.sqrt(x))
    omega = 1 / (1 + math.exp(x))
    row = map.TrimmedRow(1.0, 1.0, omega, 6)
    assert at_x(drawn["certified"], x) == pytest.approx(row.density_sensitivity, rel=1e-9)
    theta = np.linspace(omega, 1 - omega, 100_001)
    powers = np.array([theta**k * (1 - theta) ** (6 - k) for k in range(7)])
    densities = powers / np.trapezoid(powers, theta)[:, None]
    assert row.density_sensitivity == pytest.approx(np.abs(np.diff(densities, axis=0)).max(), rel=1e-6)


@pytest.mark.parametrize(("claim", "knob"), [(c, knob) for c, each in ZHANG_EXHIBITS.items() for knob in each.knobs])
def test_every_knob_changes_the_picture_or_the_headline(claim: BoundClaim, knob: str) -> None:
    usual = LEMMA_3 if claim is BoundClaim.LEMMA_3 else {}
    before, after = opened(claim, **usual), opened(claim, **{**usual, knob: OTHERS[knob]})
    assert not sentences(after)
    assert (headline(before), figures(before)) != (headline(after), figures(after))


@pytest.mark.parametrize(("claim", "knob"), [(c, knob) for c, each in ZHANG_EXHIBITS.items() for knob in each.knobs])
def test_the_ends_of_every_knob_are_kind(claim: BoundClaim, knob: str) -> None:
    parameter = PARAMETERS.get(knob)
    ends = (parameter.low, parameter.high) if isinstance(parameter, Parameter) else (1e-3, 1e9)
    for end in ends:
        kind(opened(claim, **{knob: repr(end)}))


@pytest.mark.parametrize("claim", ZHANG_EXHIBITS)
def test_it_opens_on_a_network_that_is_not_binary(claim: BoundClaim) -> None:
    at = opened(claim, source="survey")
    kind(at)
    assert not sentences(at)


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
    drawn = traces(opened(claim, **query))
    exact = next(trace for name, trace in drawn.items() if name.startswith(("exact", "largest")))
    truth = dict(zip(exact["x"], exact["y"], strict=True))
    printed, certified = (
        dict(zip(drawn[name]["x"], drawn[name]["y"], strict=True)) for name in ("printed", "certified")
    )
    assert len(truth) >= 16
    assert all(y <= certified[x] * (1 + 1e-9) for x, y in truth.items())
    above = {x for x, y in truth.items() if printed[x] is not None and y > printed[x] * 1.001}
    assert bool(above) == violated
    red = drawn.get("printed, violated", {"x": [], "y": []})
    assert {x for x, y in zip(red["x"], red["y"], strict=True) if y is not None} == above


@pytest.mark.parametrize("claim", [claim for claim, exhibit in ZHANG_EXHIBITS.items() if exhibit.fails])
def test_where_it_fails_is_computed(claim: BoundClaim) -> None:
    at = opened(claim)
    at.session_state["bounds.fails"] = True
    fine(at.run())
    for make in ZHANG_EXHIBITS[claim].fails:
        found = make()
        assert found.refutes
        assert f"{found.truth:.6g}" in everything(at)


# What is said


def test_the_headlines() -> None:
    said = {claim: headline(opened(claim)) for claim in ZHANG_EXHIBITS}
    assert said[BoundClaim.LEMMA_1] == (
        "At n = 1,000, Lemma 1 as printed lets one record move all counts together by 16; the largest exact change is "
        "16: the printed one is tight."
    )
    assert "Corollary 1 as printed promises a privacy loss of 1 nat;" in said[BoundClaim.COROLLARY_1]
    assert said[BoundClaim.RERUNS].endswith("the printed one is 5 times the true one.")
    assert "by 16 nats; the largest exact move is 9" in said[BoundClaim.LEMMA_2]
    assert said[BoundClaim.ALGORITHM_3].endswith("and 3.94 is certified: refuted.")
    assert "(the norm of the gradient) as printed lets the gradient have a norm of 5.24" in said[BoundClaim.GRADIENT]
    assert said[BoundClaim.PROPORTIONAL].endswith("is 4: the printed one is tight.")


def test_lemma_3_says_nothing_below_its_start_and_what_is_exact_from_there_on() -> None:
    """[Zhang16] Lemma 3, at L0 = 10 and c = 1."""
    below = opened(BoundClaim.LEMMA_3, **{"bounds.level": "5"})
    assert headline(below).startswith("At L = 5, Lemma 3 as printed gives no number")
    assert headline(below).endswith("is certified.")
    assert next(m.value for m in below.metric if m.label == "Certified") == f"{NODES * math.exp(-5):.3g}"
    assert any(m.value.startswith("✗") and "at least L0" in m.value for m in below.markdown)
    assert "allows a prior mass of" in headline(opened(BoundClaim.LEMMA_3, **LEMMA_3))
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
        assert said.endswith("refuted." if bound.applies else "it fails, though not all of its conditions hold here.")


def test_without_records_none_can_be_replaced() -> None:
    """[Zhang16] Lemma 1."""
    assert "the largest exact change is 0" in headline(opened(BoundClaim.LEMMA_1, records="0"))


def test_more_records_than_the_core_goes_through_give_a_sentence() -> None:
    (sentence,) = sentences(opened(BoundClaim.ALGORITHM_3, **{"bounds.size": "5000"}))
    assert "records" in sentence


@pytest.mark.parametrize("axis", ZHANG_EXHIBITS[BoundClaim.RERUNS].axes)
def test_trying_again_is_drawn_against_both(axis: Axis) -> None:
    drawn = traces(opened(BoundClaim.RERUNS, **{"bounds.axis": axis.value}))
    assert len(drawn["printed"]["x"]) >= 20


# The truths, by independent routes


def test_lemma_1_the_largest_change_over_all_pairs_of_records() -> None:
    """[Zhang16] Lemma 1, by enumeration."""
    network = full(3)
    states = network.states
    every = [
        count(network, Dataset(network.names, states, np.array([codes], dtype=np.uint8))).values
        for codes in product(range(2), repeat=3)
    ]
    largest = max(np.abs(a - b).sum() for a in every for b in every)
    assert np.abs(moved_counts(network)).sum() == largest == float(updates.lemma_1(network).certified)


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 3.0])
def test_re_running_the_loss_of_the_first_success_by_its_law(epsilon: float) -> None:
    """[Zhang16] Section 3.2, Re-running: one run is epsilon-private, and what the first success shows is as said."""
    e, share = math.exp(epsilon), 0.01
    rare = 1e-2 / e
    first = np.array([share * rare, (1 - share) * rare])
    second = first * [1 / e, e]
    runs = [np.append(law, 1 - law.sum()) for law in (first, second)]
    assert np.abs(np.log(runs[0] / runs[1])).max() == pytest.approx(epsilon, rel=1e-9)
    # Run after run until the first success, summed.
    tries = np.arange(100_000)[:, None]
    for law, run in zip((first, second), runs, strict=True):
        np.testing.assert_allclose((law * run[2] ** tries).sum(axis=0), law / law.sum(), rtol=1e-6)
    loss = np.abs(np.log((first / first.sum()) / (second / second.sum()))).max()
    assert float(first_success_loss(np.array([epsilon]))[0]) == pytest.approx(loss, rel=1e-9)
    assert epsilon < loss < float(stealth.rerun_bound(epsilon, 2).certified)


def test_lemma_3_the_exact_mass_is_that_of_simulated_rates() -> None:
    """[Zhang16] Lemma 3: a false alarm in a billion."""
    at = setting(level=2.5, concentration=1.0, start=10.0)
    bound = ZHANG_EXHIBITS[BoundClaim.LEMMA_3].bound(Subject(ASIA, 1.0, None, None, 1), at)
    exact = float(mass_without(Subject(ASIA, 1.0, None, None, 1), at, bound).exact[0])
    draws = 100_000
    share = float((stream(1, "rates").exponential(size=(draws, NODES)).max(axis=1) > 2.5).mean())
    assert abs(share - exact) < 6.2 * math.sqrt(exact * (1 - exact) / draws)
    assert exact < bound.certified[0] == NODES * math.exp(-2.5)


@pytest.mark.parametrize(("norm_bound", "features"), [(0.3, 1), (0.3, 4), (1.0, 2), (3.0, 2), (3.0, 9)])
def test_appendix_d_the_pair_s_range_is_all_that_is_certified(norm_bound: float, features: int) -> None:
    """[Zhang16] Appendix D, corrected: reached by two records, and approached by a loss under one prior."""
    at = setting(norm_bound=norm_bound, noise_variance=2.0)
    found = float(worst_range(at, features=features)[0])
    certified = float(regression.appendix_d(1, norm_bound=norm_bound, features=features, noise_variance=2.0).certified)
    assert found == pytest.approx(certified, rel=1e-9)
    near = min(norm_bound, 1.0)
    ends = np.array([[-near, math.sqrt(norm_bound**2 - near**2)], [norm_bound, 0.0]])
    records = np.array([[1.0, 0.0], ends[0] / norm_bound])
    logs = -((-1 - ends @ records.T) ** 2) / 4  # (weights, records), y = -1
    prior = np.log([1e-12, 1 - 1e-12])
    posterior = logs + prior[:, None] - np.logaddexp(*(logs + prior[:, None]))
    assert float(np.abs(posterior[:, 0] - posterior[:, 1]).max()) == pytest.approx(found, rel=1e-6)


def test_appendix_d_one_feature_and_a_large_ball_is_a_true_loss_below_what_is_certified() -> None:
    """[Zhang16] Appendix D."""
    found = float(worst_range(setting(norm_bound=3.0), features=1)[0])
    assert found == pytest.approx(12.0)
    assert found < float(regression.appendix_d(1, norm_bound=3.0, features=1).certified)
