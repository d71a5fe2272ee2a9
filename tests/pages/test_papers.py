"""The Papers page lists every claim, and shows a failing one failing."""

import pytest

from dpbayes.bounds.base import Verdict
from dpbayes.bounds.registry import CLAIMS, counterexamples_of
from dpbayes.ui.papers_page import PAGES_OF, page_of
from dpbayes.ui.settings import Seat
from tests.pages.conftest import APP, fine, headline, one_sentence, open_page, sentences

PAGE = "pages/papers.py"


@pytest.mark.parametrize("seat", Seat)
def test_all_claims_are_listed_and_counted(seat: Seat) -> None:
    at = open_page(PAGE, seat=seat.value)
    table = next(frame.value for frame in at.dataframe if "verdict" in frame.value)
    assert len(table) == len(CLAIMS)
    false = sum(claim.verdict is Verdict.FALSE for claim in CLAIMS)
    assert f"Of {len(CLAIMS)} claims" in headline(at)
    assert f"{false} are false" in headline(at)


def test_a_paper_can_be_picked() -> None:
    at = open_page(PAGE, **{"papers.paper": "the Notes"})
    table = next(frame.value for frame in at.dataframe if "verdict" in frame.value)
    assert set(table["claim"].str[:7]) == {"[Notes]"}


def test_a_claim_that_fails_is_shown_failing() -> None:
    claim = next(claim for claim in CLAIMS if counterexamples_of(claim))
    at = open_page(PAGE, **{"papers.claim": str(claim.reference)})
    shown = next(frame.value for frame in at.dataframe if "truth" in frame.value)
    assert len(shown) == len(counterexamples_of(claim))
    assert any(claim.finding in markdown.value for markdown in at.markdown)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_claim_of_every_verdict_opens(verdict: Verdict) -> None:
    for claim in [claim for claim in CLAIMS if claim.verdict is verdict][:1]:
        at = fine(open_page(PAGE, **{"papers.claim": str(claim.reference)}))
        assert not sentences(at)


def test_an_unknown_claim_in_the_link_is_one_sentence() -> None:
    one_sentence(open_page("pages/home.py", **{"papers.claim": "[Zhang16] Theorem 99"}), "papers.claim")


def test_every_claim_has_its_page() -> None:
    for claim in CLAIMS:
        assert (APP.parent / page_of(claim)).exists()
    assert all(page.startswith("pages/") for page in PAGES_OF)
