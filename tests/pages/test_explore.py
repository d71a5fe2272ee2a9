"""Explore without a browser: its question, its board in both seats, and what its controls change."""

import io
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.audit.risk import belief_sentence
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.boards.which_epsilon import LOOKED, WHY
from dpbayes.experiments.planned_tables import PlannedTables
from dpbayes.figures.answer import TABLE
from dpbayes.model.query import query
from dpbayes.model.question import Question
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import read_document
from dpbayes.sources.columns import Categories, Cuts, encode
from dpbayes.sources.data_files import read_data
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.proposals import Proposal
from dpbayes.ui.pages import release_history
from dpbayes.ui.pages.explore import NO_ARROWS, UNKNOWN, guessed, inputs_of
from dpbayes.ui.pages.release_history import EXAMPLE_FILE
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.looked import _LOOKED
from dpbayes.ui.session.options import ExploreView, SimulatedTables
from dpbayes.ui.session.settings import EXPLORED_NAMES, Seat
from dpbayes.ui.session.uploads import Upload
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
    take_seat,
)

PAGE = "pages/explore.py"
SMALL = {"source": "sprinkler", "records": "200"}
WHICH = {"explore.view": ExploreView.EPSILON.value}
ASIA = load_named("asia")[0]


def board(at: AppTest) -> dict[str, Any]:
    (only,) = boards(at)
    return only


def frame(at: AppTest) -> dict[str, Any]:
    shown: dict[str, Any] = board(at)["shown"][board(at)["value"]][0]
    return shown


def axis_title(at: AppTest) -> str:
    return str(frame(at)["figures"]["posterior"]["layout"]["xaxis"]["title"]["text"])


def test_the_first_view_asks_about_bronchitis_among_smokers() -> None:
    at = open_page(PAGE)
    assert at.selectbox(key="question.event").value == ("bronc", "yes")
    assert at.multiselect(key="question.given").value == [("smoke", "yes")]
    assert axis_title(at).startswith("probability of bronchitis = yes if smoking = yes")
    assert "the table’s answer of 0.61 comes out" in frame(at)["headline"], "as stories state it"
    assert [panel["key"] for panel in board(at)["panels"]] == ["posterior", "divergence", "signs", "accuracy"]
    assert set(frame(at)["figures"]) == {"posterior", "divergence", "signs", "accuracy"}


def test_a_table_of_ones_own_begins_with_a_node_that_has_parents() -> None:
    network = load_named("sprinkler")[0]
    at = open_page(PAGE, **SMALL)
    name, _ = at.selectbox(key="question.event").value
    given = at.multiselect(key="question.given").value
    assert [parent in network.parents[network.index(name)] for parent, _ in given] == [True]
    assert {state for _, state in given} == {"yes"}


def test_a_graph_without_arrows_says_what_to_do() -> None:
    assert NO_ARROWS in [caption.value for caption in open_page(PAGE, source="empty:2", cpts="random").caption]
    assert NO_ARROWS not in [caption.value for caption in open_page(PAGE, **SMALL).caption]


def test_the_question_is_changed_as_a_sentence() -> None:
    at = open_page(PAGE)
    fine(at.selectbox(key="question.event").set_value(("dysp", "yes")).run())
    settings = settings_of(at)
    assert (settings.target, settings.state) == ("dysp", "yes")
    assert [name in ASIA.parents[ASIA.index("dysp")] for name, _ in settings.evidence] == [True]
    fine(at.multiselect(key="question.given").set_value([("smoke", "yes"), ("asia", "yes"), ("smoke", "no")]).run())
    assert settings_of(at).evidence == (("smoke", "no"), ("asia", "yes"))
    assert "if smoking = no and" in axis_title(at)
    fine(at.multiselect(key="question.given").set_value([]).run())
    assert settings_of(at).target == "dysp"
    assert " if " not in axis_title(at)
    fine(at.selectbox(key="question.event").set_value(("dysp", "no")).run())
    assert settings_of(at).state == "no"
    assert settings_of(at).evidence == ()


def test_every_number_is_about_the_question() -> None:
    at = open_page(PAGE, target="lung", state="yes", evidence="dysp~yes")
    chosen = Chosen(settings_of(at))
    exact = query(ASIA, chosen.prior.updated(chosen.counts).mean, "lung", {"dysp": "yes"})
    shown = at.session_state["board.numbers"]["exact"]
    assert shown == pytest.approx(exact[ASIA.states[ASIA.index("lung")].index("yes")])


# The mechanism


def mechanism_button(at: AppTest, name: str) -> Any:
    return at.button(key=f"mechanism.{name}")


def test_a_mechanism_is_chosen_and_one_that_cannot_be_used_is_grey_with_its_reason() -> None:
    at = open_page(PAGE, **SMALL)
    fine(mechanism_button(at, "LaplaceFourier").click().run())
    assert settings_of(at).mechanism == "LaplaceFourier"
    reason = "Fourier needs nodes with two states each."
    assert reason not in everything(at)
    at = open_page(PAGE, source="survey", records="200")
    button = mechanism_button(at, "LaplaceFourier")
    assert button.disabled
    assert button.help == reason
    assert reason in [caption.value for caption in at.caption]
    assert not mechanism_button(at, "LaplaceUpdates").disabled


def own_table(*, is_public: bool = True) -> Upload:
    """Return an uploaded table of two columns; the states of the first are public."""
    rows = "age,rain\n" + "\n".join(f"{k % 90},{('no', 'some', 'much')[k % 3]}" for k in range(60))
    frame = pd.read_csv(io.StringIO(rows), dtype=str)
    columns = Cuts("age", (30, 50, 70), public=True), Categories("rain", ("no", "some", "much"), public=is_public)
    declared = tuple(DeclaredColumn(column.name, column) for column in columns)
    proposals = tuple(Proposal(column.name, column) for column in columns)
    return Upload(
        title="own.csv", frame=frame, proposals=proposals, columns=declared,
        dataset=encode(frame, columns), encoded=columns,
    )  # fmt: skip


def test_states_of_an_own_table_are_split_for_fourier() -> None:
    at = open_page("pages/data.py")
    at.session_state["upload"] = own_table()
    at.session_state["settings"] = replace(settings_of(at), data="upload")
    fine(at.switch_page(PAGE).run())
    assert mechanism_button(at, "LaplaceFourier").disabled
    fine(at.button(key="halves").click().run())
    assert not mechanism_button(at, "LaplaceFourier").disabled
    encoded = at.session_state["upload"].encoded
    assert [column.domain for column in encoded] == [("< 50", ">= 50"), ("no", "some or much")]
    assert all(column.public for column in encoded)


# Which epsilon


def test_the_second_board_has_the_least_epsilon_of_planned_tables() -> None:
    at = open_page(PAGE, **WHICH, **SMALL)
    assert board(at)["name"] == "which-epsilon"
    assert frame(at)["notes"][0] == WHY
    assert at.session_state["board.numbers"]["least epsilon"] > 0
    slide(at, "explore.tolerance", 0.2)
    assert board(at)["value"] == "0.2"
    assert settings_of(at).parameter("explore.tolerance") == 0.2


def test_only_the_curator_may_ask_about_the_table_itself() -> None:
    loaded = {"explore.tables": SimulatedTables.LOADED.value}
    at = open_page(PAGE, **WHICH, **SMALL, **loaded)
    assert frame(at)["notes"][0] == LOOKED
    recipient = open_page(PAGE, seat="recipient", **WHICH, **SMALL, **loaded)
    assert frame(recipient)["notes"][0] == WHY


@pytest.mark.parametrize("rows", [None, 100])
def test_made_up_tables_agree_with_public_guesses(rows: int | None) -> None:
    question = Question(ASIA, "dysp", "yes", {"asia": "yes", "smoke": "no"})
    planned = PlannedTables(ASIA, load_named("asia")[1], 1000)
    probabilities = guessed(question, planned, 0.13, rows).probabilities
    assert question.answers(probabilities) == pytest.approx(0.13)
    one, other = (Question(ASIA, *pair).answers(probabilities) for pair in question.evidence.items())
    assert one * other == pytest.approx(0.25 if rows is None else 0.1)


def test_a_typed_guess_is_used_and_without_one_the_least_epsilon_is_not_recommended() -> None:
    at = open_page("pages/data.py", **WHICH)
    at.session_state["upload"] = own_table()
    at.session_state["settings"] = replace(settings_of(at), data="upload")
    fine(at.switch_page(PAGE).run())
    notes = frame(at)["notes"]
    fine(at.text_input(key="box.guess.answer").set_value("1.3").run())
    assert frame(at)["notes"] == notes
    fine(at.text_input(key="box.guess.answer").set_value("0.3").run())
    assert "near 0.3" in frame(at)["notes"][-1]
    assert UNKNOWN in notes[-1]


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
    names = [trace.get("name") for trace in frame(at)["figures"]["posterior"]["data"]]
    assert (TABLE in names) == (seat == "curator")
    assert len(board(at)["panels"]) > 1 or seat == "recipient"


@pytest.mark.parametrize("mechanism", EXPLORED_NAMES)
@pytest.mark.parametrize("evidence", ["rain~yes", ""])
def test_both_seats_see_the_same_release(mechanism: str, evidence: str) -> None:
    """At a small epsilon, where two releases differ much; of a cell and of another question."""
    at = open_page(PAGE, mechanism=mechanism, epsilon="0.1", target="wet", state="yes", evidence=evidence, **SMALL)
    curator, answer = frame(at), at.session_state["board.numbers"]["released"]
    take_seat(at, Seat.RECIPIENT)
    assert settings_of(at).mechanism == mechanism
    assert at.session_state["board.numbers"]["released"] == pytest.approx(answer, rel=1e-9)
    dots = [one["figures"]["posterior"]["data"][-1]["marker"]["color"] for one in (curator, frame(at))]
    assert dots[0] == dots[1]


def test_a_recipient_sees_the_release_alone() -> None:
    at = open_page(PAGE, seat="recipient", **SMALL)
    assert [panel["key"] for panel in board(at)["panels"]] == ["posterior"]
    assert not any("exact" in text.lower() for text in board_texts(at))
    assert set(at.session_state["board.numbers"]) <= {"released", "low", "high"}


@pytest.mark.parametrize("page", [PAGE, "pages/network.py", "pages/proofs.py", "pages/lab.py"])
def test_a_recipient_sees_no_values_that_are_not_declared_public(page: str) -> None:
    at = open_page(page)
    at.session_state["upload"] = own_table(is_public=False)
    at.session_state["settings"] = replace(settings_of(at), data="upload", seat=Seat.RECIPIENT)
    fine(at.run())
    one_sentence(at, "not declared public, here those of 1 column")
    assert "rain = " not in everything(at) + str([box.options for box in at.selectbox])


@pytest.mark.parametrize("reading", Reading)
def test_the_last_real_release_of_a_session_has_one_answer(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_history, "last_release", lambda: read_data(EXAMPLE_FILE))
    at = open_page(PAGE, seat="recipient", epsilon="3", **{"release.reading": reading.value})
    answer = at.session_state["board.numbers"]["released"]
    law = read_document(read_data(EXAMPLE_FILE)).tables.posterior_under(reading)
    assert answer == pytest.approx(law.mean[Question(ASIA, "bronc", "yes", {"smoke": "yes"}).cell])
    assert answer == pytest.approx(law.query("bronc", {"smoke": "yes"}, interval=0.95)["yes"])
    assert board(at)["slider"] is None
    assert "ε = 0.6" in frame(at)["headline"]


def test_what_cannot_be_released_is_one_sentence() -> None:
    at = open_page(PAGE, source="survey", mechanism="LaplaceFourier")
    one_sentence(at, "binary")
    assert not boards(at)


def test_a_wide_network_has_few_releases_and_no_pictures_against_epsilon() -> None:
    at = open_page(PAGE, source="alarm", records="200", mechanism="PosteriorSampler", draws="10000")
    assert set(frame(at)["figures"]) <= {"posterior", "accuracy"}
    assert "possible releases" in everything(at)


def test_the_least_epsilon_leads_to_a_release_and_past_the_exact_answer() -> None:
    at = open_page(PAGE, **WHICH)
    least = at.session_state["board.numbers"]["least epsilon"]
    fine(at.button(key="epsilon.use").click().run())
    assert settings_of(at).parameter("epsilon") == least != 1
    assert at.title[0].value == "Release"
    assert _LOOKED not in at.session_state


# Share


def shared(at: AppTest) -> str:
    """Open the menu, and return its code; "" without one."""
    at.session_state["share"] = True
    fine(at.run())
    return "".join(block.value for block in at.code if block.language == "python")


@pytest.mark.parametrize("seat", ["curator", "recipient"])
@pytest.mark.parametrize("mechanism", ["LaplaceUpdates", "LaplaceFourier"])
def test_the_code_of_the_menu_computes_the_numbers_of_the_board(seat: str, mechanism: str) -> None:
    at = open_page(PAGE, epsilon="2", seat=seat, mechanism=mechanism, seed="3", **SMALL)
    printed: list[dict[str, float]] = []
    exec(shared(at), {"print": printed.append})
    (numbers,) = printed
    shown = at.session_state["board.numbers"]
    assert numbers.keys() >= {"released"}
    assert {name: numbers[name] for name in shown if name != "signs"} == pytest.approx(
        {name: number for name, number in shown.items() if name != "signs"}
    )


def test_there_is_no_code_where_it_would_have_other_numbers() -> None:
    assert not shared(open_page(PAGE, mechanism="AdaptiveTables", **SMALL))
    assert not shared(open_page(PAGE, **SMALL, **{"release.reading": "takes counts as real"}))


def test_a_recipient_gets_no_code_that_reads_records_which_are_not_public() -> None:
    at = open_page(PAGE, **SMALL)
    at.session_state["upload"] = own_table()
    at.session_state["settings"] = replace(settings_of(at), data="upload", source="asia")
    assert "dp.explore" in shared(at)
    at.session_state["settings"] = replace(settings_of(at), seat=Seat.RECIPIENT)
    assert not shared(at)


# One person


@pytest.mark.parametrize(
    ("promise", "most"),
    [
        (NON_PRIVATE, "certainty: there is no guarantee."),
        (Guarantee(1000.0), "near certainty."),
        (Guarantee(1.0, 1e-6), "at most 23.2%, apart from rare cases (δ)."),
    ],
)
def test_the_line_says_what_kind_of_promise_it_is(promise: Guarantee, most: str) -> None:
    line = f"An attacker’s 10% belief that a statement about one person is true can rise to {most}"
    assert belief_sentence(promise) == line
