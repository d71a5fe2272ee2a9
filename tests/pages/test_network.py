"""The Network page: costs follow the drawing; whatever is imported becomes a network or a sentence."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpbayes.base.text import numeral
from dpbayes.experiments.best_noise import needs_delta, noisy_kinds
from dpbayes.experiments.planned_errors import PlannedErrors
from dpbayes.experiments.structure import NONE, REMOVED, arrow_costs, structure_cost
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.laplace import LaplaceUpdates
from dpbayes.mechanisms.sampler import PosteriorSampler
from dpbayes.model.network import Network
from dpbayes.sources.bif import write_bif
from dpbayes.sources.named_networks import MAX_NODES, load_named
from dpbayes.ui.pages.network.errors import planned, planned_from, verdict
from dpbayes.ui.pages.network.exchange import drawing_svg
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.graphs import MAX_NAME, TEMPLATES, Graph, code_of, graph_of, network_of
from dpbayes.ui.session.options.workflow import ByNode
from dpbayes.ui.session.settings import MECHANISM_NAMES, Cpts, Settings
from dpbayes.ui.session.uploads import given_cpts
from dpbayes.ui.widgets.dag_editor import Beyond, Drawing, DrawnNode
from dpbayes.ui.widgets.show import inside
from tests.conftest import crossed
from tests.pages.conftest import (
    components,
    everything,
    figures,
    fine,
    headline,
    metrics,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
    stopped_at_the_second_picture,
)
from tests.pages.test_links import long_names, packed, two
from tests.strategies import ASIA

PAGE = "pages/network.py"


def test_the_headline_and_the_numbers_are_the_cores() -> None:
    at = open_page(PAGE)
    cost = structure_cost(load_named("asia")[0], 1.0)
    shown = metrics(at)
    assert shown["Laplace noise per cell"] == numeral(cost.laplace_noise)
    assert shown["Fourier noise per cell"] == numeral(cost.fourier_noise)
    assert shown["Rows m"] == f"{cost.rows:,}"
    assert shown["Cells K"] == f"{cost.cells:,}"
    assert shown["|N_I|"] == f"{cost.closure:,}"


def test_the_headline_has_one_finding_and_names_what_is_as_good() -> None:
    prior = load_named("asia")[0]
    mechanisms = tuple(kind(epsilon=1.0, prior=prior) for kind in (LaplaceUpdates, LaplaceFourier, PosteriorSampler))
    planned_errors = PlannedErrors(mechanisms, np.array([[0.332] * 3, [0.41] * 3, [0.1] * 3]))
    start = "At ε = 1, posterior sampling has the lowest mean absolute error (0.1)"
    assert verdict(Chosen(Settings()), planned_errors) == f"{start}."
    near = PlannedErrors(mechanisms, np.array([[0.3, 0.0, 0.1], [0.41] * 3, [0.1, 0.2, 0.09]]))
    assert verdict(Chosen(Settings()), near).endswith(", with no clear difference from Laplace.")


@pytest.mark.parametrize("graph", ["", "empty:1", "chain:5"])
def test_the_headline_is_about_the_errors_in_the_picture_and_noise_names_no_winner(graph: str) -> None:
    at = open_page(PAGE, graph=graph) if graph else open_page(PAGE)
    bars = figures(at)["errors"]["data"][0]
    assert bars["x"] == sorted(bars["x"], reverse=True), "the least on top"
    least = numeral(bars["x"][-1], 2)
    label = bars["y"][-1].removesuffix(f": {least}")
    label = inside(label.partition(" (")[0])
    assert headline(at).startswith(f"At ε = 1, {label} has the lowest mean absolute error ({least})")
    text = everything(at)
    assert "Your records are not used" in text
    assert ("published probabilities" in text) == (graph == "")
    assert "Noise per cell is not the error of a probability" in text
    assert "explore" in [link.proto.page for link in at.get("page_link")]


def test_the_question_has_an_error_of_its_own() -> None:
    at = open_page(PAGE, target="dysp", evidence="smoke~yes")
    caption = next(plain(c.value) for c in at.caption if "your question" in c.value)
    assert "P(dysp | smoke=yes)" in caption
    assert caption.count(" with ") == len(figures(at)["errors"]["data"][0]["y"])


def test_while_errors_are_missing_the_question_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.network.errors.hand_moves", lambda: True)
    at = open_page(PAGE, target="dysp", evidence="smoke~yes")
    caption = next(plain(c.value) for c in at.caption if "your question" in c.value)
    assert "P(dysp | smoke=yes): … with Laplace, " in caption
    assert caption.count("… with ") == len(MECHANISM_NAMES)


ASIA_AND_AN_ARROW = code_of(
    Graph.of(
        Network.from_edges(
            ASIA.names, [*ASIA.edges, ("asia", "bronc")], dict(zip(ASIA.names, ASIA.states, strict=True))
        )
    )
)


@pytest.fixture
def two_quick_mechanisms_and_many_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.network.errors.MOST_CELLS", 4_000)
    monkeypatch.setattr("dpbayes.ui.pages.network.errors.MECHANISM_NAMES", ("LaplaceUpdates", "GaussianResiduals"))


def errors_shown(at: AppTest) -> dict[str, float]:
    (bars,) = figures(at)["errors"]["data"]
    return dict(zip((label.rpartition(": ")[0] for label in bars["y"]), bars["x"], strict=True))


@pytest.mark.usefixtures("two_quick_mechanisms_and_many_tables")
def test_an_added_arrow_raises_the_planned_errors_and_the_headline_states_before_and_after() -> None:
    """Of Asia's 1,000 records few have been there: an arrow from asia makes rows that noise drowns."""
    before, after = open_page(PAGE), open_page(PAGE, graph=ASIA_AND_AN_ARROW, prior="capped")
    own, drawn = errors_shown(before), errors_shown(after)
    assert set(own) == set(drawn)
    assert all(drawn[name] > own[name] for name in own)
    (best,) = (name for name in drawn if drawn[name] == min(drawn.values()))
    change = f"from {numeral(own[best], 2)} to {numeral(drawn[best], 2)}"
    label = inside(best.partition(" (")[0])
    assert headline(after) == f"Your drawing raises the mean absolute error with {label} {change}."
    assert "Your drawing" not in headline(before)
    assert all("the published probabilities of Asia" in everything(at) for at in (before, after))


@pytest.mark.usefixtures("two_quick_mechanisms_and_many_tables")
@pytest.mark.parametrize(
    ("settings", "source"),
    [
        (Settings(cpts=Cpts.RANDOM), "the probabilities behind the synthetic table"),
        (Settings(data="fulton_binary"), "independent columns with new random probabilities for each table"),
    ],
)
def test_planned_tables_are_the_same_records_whatever_the_arrows_are(settings: Settings, source: str) -> None:
    chosen = Chosen(settings)
    own = chosen.network
    bare = Chosen(replace(settings, graph=code_of(Graph(own.names[::-1], ()))))
    values = {choice: planned(choice).tables.values for choice in (chosen, bare)}
    for name in own.names:
        first, second = (
            np.asarray(choice.network.table(tables, choice.network.index(name)))[:10]
            for choice, tables in values.items()
        )
        assert np.array_equal(first.sum(axis=tuple(range(1, first.ndim - 1))), second)
    assert planned_from(chosen) == planned_from(bare) == source


def test_probabilities_that_may_have_been_learnt_from_records_plan_nothing(session: dict[str, object]) -> None:
    network, cpts = load_named("sprinkler")
    code = code_of(Graph.of(network))
    given_cpts()[code] = cpts
    chosen = Chosen(Settings(source=code, cpts=Cpts.GIVEN))
    assert chosen.truth[1] is cpts
    assert chosen.public_source is None
    assert planned_from(chosen).startswith("independent columns")


BY_NODE = {"network.by_node": ByNode.ERROR.value}


def test_errors_by_node_are_those_in_the_bars_and_the_farthest_node_is_named() -> None:
    at = open_page(PAGE, **BY_NODE)
    network, _ = load_named("asia")
    (bars,), by_node = (figures(at)[key]["data"] for key in ("errors", "errors.nodes"))
    labels = [label.rpartition(": ")[0] for label in bars["y"]]
    means = dict(zip(labels, bars["x"], strict=True))
    shares = np.diff(network.cell_offsets) / network.cell_count
    for bar in by_node:
        assert np.dot(bar["y"], shares) == pytest.approx(means[bar["name"]])
    least = min(by_node, key=lambda bar: means[bar["name"]])
    (said,) = [plain(c.value) for c in at.caption if "largest mean absolute error" in c.value]
    farthest = least["x"][np.argmax(least["y"])]
    worst = f"has the largest mean absolute error ({numeral(max(least['y']), 2)})"
    assert said.startswith(f'With {inside(least["name"])}, "{farthest}" {worst}')
    assert "noise" not in figures(at)


def test_noise_by_node_is_what_moves_and_errors_by_node_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"noise"} <= set(figures(open_page(PAGE))) - {"errors.nodes"}
    monkeypatch.setattr("dpbayes.ui.pages.network.errors.hand_moves", lambda: True)
    assert not {"noise", "errors.nodes"} & set(figures(open_page(PAGE, **BY_NODE)))


def test_a_network_too_large_for_errors_has_noise_by_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.network.errors.MOST_NETWORK", 30)
    at = open_page(PAGE, **BY_NODE)
    assert "noise" in figures(at)
    assert "parameter.network.by_node" not in {group.key for group in at.get("button_group")}


def prices(at: AppTest) -> list[pd.DataFrame]:
    """The tables of what arrows cost: of all probabilities, and of the answer where something is asked."""
    return [frame.value.set_index(REMOVED) for frame in at.dataframe if REMOVED in frame.value.columns]


def arrow_sentences(at: AppTest) -> list[str]:
    """What is said of the arrow that costs most."""
    return [
        plain(m.value) for m in at.markdown if "emoving " in m.value and " the mean absolute error with " in m.value
    ]


def test_errors_with_an_arrow_removed_are_of_every_mechanism_in_the_bars_on_the_same_tables() -> None:
    at = open_page(PAGE, source="sprinkler", records="200")
    (frame,) = prices(at)
    errors = frame.filter(like="error with ")
    assert list(frame.index) == [NONE, *(f"{a} → {b}" for a, b in load_named("sprinkler")[0].edges)]
    assert ((errors > 0) & (errors < 0.7)).all(axis=None)
    shown = {bar.rpartition(": ")[2] for bar in figures(at)["errors"]["data"][0]["y"]}
    assert {numeral(error, 2) for error in errors.loc[NONE]} == shown
    assert len(errors.columns) == len(figures(at)["errors"]["data"][0]["y"])
    assert len(set(errors["error with Fourier"])) == len(frame)
    (said,) = arrow_sentences(at)
    prices_of = errors.loc[NONE] - errors.drop(NONE)
    name, payer = prices_of.stack().idxmax()  # type: ignore[misc]
    before, after = (numeral(errors[payer][row], 2) for row in (NONE, name))
    mechanism = payer.removeprefix("error with ")
    assert name in said
    assert f"the mean absolute error with {mechanism} from {before} to {after}" in said


def test_the_question_has_its_own_price_of_every_arrow() -> None:
    at = open_page(PAGE, source="sprinkler", records="200", target="wet", evidence="cloudy~yes")
    whole, answer = prices(at)
    assert list(answer.index) == list(whole.index)
    assert list(answer.columns) == list(whole.filter(like="error with ").columns)
    caption = next(plain(c.value) for c in at.caption if "your question" in c.value)
    for label, error in answer.loc[NONE].items():
        assert f"{numeral(error, 2)} with {str(label).removeprefix('error with ')}" in caption
    assert len(arrow_sentences(at)) == 2
    assert "P(wet | cloudy=yes). " in arrow_sentences(at)[1]


@pytest.mark.usefixtures("no_errors_are_kept_for_all")
def test_arrows_are_weighed_while_one_watches_and_the_dearest_is_named_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = stopped_at_the_second_picture(monkeypatch)
    at = open_page(PAGE, target="dysp")
    assert seen
    assert not arrow_sentences(at)
    assert "Comparing the network with and without each arrow" in everything(at)


@pytest.mark.usefixtures("no_errors_are_kept_for_all")
def test_mechanisms_that_would_take_long_on_every_arrow_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.network.arrows.MOST_SLOW", 0)
    monkeypatch.setattr("dpbayes.ui.pages.network.arrows.MOST_READ", 0)
    at = open_page(PAGE, source="sprinkler", records="200")
    errors = prices(at)[0].filter(like="error with ")
    assert not {"error with posterior sampling", "error with private MAP"} & set(errors)
    assert {"error with Laplace", "error with Fourier"} <= set(errors)
    text = everything(at)
    assert "Not computed, because there are too many networks: posterior sampling and private MAP." in text
    assert "on the same simulated tables, for a naive reader" in text


def test_without_an_arrow_a_mechanism_is_as_it_would_be_once_it_is_removed() -> None:
    at = open_page(PAGE, source="sprinkler", records="200", target="wet")
    without = prices(at)[0].loc["sprinkler → wet"]
    shorter = load_named("sprinkler")[0].without_edge("sprinkler", "wet")
    drawn = metrics(open_page(PAGE, source="sprinkler", records="200", graph=code_of(Graph.of(shorter))))
    assert [f"{int(without[name]):,}" for name in ("rows m", "cells K", "|N_I|")] == [
        drawn[name] for name in ("Rows m", "Cells K", "|N_I|")
    ]
    for name in ("Laplace noise per cell", "Fourier noise per cell"):
        assert float(without[name]) == pytest.approx(float(drawn[name]), rel=0.01)


def test_errors_follow_when_the_hand_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.network.errors.hand_moves", lambda: True)
    at = open_page(PAGE)
    cost = structure_cost(load_named("asia")[0], 1.0)
    assert f"sd of {cost.laplace_noise:.3g} with Laplace and {cost.fourier_noise:.3g} with Fourier." in headline(at)
    assert "errors" not in figures(at)


def use(at: AppTest, kind: str, size: str = "8") -> AppTest:
    fine(at.selectbox(key="start.kind").set_value(kind).run())
    if "start.size" in [box.key for box in at.text_input]:
        put(at, "start.size", size)
    return press(at, "Use")


def test_costs_follow_the_shape_and_the_data_comes_back() -> None:
    at = open_page(PAGE)
    first = metrics(at)
    use(at, "chain", "5")
    assert settings_of(at).graph == "chain:5"
    second = metrics(at)
    use(at, "full", "5")
    third = metrics(at)
    assert first != second != third
    assert third["Cells K"] == "62"
    use(at, "cancer")
    assert settings_of(at).graph == "cancer"
    use(at, "data")
    assert metrics(at) == first


def test_a_bad_size_is_a_sentence_and_the_drawing_stays() -> None:
    at = open_page(PAGE)
    before = metrics(at)
    for size in ("", "abc", "0", "-3", "1e9", "2.5", "nan", "13"):
        use(at, "full", size)
        assert len(sentences(at)) == 1, size
        assert settings_of(at).graph == ""
        assert metrics(at) == before


def test_costs_follow_epsilon() -> None:
    at = open_page(PAGE)
    before = metrics(at)
    fine(at.select_slider(key="parameter.epsilon").set_value(2.0).run())
    after = metrics(at)
    for noise in ("Laplace noise per cell", "Fourier noise per cell"):
        assert float(after[noise]) == pytest.approx(float(before[noise]) / 2, rel=0.01)


def test_the_noise_of_every_mechanism_is_shown_and_of_a_wide_graph_that_of_the_quick_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = open_page(PAGE)
    table = next(frame.value for frame in at.dataframe if "promise" in frame.value.columns).set_index("mechanism")
    assert list(table.index) == [kind.label for kind in noisy_kinds()]
    assert table["noise per cell"]["Laplace"] == metrics(at)["Laplace noise per cell"]
    assert float(table["noise per cell"]["Gaussian residuals"]) < 15
    bars = figures(at)["noise"]["data"]
    delta = f" (δ = {numeral(settings_of(at).parameter('delta'))})"
    assert [bar["name"] for bar in bars] == [kind.label + delta * needs_delta(kind) for kind in noisy_kinds()]
    assert [bar["marker"]["color"] for bar in bars] == [kind.colour for kind in noisy_kinds()]
    cells = np.diff(load_named("asia")[0].cell_offsets)
    for bar, shown in zip(bars, table["noise per cell"], strict=True):
        assert numeral(float(np.sqrt(np.average(np.square(bar["y"]), weights=cells)))) == shown
    monkeypatch.setattr("dpbayes.ui.pages.network.page.SEARCHED_SETS", 3)
    fine(at.run())
    table = next(frame.value for frame in at.dataframe if "promise" in frame.value.columns)
    assert "Gaussian residuals" not in list(table["mechanism"])
    assert "search for their best noise scales" in everything(at)
    assert "Gaussian residuals" not in str([bar["name"] for bar in figures(at)["noise"]["data"]])


def test_a_graph_of_more_states_has_bars_of_the_mechanisms_that_take_it() -> None:
    names = " ".join(bar["name"] for bar in figures(open_page(PAGE, source="survey"))["noise"]["data"])
    assert "Laplace" in names
    assert "Gaussian residuals" in names
    assert "Fourier" not in names


def test_a_cycle_is_one_sentence() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("a", "b"), (("a", "b"), ("b", "a")))), prior="1")
    one_sentence(at, "The arrows close a cycle: a → b → a.")
    kinds = [element.type for element in at.main]
    assert kinds.index("warning") < kinds.index("bidi_component"), "the sentence stands above the drawing"
    use(at, "chain", "3")
    assert not sentences(at)


def test_no_node_at_all_is_one_sentence() -> None:
    at = open_page(PAGE, graph=code_of(Graph((), ())))
    one_sentence(at, "The network has no nodes")
    use(at, "data")
    assert not sentences(at)


def test_one_lonely_node() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke",), ())))
    assert headline(at)
    assert any("No arrows yet" in caption.value for caption in at.caption)


def test_nodes_that_are_no_columns_are_noted_and_can_become_records() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke", "<b>rain</b>"), (("smoke", "<b>rain</b>"),))))
    assert any("not columns" in plain(c.value) and "<b>rain</b>" in plain(c.value) for c in at.caption)
    assert all("<b>" not in c.value.replace("\\<", "") for c in at.caption)
    release = open_page("pages/explore.py", graph=settings_of(at).graph)
    one_sentence(release, "is not a column of the table")
    one_sentence(release, "Rename or delete it on the Network page, or sample synthetic records from this network")
    press(at, "Sample synthetic records from this network")
    assert settings_of(at).data == "synthetic"
    fine(at.switch_page("pages/explore.py").run())
    assert not sentences(at)


@pytest.mark.usefixtures("first_look")
def test_a_network_that_is_not_binary_names_the_node() -> None:
    at = open_page(PAGE, source="survey")
    assert 'Fourier needs binary nodes, and "A" is not binary.' in everything(at)
    for name in MECHANISM_NAMES:  # Explore agrees on what runs
        release = open_page("pages/explore.py", source="survey", mechanism=name)
        assert bool(sentences(release)) == (name == "LaplaceFourier"), name
    assert "Posterior sampling and private MAP do not need binary nodes." in everything(at)


def test_andes_opens_and_only_the_arrow_that_is_picked_is_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[int] = []

    def costs(network: Network, epsilon: float, *, only: Sequence[tuple[str, str]]) -> pd.DataFrame:
        weighed.append(len(only))
        return arrow_costs(network, epsilon, only=only)

    monkeypatch.setattr("dpbayes.ui.pages.network.arrows.arrow_costs", costs)
    at = open_page(PAGE, source="andes")
    assert metrics(at)["|N_I|"] == "1,712"
    assert weighed == [1]  # of 338, each of which takes about as long as the page


def has_editor(at: AppTest) -> bool:
    return len(components(at, "dpbayes_dag_editor")) == 1


def test_names_of_any_length_that_a_link_takes_are_drawn() -> None:
    at = open_page(PAGE, source=code_of(Graph(("x" * MAX_NAME, "b"), ())), cpts="random")
    assert not sentences(at)
    assert has_editor(at)


ODD = {
    "longer names": two(n=["x" * (MAX_NAME + 1), "b"]),
    "one name twice": two(n=["a", "a"]),
    "a blank name": two(n=["a", " "]),
    "a place far away": two(p=[[1e300, -1e300], None]),
    "a cycle": two(e=[[0, 1], [1, 0]]),
    "an arrow to itself": two(e=[[0, 0]]),
    "an arrow given twice": two(e=[[0, 1], [0, 1]]),
    "no nodes": two(n=[], e=[], p=[]),
    "strangers": two(),
    "too many states": two(s={"0": [str(i) for i in range(300)]}),
}


@pytest.mark.parametrize(("name", "field"), crossed(list(ODD), ["graph", "source"], times=1))
def test_whatever_a_link_brings_the_editor_is_there(name: str, field: str) -> None:
    at = open_page(PAGE, cpts="random", **{field: packed(ODD[name])})
    refusals = sentences(at)
    assert has_editor(at)
    assert len(set(refusals)) == len(refusals) <= 1, refusals
    use(at, "chain", "3")
    assert has_editor(at)
    assert not sentences(at)
    assert metrics(at)["Cells K"] == "10"


@pytest.mark.parametrize(("size", "kind"), crossed(["200", "300", "301", "1e9", "9" * 400], [*TEMPLATES], times=1))
def test_a_huge_size_is_drawn_or_a_sentence(kind: str, size: str) -> None:
    at = use(open_page(PAGE), kind, size)
    assert has_editor(at)
    assert len(sentences(at)) == (settings_of(at).graph == "")
    assert settings_of(at).graph in ("", f"{kind}:{size}")


# Undo


class Browser:
    """Stands in for the editor's script: it owns the drawing until `rev` changes, and turns where Python can go."""

    def __init__(self) -> None:
        self.rev, self.direction = 0, ""
        self.drawing, self.beyond = Drawing((), ()), Beyond()

    def __call__(self, drawing: Drawing, *, rev: int, beyond: Beyond, **shown: object) -> Drawing:
        if rev != self.rev:
            self.rev, self.drawing = rev, drawing
        self.beyond = beyond
        if self.direction:  # in the browser this comes before the run
            direction, self.direction = self.direction, ""
            beyond.turn(self.drawing, direction)
            st.rerun()
        return self.drawing

    def arrow(self, at: AppTest, start: str, end: str) -> AppTest:
        """Draw an arrow."""
        self.drawing = Drawing(self.drawing.nodes, (*self.drawing.edges, (start, end)))
        return fine(at.run())

    def delete(self, at: AppTest, name: str) -> AppTest:
        """Delete a node."""
        nodes = tuple(node for node in self.drawing.nodes if node.name != name)
        self.drawing = Drawing(nodes, tuple(edge for edge in self.drawing.edges if name not in edge))
        return fine(at.run())

    def turn(self, at: AppTest, direction: str) -> AppTest:
        """Press Undo or Redo where the browser has no step of its own."""
        assert {"undo": self.beyond.earlier, "redo": self.beyond.later}[direction]
        self.direction = direction
        return fine(at.run())


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch, first_look: None) -> Browser:
    """The editor's browser, for what is drawn and undone; the errors of every drawing are told by the tests above."""
    browser = Browser()
    monkeypatch.setattr("dpbayes.ui.pages.network.editor.dag_editor", browser)
    return browser


def said(at: AppTest) -> list[str]:
    return [caption.value for caption in at.caption if "Undo restores it" in caption.value]


def test_undo_brings_back_what_use_replaced(browser: Browser) -> None:
    at = browser.arrow(open_page(PAGE), "asia", "xray")
    drawing, drawn = browser.drawing, settings_of(at)
    assert not said(at)
    use(at, "chain", "5")
    assert said(at) == ["The chosen network replaced your drawing; Undo restores it."]
    use(at, "data")
    assert said(at) == ["The table's own network replaced the previous drawing; Undo restores it."]
    browser.turn(browser.turn(at, "undo"), "undo")
    assert (browser.drawing, settings_of(at)) == (drawing, drawn)
    assert not said(at)
    browser.turn(at, "undo")
    assert settings_of(at) == Settings()
    assert len(browser.drawing.edges) == 8
    assert not browser.beyond.earlier
    for graph in (drawn.graph, "chain:5", ""):
        browser.turn(at, "redo")
        assert settings_of(at).graph == graph
    assert not browser.beyond.later


def test_a_stroke_after_undo_ends_what_could_be_redone(browser: Browser) -> None:
    at = use(open_page(PAGE), "chain", "5")
    browser.turn(at, "undo")
    assert browser.beyond.later
    browser.arrow(at, "asia", "xray")
    assert not browser.beyond.later
    browser.turn(at, "undo")
    assert len(browser.drawing.edges) == 8
    assert browser.beyond.later


@pytest.mark.parametrize(("name", "records"), [("cancer.bif", 1000), ("arrows.txt", 1000)])
def test_undo_brings_back_what_a_file_replaced(browser: Browser, name: str, records: int) -> None:
    at = browser.arrow(open_page(PAGE, source="sprinkler", records=str(records)), "sprinkler", "rain")
    before, drawing, shown = settings_of(at), browser.drawing, metrics(at)
    load(at, name, {"cancer.bif": CANCER, "arrows.txt": "smoke -> lung\n"}[name])
    after = settings_of(at)
    assert said(at) == ["The network of the file replaced your drawing; Undo restores it."]
    browser.turn(at, "undo")
    assert (settings_of(at), browser.drawing, metrics(at)) == (before, drawing, shown)
    browser.turn(at, "redo")
    assert settings_of(at) == after
    assert not said(at)
    fine(at.switch_page("pages/explore.py").run())
    assert len(sentences(at)) == (name == "arrows.txt")  # those nodes are no columns


def test_undo_brings_back_what_another_table_replaced(browser: Browser) -> None:
    at = browser.arrow(open_page(PAGE, data="house_votes_84"), "crime", "immigration")
    drawn, drawing = settings_of(at).graph, browser.drawing
    fine(at.switch_page("pages/data.py").run())
    fine(at.segmented_control(key="origin").set_value("synthetic").run())
    assert [toast.value for toast in at.toast] == [
        "The table's own network replaced your drawing; Undo on the Network page restores it."
    ]
    fine(at.run())
    assert not at.toast
    fine(at.switch_page(PAGE).run())
    assert said(at) == ["The table's own network replaced your drawing; Undo restores it."]
    browser.turn(at, "undo")
    assert browser.drawing == drawing
    assert (settings_of(at).data, settings_of(at).graph) == ("synthetic", drawn)
    browser.turn(at, "redo")
    assert settings_of(at).graph == ""
    assert len(browser.drawing.nodes) == 8


def from_home(at: AppTest, story: str) -> None:
    """Open a story, which Home offers."""
    fine(at.switch_page("pages/home.py").run())
    fine(at.button(key=f"open.{story}").click().run())


def test_undo_brings_back_what_a_story_replaced_with_the_probabilities_of_its_file(browser: Browser) -> None:
    at = load(open_page(PAGE), "cancer.bif", CANCER)
    before, drawing = settings_of(at), browser.drawing
    from_home(at, "epsilon")
    assert [toast.value[:51] for toast in at.toast] == ["The table's own network replaced your drawing; Undo"]
    fine(at.switch_page(PAGE).run())
    assert len(browser.drawing.nodes) == 8
    browser.turn(at, "undo")
    assert browser.drawing == drawing
    now = settings_of(at)
    assert (now.data, now.source, now.cpts, now.graph) == ("synthetic", before.source, Cpts.GIVEN, "")
    fine(at.switch_page("pages/explore.py").run())
    assert not sentences(at)


def test_a_network_that_nobody_drew_makes_room_without_a_word(browser: Browser) -> None:
    at = open_page(PAGE)
    for data in ("house_votes_84", "adult"):
        fine(at.switch_page("pages/data.py").run())
        fine(at.segmented_control(key="origin").set_value("table").run())
        fine(at.selectbox(key="ready").set_value(data).run())
        assert not at.toast
        fine(at.switch_page(PAGE).run())
        assert not said(at)
        assert not browser.beyond.earlier


def test_a_drawing_that_no_editor_ever_showed_is_kept_too(browser: Browser) -> None:
    drawn = code_of(Graph(("smoke", "lung"), (("smoke", "lung"),)))
    at = open_page("pages/explore.py", graph=drawn)
    from_home(at, "epsilon")
    fine(at.switch_page(PAGE).run())  # AppTest itself does not notice that the app turned the page
    assert said(at) == ["The table's own network replaced your drawing; Undo restores it."]
    browser.turn(at, "undo")
    assert settings_of(at).graph == drawn
    assert browser.drawing.edges == (("smoke", "lung"),)


def test_strokes_can_be_undone_after_another_page(browser: Browser) -> None:
    at = open_page(PAGE)
    graphs = [settings_of(browser.arrow(at, "asia", end)).graph for end in ("xray", "dysp", "bronc")]
    fine(at.switch_page("pages/data.py").run())
    fine(at.switch_page(PAGE).run())
    for graph in (*graphs[-2::-1], ""):
        browser.turn(at, "undo")
        assert settings_of(at).graph == graph


def test_the_states_of_a_deleted_node_come_back_with_it(browser: Browser) -> None:
    at = open_page(PAGE, graph=code_of(Graph(("mood", "smoke"), (("mood", "smoke"),), {}, {"mood": ("a", "b", "c")})))
    shown, start = metrics(at), browser.drawing
    assert shown["Cells K"] == "9"
    browser.delete(at, "mood")
    assert metrics(at)["Cells K"] == "2"
    browser.drawing = start  # as the browser's own Undo does
    fine(at.run())
    assert metrics(at) == shown


def test_drawing_records_from_the_drawing_keeps_the_steps_before(browser: Browser) -> None:
    at = browser.arrow(open_page(PAGE, graph="chain:3"), "x1", "x3")
    rev = browser.rev
    press(at, "Sample synthetic records from this network")
    assert browser.rev == rev  # the browser keeps its drawing, and its own steps
    source = settings_of(at).source
    browser.turn(at, "undo")
    assert browser.drawing.edges == (("x1", "x2"), ("x2", "x3"))
    assert settings_of(at).source == source


def test_columns_added_can_be_undone(browser: Browser) -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke",), ())))
    fine(at.multiselect(key="unused").set_value(["lung"]).run())
    press(at, "Add as nodes")
    assert graph_of(settings_of(at).graph).names == ("smoke", "lung")
    assert not said(at)
    browser.turn(at, "undo")
    assert [node.name for node in browser.drawing.nodes] == ["smoke"]


def test_a_drawing_too_large_to_keep_is_one_sentence_and_changes_nothing(browser: Browser) -> None:
    at = open_page(PAGE)
    names = long_names(300, 180)
    browser.drawing = Drawing(tuple(DrawnNode(name, 10, 10) for name in names), ())
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
    assert metrics(at)["Cells K"] == str(load_named("cancer")[0].cell_count)
    fine(at.switch_page("pages/explore.py").run())
    assert not sentences(at)


@pytest.mark.usefixtures("first_look")
def test_a_bif_file_beside_a_table_leaves_the_table() -> None:
    at = load(open_page(PAGE, data="house_votes_84"), "cancer.bif", CANCER)
    assert settings_of(at).data == "house_votes_84"
    assert network_of(graph_of(settings_of(at).graph)) == load_named("cancer")[0]


def test_a_list_of_arrows_becomes_the_network() -> None:
    at = load(open_page(PAGE), "arrows.txt", "smoke -> lung\nlung -> xray\n")
    assert graph_of(settings_of(at).graph).edges == (("smoke", "lung"), ("lung", "xray"))


BAD = {
    "png.bif": b"\x89PNG\r\n\x1a\n\x00\xff",
    "text.xml": b"<BIF><NETWORK/></BIF>",
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
    before, shown = settings_of(at), metrics(at)
    for name, content in BAD.items():
        load(at, name, content)
        assert len(sentences(at)) == 1, (name, sentences(at))
        assert len(sentences(at)[0]) < 300
        assert has_editor(at)
        assert settings_of(at) == before
        assert metrics(at) == shown


def test_the_drawing_is_offered_as_a_picture_with_every_name() -> None:
    at = open_page("pages/network.py", source="asia")
    (button,) = [candidate for candidate in at.get("download_button") if candidate.label == "Download drawing (SVG)"]
    assert button is not None
    svg = drawing_svg(Chosen(settings_of(at)))
    assert all(f">{name}</text>" in svg for name in ASIA.names)
    assert svg.count('class="arrow"') == len(ASIA.edges)
