"""A claim as the Claims page evaluates it for a link, without the page; and the page itself, with its curves."""

import re
from typing import Any

from streamlit.testing.v1 import AppTest

from dpbayes.ui.pages.claims.curve import Evaluation, evaluated, possible
from dpbayes.ui.pages.claims.headline import finding
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.options.research import BoundClaim
from tests.pages.conftest import figures, open_page

UNKNOWN = re.compile(r"(?<![\w\\])(nan|inf|None)(?!\w)", re.IGNORECASE)


def opened(claim: BoundClaim, **query: str) -> AppTest:
    """Return the page with a claim."""
    return open_page("pages/claims.py", **{"bounds.claim": claim.value, **query})


def curves(at: AppTest) -> dict[str, dict[str, Any]]:
    """Return the traces of the claim's picture by name."""
    return {trace["name"]: trace for trace in figures(at)["bounds"]["data"]}


def evaluation_of(claim: BoundClaim, **query: str) -> tuple[Evaluation, str]:
    """Return a claim at the possible setting that is nearest to a link's, and why that is not the link's own, or "".

    Errors: InputError where it cannot be evaluated.
    """
    settings, problems = settings_from({"bounds.claim": claim.value, **query})
    assert not problems
    chosen = Chosen(settings)
    nearby = possible(chosen, claim)
    return evaluated(chosen, claim, nearby.settings), nearby.why


def words(evaluation: Evaluation) -> str:
    """Return the page's sentence and its formula with this setting's numbers."""
    return f"{finding(evaluation)} {evaluation.exhibit.formula(evaluation.subject, evaluation.at, evaluation.bound)}"


def check_words(evaluation: Evaluation) -> None:
    """Check that the page's sentence begins as it should, and that no number in it or in the formula is none."""
    assert finding(evaluation).startswith(evaluation.bound.claim.reference.in_words)
    assert not UNKNOWN.search(words(evaluation)), words(evaluation)
