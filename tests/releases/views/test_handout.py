"""The sheet of a simulation: it says that it is one, what is promised, and what is not protected."""

import math

import pytest

from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.releases.views.handout import MOST_STATES, Handout, html_handout, in_words


def handout(**more: object) -> Handout:
    fields = {
        "question": "P(dysp | smoke=yes)",
        "table": "1,000 synthetic records",
        "n": 1000,
        "mechanism": "Laplace",
        "guarantee": Guarantee(1.0),
        "answer": {"yes": 0.62, "no": 0.38},
    }
    return Handout(**(fields | more))  # type: ignore[arg-type]


def test_a_sheet_says_that_it_is_of_a_simulation_before_anything_else() -> None:
    sheet = html_handout(handout())
    assert sheet.index("This is a simulation, not a release. The seeded noise") < sheet.index("<h2>")
    assert "P(dysp | smoke=yes)" in sheet
    assert "estimates the probability of “yes” at 0.62." in sheet
    assert sheet.count("<i><b") == 2
    sheet = html_handout(handout(intervals={"yes": (0.551, 0.689), "no": (0.311, 0.449)}))
    assert "estimates the probability of “yes” at 0.62, with a 95% interval from 0.551 to 0.689." in sheet
    assert "<small>0.55–0.69</small>" in sheet
    assert "mainly on the prior" not in sheet
    assert "<li>This answer depends mainly on the prior.</li>" in html_handout(
        handout(warning="This answer depends mainly on the prior.")
    )
    assert "Not protected" in sheet
    assert "default-src 'none'" in sheet
    assert "http" not in sheet.replace("http-equiv", "")


def test_names_are_text_and_many_states_are_cut_with_a_word() -> None:
    sheet = html_handout(handout(question="<b>", answer={f"<i>{k}": 0.02 for k in range(50)}))
    assert "<b></" not in sheet
    assert "<i>0" not in sheet
    assert f"There are {50 - MOST_STATES} more states." in sheet


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
def test_even_odds_end_where_bayes_rule_puts_them(epsilon: float) -> None:
    odds = math.exp(epsilon)
    sure = float(in_words(Guarantee(epsilon)).partition("at most ")[2].partition("%")[0])
    assert sure >= 100 * odds / (1 + odds) - 1e-9, "what is at most so much is rounded up"
    assert sure == pytest.approx(100 * odds / (1 + odds), rel=5e-3)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0, 3.0])
def test_how_much_likelier_an_outcome_becomes_is_rounded_up(epsilon: float) -> None:
    times = float(in_words(Guarantee(epsilon)).partition("more than ")[2].partition(" times")[0])
    assert math.exp(epsilon) <= times <= 1.01 * math.exp(epsilon)


def test_what_is_all_but_certain_is_not_said_to_be_at_most_all() -> None:
    assert "can rise to almost 100%" in in_words(Guarantee(30.0))


def test_names_of_states_and_nodes_are_distinct_from_the_words_of_a_sentence() -> None:
    sheet = html_handout(handout(answer={"no": 0.98, "yes": 0.02}, published={"visit to Asia": "asia"}))
    assert "the probability of “no” at 0.98" in sheet
    assert "“visit to Asia” is called asia." in sheet


def test_a_delta_is_said_and_no_promise_is_none() -> None:
    text = in_words(Guarantee(1.0, 1e-6))
    assert "except with probability 10⁻⁶" in text
    assert "50% belief" not in text, "with a delta that bound does not hold"
    assert in_words(NON_PRIVATE).startswith("There is no guarantee")
    assert "more than 10³⁰⁰" in in_words(Guarantee(1000.0))
