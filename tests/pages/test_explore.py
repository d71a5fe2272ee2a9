"""Explore without a browser: its question, its board in both seats, and what its controls change."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.sources.named_networks import load_named
from dpbayes.ui.pages.explore.page import inputs_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import EXPLORED_NAMES
from tests.conftest import thorough
from tests.pages.screen import (
    board_texts,
    boards,
    everything,
    fine,
    one_sentence,
    open_page,
    sentences,
    settings_of,
    slide,
    unfold,
)

PAGE = "pages/explore.py"
SMALL = {"source": "sprinkler", "records": "200"}
ASIA = load_named("asia")[0]


def board(at: AppTest) -> dict[str, Any]:
    (only,) = boards(at)
    return only


def frame(at: AppTest) -> dict[str, Any]:
    shown: dict[str, Any] = board(at)["shown"][board(at)["value"]][0]
    return shown


def test_the_first_view_asks_about_bronchitis_among_smokers() -> None:
    at = open_page(PAGE)
    assert at.selectbox(key="question.event").value == (ASIA.index("bronc"), "yes")
    assert "bronc=yes if smoke=yes" in frame(at)["figures"]["posterior"]["layout"]["xaxis"]["title"]["text"]
    assert [panel["key"] for panel in board(at)["panels"]] == ["posterior", "divergence", "signs", "accuracy"]
    assert set(frame(at)["figures"]) == {"posterior", "divergence", "signs", "accuracy"}


def test_a_table_of_ones_own_begins_with_a_node_that_has_parents() -> None:
    network = load_named("sprinkler")[0]
    at = open_page(PAGE, **SMALL)
    node, _ = at.selectbox(key="question.event").value
    assert network.parents[node]


def test_the_question_is_changed_as_a_sentence() -> None:
    at = open_page(PAGE)
    fine(at.selectbox(key="question.event").set_value((ASIA.index("dysp"), "yes")).run())
    assert settings_of(at).state == "yes"
    assert settings_of(at).row.startswith("dysp | ")
    conditions = at.selectbox(key="question.given").options
    assert len(conditions) == 4
    assert all(condition.count(" = ") == 2 for condition in conditions)
    assert "probability of dysp=yes" in frame(at)["figures"]["posterior"]["layout"]["xaxis"]["title"]["text"]


def test_the_board_rests_at_the_epsilon_of_the_link_and_moves_with_it() -> None:
    at = open_page(PAGE, epsilon="0.3", **SMALL)
    assert board(at)["value"] == "0.3"
    assert "ε = 0.3" in frame(at)["headline"]
    slide(at, "epsilon", 3.0)
    assert board(at)["value"] == "3"
    assert "ε = 3" in frame(at)["headline"]


def test_the_first_message_has_one_stop_and_the_next_one_all() -> None:
    at = open_page(PAGE, **SMALL, data_seed="99")
    assert list(board(at)["shown"]) == ["1"]
    at.session_state["explore.wanted"] = inputs_of(Chosen(settings_of(at)))
    fine(at.run())
    assert sorted(board(at)["shown"], key=float) == board(at)["slider"]["stops"]


@pytest.mark.parametrize("mechanism", thorough(EXPLORED_NAMES, sample=["LaplaceFourier", "PosteriorSampler"]))
@pytest.mark.parametrize("seat", ["curator", "recipient"])
def test_every_mechanism_has_a_board_in_both_seats(mechanism: str, seat: str) -> None:
    at = open_page(PAGE, mechanism=mechanism, seat=seat, **SMALL)
    assert not sentences(at)
    assert "posterior" in frame(at)["figures"]
    names = [trace["name"] for trace in frame(at)["figures"]["posterior"]["data"]]
    assert ("the table itself (not public)" in names) == (seat == "curator")
    assert len(board(at)["panels"]) > 1 or seat == "recipient"


def test_a_recipient_sees_the_release_alone() -> None:
    at = open_page(PAGE, seat="recipient", **SMALL)
    exact = float(Chosen(settings_of(open_page(PAGE, **SMALL))).counts.n)
    assert exact == 200
    assert [panel["key"] for panel in board(at)["panels"]] == ["posterior"]
    assert not any("exact" in text.lower() for text in board_texts(at))
    assert set(at.session_state["board.numbers"]) == {"released"}


def test_a_naive_reader_gets_another_density() -> None:
    aware, naive = (
        frame(open_page(PAGE, epsilon="0.1", **SMALL, **{"release.reading": reading}))["figures"]["posterior"]["data"]
        for reading in ("knows of the noise", "takes counts as real")
    )
    assert not np.array_equal(aware[1]["y"], naive[1]["y"])


def test_another_question_is_answered_with_an_interval_and_beside_the_exact_answer() -> None:
    at = open_page(PAGE, target="dysp", evidence="smoke~yes", records="200")
    unfold(at, "question.open")
    (table,) = [frame.value for frame in at.dataframe if "private" in frame.value]
    assert {"state", "private", "exact"} <= set(table)
    assert sum(table["private"]) == pytest.approx(1)
    recipient = unfold(
        open_page(PAGE, seat="recipient", target="dysp", evidence="smoke~yes", records="200"), "question.open"
    )
    (table,) = [frame.value for frame in recipient.dataframe if "private" in frame.value]
    assert "exact" not in table


def test_what_cannot_be_released_is_one_sentence() -> None:
    at = open_page(PAGE, source="survey", mechanism="LaplaceFourier")
    one_sentence(at, "binary")
    assert not boards(at)


def test_a_wide_network_has_few_releases_and_no_pictures_against_epsilon() -> None:
    at = open_page(PAGE, source="alarm", records="200", mechanism="PosteriorSampler", draws="10000")
    assert set(frame(at)["figures"]) <= {"posterior", "accuracy"}
    assert "possible releases" in everything(at)
