"""The Which epsilon page: its sentence is the core's answer, its controls change it, and both seats see the same."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.amounts import epsilon_rounded_up
from dpbayes.base.text import numeral
from dpbayes.experiments.least_epsilon.search import _blocks, _Trials
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.experiments.least_epsilon.wish import Question, Wish
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.posteriors.noise_model import Reading
from dpbayes.sources.named_networks import load_named
from dpbayes.ui.pages.which_epsilon import page, requirement
from dpbayes.ui.session.options.workflow import SimulatedTables
from dpbayes.ui.session.settings import Seat
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
    stop_after_a_step,
)

PAGE = "pages/which_epsilon.py"
ASIA, CPTS = load_named("asia")
SENTENCE = re.compile(r"ε = ([\d.]+) keeps the error of P\((.+)\) within ([\d.]+)\.")


@pytest.fixture(autouse=True)
def fast_mechanisms_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are drawn one after the other, and are of the core's tests."""
    monkeypatch.setattr(page, "others", lambda chosen: ["LaplaceFourier"])
    monkeypatch.setattr(page, "INTERVAL_DRAWS", 4)


@pytest.fixture(scope="module")
def at() -> AppTest:
    """The page once all its work is done; no test turns it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "others", lambda chosen: ["LaplaceFourier"])
        return open_page(PAGE)


def said(at: AppTest) -> float:
    match = SENTENCE.fullmatch(headline(at))
    assert match, headline(at)
    return float(match[1])


def share(epsilon: float, tolerance: float) -> float:
    """The share of other releases, of other tables, that keep to a tolerance."""
    rng = np.random.default_rng(77)
    wished = Wish(
        mechanism=LaplaceUpdates(prior=ASIA, epsilon=1.0),
        question=Question(ASIA, "dysp", "yes", {"smoke": "yes"}),
        tables=planned_tables(ASIA, CPTS, 1000, 4000, rng),
        tolerance=tolerance,
        draws=4000,
        reading=Reading.NOISE_AWARE,
    )
    return _Trials(wished, tuple(_blocks(wished, rng))).share(epsilon)


def test_the_sentence_is_true_of_other_releases_and_hardly_more(at: AppTest) -> None:
    assert SENTENCE.fullmatch(headline(at))
    assert "P(dysp = yes | smoke = yes) within 0.05" in headline(at)
    assert share(said(at), 0.05) > 0.94
    assert share(said(at) / 1.25, 0.05) < 0.94


def test_what_is_planned_and_how_sure_the_answer_is_is_said(at: AppTest) -> None:
    shown = everything(at)
    assert "The least ε keeps the error of 95% of releases within the tolerance." in shown
    assert "1,000 records sampled from the network’s published probabilities. Your records are not used" in shown
    assert "1,000 simulated releases of Laplace, read by a noise-aware recipient." in shown
    assert "(95% interval: " in shown


def test_the_intervals_that_recipients_get_are_those_of_planned_releases(at: AppTest) -> None:
    (work,) = at.session_state["which_epsilon.intervals.running"].values()
    planned = work.so_far
    assert planned.epsilon == said(at)
    assert len(planned.widths) == 40
    width, contained = numeral(float(np.median(planned.widths)), 2), int(planned.contained.sum())
    assert (
        f"At ε = {numeral(said(at))}, 95% intervals of the joint noise-aware posterior have a median width of {width}. "
        f"In {contained} of 40 simulated releases, they contain the planned probability."
    ) in everything(at)
    assert contained >= 32
    # The error is within 0.05 in 95% of releases, so that intervals are somewhat wider than 0.1.
    assert 0.08 < np.median(planned.widths) < 0.3


def test_the_picture_has_the_errors_the_wish_and_the_answer(at: AppTest) -> None:
    figure = figures(at)["which_epsilon.errors"]
    wanted, median, least = figure["data"]
    assert len(wanted["x"]) == len(page.EPSILONS)
    errors = [pair for pair in zip(median["y"], wanted["y"], strict=True) if None not in pair]  # none: exact
    assert len(errors) > 10
    assert all(half < all_but_few for half, all_but_few in errors)
    assert least["y"] == [0.05]
    assert epsilon_rounded_up(least["x"][0]) == said(at)
    level, band = figure["layout"]["shapes"]
    assert level["y0"] == 0.05
    assert band["x0"] < least["x"][0] < band["x1"]


def test_as_many_records_are_planned_as_the_open_table_has_until_others_are_chosen(at: AppTest) -> None:
    small = open_page(PAGE, records="300")
    assert "300 records sampled from" in everything(small)
    assert least_of(small) > 2 * least_of(at), "fewer records need more"
    put(small, "box.which_epsilon.records", "700")
    assert "700 records sampled from" in everything(small)


@pytest.mark.usefixtures("first_look")
def test_as_many_records_are_planned_as_can_be() -> None:
    assert "435 records sampled" in everything(open_page(PAGE, data="house_votes_84", target="crime"))
    assert "100,000 records sampled" in everything(open_page(PAGE, records="1000000")), "as many as can be planned"


def test_every_mechanism_and_the_records_that_another_epsilon_needs(at: AppTest) -> None:
    dots = figures(at)["which_epsilon.mechanisms"]["data"][0]
    laplace, fourier = dots["x"]
    assert fourier < laplace
    sentence = next(m.value for m in at.markdown if " you need about " in m.value)
    records = int(re.search(r"about ([\d,]+) records", sentence)[1].replace(",", ""))
    assert records == pytest.approx(1000 * said(at), rel=0.25)  # about as many times more as it is less epsilon


def least_of(at: AppTest) -> float:
    """Return the page's least epsilon in all its digits."""
    (work,) = at.session_state["which_epsilon.least.running"].values()
    return float(work.so_far.epsilon)


def codes(at: AppTest, language: str) -> list[str]:
    return [str(code.value) for code in at.code if code.language == language]


def printed(at: AppTest) -> float:
    """Run the page's Python as a person who copies it, and return what it prints."""
    (python,) = codes(at, "python")
    values: list[float] = []
    exec(python, {"print": values.append})
    (epsilon,) = values
    return epsilon


OTHERWISE = {
    "mechanism": "LaplaceFourier",
    "prior": "5",
    "calibration": "as printed",
    "t": "0.01",
    "which_epsilon.recipient": "takes counts as real",
    "seed": "3",
    "target": "lung",
    "evidence": "smoke~no",
    "which_epsilon.tolerance": "0.0425",
    "which_epsilon.confidence": "0.9",
    "which_epsilon.records": "700",
}
"""None of these is the default."""


def test_the_code_gives_the_same(at: AppTest) -> None:
    assert printed(at) == least_of(at)


def test_code_at_other_settings_gives_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "others", lambda chosen: [])
    at = open_page(PAGE, **OTHERWISE)
    assert "P(lung = yes | smoke = no) within 0.0425." in headline(at)
    assert "the error of 90% of releases" in everything(at)
    assert printed(at) == least_of(at)


NOT_PUBLISHED = {"source": "chain:3", "mechanism": "LaplaceFourier", "prior": "2.5"}
FEW_DRAWS = {"source": "sprinkler", "mechanism": "PosteriorSampler", "draws": "2", "which_epsilon.tolerance": "0.2"}


@pytest.mark.parametrize("query", thorough([NOT_PUBLISHED, FEW_DRAWS], sample=[NOT_PUBLISHED]))
def test_code_where_planning_is_not_the_usual(query: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "others", lambda chosen: [])
    monkeypatch.setattr(requirement, "SLOW_DRAWS", 60)
    at = open_page(PAGE, **query)
    assert printed(at) == least_of(at)


def test_tables_of_many_nodes_are_drawn_under_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.experiments.least_epsilon.tables._AT_ONCE", 50_000)
    stop_after_a_step()
    at = open_page(PAGE, source="alarm")
    (work,) = at.session_state["which_epsilon.least.running"].values()
    assert 0 < work.share < 0.3, "the search follows"
    assert at.get("progress")
    assert "Searching for the least ε" in headline(at)


def test_where_nothing_can_be_simulated_no_code_is_shown(one_look: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirement, "MOST_VALUES", 100)
    at = open_page(PAGE)
    assert not codes(at, "python")


LOADED = {"which_epsilon.tables": SimulatedTables.LOADED.value}
OUTSIDE = "Not private (curator view): no guarantee covers an ε that is chosen from the records."


def test_the_curator_may_ask_about_the_table_that_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "others", lambda chosen: [])
    small = {"source": "sprinkler", "records": "300", "target": "wet", "evidence": "cloudy~yes"}
    at = open_page(PAGE, **small, **LOADED)
    shown = everything(at)
    assert OUTSIDE in shown
    assert "of the table’s 300 records" in shown
    assert "Your records are not used" not in shown
    assert "Records needed at another ε" not in shown
    assert "box.which_epsilon.records" not in {box.key for box in at.text_input}
    assert printed(at) == least_of(at)
    other = open_page(PAGE, **small, **LOADED, data_seed="9")
    assert least_of(other) != least_of(at), "it is of the records"


def test_the_recipient_is_answered_on_planned_tables_whatever_a_link_says(at: AppTest) -> None:
    other = open_page(PAGE, seat=Seat.RECIPIENT.value, prior="capped", **LOADED)
    assert headline(other) == headline(at)
    assert figures(other)["which_epsilon.errors"] == figures(at)["which_epsilon.errors"]
    assert OUTSIDE not in everything(other)
    assert "parameter.which_epsilon.tables" not in {group.key for group in other.get("button_group")}


def test_a_drawing_that_does_not_fit_the_table_is_one_sentence_and_planned_tables_are_a_click_away(
    one_look: None,
) -> None:
    at = open_page(PAGE, graph="chain:3", **LOADED)
    one_sentence(at, "is not a column of the table")
    fine(at.segmented_control(key="parameter.which_epsilon.tables").set_value(SimulatedTables.PLANNED).run())
    assert not sentences(at)


@pytest.fixture
def one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop long work after a step."""
    stop_after_a_step()


def test_evidence_keeps_the_target_and_may_be_taken_away(one_look: None) -> None:
    at = open_page(PAGE)
    assert at.multiselect(key="which_epsilon.given").value == ["smoke=yes"]
    fine(at.multiselect(key="which_epsilon.given").set_value([]).run())
    assert settings_of(at).target == "dysp"
    assert "P(dysp = yes)" in headline(at)


def test_while_it_is_searched_the_page_says_so(one_look: None) -> None:
    assert (
        headline(open_page(PAGE))
        == "Searching for the least ε that keeps the error of P(dysp = yes | smoke = yes) within 0.05 …"
    )


def test_what_cannot_be_answered_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirement, "MOST_VALUES", 100)
    at = open_page(PAGE)
    assert headline(at) == "No ε was found that keeps the error of P(dysp = yes | smoke = yes) within 0.05."
    assert any("take too long to simulate" in sentence for sentence in sentences(at))
    assert "Next: Proofs" in {button.label for button in at.button}


def test_a_mechanism_that_states_no_noise_is_read_naively(one_look: None) -> None:
    at = open_page(PAGE, mechanism="PosteriorSampler")
    assert not sentences(at)
    assert "reading = Reading.AS_REAL" in codes(at, "python")[0]
    assert "parameter.which_epsilon.recipient" not in {group.key for group in at.get("button_group")}


def test_the_next_page_audits_the_least_epsilon(at: AppTest) -> None:
    epsilon = said(at)
    turned = press(open_page(PAGE), f"Next: Proofs at ε = {epsilon:g}")
    assert settings_of(turned).parameter("epsilon") == epsilon
    assert headline(turned) == f"Laplace: the claim ε = {epsilon:g} holds and is tight."


def test_a_naive_recipient_needs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "others", lambda chosen: [])
    monkeypatch.setattr(page, "CURVE_DRAWS", 80)
    question = {"target": "tub", "evidence": "asia~no"}
    naive = open_page(PAGE, **question, **{"which_epsilon.recipient": "takes counts as real"})
    assert "2,000 simulated releases of Laplace, read by a naive recipient." in everything(naive)
    assert said(open_page(PAGE, **question)) < said(naive)


@pytest.mark.parametrize(("epsilon", "expected"), [(1.94, 2.0), (1.81, 1.9), (1.9, 1.9), (0.0123, 0.013), (137.2, 140)])
def test_epsilons_are_rounded_up(epsilon: float, expected: float) -> None:
    assert epsilon_rounded_up(epsilon) == expected


def test_the_answer_comes_before_the_curve(one_look: None) -> None:
    at = open_page(PAGE)
    fine(at.run())
    (least,), (errors,) = (at.session_state[f"which_epsilon.{kind}.running"].values() for kind in ("least", "errors"))
    assert (least.taken, errors.taken) == (2, 1)
    assert not least.done
