"""Compare mechanisms, noise per cell: dots are the core's, sentences fair, and no record is counted."""

from collections.abc import Iterator
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpbayes.base.steps import finished
from dpbayes.experiments.best_noise import (
    Comparison,
    Promise,
    compare_steps,
    compared_graphs,
    compared_on,
    noisy_kinds,
)
from dpbayes.figures.noise import ALONE, WITH_DELTA
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.sources.named_networks import load_named
from dpbayes.ui.pages.compare import noise
from dpbayes.ui.session.graphs import Graph, code_of
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    open_page,
    plain,
    press,
    sentences,
    stop_after_a_step,
)

PAGE = "pages/compare.py"
CELLS, GRAPHS = "compare.noise", "compare.graphs"
ASIA = load_named("asia")[0]
FEW = ("chain, 12", "Asia", "Sachs")


@pytest.fixture(autouse=True, scope="module")
def few_graphs() -> Iterator[None]:
    """All graphs are for the core's tests."""
    few = {name: compared_graphs()[name] for name in FEW}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpbayes.experiments.best_noise.compared_graphs", lambda: few)
        patch.setattr("dpbayes.ui.pages.compare.noise.compared_graphs", lambda: few)
        yield


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return finished(compare_steps(ASIA, Promise(1.0, 1e-6), recount=(LaplaceUpdates,)))


@pytest.fixture(scope="module")
def at(few_graphs: None) -> AppTest:
    """The page once all its work is done; no test turns it."""
    return open_page(PAGE, delta="0.000001")


def dots(at: AppTest, key: str, name: str) -> dict[str, float | None]:
    trace = next(trace for trace in figures(at)[key]["data"] if trace.get("name") == name)
    return dict(zip(trace["y"], trace["x"], strict=True))


def test_the_dots_are_those_of_the_core(at: AppTest, compared: Comparison) -> None:
    alone, counted = (dots(at, CELLS, name) for name in (ALONE, WITH_DELTA))
    for compared_noise in compared.noises:
        if compared_noise.recounted is not None:
            assert counted[compared_noise.label] == pytest.approx(compared_noise.noise_with_delta)
        assert counted[compared_noise.label] is not None
        assert alone[compared_noise.label] == (pytest.approx(compared_noise.noise) if compared_noise.is_pure else None)
    assert next(iter(alone)) == "Gaussian residuals", "the least noise is on top"


def test_the_headline_names_the_winner_and_is_fair_to_laplace(at: AppTest) -> None:
    assert (
        headline(at)
        == "Gaussian residuals adds the least noise: 11.5 counts per cell; Laplace adds 1.87 times as much."
    )
    text = plain(everything(at))
    assert "With ε alone, weighted Fourier adds the least noise: 13.9 counts; Laplace adds 1.63 times as much." in text
    assert "Laplace noise at ε = 1.05 satisfies the same (ε, δ)" in text


def test_graphs_are_compared_and_the_winners_are_shown_first(at: AppTest) -> None:
    drawn = {trace["name"]: trace["x"] for trace in figures(at)[GRAPHS]["data"]}
    assert set(drawn) == {"Weighted Fourier", "Consistent Laplace", "Gaussian residuals"}
    assert "Without δ, weighted Fourier has the least noise on 2 of 3 graphs." in everything(at)
    every = open_page(PAGE, delta="0.000001", **{"compare.shown": "all"})
    drawn = {trace["name"]: trace["x"] for trace in figures(every)[GRAPHS]["data"]}
    chain, sachs = FEW.index("chain, 12"), FEW.index("Sachs")
    expected = finished(compared_on("chain", compared_graphs()["chain, 12"], Promise(1.0, 1e-6))).factors
    assert {label: factors[chain] for label, factors in drawn.items()} == pytest.approx(expected)
    assert drawn["Weighted Fourier"][sachs] is None, "its nodes have three states"


def test_remark_1_has_this_graphs_numbers(at: AppTest) -> None:
    text = everything(at)
    assert "times Laplace’s with the noise as stated" in text
    assert "explore" in {link.proto.page for link in at.get("page_link")}


@pytest.mark.usefixtures("first_look")
def test_both_seats_see_the_same_and_no_record_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(*_: object) -> None:
        raise AssertionError("records were counted")

    monkeypatch.setattr("dpbayes.ui.session.chosen.count", counted)
    curator, recipient = (open_page(PAGE, seat=seat) for seat in ("curator", "recipient"))
    assert headline(curator) == headline(recipient)
    assert figures(curator).get(CELLS) == figures(recipient).get(CELLS)
    assert not sentences(recipient)


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    "query",
    [{"epsilon": "0.001"}, {"epsilon": "1000"}, {"delta": "0.000000000001"}, {"delta": "0.5"}, {"records": "0"}],
)
def test_the_edges_have_pictures(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    assert not sentences(at)
    assert CELLS in figures(at)


def one_state() -> str:
    """The code of a graph whose only node has a single state."""
    return code_of(Graph(("a",), (), {"a": (0.0, 0.0)}, {"a": ("only",)}))


def test_where_no_noise_is_needed_the_sentence_says_so() -> None:
    at = open_page(PAGE, source=one_state())
    assert headline(at) == "No mechanism adds noise, because every node has a single state."
    assert set(figures(at)) == {CELLS}


@pytest.mark.usefixtures("first_look")
def test_what_needs_binary_nodes_says_which_are_not() -> None:
    at = open_page(PAGE, source="survey")
    for _ in range(25):  # a round of the search is a step
        fine(at.run())
    assert set(dots(at, CELLS, ALONE)) == {"Laplace", "Consistent Laplace", "Gaussian", "Gaussian residuals"}
    assert sum("needs binary nodes" in caption.value for caption in at.caption) == 2


def test_a_long_search_waits_for_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "AT_ONCE", 2)
    stop_after_a_step()
    at = open_page(PAGE)
    for _ in range(5):
        fine(at.run())
    assert "Weighted Fourier" not in dots(at, CELLS, ALONE)
    press(at, "Search for the best noise")
    for _ in range(20):  # of which each is a round of the search
        fine(at.run())
    assert "Weighted Fourier" in dots(at, CELLS, ALONE)
    assert "Search for the best noise" not in [button.label for button in at.button]


@pytest.mark.usefixtures("first_look")
def test_while_not_all_is_known_the_sentence_claims_nothing() -> None:
    assert headline(open_page(PAGE)) == f"1 of {len(noisy_kinds())} mechanisms have been compared so far."


def place_of(block: Any, text: str) -> list[int] | None:
    """Return where in the tree of a page the element stands that begins with a text: there a browser keeps it."""
    for place, child in block.children.items():
        if str(getattr(child, "value", "")).startswith(text):
            return [place]
        if hasattr(child, "children") and (inner := place_of(child, text)) is not None:
            return [place, *inner]
    return None


def test_captions_keep_their_place_while_a_bar_comes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stays at a place that others have left would be there twice until the run has ended."""
    text, quick = "Diamonds show the noise with δ", {"source": "earthquake"}
    one = {"Asia": compared_graphs()["Asia"]}
    for module in ("experiments.best_noise", "ui.pages.compare.noise"):
        monkeypatch.setattr(f"dpbayes.{module}.compared_graphs", lambda: one)
    before = place_of(open_page(PAGE, **quick).main, text)
    monkeypatch.setattr(noise, "comparison_progress", lambda work: st.caption("half of the work"))
    at = open_page(PAGE, **quick)
    assert place_of(at.main, "half of the work") is not None
    assert place_of(at.main, text) == before
    assert before is not None


def wide(parents: int) -> str:
    """The code of a graph of one node with so many parents."""
    above = [f"p{i}" for i in range(parents)]
    return code_of(Graph((*above, "c"), tuple((name, "c") for name in above)))


@pytest.mark.usefixtures("first_look")
def test_what_is_too_wide_is_not_searched_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "AT_MOST", 15)
    at = open_page(PAGE, source=wide(3))
    assert "Search for the best noise" not in [button.label for button in at.button]
    assert "This network has 16 sets of nodes within a family. The best noise is computed for at most 15" in (
        plain(everything(at))
    )
