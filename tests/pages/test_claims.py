"""The Claims page: every claim is listed and opens with its picture; numbers are the core's; both seats see theirs."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.base.references import PAPERS
from dpbayes.base.text import numeral
from dpbayes.mechanisms import MapExponential
from dpbayes.model.counts import Counts, count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.theory.claims.claim import Verdict, number
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.index import CLAIMS, EXHIBITS, counterexamples_of
from dpbayes.theory.zhang16 import largest_noise, sampling
from dpbayes.theory.zhang16.largest_noise import proposition_1
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.ui.pages.claims.page import matches, open_cells
from dpbayes.ui.pages.claims.selection import BOUNDS
from dpbayes.ui.session.current import current
from dpbayes.ui.session.options.research import BoundClaim, ClaimShown, CompareView, PaperShown
from dpbayes.ui.session.settings import Seat
from dpbayes.ui.widgets import running
from dpbayes.ui.widgets.show import inside
from tests.conftest import thorough
from tests.pages.claims import curves, opened
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
    stopped_at_the_second_picture,
    unfold,
)
from tests.pages.numbers import wrong_numbers

SHOWN = {BoundClaim[name]: exhibit for name, exhibit in EXHIBITS.items()}

PAGE = "pages/claims.py"
ASIA, PUBLISHED = load_named("asia")


def asia_counts(n: int = 1000) -> Counts:
    return count(ASIA, sample_dataset(ASIA, PUBLISHED, n, stream(1, "records")))


def without_link(at: AppTest) -> str:
    shown = everything(at)
    for code in at.code:
        shown = shown.replace(code.value, "")
    return shown


def test_the_page_opens_on_a_claim_that_fails_where_it_is_set() -> None:
    for seat in ("curator", "recipient"):
        at = open_page(PAGE, seat=seat)
        assert headline(at).startswith("Corollary 4 fails: it states a privacy loss of at most 1 nat, but ")
        assert curves(at)["as stated, exceeded"]
        assert f"This claim is about {inside(MapExponential.label)}; the mechanism chosen is Laplace." in everything(at)
    large = open_page(PAGE, records="5000")
    assert headline(large).startswith("Theorem 1(ii) of ALT 2014 fails"), "its table may be of any size"


def test_theorem_1_is_that_of_the_core() -> None:
    at = opened(BoundClaim.THEOREM_1)
    bound = posterior_kl(Dirichlets.symmetric(ASIA), asia_counts(), epsilon=1.0, delta=0.05).theorem
    assert f"it states a KL divergence of at most {bound.printed[0]:.3g} nats, and the simulated" in headline(at)
    assert next(m.value for m in at.metric if m.label == "Proved") == f"{bound.certified[0]:.3g}"
    curve = curves(at)["proved"]
    k = curve["x"].index(1.0)
    assert math.isclose(curve["y"][k], bound.certified[0], rel_tol=1e-9)
    assert any(":red[**Fails.**]" in m.value for m in at.markdown)
    assert any(m.value.startswith("✗") and "at least 2" in m.value for m in at.markdown)


def test_theorem_1_is_refuted_where_its_conditions_hold() -> None:
    """[Zhang16] Theorem 1 on a real table with a prior of 2: the printed curve is red at small epsilon."""
    at = opened(BoundClaim.THEOREM_1, epsilon="0.1", prior="2")
    assert headline(at).startswith("Theorem 1 fails: ")
    assert headline(at).endswith("of simulated releases exceed its bound, which allows 5%.")
    red = [y for y in curves(at)["as stated, exceeded"]["y"] if y is not None]
    assert red


def test_a_claim_that_is_shown_for_one_row_says_which() -> None:
    at = opened(BoundClaim.LEMMA_4)
    assert headline(at).startswith("Lemma 4, for the row of asia, is vacuous here: it bounds a probability of ")


"""What the headline says of a claim of which paper; of the first paper's it says no more than their names."""

UNKNOWN = re.compile(r"\b(nan|inf|None)\b")


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("claim", thorough(BoundClaim, sample=list(BoundClaim)[::2]))
def test_every_claim_has_a_headline_and_no_sentence(claim: BoundClaim) -> None:
    """Curves to their last point, along every axis, are tested without a page."""
    at = opened(claim)
    assert not sentences(at)
    assert headline(at).startswith(SHOWN[claim].claim.reference.in_words)
    assert ("Nothing here depends on the counts" in everything(at)) == (SHOWN[claim].uses is Uses.PUBLIC)
    assert not UNKNOWN.search(without_link(at).replace(repr(figures(at)), "")), "a figure's arrays have gaps"
    assert not wrong_numbers(at)


@pytest.mark.parametrize("claim", [claim for claim in BoundClaim if SHOWN[claim].uses is Uses.COUNTS])
def test_the_recipient_does_not_see_what_depends_on_the_counts(claim: BoundClaim) -> None:
    at = opened(claim, seat="recipient")
    assert not figures(at)
    assert "only the curator" in at.info[0].value
    assert not at.metric
    assert SHOWN[claim].claim.verdict.value in headline(at)


FOR_ALL = [claim for claim in BoundClaim if SHOWN[claim].uses is not Uses.COUNTS]
SIMULATED = [claim for claim in FOR_ALL if SHOWN[claim].uses is Uses.SIMULATION]


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("claim", thorough(FOR_ALL, sample=dict.fromkeys([*SIMULATED, *FOR_ALL[::6]])))
def test_the_recipient_sees_the_same_whatever_the_records_are(
    claim: BoundClaim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "NOTICED", math.inf)  # whether there is a bar depends on the time, not on the records
    first, second = (opened(claim, seat="recipient", data_seed=seed) for seed in ("1", "2"))
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
    assert any(y is not None for y in curves(at)["as stated in the paper"]["y"])
    assert at.segmented_control(key=f"bounds.axis.{claim.name}").value == axis


def test_an_axis_that_a_claim_does_not_have_gives_its_usual_one() -> None:
    at = opened(BoundClaim.THEOREM_4_1, **{"bounds.axis": "δ"})
    assert figures(at)["bounds"]["layout"]["xaxis"]["title"]["text"] == Axis.OMEGA.title
    assert settings_of(at).options("bounds").axis is Axis.DELTA


def test_moving_epsilon_moves_the_marker_and_simulates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(BoundClaim.PROPOSITION_1)
    before = curves(at)["as stated in the paper"]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(largest_noise, "largest_noise", refuse)
    fine(at.select_slider(key="parameter.epsilon").set_value(10.0).run())
    assert curves(at)["as stated in the paper"] == before
    here = curves(at)["chosen value"]
    bound = proposition_1(ASIA, epsilon=[10.0], delta=0.05)
    np.testing.assert_allclose(here["y"], [bound.certified[0], bound.printed[0]])
    assert "Proposition 1 " in headline(at)


def test_a_hostile_link_is_ignored_in_part() -> None:
    bad = {"bounds.delta": "0", "bounds.claim": "<script>", "bounds.axis": "x", "bounds.t": "1e99"}
    at = open_page(PAGE, None, **bad)
    assert settings_of(at).parameters == ()
    assert headline(at).startswith("Corollary 4 fails")


def test_no_records_give_a_sentence_and_the_rest_stays() -> None:
    at = opened(BoundClaim.THEOREM_1, records="0")
    one_sentence(at, "no records")
    assert at.text_input(key="box.epsilon").value == "1"
    assert headline(opened(BoundClaim.PROPOSITION_1, records="0"))


@pytest.mark.parametrize("claim", [BoundClaim.COROLLARY_2, BoundClaim.THEOREM_3, BoundClaim.COROLLARY_3])
def test_fourier_on_a_network_that_is_not_binary_gives_a_sentence(claim: BoundClaim) -> None:
    one_sentence(opened(claim, source="survey"), "binary")


def test_a_network_that_is_not_binary_is_a_cross_not_an_error() -> None:
    at = opened(BoundClaim.THEOREM_1, source="survey")
    assert not sentences(at)
    assert any(m.value.startswith("✗") and "binary" in m.value for m in at.markdown)


def test_a_rare_quantile_is_not_made_up() -> None:
    at = opened(BoundClaim.PROPOSITION_1, **{"bounds.delta": "0.000001"})
    assert "There are too few simulations" in everything(at)
    assert "the proved bound is" in headline(at)


def test_table_1_hides_from_the_recipient_what_depends_on_the_counts() -> None:
    shown = {}
    for seat in ("curator", "recipient"):
        at = opened(BoundClaim.LEMMA_1, seat=seat)
        unfold(at, "bounds.table1")
        frame = next(f.value for f in at.dataframe if "mechanism" in f.value.columns)
        shown[seat] = frame.set_index("mechanism")
    assert list(shown["curator"].index) == ["Laplace", "Fourier", "Sampler", "MAP"]
    hidden = shown["recipient"]["utility, as stated"] == "curator only"
    assert list(hidden) == [True, False, False, True]
    assert not (shown["curator"]["utility, as stated"] == "curator only").any()


def test_long_work_shows_what_is_in_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = stopped_at_the_second_picture(monkeypatch)
    at = opened(BoundClaim.THEOREM_1)
    assert seen == [[1], [2]]
    assert [p.proto.text for p in at.get("progress")] == ["Stopped after 11 points of the curves."]
    assert len(curves(at)["proved"]["x"]) == 11
    press(at, "Continue")
    assert not [button for button in at.button if button.label in ("Continue", "Stop")]
    epsilons = curves(at)["proved"]["x"]
    assert len(epsilons) == 41
    assert epsilons == sorted(epsilons), "a line through points in another order would run back and forth"
    bound = posterior_kl(Dirichlets.symmetric(ASIA), asia_counts(), epsilon=epsilons, delta=0.05).theorem
    assert curves(at)["proved"]["y"] == pytest.approx(bound.certified, rel=1e-9)


def test_a_moving_epsilon_repeats_no_work() -> None:
    at = opened(BoundClaim.THEOREM_1)
    (work,) = at.session_state["bounds.running"].values()
    parts = work.so_far
    fine(at.select_slider(key="parameter.epsilon").set_value(0.5).run())
    assert list(at.session_state["bounds.running"].values()) == [work]
    assert all(a is b for a, b in zip(work.so_far, parts, strict=True))


@pytest.mark.parametrize(
    ("claim", "query", "said"),
    [
        (BoundClaim.PROPOSITION_1, {}, "at most 105 records on a count, and the simulated quantile is 107."),
        (
            BoundClaim.THEOREM_1,
            {"epsilon": "0.1", "prior": "2"},
            "of simulated releases exceed its bound, which allows 5%.",
        ),
        (
            BoundClaim.ORDER,
            {"prior": "2", "epsilon": ".01", "records": "5"},
            "is exceeded with the constant 1, which the paper leaves open: ",
        ),
        (BoundClaim.COROLLARY_3, {"bounds.t": "20"}, "and the proved bound is less than 10⁻³⁰⁰."),
        (BoundClaim.COROLLARY_4, {}, "but the exact loss of one pair of tables is 4.2."),
    ],
)
def test_the_headline_says_how_sure_it_is(claim: BoundClaim, query: dict[str, str], said: str) -> None:
    assert said in headline(opened(claim, **query))


@pytest.mark.usefixtures("first_look")
def test_theorem_1_names_every_proved_bound() -> None:
    """[Zhang16] Theorem 1: printed, with c squared, and sharper; which of them is the proved one."""
    tails = posterior_kl(Dirichlets.symmetric(ASIA), asia_counts(), epsilon=1.0, delta=0.05).tails
    shown = everything(opened(BoundClaim.THEOREM_1))
    for value in (tails.mcdiarmid, tails.chernoff, tails.quantile, tails.largest):
        assert number(float(value[0])) in shown
    assert "convolution of a distribution that dominates those of all rows" in shown
    assert f"{tails.mcdiarmid[0]:,.0f}" in [metric.value for metric in opened(BoundClaim.C_SQUARED).metric]
    large = everything(opened(BoundClaim.THEOREM_1, source="win95pts", records="1000"))
    assert "Chernoff's bound is used instead" in large
    assert "convolved: $" not in large


def test_a_row_of_too_many_records_is_refused_with_a_way_out() -> None:
    one_sentence(opened(BoundClaim.COROLLARY_4, records="5000"), "Choose a smaller table")


def test_table_1_follows_the_prior_and_says_what_is_missing() -> None:
    at = opened(BoundClaim.LEMMA_1, prior="100", records="2001")
    unfold(at, "bounds.table1")
    assert "MAP is not in the table: its sensitivity" in everything(at)
    sampler = (
        next(f.value for f in at.dataframe if "mechanism" in f.value.columns).set_index("mechanism").loc["Sampler"]
    )
    bound = sampling.theorem_4_2(ASIA, prior=100.0, start=10.0)
    assert f"(proved {float(bound.certified):.3g}) total variation" in sampler["privacy, as stated"]


def test_where_the_stated_bound_is_exceeded_is_a_click_away() -> None:
    at = press(opened(BoundClaim.THEOREM_1), "Show where the bound is exceeded (ε = 0.32)")
    assert settings_of(at).parameter("epsilon") == 0.32
    assert "outside its conditions: " in headline(at)
    assert not any(button.key == "claims.exceeded" for button in at.button)


def test_a_claim_about_the_mechanism_that_is_chosen_says_nothing_of_another() -> None:
    other = "This claim is about Laplace; the mechanism chosen is Fourier."
    assert other in everything(opened(BoundClaim.COROLLARY_1, mechanism="LaplaceFourier"))
    assert "This claim is about" not in everything(opened(BoundClaim.COROLLARY_1))


# The list


def listed(at: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in at.dataframe if "verdict" in frame.value)


def claim_opened(place: str, **query: str) -> AppTest:
    return open_page(PAGE, None, **{"papers.claim": place, **query})


@pytest.mark.parametrize("seat", Seat)
def test_all_claims_are_listed_for_both_seats(seat: Seat) -> None:
    table = listed(open_page(PAGE, seat=seat.value))
    assert list(table["place"]) == [claim.reference.place for claim in CLAIMS]
    assert list(table["statement"]) == [claim.title for claim in CLAIMS]
    fails = sum(claim.verdict is Verdict.FALSE for claim in CLAIMS)
    assert sum(verdict.endswith("fails") for verdict in table["verdict"]) == fails


def test_words_and_a_paper_narrow_the_list_and_the_claim_that_is_shown_stays() -> None:
    at = put(claim_opened("[Zhang16] Theorem 3"), "papers.search", "LEMMA fails")
    matching = [claim for claim in CLAIMS if matches(claim, "lemma fails")]
    assert list(listed(at)["place"]) == [claim.reference.place for claim in matching]
    assert 0 < len(matching) < len(CLAIMS)
    at = fine(at.selectbox(key="parameter.papers.paper").set_value(PaperShown.Notes).run())
    assert set(listed(at)["paper"]) == {"Notes"}
    assert headline(at).startswith("Theorem 3")
    at = put(at, "papers.search", "zzz [no](claim)")
    assert 'No claim matches "zzz [no](claim)".' in [plain(caption.value) for caption in at.caption]
    assert len(listed(at)) > 1


def marked(at: AppTest) -> list[str]:
    """Return the places of the claims whose rows are marked in the list."""
    key = next(frame.proto.id for frame in at.dataframe if "verdict" in frame.value).partition("papers-rows-")
    cells = at.session_state["".join(key[1:])]["selection"]["cells"]
    return [listed(at)["place"].iloc[row] for row, _ in cells]


def test_the_row_of_the_claim_that_is_shown_is_marked() -> None:
    at = claim_opened("[Zhang16] Theorem 3")
    assert marked(at) == ["Theorem 3"]
    at = fine(at.selectbox(key="parameter.papers.claim").set_value(list(ClaimShown)[-1]).run())
    assert marked(at) == [CLAIMS[-1].reference.place]
    assert marked(put(at, "papers.search", "theorem 4 fails")) == []


def test_a_cell_that_is_picked_opens_its_claim(session: dict[str, object]) -> None:
    options = list(ClaimShown)[:9]
    for cells, picked in (([(4, "place")], options[4]), ([], options[4]), ([(8, "statement")], options[8])):
        open_cells(options, cells)
        assert current().options("papers").claim is picked


def test_another_claim_is_picked_from_its_box() -> None:
    at = open_page(PAGE)
    box = at.selectbox(key="parameter.papers.claim")
    lemma = next(option for option in ClaimShown if option.value == "[Zhang16] Lemma 1")
    assert headline(fine(box.set_value(lemma).run())).startswith("Lemma 1 is tight here")


# Claims of every kind


@pytest.mark.parametrize(
    "verdict", sorted({claim.verdict for claim in CLAIMS if not BOUNDS[claim]}, key=list(Verdict).index)
)
def test_a_claim_of_every_verdict_opens_and_only_what_fails_is_red(verdict: Verdict) -> None:
    claim = next(claim for claim in CLAIMS if claim.verdict is verdict and not BOUNDS[claim])
    at = claim_opened(str(claim.reference), data="upload")
    assert not sentences(at), "it needs no table"
    (said,) = (m.value for m in at.markdown if m.value.endswith(claim.finding))
    assert claim.title in said
    assert (":red[" in said) == (verdict is Verdict.FALSE)
    assert verdict.value in headline(at)


def test_every_counterexample_refutes_and_is_shown_with_its_claim() -> None:
    for claim in CLAIMS:
        for example in counterexamples_of(claim):
            assert example.refutes
            assert claim.verdict in (Verdict.FALSE, Verdict.UNCLEAR, Verdict.AMENDED, Verdict.VACUOUS)
    at = claim_opened("[Zhang16] Lemma A.3")
    (text,) = (m.value for m in at.markdown if m.value.startswith("**Where it fails**"))
    for example in counterexamples_of(next(c for c in CLAIMS if str(c.reference) == "[Zhang16] Lemma A.3")):
        assert f"the true value is **{numeral(example.truth)}**, the paper states {numeral(example.printed)}" in text


def test_a_value_that_is_not_proved_is_unknown() -> None:
    claim = next(c for c in CLAIMS if any(math.isnan(example.certified) for example in counterexamples_of(c)))
    assert "the proved bound is unknown" in everything(claim_opened(str(claim.reference)))


def test_a_claim_leads_to_the_page_that_is_about_it() -> None:
    led = {claim.page: claim for claim in CLAIMS if claim.page}
    assert len(led) >= 3
    for page, claim in led.items():
        title, _, view = page.partition(": ")
        at = press(claim_opened(str(claim.reference)), f"Open {page}")
        assert at.title[0].value == title
        assert not view or settings_of(at).options("compare").view is CompareView(view)


def test_every_paper_is_cited_in_bibtex_and_every_claim_has_its_code_and_its_tests() -> None:
    at = claim_opened("[Notes] Section 2.2")
    (cited,) = (code.value for code in at.code if code.value.startswith("@"))
    assert cited == PAPERS["Notes"].bibtex.strip()
    assert any("dpbayes/theory/notes/mechanisms.py" in m.value for m in at.markdown)
    assert any("unpublished manuscript" in caption.value for caption in at.caption)


def test_the_verdicts_by_paper_count_every_claim() -> None:
    at = claim_opened("[Zhang16] Lemma 1")
    at.session_state["papers.overview"] = True
    drawn = {bar["name"]: sum(bar["x"]) for bar in figures(fine(at.run()))["papers.verdicts"]["data"]}
    assert {name.partition(" ")[2]: total for name, total in drawn.items()} == {
        v.value: sum(claim.verdict is v for claim in CLAIMS) for v in Verdict
    }


def test_an_unknown_claim_in_the_link_is_one_sentence() -> None:
    one_sentence(open_page("pages/home.py", **{"papers.claim": "[Zhang16] Theorem 99"}), "papers.claim")
