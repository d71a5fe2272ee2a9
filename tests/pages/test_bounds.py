"""The Bounds page: numbers are the core's, refusals are sentences, and the recipient sees nothing of the counts."""

import math
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.model.counts import Counts, count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.claims.text import number
from dpbayes.theory.index import EXHIBITS
from dpbayes.theory.zhang16 import largest_noise, sampling
from dpbayes.theory.zhang16.largest_noise import proposition_1
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.ui.session.link import query_of, settings_from
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.widgets import running
from tests.conftest import thorough
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    one_sentence,
    open_page,
    press,
    put,
    sentences,
    settings_of,
    stopped_at_the_second_picture,
)
from tests.pages.numbers import wrong_numbers

SHOWN = {BoundClaim[name]: exhibit for name, exhibit in EXHIBITS.items()}

PAGE = "pages/bounds.py"
ASIA, PUBLISHED = load_named("asia")


def asia_counts(n: int = 1000) -> Counts:
    return count(ASIA, sample_dataset(ASIA, PUBLISHED, n, stream(1, "records")))


def trace(at: AppTest, name: str) -> dict[str, Any]:
    return next(trace for trace in figures(at)["bounds"]["data"] if trace["name"] == name)


def without_link(at: AppTest) -> str:
    shown = everything(at)
    for code in at.code:
        shown = shown.replace(code.value, "")
    return shown


def opened(claim: BoundClaim, **query: str) -> AppTest:
    return open_page(PAGE, None, **{"bounds.claim": claim.value, **query})


def test_the_default_page_shows_theorem_1_of_the_core() -> None:
    at = open_page(PAGE)
    bound = posterior_kl(Dirichlets.symmetric(ASIA), asia_counts(), epsilon=1.0, delta=0.05).theorem
    assert f"Theorem 1 as printed allows a KL divergence of {bound.printed[0]:.3g} nats" in headline(at)
    assert f"the certified bound is {bound.certified[0]:.3g}" in headline(at)
    curve = trace(at, "certified")
    k = curve["x"].index(1.0)
    assert math.isclose(curve["y"][k], bound.certified[0], rel_tol=1e-9)
    assert any("false as printed" in m.value for m in at.markdown)
    assert any(m.value.startswith("✗") and "at least 2" in m.value for m in at.markdown)


def test_theorem_1_is_refuted_where_its_conditions_hold() -> None:
    """[Zhang16] Theorem 1 on a real table with a prior of 2: the printed curve is red at small epsilon."""
    at = open_page(PAGE, epsilon="0.1", prior="2")
    assert headline(at).endswith("refuted.")
    red = [y for y in trace(at, "printed, violated")["y"] if y is not None]
    assert red


def test_a_claim_that_is_shown_for_one_row_says_which() -> None:
    at = opened(BoundClaim.LEMMA_4)
    assert headline(at).startswith("At ε = 1, Lemma 4 as printed, for the row of asia, says nothing")


PAPERS = {"ALT_": "of ALT 2014 as printed", "NOTES_": "of the Notes as printed"}
"""What the headline says of a claim of which paper; of the first paper's it says no more than their names."""

UNKNOWN = re.compile(r"\b(nan|inf|None)\b")


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("claim", thorough(BoundClaim, sample=list(BoundClaim)[::2]))
def test_every_claim_has_a_headline_and_no_sentence(claim: BoundClaim) -> None:
    """Curves to their last point, along every axis, are tested without a page."""
    at = opened(claim)
    assert not sentences(at)
    said = next((words for start, words in PAPERS.items() if claim.name.startswith(start)), " as printed")
    assert headline(at).startswith("At ")
    assert said in headline(at)
    assert ("Nothing here depends on the counts" in everything(at)) == (SHOWN[claim].uses is Uses.PUBLIC)
    assert not UNKNOWN.search(without_link(at).replace(repr(figures(at)), "")), "a figure's arrays have gaps"
    assert not wrong_numbers(at)


@pytest.mark.parametrize("claim", [claim for claim in BoundClaim if SHOWN[claim].uses is Uses.COUNTS])
def test_the_recipient_does_not_see_what_depends_on_the_counts(claim: BoundClaim) -> None:
    at = opened(claim, seat="recipient")
    assert not figures(at)
    assert "only the curator" in at.info[0].value
    assert "Proposition 1" in at.info[0].value


FOR_ALL = [claim for claim in BoundClaim if SHOWN[claim].uses is not Uses.COUNTS]
SIMULATED = [claim for claim in FOR_ALL if SHOWN[claim].uses is Uses.SIMULATION]


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("claim", thorough(FOR_ALL, sample=dict.fromkeys([*SIMULATED, *FOR_ALL[::6]])))
def test_the_recipient_sees_the_same_whatever_the_records_are(
    claim: BoundClaim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "NOTICED", math.inf)  # whether there is a bar depends on the time, not on the records
    first, second = (opened(claim, seat="recipient", data_seed=seed) for seed in ("1", "2"))
    assert headline(first).startswith("At ")
    assert "Nothing here depends on the counts" in everything(first)
    assert figures(first)
    assert without_link(first) == without_link(second)


ANOTHER_AXIS = [(claim, axis) for claim, exhibit in SHOWN.items() for axis in exhibit.axes[1:]]


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    ("claim", "axis"), thorough(ANOTHER_AXIS, sample={axis: (claim, axis) for claim, axis in ANOTHER_AXIS}.values())
)
def test_every_axis_is_drawn_and_has_a_control(claim: BoundClaim, axis: Axis) -> None:
    """Every axis of every claim is tested without a page."""
    at = opened(claim, **{"bounds.axis": axis.value})
    assert figures(at)["bounds"]["layout"]["xaxis"]["title"]["text"] == axis.title
    assert any(y is not None for y in trace(at, "printed")["y"])
    assert f"At {axis.symbol} = " in headline(at)
    assert at.segmented_control(key=f"bounds.axis.{claim.name}").value == axis


def test_an_axis_that_a_claim_does_not_have_gives_its_usual_one() -> None:
    at = opened(BoundClaim.THEOREM_4_1, **{"bounds.axis": "δ"})
    assert headline(at).startswith("At ω = 0.1")
    assert settings_of(at).options("bounds").axis is Axis.DELTA


def test_moving_epsilon_moves_the_marker_and_simulates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(BoundClaim.PROPOSITION_1)
    before = trace(at, "printed")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(largest_noise, "largest_noise", refuse)
    fine(at.select_slider(key="parameter.epsilon").set_value(10.0).run())
    assert trace(at, "printed") == before
    here = trace(at, "here: 10")
    bound = proposition_1(ASIA, epsilon=[10.0], delta=0.05)
    np.testing.assert_allclose(here["y"], [bound.certified[0], bound.printed[0]])
    assert headline(at).startswith("At ε = 10, Proposition 1")


@pytest.mark.usefixtures("first_look")
def test_a_bad_delta_gives_one_sentence_and_keeps_the_last() -> None:
    at, kept = open_page(PAGE), "0.05"
    for place, bad in enumerate(("0", "1", "-1", "2", "nan", "text", "", "<b>")):
        put(at, "box.bounds.delta", bad)
        one_sentence(at, f"Kept {kept}.")
        assert headline(at).startswith("At ε = 1")
        kept = f"0.1{place + 1}"
        assert not sentences(put(at, "box.bounds.delta", kept))


def test_a_hostile_link_is_ignored_in_part() -> None:
    bad = {"bounds.delta": "0", "bounds.claim": "<script>", "bounds.axis": "x", "bounds.t": "1e99"}
    at = open_page(PAGE, None, **bad)
    assert settings_of(at).parameters == ()
    assert headline(at).startswith("At ε = 1, Theorem 1")


def test_the_link_reopens_the_view() -> None:
    at = put(opened(BoundClaim.THEOREM_3, **{"bounds.axis": "t"}), "box.bounds.delta", "0.2")
    again, problems = settings_from(query_of(settings_of(at)))
    assert not problems
    assert again == settings_of(at)


def test_no_records_give_a_sentence_and_the_rest_stays() -> None:
    at = open_page(PAGE, records="0")
    one_sentence(at, "no records")
    assert at.text_input(key="box.epsilon").value == "1"
    assert headline(opened(BoundClaim.PROPOSITION_1, records="0"))


@pytest.mark.parametrize("claim", [BoundClaim.COROLLARY_2, BoundClaim.THEOREM_3, BoundClaim.COROLLARY_3])
def test_fourier_on_a_network_that_is_not_binary_gives_a_sentence(claim: BoundClaim) -> None:
    one_sentence(opened(claim, source="survey"), "binary")


def test_a_network_that_is_not_binary_is_a_cross_not_an_error() -> None:
    at = open_page(PAGE, source="survey")
    assert not sentences(at)
    assert any(m.value.startswith("✗") and "binary" in m.value for m in at.markdown)


def test_an_upload_that_is_not_here_gives_a_sentence() -> None:
    at = open_page(PAGE, data="upload")
    assert sentences(at)
    assert not figures(at)


def test_a_rare_quantile_is_not_made_up() -> None:
    at = opened(BoundClaim.PROPOSITION_1, **{"bounds.delta": "0.000001"})
    assert "Too few to tell" in everything(at)
    assert "simulated releases stay below" not in headline(at)


def test_counterexamples_are_computed_once_asked_for() -> None:
    """[Zhang16] Appendix C.2, shown failing."""
    at = opened(BoundClaim.APPENDIX_C2, epsilon="4")
    assert "times as much" in headline(at)
    at.session_state["bounds.fails"] = True
    fine(at.run())
    truth = sampling.counterexample_appendix_c_2().truth
    assert f"{truth:.6g}" in everything(at)


@pytest.mark.parametrize("claim", [claim for claim, exhibit in SHOWN.items() if exhibit.fails])
def test_every_counterexample_refutes(claim: BoundClaim) -> None:
    for make in SHOWN[claim].fails:
        figure = make()
        assert figure.refutes
        assert figure.claim.verdict in (Verdict.FALSE, Verdict.UNCLEAR, Verdict.AMENDED, Verdict.VACUOUS)


def test_table_1_hides_from_the_recipient_what_depends_on_the_counts() -> None:
    shown = {}
    for seat in ("curator", "recipient"):
        at = open_page(PAGE, seat=seat)
        at.session_state["bounds.table1"] = True
        fine(at.run())
        frame = next(f.value for f in at.dataframe if "mechanism" in f.value.columns)
        shown[seat] = frame.set_index("mechanism")
    assert list(shown["curator"].index) == ["Laplace", "Fourier", "Sampler", "MAP"]
    hidden = shown["recipient"]["utility, printed"] == "curator only"
    assert list(hidden) == [True, False, False, True]
    assert not (shown["curator"]["utility, printed"] == "curator only").any()


def test_long_work_shows_what_is_in_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = stopped_at_the_second_picture(monkeypatch)
    at = open_page(PAGE)
    assert seen == [[1], [2]]
    assert [p.proto.text for p in at.get("progress")] == ["Stopped after 11 points of the curves."]
    assert len(trace(at, "certified")["x"]) == 11
    press(at, "Go on")
    assert not [button for button in at.button if button.label in ("Go on", "Stop")]
    epsilons = trace(at, "certified")["x"]
    assert len(epsilons) == 41
    assert epsilons == sorted(epsilons), "a line through points in another order would run back and forth"
    bound = posterior_kl(Dirichlets.symmetric(ASIA), asia_counts(), epsilon=epsilons, delta=0.05).theorem
    assert trace(at, "certified")["y"] == pytest.approx(bound.certified, rel=1e-9)


def test_a_moving_epsilon_repeats_no_work() -> None:
    at = open_page(PAGE)
    (work,) = at.session_state["bounds.running"].values()
    parts = work.so_far
    fine(at.select_slider(key="parameter.epsilon").set_value(0.5).run())
    assert list(at.session_state["bounds.running"].values()) == [work]
    assert all(a is b for a, b in zip(work.so_far, parts, strict=True))


@pytest.mark.parametrize(
    ("claim", "query", "said"),
    [
        (BoundClaim.PROPOSITION_1, {}, "of simulated releases stay below 107 (104 to 110)"),
        (BoundClaim.THEOREM_1, {"epsilon": "0.1", "prior": "2"}, "(± 0.68) of simulated ones do: refuted."),
        (BoundClaim.ORDER, {"prior": "2", "epsilon": ".01", "records": "5"}, "where the paper leaves it open."),
        (BoundClaim.COROLLARY_3, {"bounds.t": "20"}, "less than 10⁻³⁰⁰ is certified"),
        (BoundClaim.COROLLARY_4, {}, "the exact loss of one pair of tables is 4.2, and 7.43 is certified: refuted."),
    ],
)
def test_the_headline_says_how_sure_it_is(claim: BoundClaim, query: dict[str, str], said: str) -> None:
    assert said in headline(opened(claim, **query))


@pytest.mark.usefixtures("first_look")
def test_theorem_1_names_every_proved_bound() -> None:
    """[Zhang16] Theorem 1: printed, with c squared, and sharper; which of them is the certified one."""
    tails = posterior_kl(Dirichlets.symmetric(ASIA), asia_counts(), epsilon=1.0, delta=0.05).tails
    shown = everything(open_page(PAGE))
    for value in (tails.mcdiarmid, tails.chernoff, tails.quantile, tails.largest):
        assert number(float(value[0])) in shown
    assert "dominates every row's, convolved" in shown
    assert f"the certified bound is {tails.mcdiarmid[0]:,.0f}" in headline(opened(BoundClaim.C_SQUARED))
    large = everything(open_page(PAGE, source="win95pts", records="1000"))
    assert "Chernoff's bound stands in" in large
    assert "convolved: $" not in large


def test_a_row_of_too_many_records_is_refused_with_a_way_out() -> None:
    one_sentence(opened(BoundClaim.COROLLARY_4, records="5000"), "Choose a smaller table")


def test_table_1_follows_the_prior_and_says_what_is_missing() -> None:
    at = open_page(PAGE, prior="100", records="2001")
    at.session_state["bounds.table1"] = True
    fine(at.run())
    assert "MAP is not in the table: its sensitivity" in everything(at)
    sampler = (
        next(f.value for f in at.dataframe if "mechanism" in f.value.columns).set_index("mechanism").loc["Sampler"]
    )
    bound = sampling.theorem_4_2(ASIA, prior=100.0, start=10.0)
    assert f"(certified {float(bound.certified):.3g}) total variation" in sampler["privacy, printed"]
