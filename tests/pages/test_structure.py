"""The Structure page: its lines are the core's, its sentence is live, and it says the same in both seats."""

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.base.text import numeral
from dpbayes.experiments.best_noise import Promise, needs_delta, noisy_kinds
from dpbayes.experiments.graph_families import (
    arrow_numbers,
    costs_of,
    growing_graphs,
    mean_crossing,
    named_families,
    random_costs,
)
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates
from dpbayes.theory.zhang16.comparison import counterexample_denser
from dpbayes.ui.pages.structure import page as module
from dpbayes.ui.session.link import settings_from
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    stopped_at_the_second_picture,
)

PAGE = "pages/structure.py"
CHART = "structure.noise"
GAUSSIAN = "Gaussian residuals (δ = 0.00001)"


def trace(at: AppTest, name: str) -> dict[str, Any]:
    return next(trace for trace in figures(at)[CHART]["data"] if trace["name"] == name)


@pytest.mark.parametrize("epsilon", [1.0, 0.25])
def test_lines_and_points_are_those_of_the_core(epsilon: float) -> None:
    at = open_page(PAGE, epsilon=str(epsilon), **{"structure.nodes": "9", "structure.graphs": "3"}, seed="4")
    costs = random_costs(9, stream(4, "structure", 9), graphs=3)
    named = {"Laplace": costs.laplace, "Fourier, certified": costs.certified, "Fourier, as printed": costs.printed}
    for name, noise in named.items():
        np.testing.assert_allclose(trace(at, name)["y"], noise.mean(axis=0) / epsilon)
        np.testing.assert_allclose(trace(at, name)["x"], costs.arrows[0])
    np.testing.assert_allclose(trace(at, "what Remark 1 compares")["y"], costs.scale.mean(axis=0) / epsilon)
    families = costs_of(list(named_families(9).values()))
    for i, name in enumerate(named_families(9)):
        expected = [families.laplace[i], families.certified[i], families.printed[i]]
        nowhere, *points = trace(at, name)["y"]  # the first only gives the legend its colour
        assert nowhere is None
        np.testing.assert_allclose(points[:3], np.array(expected) / epsilon)


def test_every_other_mechanism_has_a_mark_at_each_family_and_a_line_in_its_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A Gaussian one says at which delta; all are of the first random graphs of those that Fourier's line is of."""
    monkeypatch.setattr("dpbayes.ui.pages.structure.page.SEARCHED_GRAPHS", 2)
    query = {"structure.nodes": "4", "structure.graphs": "3", "epsilon": "0.5", "seed": "4"}
    at = open_page(PAGE, **query)
    promise = Promise(0.5, float(settings_from(query)[0].parameter("delta")))
    line = named_families(4)["chain"]
    marks = trace(at, "chain")
    others = [kind for kind in noisy_kinds() if kind not in (LaplaceUpdates, LaplaceFourier)]
    numbers = arrow_numbers(4)
    rng = stream(4, "structure", 4)
    grown = [growing_graphs(4, rng, arrows=numbers) for _ in range(2)]
    for kind in others:
        name = kind.label + f" (δ = {numeral(promise.delta)})" * needs_delta(kind)
        place = marks["text"].index(name)
        assert marks["marker"]["color"][place] == kind.colour
        assert marks["y"][place] == pytest.approx(mean_noise(promise.mechanism(kind, line)), rel=1e-4)
        drawn = trace(at, name)
        assert drawn["line"]["color"] == kind.colour
        noises = [[mean_noise(promise.mechanism(kind, graph)) for graph in graphs] for graphs in grown]
        np.testing.assert_allclose(drawn["y"], np.mean(noises, axis=0), rtol=1e-4)
    assert "besides Laplace and Fourier are of the first 2 random graphs" in everything(at)
    table = next(frame.value for frame in at.dataframe if "least of all" in frame.value.columns)
    at.session_state["numbers.structure"] = True
    told = next(f.value for f in fine(at.run()).dataframe if "standard error: Fourier certified" in f.value.columns)
    random = told[told["family"] == "random"]
    for kind in others:
        name = kind.label + f" (δ = {numeral(promise.delta)})" * needs_delta(kind)
        at_families = [mean_noise(promise.mechanism(kind, graph)) for graph in named_families(4).values()]
        np.testing.assert_allclose(table[name], at_families, rtol=1e-2)
        np.testing.assert_allclose(told[name][:3], at_families, rtol=1e-4)
        noises = np.array([[mean_noise(promise.mechanism(kind, graph)) for graph in graphs] for graphs in grown])
        np.testing.assert_allclose(random[name].to_numpy()[: noises.size], noises.ravel(), rtol=1e-4)
        assert random[name][noises.size :].isna().all(), "of the third random graph nothing is searched"
        means = told[told["family"] == "mean of the random ones"]
        np.testing.assert_allclose(means[name], noises.mean(axis=0), rtol=1e-4)
        np.testing.assert_allclose(means[f"standard error: {name}"], stats.sem(noises), rtol=1e-3, atol=1e-9)
    named = table[["Laplace", "Fourier certified", "Consistent Laplace", "Weighted Fourier"]].idxmin(axis=1)
    assert table["least without δ"].tolist() == named.tolist()
    assert len({*(kind.colour for kind in noisy_kinds())}) == len(noisy_kinds())


def mean_noise(mechanism: Any) -> float:
    """Return the mean over cells of a mechanism's noise."""
    return float(np.average(mechanism.node_noise_sd, weights=np.diff(mechanism.prior.network.cell_offsets)))


def test_the_search_on_random_graphs_goes_on_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.structure.page.SEARCHED_GRAPHS", 1)
    stopped_at_the_second_picture(monkeypatch)
    at = open_page(PAGE, **{"structure.nodes": "4"})
    assert set(trace(at, GAUSSIAN)["y"]) == {None}
    assert "besides Laplace and Fourier have no line yet" in everything(at)
    press(at, "Go on")
    assert None not in trace(at, GAUSSIAN)["y"]
    assert not at.get("progress")


def test_the_search_begins_when_the_hand_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    at = open_page(PAGE, **{"structure.nodes": "4"})
    names = legend(at)
    begun: list[int] = []
    monkeypatch.setattr("dpbayes.ui.pages.structure.page.family_noise", lambda nodes, *_, **__: begun.append(nodes))
    put(at, "box.structure.nodes", "5")  # nobody says here that the hand rests
    assert not begun
    assert legend(at) == names, "the legend keeps its lines, and the picture its place"
    assert set(trace(at, GAUSSIAN)["y"]) == {None}
    assert "nan" not in json.dumps(figures(at)[CHART]).lower()


def legend(at: AppTest) -> list[str]:
    """Return what stands in the picture's legend."""
    return [trace["name"] for trace in figures(at)[CHART]["data"] if trace.get("showlegend", True)]


def test_the_headline_is_where_the_lines_cross() -> None:
    at = open_page(PAGE)
    costs = random_costs(12, stream(1, "structure", 12), graphs=8)
    crossing, printed = (
        mean_crossing(costs.arrows[0], noise / costs.laplace) for noise in (costs.certified, costs.printed)
    )
    assert f"Fourier adds less noise than Laplace up to about {crossing} arrows per node" in headline(at)
    assert f"(as printed, up to {printed})" in headline(at)
    assert "1.35 ± 0.04" in headline(at)
    assert "random graphs of 12 nodes, and more in denser ones" in headline(at)
    before = headline(at)
    assert headline(put(at, "box.epsilon", "5")) == before  # all noise falls alike
    assert headline(put(at, "box.structure.nodes", "20")) != before


def test_less_noise_is_not_said_to_be_nearer() -> None:
    at = open_page(PAGE)
    assert "does not decide whose probabilities are nearer" in everything(at)
    assert {"explore", "best_noise"} <= {link.proto.page for link in at.get("page_link")}


def test_where_fourier_wins_at_every_density_the_sentence_says_so() -> None:
    at = open_page(PAGE, **{"structure.nodes": "3"})
    assert "Among random graphs of 3 nodes" in headline(at)
    assert "at every density, up to 1 arrow per node;" in headline(at)


def test_a_single_random_graph_says_that_it_is_one() -> None:
    at = open_page(PAGE, **{"structure.graphs": "1"})
    assert "up to about 1.7 arrows per node" in headline(at)
    assert "in the one random graph of 12 nodes drawn, and more once it is denser" in headline(at)
    text = everything(at)
    assert "Lines: one random graph" in text
    assert "±" not in text
    assert "nan" not in text.replace("dominan", "")


def test_the_caption_and_the_numbers_have_standard_errors() -> None:
    at = open_page(PAGE)
    costs = random_costs(12, stream(1, "structure", 12), graphs=8)
    by_node = mean_crossing(costs.arrows[0], costs.certified_by_node / costs.laplace)
    assert f"certified Fourier adds less than Laplace up to {by_node} arrows per node" in everything(at)
    assert "bands and ±: one standard error" in everything(at)
    at.session_state["numbers.structure"] = True
    frame = next(f.value for f in fine(at.run()).dataframe if "standard error: Fourier certified" in f.value.columns)
    means = frame[frame["family"] == "mean of the random ones"]
    np.testing.assert_allclose(means["Fourier certified"], costs.certified.mean(axis=0))
    np.testing.assert_allclose(
        means["standard error: Fourier certified"], costs.certified.std(axis=0, ddof=1) / np.sqrt(8), atol=1e-12
    )


def test_both_seats_see_the_same() -> None:
    curator, recipient = (open_page(PAGE, seat=seat) for seat in ("curator", "recipient"))
    assert figures(curator) == figures(recipient)
    assert headline(curator) == headline(recipient)
    assert not sentences(recipient)


@pytest.mark.parametrize(
    "query",
    [
        {"structure.nodes": "2", "structure.graphs": "1"},
        {"structure.nodes": "24", "structure.graphs": "12"},
        {"epsilon": "0.001"},
        {"epsilon": "1000"},
        {"data": "upload"},
        {"records": "0"},
    ],
)
def test_the_edges_have_pictures(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    assert not sentences(at)
    assert CHART in figures(at)
    families, others = named_families(3), [kind.label for kind in noisy_kinds() if kind not in module.KINDS]
    for drawn in figures(at)[CHART]["data"]:
        if set(drawn["y"]) == {None} and drawn["name"].startswith(tuple(others)):
            continue  # the first look is before a random graph of the others is searched: there is a name and no line
        assert None not in drawn["y"][1 if drawn["name"] in families else 0 :]


@pytest.mark.parametrize(("name", "text"), [("nodes", "25"), ("nodes", "1"), ("nodes", "<b>"), ("graphs", "1e9")])
def test_a_hostile_link_is_ignored_part_by_part(name: str, text: str) -> None:
    settings, problems = settings_from({f"structure.{name}": text, "epsilon": "2"})
    assert len(problems) == 1
    assert settings == settings_from({"epsilon": "2"})[0]


def test_a_bad_number_gives_one_sentence_and_keeps_the_last() -> None:
    at = put(open_page(PAGE), "box.structure.nodes", "500")
    one_sentence(at, "Kept 12.")
    assert "12 nodes" in headline(at)


def test_the_formulas_hold_their_numbers_and_their_assumptions() -> None:
    text = everything(open_page(PAGE))
    for number in ("|N_I| = 24", "O = 17", "= 33.9$", "= 20.8$", "= 0.0625$"):
        assert number in text
    assert "✓ &nbsp;O is found exactly" in text
    assert "✗ &nbsp;No node of a graph here is a child of more than half the graph" in text


def test_the_counterexample_is_computed_when_it_is_asked_for() -> None:
    at = open_page(PAGE)
    assert "complete graph" not in everything(at)
    at.session_state["structure.fails"] = True
    text = plain(everything(fine(at.run())))
    for value in counterexample_denser(8):
        assert f"**{value:.3g}**" in text


def test_a_mechanism_of_the_colour_of_another_has_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Green:
        colour = LaplaceFourier.colour

    monkeypatch.setattr(module, "noisy_kinds", lambda: (LaplaceUpdates, Green, LaplaceFourier))
    assert module.other_kinds() == (Green,)
