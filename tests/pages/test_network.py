"""The Network page: its board follows the drawing; whatever is imported becomes a network or a sentence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpbayes.base.validation import InputError
from dpbayes.releases.document import read_document
from dpbayes.sources.bif import write_bif
from dpbayes.sources.named_networks import MAX_NODES, load_named
from dpbayes.ui.pages.network import arrow_inputs, arrow_view
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.graphs import MAX_NAME, Graph, code_of, graph_of, network_of
from dpbayes.ui.session.looked import GRAPHS
from dpbayes.ui.session.settings import Cpts, Seat, Settings
from dpbayes.ui.session.uploads import given_cpts
from tests.pages.conftest import (
    components,
    everything,
    fine,
    one_sentence,
    open_page,
    plain,
    press,
    sentences,
    settings_of,
)
from tests.pages.test_links import long_names
from tests.releases.made import released
from tests.strategies import ASIA

PAGE = "pages/network.py"


def boards(at: AppTest) -> int:
    """How many boards the page shows."""
    return len(components(at, "dpbayes_view"))


def test_where_probabilities_are_public_both_seats_see_the_same_board() -> None:
    shown = []
    for seat in Seat:
        at = open_page(PAGE, seat=seat.value)
        assert not sentences(at)
        assert boards(at) == 1
        view = arrow_view(Chosen(Settings(seat=seat)))
        assert not view.board.private
        shown.append(view.complete())
        assert "the published probabilities of Asia" in view.board.panels[0].help
    assert shown[0].block() == shown[1].block()


def test_a_table_without_public_probabilities_has_a_board_for_the_curator_alone() -> None:
    at = open_page(PAGE, data="fulton_binary")
    assert boards(at) == 1
    assert [shown for looked in at.session_state["looked"].values() for shown in looked] == [GRAPHS]
    assert "looked" not in open_page(PAGE).session_state, "public probabilities show nothing of the table"
    assert arrow_view(Chosen(Settings(data="fulton_binary"))).board.private
    assert "no guarantee covers arrows that are chosen by this picture" in everything(at)
    other = open_page(PAGE, data="fulton_binary", seat="recipient")
    assert boards(other) == 0
    assert "for the curator only, from the records" in everything(other)
    assert "chooses arrows of its own" in everything(open_page(PAGE, mechanism="AdaptiveTables"))
    assert "no guarantee covers" not in everything(open_page(PAGE, data="upload")), "there is no table yet"


def test_probabilities_that_may_have_been_learnt_from_records_are_not_public(session: dict[str, object]) -> None:
    network, cpts = load_named("sprinkler")
    code = code_of(Graph.of(network))
    given_cpts()[code] = cpts
    settings = Settings(source=code, cpts=Cpts.GIVEN)
    assert Chosen(settings).truth[1] is cpts
    assert arrow_view(Chosen(settings)).board.private
    with pytest.raises(InputError, match="public probabilities"):
        arrow_view(Chosen(Settings(source=code, cpts=Cpts.GIVEN, seat=Seat.RECIPIENT)))


@pytest.mark.parametrize(
    "other",
    [
        {"graph": "cancer", "source": "cancer"},
        {"records": 2000},
        {"seed": 2},
        {"data": "fulton_binary"},
        {"source": "survey"},
    ],
)
def test_another_drawing_or_table_is_another_board(other: dict[str, object]) -> None:
    own = Settings(data="synthetic")
    assert arrow_inputs(Chosen(own)) == arrow_inputs(Chosen(Settings()))
    assert arrow_inputs(Chosen(own)) != arrow_inputs(Chosen(Settings(**other)))  # type: ignore[arg-type]


def use(at: AppTest, kind: str) -> AppTest:
    fine(at.selectbox(key="start.kind").set_value(kind).run())
    return press(at, "Replace the drawing")


def test_a_start_replaces_the_drawing_and_the_data_comes_back() -> None:
    at = open_page(PAGE)
    use(at, "cancer")
    assert settings_of(at).graph == "cancer"
    use(at, "columns.empty")
    assert (graph_of(settings_of(at).graph).names, graph_of(settings_of(at).graph).edges) == (ASIA.names, ())
    assert boards(at) == 1
    use(at, "data")
    assert settings_of(at) == Settings()


def test_naive_bayes_has_the_class_that_was_chosen() -> None:
    at = open_page(PAGE)
    fine(at.selectbox(key="start.kind").set_value("columns.bayes").run())
    fine(at.selectbox(key="start.class").set_value("dysp").run())
    press(at, "Replace the drawing")
    edges = graph_of(settings_of(at).graph).edges
    assert sorted(edges) == sorted(("dysp", name) for name in ASIA.names if name != "dysp")


def test_the_graph_of_a_simulated_adaptive_release_is_the_curators() -> None:
    at = use(open_page(PAGE, epsilon="10"), "adaptive")
    drawn = network_of(graph_of(settings_of(at).graph))
    assert set(drawn.names) == set(ASIA.names)
    assert drawn.edges
    fine(at.selectbox(key="start.kind").set_value("adaptive").run())
    assert "not private (curator view)" in everything(at)
    recipient = open_page(PAGE, seat="recipient")
    assert "adaptive" not in str(recipient.selectbox(key="start.kind").options)


def test_a_cycle_is_one_sentence() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("a", "b"), (("a", "b"), ("b", "a")))))
    one_sentence(at, "The arrows close a cycle: a → b → a.")
    use(at, "cancer")
    assert len(sentences(at)) == 1  # its nodes are no columns of the table
    use(at, "data")
    assert not sentences(at)


def test_nodes_that_are_no_columns_are_noted_and_can_become_records() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke", "<b>rain</b>"), (("smoke", "<b>rain</b>"),))))
    assert any("not columns" in plain(c.value) and "<b>rain</b>" in plain(c.value) for c in at.caption)
    assert all("<b>" not in c.value.replace("\\<", "") for c in at.caption)
    one_sentence(at, "is not a column of the table")
    release = open_page("pages/explore.py", graph=settings_of(at).graph)
    one_sentence(release, "is not a column of the table")
    one_sentence(release, "Rename or delete it on the Network page, or sample synthetic records from this network")
    press(at, "Sample synthetic records from this network")
    assert settings_of(at).data == "synthetic"
    fine(at.switch_page("pages/explore.py").run())
    assert not sentences(at)


def has_editor(at: AppTest) -> bool:
    return len(components(at, "dpbayes_dag_editor")) == 1


# Undo


class Browser:
    """Stands in for the editor's script: it owns the drawing until `rev` changes, and turns where Python can go."""

    def __init__(self) -> None:
        self.rev, self.direction = 0, ""
        self.drawing, self.beyond = Graph((), ()), dict[str, Callable[[Graph], None]]()

    def __call__(
        self, drawing: Graph, *, rev: int, beyond: dict[str, Callable[[Graph], None]], **shown: object
    ) -> Graph:
        if rev != self.rev:
            self.rev, self.drawing = rev, drawing
        self.beyond = beyond
        if self.direction:  # in the browser this comes before the run
            direction, self.direction = self.direction, ""
            beyond[direction](self.drawing)
            st.rerun()
        return self.drawing

    def arrow(self, at: AppTest, start: str, end: str) -> AppTest:
        """Draw an arrow."""
        self.drawing = replace(self.drawing, edges=(*self.drawing.edges, (start, end)))
        return fine(at.run())

    def delete(self, at: AppTest, name: str) -> AppTest:
        """Delete a node."""
        places = {node: place for node, place in self.drawing.places.items() if node != name}
        edges = tuple(edge for edge in self.drawing.edges if name not in edge)
        self.drawing = Graph(tuple(places), edges, places)
        return fine(at.run())

    def turn(self, at: AppTest, direction: str) -> AppTest:
        """Press Undo or Redo where the browser has no step of its own."""
        assert direction in self.beyond
        self.direction = direction
        return fine(at.run())


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    """The editor's browser, for what is drawn and undone."""
    browser = Browser()
    monkeypatch.setattr("dpbayes.ui.pages.network.dag_editor", browser)
    return browser


def said(at: AppTest) -> list[str]:
    return [caption.value for caption in at.caption if "Undo restores it" in caption.value]


def test_undo_brings_back_what_use_replaced(browser: Browser) -> None:
    at = browser.arrow(open_page(PAGE), "asia", "xray")
    drawing, drawn = browser.drawing, settings_of(at)
    assert not said(at)
    use(at, "cancer")
    assert said(at)
    use(at, "data")
    assert said(at)
    browser.turn(browser.turn(at, "undo"), "undo")
    assert (browser.drawing, settings_of(at)) == (drawing, drawn)
    assert not said(at)
    browser.turn(at, "undo")
    assert settings_of(at) == Settings()
    assert len(browser.drawing.edges) == 8
    assert "undo" not in browser.beyond
    for graph in (drawn.graph, "cancer", ""):
        browser.turn(at, "redo")
        assert settings_of(at).graph == graph
    assert "redo" not in browser.beyond


@pytest.mark.parametrize(("name", "records"), [("cancer.bif", 1000), ("arrows.txt", 1000)])
def test_undo_brings_back_what_a_file_replaced(browser: Browser, name: str, records: int) -> None:
    at = browser.arrow(open_page(PAGE, source="sprinkler", records=str(records)), "sprinkler", "rain")
    before, drawing = settings_of(at), browser.drawing
    load(at, name, {"cancer.bif": CANCER, "arrows.txt": "smoke -> lung\n"}[name])
    after = settings_of(at)
    assert said(at)
    browser.turn(at, "undo")
    assert (settings_of(at), browser.drawing) == (before, drawing)
    browser.turn(at, "redo")
    assert settings_of(at) == after
    assert not said(at)
    fine(at.switch_page("pages/explore.py").run())
    assert len(sentences(at)) == (name == "arrows.txt")  # those nodes are no columns


def test_the_states_of_a_deleted_node_come_back_with_it(browser: Browser) -> None:
    at = open_page(PAGE, graph=code_of(Graph(("mood", "smoke"), (("mood", "smoke"),), {}, {"mood": ("a", "b", "c")})))
    start = browser.drawing
    assert graph_of(settings_of(at).graph).states["mood"] == ("a", "b", "c")
    browser.delete(at, "mood")
    assert "mood" not in graph_of(settings_of(at).graph).states
    browser.drawing = start  # as the browser's own Undo does
    fine(at.run())
    assert graph_of(settings_of(at).graph).states["mood"] == ("a", "b", "c")


def test_a_drawing_too_large_to_keep_is_one_sentence_and_changes_nothing(browser: Browser) -> None:
    at = open_page(PAGE)
    names = long_names(300, 180)
    browser.drawing = Graph(tuple(names), (), dict.fromkeys(names, (10, 10)))
    fine(at.run())
    one_sentence(at, "too large to keep")
    assert settings_of(at) == Settings()


# Files


def load(at: AppTest, name: str, content: bytes | str) -> AppTest:
    data = content.encode() if isinstance(content, str) else content
    fine(at.file_uploader(key="network.file").set_value((name, data, "text/plain")).run())
    return press(at, "Use this file")


CANCER = write_bif(*load_named("cancer"))


def test_a_bif_file_becomes_the_network_and_the_source_of_records() -> None:
    at = load(open_page(PAGE), "cancer.bif", CANCER)
    assert network_of(graph_of(settings_of(at).source)) == load_named("cancer")[0]
    fine(at.switch_page("pages/explore.py").run())
    assert not sentences(at)


def test_the_graph_of_a_release_file_becomes_the_network(tmp_path: Path) -> None:
    content = released(tmp_path).document
    at = load(open_page(PAGE), "release.json", content)
    assert network_of(graph_of(settings_of(at).graph)) == read_document(content).network


BAD = {
    "release.json": b"{}",
    "png.bif": b"\x89PNG\r\n\x1a\n\x00\xff",
    "latin.txt": "Gr\xf6\xdfe -> b".encode("latin-1"),
    "cycle.txt": b"a -> b\nb -> a\n",
    "empty.txt": b"",
    "names.txt": f"{'x' * (MAX_NAME + 1)} -> b\n".encode(),
    "names.bif": CANCER.replace("Smoker", "x" * (MAX_NAME + 1)).encode(),
    "nodes.txt": "".join(f"n{i}\n" for i in range(MAX_NODES + 1)).encode(),
    "text.txt": "".join(f"{i:03d}{'語' * 180}\n" for i in range(MAX_NODES)).encode(),
}
"""What is no text, what each reader refuses once, and what only the editor and the link cannot take."""


def test_a_bad_file_is_one_sentence_and_the_drawing_stays() -> None:
    at = open_page(PAGE, source="sprinkler", records="500")
    before = settings_of(at)
    for name, content in BAD.items():
        load(at, name, content)
        assert len(sentences(at)) == 1, (name, sentences(at))
        assert len(sentences(at)[0]) < 300
        assert has_editor(at)
        assert settings_of(at) == before
