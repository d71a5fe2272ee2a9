"""The Robustness page: its curves are the core's, red is where a printed bound is broken, both seats see the same."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.text import numeral
from dpbayes.experiments.robustness import NeighbourTables, RecordFamily, prior_grid, robustness
from dpbayes.theory.dimitrakakis14.robustness import counterexample_theorem_1_ii
from dpbayes.ui.session.link import settings_from
from tests.pages.conftest import everything, figures, fine, headline, one_sentence, open_page, plain, put, sentences

PAGE = "pages/robustness.py"
MOVED, ANSWERS = "robustness.moved", "robustness.answers"
RED = "as printed, and broken"


def trace(at: AppTest, name: str, key: str = MOVED) -> dict[str, Any]:
    return next(trace for trace in figures(at)[key]["data"] if trace["name"] == name)


def names(at: AppTest, key: str = MOVED) -> list[str]:
    return [trace["name"] for trace in figures(at)[key]["data"]]


@pytest.mark.parametrize("family", list(RecordFamily))
def test_curves_are_those_of_the_core(family: RecordFamily) -> None:
    at = open_page(PAGE, **{"robustness.family": family.value, "robustness.records": "8", "robustness.share": "0.5"})
    tables = NeighbourTables(family, 8, 0.05, 10.0, 0.5)
    result = robustness(tables, prior_grid(0.1, 1000), error=0.05)
    for name, values in (("exact", result.moved), ("as printed", result.printed), ("proved", result.proved)):
        np.testing.assert_allclose(trace(at, name)["y"], values)
        np.testing.assert_allclose(trace(at, name)["x"], result.prior)
    for name, values in (
        ("proved: at least", result.least),
        ("proved: at most", result.most),
        ("said to suffice", result.promised),
    ):
        np.testing.assert_allclose(trace(at, name, ANSWERS)["y"], values)
    assert (RED in names(at)) is bool(result.broken.any())


def test_red_is_where_the_exact_value_is_above_the_printed_one() -> None:
    at = open_page(PAGE)
    exact, printed, red = (trace(at, name)["y"] for name in ("exact", "as printed", RED))
    assert [value is not None for value in red] == [a > b for a, b in zip(exact, printed, strict=True)]
    assert any(value is None for value in red)


def test_answers_that_are_known_exactly_are_one_number() -> None:
    assert "an adversary needs exactly 1 answer; the paper" in everything(open_page(PAGE, **{"robustness.prior": "1"}))
    assert "an adversary needs at least 1 and at most 3 answers; the paper" in everything(open_page(PAGE))


def test_the_headline_has_the_numbers_at_the_chosen_prior() -> None:
    at = open_page(PAGE)
    assert headline(at) == (
        "With a prior of strength 10, one record moves the posterior by 5.51 nats; the printed bound allows 4.91 and "
        "is broken, the corrected one allows 29.1."
    )
    put(at, "box.robustness.prior", "500")
    assert "strength 500" in headline(at)
    assert "holds here" in headline(at)


def test_both_seats_see_the_same() -> None:
    curator, recipient = (open_page(PAGE, seat=seat) for seat in ("curator", "recipient"))
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
        {"robustness.error": "0.001", "data": "upload"},
    ],
)
def test_the_edges_have_pictures_without_gaps(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    assert not sentences(at)
    for key in (MOVED, ANSWERS):
        for line in figures(at)[key]["data"]:
            assert "broken" in line["name"] or "too few" in line["name"] or None not in line["y"]
    assert "nan" not in headline(at)
    assert "inf" not in headline(at)


def test_a_range_the_wrong_way_round_is_one_sentence_and_the_headline_stays() -> None:
    at = open_page(PAGE, **{"robustness.low": "100", "robustness.high": "1"})
    one_sentence(at, "The weakest prior has to be weaker than the strongest")
    assert "moves the posterior by 5.51 nats" in headline(at)


@pytest.mark.parametrize(
    ("name", "text"), [("family", "<script>"), ("records", "0"), ("prior", "nan"), ("error", "0.5"), ("distance", "-1")]
)
def test_a_hostile_link_is_ignored_part_by_part(name: str, text: str) -> None:
    settings, problems = settings_from({f"robustness.{name}": text, "epsilon": "2"})
    assert len(problems) == 1
    assert settings == settings_from({"epsilon": "2"})[0]


def test_the_formulas_hold_their_numbers_and_their_assumptions() -> None:
    text = everything(open_page(PAGE))
    assert r"= 4.91081 \cdot 10 / 10" in text
    assert "✗ &nbsp;The printed bound on the divergence holds" in text
    text = everything(open_page(PAGE, **{"robustness.prior": "900"}))
    assert "✓ &nbsp;The printed bound on the divergence holds" in text


def test_the_counterexamples_are_computed_when_they_are_asked_for() -> None:
    at = open_page(PAGE)
    assert "truly" not in everything(at)
    at.session_state["robustness.fails"] = True
    text = plain(everything(fine(at.run())))
    counterexample = counterexample_theorem_1_ii()
    assert f"truly {numeral(counterexample.truth)}, printed {numeral(counterexample.printed)}" in text
    assert text.count("truly") == 5


def test_the_strength_is_numbered_in_powers_of_ten_on_a_long_axis() -> None:
    shown = figures(open_page(PAGE))
    assert {figure["layout"]["xaxis"]["dtick"] for figure in shown.values()} == {1}
