"""The Proofs page: it opens in both seats, its controls set what they should, and bad input has its sentence."""

import re
from collections import Counter
from math import exp
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.audit.registry import audit
from dpbayes.base.looks import INVALID
from dpbayes.base.text import numeral_above
from dpbayes.experiments.claims import MAIN, BoundClaim, ClaimShown, bounds_of, claim_of, digits_apart, shown_as
from dpbayes.mechanisms import OF_RECORDS, LaplaceUpdates
from dpbayes.mechanisms.die.hellinger import HellingerLocal
from dpbayes.posteriors.hellinger import Die
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.index import CLAIMS, EXHIBITS, counterexamples_of
from dpbayes.ui.pages.proofs_claims import claim_place
from dpbayes.ui.pages.proofs_mechanism import ANSWERS, EXAMPLES
from dpbayes.ui.session.graphs import Graph, code_of
from dpbayes.ui.session.link import query_of, settings_from
from dpbayes.ui.session.options import AuditSubject, Experiment, ProofsView
from dpbayes.ui.session.settings import Seat
from tests.conftest import crossed, thorough
from tests.pages.screen import (
    boards,
    everything,
    fine,
    frame_of,
    headline,
    one_sentence,
    open_page,
    plain,
    press,
    sentences,
    settings_of,
    unfold,
)

PAGE = "pages/proofs.py"
CLAIMS_VIEW = {"proofs.view": ProofsView.CLAIMS.value}


def board(at: AppTest) -> dict[str, Any]:
    (only,) = boards(at)
    return only


def audited(subject: AuditSubject, **query: str) -> AppTest:
    return open_page(PAGE, **{"audit.subject": subject.value, **query})


def claim_opened(claim: str, **query: str) -> AppTest:
    return open_page(PAGE, **CLAIMS_VIEW, **{"proofs.claim": claim, **query})


# This mechanism

WITH_A_CURVE = [subject for subject in AuditSubject if subject not in {AuditSubject[k.__name__] for k in OF_RECORDS}]


@pytest.mark.parametrize(("subject", "seat"), crossed(WITH_A_CURVE, list(Seat), times=1))
def test_every_mechanism_has_its_board_in_both_seats(subject: AuditSubject, seat: Seat) -> None:
    at = audited(subject, seat=seat.value)
    assert not sentences(at)
    assert set(frame_of(board(at))["figures"]) == {"verdict", "worst", "guesses"}


def test_an_audit_depends_on_n_alone() -> None:
    one, other = (open_page(PAGE, data_seed=str(seed), seat=seat) for seed, seat in ((1, "curator"), (2, "recipient")))
    assert str(boards(one)) == str(boards(other))
    assert "tables of 50 records for the Asia network" in str(board(open_page(PAGE, records="50")))
    assert "for a network of 5 nodes" in str(board(open_page(PAGE, source="bayes:4")))


def test_the_page_opens_on_the_mechanism_of_explore() -> None:
    at = open_page(PAGE)
    assert headline(at).endswith("belief about one person can rise to at most 23.2%, as the stated ε allows.")
    unfold(at, "audit.details")
    text = everything(at)
    report = audit(LaplaceUpdates(prior=load_named("asia")[0], epsilon=1.0), n=1000, epsilons=[])
    assert report.worst is not None
    assert plain(report.worst.output) in plain(text)
    assert r"\delta(1) = 0$" in text
    assert "Mironov" not in text, "a real release adds whole numbers"


@pytest.mark.parametrize("case", list(EXAMPLES))
def test_an_example_is_a_click_away_and_leaves_the_mechanism_as_it_is(case: str) -> None:
    at = press(open_page(PAGE), case)
    assert headline(at).startswith(f"{case} {ANSWERS[case][0]}: a 10% belief about one person can rise to ")
    assert [name for name, _ in settings_of(at).parameters] == ["audit.example", "audit.subject"]
    query = query_of(settings_of(at))
    assert settings_from(query) == (settings_of(at), ())
    assert headline(open_page(PAGE, **query)) == headline(at)
    corrected = press(open_page(PAGE, **query), "See the correction")
    assert INVALID not in str(board(corrected)), "a correction keeps to its epsilon"
    assert len({re.findall(r"[\d,]+ (?:records|throws)", str(frame_of(board(one))))[0] for one in (at, corrected)}) == 1
    assert headline(corrected).startswith(ANSWERS[case][1])
    assert headline(press(corrected, "See the failure")) == headline(at)
    assert headline(press(at, "Back to mine")) == headline(open_page(PAGE))
    assert settings_of(press(corrected, "Back to mine")).options("audit").subject is AuditSubject["RELEASE"]


def test_a_slow_audit_has_no_slider_but_a_control(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.audit.die.AT_ONCE", 50)
    at = audited(AuditSubject["HellingerLocal"], **{"audit.prior": "0.1", "audit.n": "100"})
    mechanism = HellingerLocal(die=Die((0.1, 0.1), 100), epsilon=1.0)
    assert f" {numeral_above(exp(audit(mechanism, n=100, epsilons=[]).exact))} times" in frame_of(board(at))["notes"][0]
    assert board(at)["slider"] is None
    fine(at.text_input(key="box.epsilon").set_value("2").run())
    assert "ε = 2 allows 7.39 times" in str(board(at))
    quick = audited(AuditSubject["HellingerLocal"], **{"audit.n": "20"})
    assert board(quick)["slider"] is not None
    assert not [box for box in quick.text_input if box.key == "box.epsilon"]


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"audit.subject": AuditSubject["HellingerGlobal"].value, "audit.n": "3000"}, "fewer"),
        ({"audit.subject": AuditSubject["LaplaceOne"].value, "audit.sides": "3"}, "determines two sides"),
        ({"audit.subject": AuditSubject["LaplaceFourier"].value, "source": "alarm"}, "binary"),
        (
            {"audit.subject": AuditSubject["PosteriorSampler"].value, "calibration": "as printed", "epsilon": "1"},
            "above 1.386",
        ),
    ],
)
def test_what_cannot_be_audited_has_its_sentence_and_the_controls_stay(query: dict[str, str], part: str) -> None:
    at = open_page(PAGE, **query)
    assert any(part in text for text in [*sentences(at), *(headline(at) for _ in boards(at))])
    fine(at.selectbox(key="parameter.audit.subject").set_value(AuditSubject["LaplaceCells"]).run())
    fine(at.select_slider(key="parameter.audit.sides").set_value(2).run())
    fine(at.select_slider(key="parameter.audit.n").set_value(20).run())
    assert not sentences(at)
    assert "guesses" in frame_of(board(at))["figures"]


def test_a_graph_that_is_no_network_leads_to_the_tables_own() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke", "lung"), (("smoke", "lung"), ("lung", "smoke")))))
    one_sentence(at, "close a cycle")
    at = press(at, "Use the table’s own graph")
    assert not sentences(at)
    assert "can rise to at most 23.2%" in headline(at)


# An adaptive release


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.proofs_mechanism.DRAWS", 8)


@pytest.mark.usefixtures("few_draws")
def test_an_adaptive_release_shows_the_losses_of_simulated_outputs_of_made_up_tables() -> None:
    subject = AuditSubject[OF_RECORDS[0].__name__]
    one, other = (audited(subject, records="200", data_seed=seed) for seed in ("1", "2"))
    assert frame_of(board(one))["headline"].startswith("It is proved that a 10% belief")
    assert str(boards(one)) == str(boards(other))
    assert "every record is (" in str(frame_of(board(one))["captions"])
    assert "Curator view" not in board(one)["caption"]
    assert "δ" in headline(open_page(PAGE, mechanism=OF_RECORDS[0].__name__, records="200"))
    pure = open_page(PAGE, mechanism=OF_RECORDS[0].__name__, records="200", table_noise="laplace")
    assert headline(pure).endswith("can rise to at most 23.2%.")


# The papers' claims


def listed(at: AppTest) -> list[str]:
    (claims,) = (radio for radio in at.radio if radio.label == "Claims")
    return list(claims.options)


def test_the_claims_open_on_the_first_of_the_main_ones_and_are_counted_by_verdict() -> None:
    for seat in Seat:
        at = open_page(PAGE, seat=seat.value, **CLAIMS_VIEW)
        assert "Appendix C.2 fails" in headline(at)
        assert "**Why it matters:**" in everything(at)
        assert len(listed(at)) == len(MAIN)
        counts = Counter(part for claim in CLAIMS for part in ("○✓△✗"["✓△✗".find(claim.verdict.sign) + 1], "⋯"))
        for part, number in counts.items():
            pills = at.button_group(key="proofs-verdict")
            assert any(f"**{part}**] {number} " in option for option in pills.options)
            fine(pills.set_value(part).run())
            assert len(listed(at)) == number
            assert bounds_of(next(radio.value for radio in at.radio if radio.label == "Claims")), "a picture opens"


@pytest.mark.parametrize("shown", thorough(ClaimShown, sample=list(ClaimShown)[::6]), ids=claim_place)
def test_every_claim_opens_with_its_verdict_its_finding_and_its_counterexamples(shown: ClaimShown) -> None:
    claim = claim_of(shown)
    at = claim_opened(str(claim.reference))
    assert not sentences(at)
    assert bool(at.latex) is not bool(boards(at) or not claim.formula), "a formula is folded beside a board"
    at = unfold(at, "proofs.details")
    text = plain(everything(at) + " ".join(note for one in boards(at) for note in frame_of(one)["notes"]))
    assert f"**{claim.verdict.sign}** {claim.verdict.value}." in text
    assert plain(claim.finding) in text
    for example in counterexamples_of(claim):
        truth = shown_as(example.truth, digits_apart(example.truth, example.printed))
        assert f"the true value is **{truth}**" in text
    assert bool(boards(at)) is bool(bounds_of(shown) or counterexamples_of(claim))
    if claim.verdict is Verdict.FALSE and counterexamples_of(claim):
        texts = str([frame_of(board)["figures"] for board in boards(at)])
        assert "exceeded" in texts or "True value" in texts, "the failure is seen"


def test_a_choice_that_comes_back_with_no_value_stays() -> None:
    at = open_page(PAGE, **CLAIMS_VIEW)
    fine(at.button_group(key="parameter.proofs.view").set_value(None).run())
    assert "Appendix C.2 fails" in headline(at)
    at = open_page("pages/explore.py").button_group(key="segments.seat").set_value(None).run()
    assert settings_of(fine(at)).seat is Seat.CURATOR


def test_a_claim_has_one_board_if_its_picture_shows_where_it_fails() -> None:
    beyond = board(claim_opened("[Zhang16] Appendix C.2", **{"bounds.epsilon": "1"}))
    assert frame_of(beyond)["headline"].startswith("Appendix C.2 does not apply here: it requires that ε is above 1.39")
    assert float(beyond["slider"]["stops"][1]) > 1.39, "but for the typed number, the claim applies everywhere"
    assert "stated" not in str([trace.get("name") for trace in frame_of(beyond)["figures"]["bound"]["data"]])


COUNTED = [claim for claim in BoundClaim if EXHIBITS[claim.name].uses is Uses.COUNTS]


@pytest.mark.parametrize("bound", thorough(COUNTED, sample=COUNTED[:2]))
def test_a_recipient_does_not_see_what_depends_on_the_counts(bound: BoundClaim) -> None:
    at = open_page(PAGE, seat="recipient", **CLAIMS_VIEW, **{"proofs.bound": bound.value})
    assert "bound" not in [panel["key"] for one in boards(at) for panel in one["panels"]]
    assert "only the curator" in at.info[0].value
    assert EXHIBITS[bound.name].claim.reference.in_words in everything(at)


SIMULATED = [claim for claim in BoundClaim if EXHIBITS[claim.name].uses is Uses.SIMULATION]


@pytest.mark.parametrize("bound", SIMULATED)
def test_a_recipients_board_is_the_same_whatever_the_records_are(bound: BoundClaim) -> None:
    one, other = (
        open_page(PAGE, seat="recipient", data_seed=seed, **CLAIMS_VIEW, **{"proofs.bound": bound.value})
        for seed in ("1", "2")
    )
    assert str(boards(one)) == str(boards(other))


def test_the_axis_and_the_numbers_are_set_below_the_board() -> None:
    at = open_page(PAGE, **CLAIMS_VIEW, **{"proofs.bound": BoundClaim["THEOREM_1"].value})
    axis = at.selectbox(key="proofs.choice.bounds.axis")
    fine(axis.set_value(EXHIBITS["THEOREM_1"].axes[2]).run())
    assert board(at)["slider"]["name"] == "bounds.delta"
    before = headline(at)
    fine(at.text_input(key="box.bounds.prior").set_value("3").run())
    assert settings_of(at).parameter("bounds.prior") == 3
    assert headline(at) != before


def test_bad_settings_have_their_sentence_and_the_rest_stays() -> None:
    assert "Appendix C.2 fails" in headline(open_page(PAGE, data="upload", **CLAIMS_VIEW)), "it needs no table"
    shown = open_page(PAGE, records="0", **CLAIMS_VIEW, **{"proofs.bound": BoundClaim["THEOREM_1"].value})
    assert any("no records" in text for text in [*sentences(shown), *(headline(shown) for _ in boards(shown))])
    assert len(listed(shown)) == sum(claim.verdict is Verdict.FALSE for claim in CLAIMS)
    hostile = open_page(PAGE, **{"bounds.delta": "0", "proofs.claim": "<script>", "bounds.t": "1e99"})
    assert settings_of(hostile).parameters == ()
    one_sentence(open_page("pages/home.py", **{"proofs.claim": "[Zhang16] Theorem 99"}), "proofs.claim")


def test_a_claim_leads_to_the_page_that_is_about_it() -> None:
    led = {claim.page: claim for claim in CLAIMS if claim.page}
    assert len(led) >= 3
    for page, claim in led.items():
        title, _, view = page.partition(": ")
        at = press(claim_opened(str(claim.reference)), f"Open {page}")
        assert at.title[0].value == title
        assert not view or settings_of(at).options("lab").experiment is Experiment(view)


def test_table_1_hides_from_the_recipient_what_depends_on_the_counts() -> None:
    hidden = {}
    for seat in Seat:
        at = unfold(claim_opened("[Zhang16] Lemma 1", seat=seat.value), "bounds.table1")
        frame = next(frame.value for frame in at.dataframe if "mechanism" in frame.value)
        assert list(frame["mechanism"]) == ["Laplace", "Fourier", "Sampler", "MAP"]
        hidden[seat] = list(frame["utility, as stated"] == "curator only")
    assert hidden == {Seat.CURATOR: [False] * 4, Seat.RECIPIENT: [True, False, False, True]}
