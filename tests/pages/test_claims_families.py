"""How far one record moves a posterior, on the Claims page: its curves are the core's, both seats see the same."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.experiments.robustness import NeighbourTables, RecordFamily, prior_grid, robustness
from dpbayes.ui.pages.claims.selection import BOUNDS, OF_FAMILIES
from dpbayes.ui.session.options.research import ClaimPicture
from tests.pages.conftest import everything, figures, fine, headline, one_sentence, open_page, put, sentences

MOVED, ANSWERS = "robustness.moved", "robustness.answers"
RED = "as stated, exceeded"
THEOREM = "[Dimitrakakis14] Theorem 1(ii)"


def opened(place: str = THEOREM, **query: str) -> AppTest:
    return open_page(
        "pages/claims.py", **{"papers.claim": place, "papers.picture": ClaimPicture.FAMILIES.value}, **query
    )


def trace(at: AppTest, name: str, key: str = MOVED) -> dict[str, Any]:
    return next(trace for trace in figures(at)[key]["data"] if trace["name"] == name)


@pytest.mark.parametrize("family", list(RecordFamily))
def test_curves_are_those_of_the_core(family: RecordFamily) -> None:
    at = opened(**{"robustness.family": family.value, "robustness.records": "8", "robustness.share": "0.5"})
    result = robustness(NeighbourTables(family, 8, 0.05, 10.0, 0.5), prior_grid(0.1, 1000), error=0.05)
    for name, values in (
        ("exact", result.moved),
        ("as stated in the paper", result.printed),
        ("proved", result.proved),
    ):
        np.testing.assert_allclose(trace(at, name)["y"], values)
        np.testing.assert_allclose(trace(at, name)["x"], result.prior)
    for name, values in (
        ("proved: at least", result.least),
        ("proved: at most", result.most),
        ("stated to suffice", result.promised),
    ):
        np.testing.assert_allclose(trace(at, name, ANSWERS)["y"], values)
    assert (RED in [line["name"] for line in figures(at)[MOVED]["data"]]) is bool(result.broken.any())
    if result.broken.any():
        assert [value is not None for value in trace(at, RED)["y"]] == result.broken.tolist()


def test_every_claim_about_it_has_the_picture_and_its_bound_where_it_has_one() -> None:
    for claim in OF_FAMILIES:
        at = opened(str(claim.reference))
        assert MOVED in figures(at)
        boxes = [box for box in at.selectbox if box.key == "parameter.papers.picture"]
        assert [box.options[-1] for box in boxes] == [ClaimPicture.FAMILIES.value] * bool(BOUNDS[claim])
        for box in boxes:
            assert "bounds" in figures(fine(box.set_value(BOUNDS[claim][0]).run()))


def test_the_headline_has_the_numbers_at_the_chosen_prior() -> None:
    at = opened()
    assert headline(at) == "One record moves the posterior by 5.51 nats, but the paper’s bound is 4.91."
    assert "an attacker needs at least 1 and at most 3 answers. The paper states that 1 is enough." in everything(at)
    put(at, "box.robustness.prior", "500")
    assert "within the paper’s bound of" in headline(at)
    put(at, "box.robustness.prior", "1")
    assert "an attacker needs exactly 1 answer." in everything(at)


def test_both_seats_see_the_same_without_a_table() -> None:
    curator, recipient = (opened(seat=seat, data="upload") for seat in ("curator", "recipient"))
    assert figures(curator) == figures(recipient)
    assert headline(curator) == headline(recipient)
    assert not sentences(recipient)


@pytest.mark.parametrize(
    "query",
    [
        {"robustness.records": "1", "robustness.family": "binomial", "robustness.share": "0"},
        {"robustness.records": "100000", "robustness.family": "binomial", "robustness.share": "1"},
        {"robustness.records": "100000", "robustness.value": "1000", "robustness.distance": "0.01"},
        {"robustness.family": "normal", "robustness.distance": "10000", "robustness.prior": "0.01"},
        {"robustness.low": "0.01", "robustness.high": "10000", "robustness.prior": "10000"},
        {"robustness.error": "0.45"},
    ],
)
def test_the_edges_have_pictures_without_gaps(query: dict[str, str]) -> None:
    at = opened(**query)
    assert not sentences(at)
    for key in (MOVED, ANSWERS):
        assert figures(at)[key]["layout"]["xaxis"]["dtick"] == 1
        for line in figures(at)[key]["data"]:
            assert "exceeded" in line["name"] or "too few" in line["name"] or None not in line["y"]
    assert "nan" not in headline(at)
    assert "inf" not in headline(at)


def test_a_range_the_wrong_way_round_is_one_sentence_and_the_headline_stays() -> None:
    at = opened(**{"robustness.low": "100", "robustness.high": "1"})
    one_sentence(at, "The weakest prior must be weaker than the strongest")
    assert "moves the posterior by 5.51 nats" in headline(at)


def test_the_formulas_hold_their_numbers_and_their_conditions() -> None:
    text = everything(opened())
    assert r"= 4.91081 \cdot 10 /" in text
    assert "✗ &nbsp;The stated bound on the divergence holds" in text
    text = everything(opened(**{"robustness.prior": "900"}))
    assert "✓ &nbsp;The stated bound on the divergence holds" in text
