"""The Papers page lists every claim, and shows a failing one failing."""

import math

import pytest

from dpbayes.base.references import PAPERS
from dpbayes.base.text import numeral
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.index import CLAIMS, EXHIBITS, counterexamples_of
from dpbayes.ui.pages.papers.links import VIEWS, View, view_of
from dpbayes.ui.pages.papers.page import open_row, rows_of, tells
from dpbayes.ui.session.current import current
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.session.options.papers import ClaimShown, PaperShown
from dpbayes.ui.session.settings import Seat, Settings
from tests.conftest import thorough
from tests.pages.claims import evaluation_of
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
)

PAGE = "pages/papers.py"
CLAIM = "parameter.papers.claim"


@pytest.mark.parametrize("seat", Seat)
def test_all_claims_are_listed_and_counted(seat: Seat) -> None:
    at = open_page(PAGE, seat=seat.value)
    table = next(frame.value for frame in at.dataframe if "verdict" in frame.value)
    assert len(table) == len(CLAIMS)
    false = sum(claim.verdict is Verdict.FALSE for claim in CLAIMS)
    assert f"Of {len(CLAIMS)} claims" in headline(at)
    assert f"{false} are false" in headline(at)


def test_words_find_claims_and_those_that_find_none_say_so() -> None:
    at = put(open_page(PAGE), "papers.search", "LEMMA false")
    table = next(frame.value for frame in at.dataframe if "verdict" in frame.value)
    assert list(table["claim"]) == [str(claim.reference) for claim in CLAIMS if tells(claim, "lemma false")]
    assert 0 < len(table) < len(CLAIMS)
    assert at.selectbox(key=CLAIM).options == list(table["claim"])
    at = put(at, "papers.search", "zzz [no](claim)")
    assert "No claim here tells of zzz [no](claim)." in [plain(caption.value) for caption in at.caption]
    assert len(next(frame.value for frame in at.dataframe if "verdict" in frame.value)) == len(CLAIMS)


def test_the_figures_and_the_table_of_the_paper_are_rows() -> None:
    table = next(frame.value for frame in open_page(PAGE).dataframe if "verdict" in frame.value)
    places = {"Figure 1", "Figure 2", *(f"Table 1, {row}" for row in ("Laplace", "Fourier", "Sampler", "MAP"))}
    assert {f"[Zhang16] {place}" for place in places} <= set(table["claim"])


def test_a_row_that_is_picked_opens_its_claim(session: dict[str, object]) -> None:
    listed = list(ClaimShown)[:9]
    for rows, opened in (([4], listed[4]), ([], listed[4]), ([8], listed[8])):
        open_row(listed, rows)
        assert current().options("papers").claim is opened
    assert rows_of({"rows": [3], "columns": [], "cells": []}) == rows_of({"rows": [], "cells": [(3, "about")]}) == [3]


def test_the_picture_has_every_claim_under_its_verdict() -> None:
    at = open_page(PAGE)
    drawn = {bar["name"]: sum(bar["x"]) for bar in figures(at)["papers.verdicts"]["data"]}
    assert drawn == {v.value: sum(claim.verdict is v for claim in CLAIMS) for v in Verdict}
    assert any("unpublished manuscript" in caption.value for caption in at.caption), "what the Notes are is said"


def test_every_paper_is_cited_in_bibtex() -> None:
    at = open_page(PAGE, **{"papers.claim": "[Notes] Section 2.2"})
    whole, one = (code.value for code in at.code if code.value.startswith("@"))
    assert all(paper.bibtex.strip() in whole for paper in PAPERS.values())
    assert one == PAPERS["Notes"].bibtex.strip()


def test_a_paper_can_be_picked() -> None:
    at = open_page(PAGE, **{"papers.paper": "the Notes"})
    table = next(frame.value for frame in at.dataframe if "verdict" in frame.value)
    assert set(table["claim"].str[:7]) == {"[Notes]"}


def test_a_claim_that_fails_is_shown_failing() -> None:
    claim = next(claim for claim in CLAIMS if counterexamples_of(claim))
    at = open_page(PAGE, **{"papers.claim": str(claim.reference)})
    (shown,) = (m.value for m in at.markdown if m.value.startswith("Where it fails, computed now"))
    assert shown.count("truly") == len(counterexamples_of(claim))
    for example in counterexamples_of(claim):
        assert f"truly **{numeral(example.truth)}**, printed {numeral(example.printed)}" in shown
    assert any(claim.finding in markdown.value for markdown in at.markdown)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_claim_of_every_verdict_opens_and_only_what_is_false_is_red(verdict: Verdict) -> None:
    for claim in [claim for claim in CLAIMS if claim.verdict is verdict][:1]:
        at = fine(open_page(PAGE, **{"papers.claim": str(claim.reference)}))
        assert not sentences(at)
        (said,) = (m.value for m in at.markdown if m.value.endswith(claim.finding))
        assert said.startswith(":red[") == (verdict is Verdict.FALSE)


def test_an_unknown_claim_in_the_link_is_one_sentence() -> None:
    one_sentence(open_page("pages/home.py", **{"papers.claim": "[Zhang16] Theorem 99"}), "papers.claim")


# Where a claim is shown


def test_the_table_names_the_page_of_every_claim_that_has_one() -> None:
    at = open_page(PAGE)
    table = next(frame.value for frame in at.dataframe if "verdict" in frame.value)
    assert list(table["page"]) == [view.title if (view := view_of(claim)) else "" for claim in CLAIMS]
    assert set(table["page"]) >= {"Bounds", "Compare mechanisms", ""}


def test_every_exhibit_of_the_bounds_page_is_led_to() -> None:
    led = {value for view in VIEWS.values() for name, value in view.parameters if name == "bounds.claim"}
    shown = {exhibit.claim for exhibit in EXHIBITS.values()}
    assert len(led) == len(shown)
    assert shown <= set(CLAIMS)


EVERY_VIEW = list(dict.fromkeys(VIEWS.values()))
ON_BOUNDS = [view for view in EVERY_VIEW if view.title == "Bounds" and view.parameters]


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("view", ON_BOUNDS, ids=str)
def test_a_claim_leads_to_what_the_bounds_page_says_of_it(view: View) -> None:
    ((_, shown),) = view.parameters
    evaluation, why = evaluation_of(shown, source="sprinkler", records="50")
    assert not why
    assert evaluation.bound.claim in [claim for claim in CLAIMS if view_of(claim) == view]


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    "view", thorough(EVERY_VIEW, sample=[*(v for v in EVERY_VIEW if v not in ON_BOUNDS), *ON_BOUNDS[::8]]), ids=str
)
def test_the_page_that_a_claim_leads_to_names_it(view: View) -> None:
    settings = Settings(source="sprinkler", records=50, parameters=view.parameters)
    few = {"accuracy.repeats": "2", "accuracy.points": "2"}  # what is named there stands below all curves
    at = open_page(view.page, **few | query_of(settings))
    assert at.title[0].value == view.title
    while at.get("progress") and not any(part.label.startswith("Formulas") for part in at.expander):
        at = fine(at.run())
    shown = plain(everything(at))
    for claim in [claim for claim in CLAIMS if view_of(claim) == view]:
        assert claim.reference.place.split(",")[0] in shown, claim.reference
        assert PAPERS[claim.reference.paper].authors in shown, claim.reference
        if view in ON_BOUNDS:
            assert plain(claim.finding) in shown, claim.reference


def test_the_button_opens_the_page_on_the_claim() -> None:
    at = press(open_page(PAGE, **{"papers.claim": "[Zhang16] Theorem 3"}), "See it at work on Bounds")
    assert at.title[0].value == "Bounds"
    assert settings_of(at).parameter("bounds.claim") is BoundClaim.THEOREM_3
    assert "Theorem 3" in headline(at)


@pytest.mark.parametrize("fails", [True, False])
def test_a_claim_that_no_page_shows_has_no_button(fails: bool) -> None:
    claim = next(c for c in CLAIMS if view_of(c) is None and bool(counterexamples_of(c)) == fails)
    at = open_page(PAGE, **{"papers.claim": str(claim.reference)})
    assert not any(button.label.startswith("See it at work") for button in at.button)
    assert any("counterexample is above" in caption.value for caption in at.caption) == fails


# One claim


def test_a_paper_narrows_the_claims_and_the_one_shown_is_one_of_them() -> None:
    at = open_page(PAGE, **{"papers.claim": "[Zhang16] Theorem 3"})
    assert len(at.selectbox(key=CLAIM).options) == len(CLAIMS)
    paper = at.segmented_control(key="parameter.papers.paper")
    at = fine(paper.set_value(PaperShown.Notes).run())
    options = at.selectbox(key=CLAIM).options
    assert set(text[:7] for text in options) == {"[Notes]"}
    assert settings_of(at).parameter("papers.claim").value == options[0] == at.selectbox(key=CLAIM).value.value
    at = fine(at.selectbox(key=CLAIM).set_value(at.selectbox(key=CLAIM).value).run())
    at = fine(at.segmented_control(key="parameter.papers.paper").set_value(PaperShown.ALL).run())
    assert settings_of(at).parameter("papers.claim").value == options[0], "it is listed still, and stays"


def test_what_is_not_certified_is_unknown() -> None:
    claim = next(c for c in CLAIMS if any(math.isnan(example.certified) for example in counterexamples_of(c)))
    at = open_page(PAGE, **{"papers.claim": str(claim.reference)})
    assert "certified unknown" in everything(at)
    assert "nan" not in next(m.value for m in at.markdown if "certified unknown" in m.value)
