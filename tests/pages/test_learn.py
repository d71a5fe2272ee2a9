"""Learning a graph privately on Network: simulated for nothing, really for one payment, then released from."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.mechanisms.structure.choice import StructureChoice, simulate_structure
from dpbayes.releases import ledger
from dpbayes.releases.document import read_document
from dpbayes.releases.document.graph import same_graph
from dpbayes.releases.document.request import GraphChoice
from dpbayes.releases.publishing import learnt_graphs
from dpbayes.releases.verify import verify
from dpbayes.ui.pages.explore.make import PRIOR_UNSEEN, UNSEEN
from dpbayes.ui.session.chosen import Chosen
from tests.pages.conftest import (
    captions,
    fine,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
    unfold,
)
from tests.releases.made import opened

pytestmark = pytest.mark.usefixtures("first_look")

PAGE = "pages/network.py"
SIMULATION = "Simulation: not private (curator view)."
TAKE = "Use the simulated graph as the drawing"


def learning(**query: str) -> AppTest:
    """Open the part of the Network page that learns a graph."""
    return unfold(open_page(PAGE, **query), "learn")


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def learn(at: AppTest) -> AppTest:
    return press(at, next(label for label in labels(at) if label.startswith("Learn graph and spend")))


def drawn(at: AppTest) -> Chosen:
    return Chosen(settings_of(at))


def test_a_simulated_graph_is_shown_marked_and_taken_as_the_drawing(path: Path) -> None:
    at = learning()
    data = drawn(at).dataset
    choice = StructureChoice(epsilon=Fraction(1), first=data.names[0])
    simulated = simulate_structure(choice, data, stream(settings_of(at).seed, "structure")).network
    parent, child = simulated.edges[0]
    assert any(f"{parent} → {child}" in plain(text.value) for text in at.markdown)
    assert SIMULATION in captions(at)
    assert not path.exists()
    press(at, TAKE)
    assert same_graph(drawn(at).network, simulated)
    assert not path.exists(), "a simulation writes nothing to the ledger"


def test_it_is_the_same_simulation_until_something_is_chosen_otherwise(path: Path, monkeypatch) -> None:
    calls = []
    real = simulate_structure
    monkeypatch.setattr(
        "dpbayes.ui.pages.network.learn.simulate_structure", lambda *given: calls.append(given[0]) or real(*given)
    )
    at = learning()
    fine(at.run())
    assert len(calls) == 1
    put(at, "learn.epsilon", "2.5")
    fine(at.selectbox(key="learn.parents").set_value(1).run())
    assert [(choice.epsilon, choice.parents) for choice in calls[1:]] == [(Fraction(5, 2), 2), (Fraction(5, 2), 1)]


def test_many_looks_at_records_are_not_taken_unasked(path: Path, monkeypatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.network.learn.WITHOUT_BUTTON", 100)
    at = learning()
    assert SIMULATION not in captions(at)
    press(at, "Simulate the choice")
    assert SIMULATION in captions(at)


@pytest.mark.parametrize(("epsilon", "part"), [("banana", "decimal"), ("0", "epsilon must be between")])
def test_an_epsilon_that_is_none_is_one_sentence(path: Path, epsilon: str, part: str) -> None:
    at = put(learning(), "learn.epsilon", epsilon)
    one_sentence(at, part)
    assert SIMULATION not in captions(at)


def test_too_few_records_for_the_columns_are_said_to_be(path: Path) -> None:
    at = learning(data="house_votes_84")
    assert any("the choice is mostly noise" in info.value for info in at.info)
    put(at, "learn.epsilon", "50")
    assert not any("mostly noise" in info.value for info in at.info)
    assert any(
        "of the strongest possible dependence cannot be distinguished from noise" in caption for caption in captions(at)
    )


def test_without_a_budget_it_leads_to_the_ledger(path: Path) -> None:
    at = learning()
    assert any("No dataset has a privacy budget yet" in info.value for info in at.info)
    assert not any(label.startswith("Learn graph") for label in labels(at))


def test_a_graph_is_learnt_once_taken_and_released_from(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="3")
    at = put(learning(), "learn.epsilon", "0.25")
    before = settings_of(at).graph
    assert [metric.value for metric in at.metric if metric.label == "Cost (ε)"] == ["0.25"]
    learn(at)
    assert ledger.account_of(path, "garden").spent == Fraction(1, 4)
    assert "The release is valid" in at.success[0].value
    (learnt,) = learnt_graphs(path, "garden")
    assert settings_of(at).graph == before
    fine(at.run())
    assert any("was learnt before" in info.value for info in at.info)
    assert ledger.account_of(path, "garden").spent == Fraction(1, 4)
    press(at, "Use the learnt graph as the drawing")
    assert same_graph(drawn(at).network, learnt.document.network)

    at.switch_page("pages/explore.py")
    at = unfold(fine(at.run()), "make")
    box = at.checkbox(key="make.unseen")
    assert box.label == PRIOR_UNSEEN
    said = f"This graph was learnt privately in row {learnt.row} of the ledger. Its ε = 0.25 is charged there."
    assert said in captions(at)
    fine(box.check().run())
    press(at, next(label for label in labels(at) if label.startswith("Make release")))
    row = ledger.spendings(path, "garden")[-1].row
    document = read_document(ledger.outcome(path, row))
    assert verify(ledger.outcome(path, row)).holds
    assert document.request.graph is GraphChoice.PRIVATELY
    assert document.composed.spent == Fraction(1, 4)


def test_the_simulated_graph_is_no_learnt_one_on_release(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="3")
    at = press(learning(), TAKE)
    at.switch_page("pages/explore.py")
    at = unfold(fine(at.run()), "make")
    assert at.checkbox(key="make.unseen").label == UNSEEN


def test_more_than_the_budget_is_one_sentence_and_nothing_is_drawn(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="0.3")
    at = learn(learning())
    assert any("budget of" in sentence for sentence in sentences(at))
    assert not at.success
    assert ledger.account_of(path, "garden").spent == 0


def test_a_learnt_graph_is_opened_on_the_ledger_page(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    learn(learning())
    (learnt,) = learnt_graphs(path, "garden")
    at = open_page("pages/ledger.py")
    fine(at.selectbox(key="ledger.row").set_value(learnt.row).run())
    assert "The release is valid" in at.success[0].value
    assert any("chosen privately from" in text.value for text in at.markdown)


def test_a_drawing_of_other_nodes_than_columns_is_one_sentence(path: Path) -> None:
    at = learning(data="house_votes_84", graph="chain:5")
    assert any("Fewer than two nodes" in sentence for sentence in sentences(at))


def test_the_recipient_learns_nothing(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    at = learning(seat="recipient")
    assert not [part for part in at.expander if part.label.startswith("Learn privately")]
    assert SIMULATION not in captions(at)


# Starts that look at no record


@pytest.mark.parametrize("kind", ["columns.bayes", "columns.chain", "columns.empty"])
def test_the_table_s_own_columns_are_a_start(path: Path, kind: str) -> None:
    at = open_page(PAGE, data="house_votes_84")
    states = drawn(at).domains
    names = tuple(states)
    fine(at.selectbox(key="start.kind").set_value(kind).run())
    root = names[3]
    if kind == "columns.bayes":
        fine(at.selectbox(key="start.class").set_value(root).run())
    press(at, "Use")
    network = drawn(at).network
    assert dict(zip(network.names, network.states, strict=True)) == states
    expected = {
        "columns.bayes": {(root, name) for name in names if name != root},
        "columns.chain": set(pairwise(names)),
        "columns.empty": set(),
    }
    assert set(network.edges) == expected[kind]
