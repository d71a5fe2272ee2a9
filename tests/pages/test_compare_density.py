"""Compare mechanisms, graph density: its lines are the core's, its sentence is live, and both seats see the same."""

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
from dpbayes.ui.pages.compare import density as module
from dpbayes.ui.session.link import settings_from
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    open_page,
    press,
    put,
    sentences,
    stopped_at_the_second_picture,
)

PAGE = "pages/compare.py"
VIEW = {"compare.view": "Graph density"}
ALL = VIEW | {"compare.shown": "all"}
CHART = "compare.density"
GAUSSIAN = "Gaussian residuals"


def opened(**query: str) -> AppTest:
    return open_page(PAGE, **VIEW | query)


def trace(at: AppTest, name: str) -> dict[str, Any]:
    return next(trace for trace in figures(at)[CHART]["data"] if trace.get("name") == name)


def names(at: AppTest) -> list[str]:
    """Return what lines are drawn, without their bands."""
    drawn = [trace.get("name", "") for trace in figures(at)[CHART]["data"]]
    return [name for name in drawn if name and "standard error" not in name]


@pytest.mark.parametrize("epsilon", [1.0, 0.25])
def test_lines_and_the_table_are_those_of_the_core(epsilon: float) -> None:
    at = opened(**ALL, epsilon=str(epsilon), **{"structure.nodes": "9", "structure.graphs": "3"}, seed="4")
    costs = random_costs(9, stream(4, "structure", 9), graphs=3)
    named = {"Laplace": costs.laplace, "Fourier": costs.certified, "Fourier, as stated": costs.printed}
    for name, noise in {**named, "scale in Remark 1": costs.scale}.items():
        np.testing.assert_allclose(trace(at, name)["y"], noise.mean(axis=0) / epsilon)
        np.testing.assert_allclose(trace(at, name)["x"], costs.arrows[0])
    families = costs_of(list(named_families(9).values()))
    table = families_table(at)
    np.testing.assert_allclose(table["Laplace"], families.laplace / epsilon)
    np.testing.assert_allclose(table["Fourier, proved"], families.certified / epsilon)
    np.testing.assert_allclose(table["Fourier, as stated"], families.printed / epsilon)


def families_table(at: AppTest) -> Any:
    return next(frame.value for frame in at.dataframe if "least without δ" in frame.value.columns)


def test_every_other_mechanism_has_a_column_and_a_line_in_its_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Gaussian one says at which delta; all are of the first random graphs of those that Fourier's line is of."""
    monkeypatch.setattr(module, "SEARCHED_GRAPHS", 2)
    query = {"structure.nodes": "4", "structure.graphs": "3", "epsilon": "0.5", "seed": "4"}
    at = opened(**ALL, **query)
    promise = Promise(0.5, float(settings_from(query)[0].parameter("delta")))
    others = [kind for kind in noisy_kinds() if kind not in (LaplaceUpdates, LaplaceFourier)]
    rng = stream(4, "structure", 4)
    grown = [growing_graphs(4, rng, arrows=arrow_numbers(4)) for _ in range(2)]
    table = families_table(at)
    at.session_state["numbers.density"] = True
    frame = next(f.value for f in fine(at.run()).dataframe if "standard error: Fourier, proved" in f.value.columns)
    random, means = frame[frame["family"] == "random"], frame[frame["family"] == "mean of the random graphs"]
    for kind in others:
        name = kind.label + f" (δ = {numeral(promise.delta)})" * needs_delta(kind)
        noises = np.array([[mean_noise(promise.mechanism(kind, graph)) for graph in graphs] for graphs in grown])
        drawn = trace(at, kind.label)
        assert drawn["line"]["color"] == kind.colour
        np.testing.assert_allclose(drawn["y"], noises.mean(axis=0), rtol=1e-4)
        at_families = [mean_noise(promise.mechanism(kind, graph)) for graph in named_families(4).values()]
        np.testing.assert_allclose(table[name], at_families, rtol=1e-2)
        np.testing.assert_allclose(frame[name][:3], at_families, rtol=1e-4)
        np.testing.assert_allclose(random[name].to_numpy()[: noises.size], noises.ravel(), rtol=1e-4)
        assert random[name][noises.size :].isna().all(), "of the third random graph nothing is searched"
        np.testing.assert_allclose(means[name], noises.mean(axis=0), rtol=1e-4)
        np.testing.assert_allclose(means[f"standard error: {name}"], stats.sem(noises), rtol=1e-3, atol=1e-9)
    assert "computed on 2 random graphs" in everything(at)
    named = table[["Laplace", "Fourier, proved", "Consistent Laplace", "Weighted Fourier"]].idxmin(axis=1)
    assert table["least without δ"].tolist() == named.tolist()


def test_few_lines_are_shown_and_the_others_are_one_click_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCHED_GRAPHS", 1)
    at = opened(**{"structure.nodes": "4"})
    assert names(at) == ["Laplace", "Fourier", "Weighted Fourier", GAUSSIAN]
    labels = figures(at)[CHART]["layout"]["yaxis2"]["ticktext"]
    assert [name for name in names(at) if any(name in label for label in labels)] == names(at), "each has its name"
    fine(at.segmented_control(key="parameter.compare.shown").set_value(module.MechanismsShown.ALL).run())
    assert len(names(at)) == len(noisy_kinds()) + 2


def mean_noise(mechanism: Any) -> float:
    """Return the mean over cells of a mechanism's noise."""
    return float(np.average(mechanism.node_noise_sd, weights=np.diff(mechanism.prior.network.cell_offsets)))


def test_the_search_on_random_graphs_goes_on_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCHED_GRAPHS", 1)
    stopped_at_the_second_picture(monkeypatch)
    at = opened(**{"structure.nodes": "4"})
    assert GAUSSIAN not in names(at)
    assert "The noise of the other mechanisms is still being computed" in everything(at)
    press(at, "Continue")
    assert None not in trace(at, GAUSSIAN)["y"]
    assert not at.get("progress")


def test_the_search_begins_when_the_hand_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(**{"structure.nodes": "4"})
    begun: list[int] = []
    monkeypatch.setattr(module, "family_noise", lambda nodes, *_, **__: begun.append(nodes))
    put(at, "box.structure.nodes", "5")  # nobody says here that the hand rests
    assert not begun
    assert names(at) == ["Laplace", "Fourier"]
    assert "nan" not in json.dumps(figures(at)[CHART]).lower()


def test_the_headline_is_where_the_lines_cross() -> None:
    at = opened()
    costs = random_costs(12, stream(1, "structure", 12), graphs=8)
    crossing, printed, by_node = (
        mean_crossing(costs.arrows[0], noise / costs.laplace)
        for noise in (costs.certified, costs.printed, costs.certified_by_node)
    )
    assert crossing is not None
    assert headline(at) == (
        f"Fourier adds less noise than Laplace below {numeral(crossing.value)} arrows per node on random graphs of 12 "
        "nodes."
    )
    text = everything(at)
    assert f"{crossing} (averaged over cells), {by_node} (averaged over nodes)" in text
    assert f"{printed} (with the noise as stated in the paper)." in text
    assert "bands are one standard error" in text
    before = headline(at)
    assert headline(put(at, "box.epsilon", "5")) == before  # all noise falls alike
    assert headline(put(at, "box.structure.nodes", "20")) != before


def test_less_noise_is_not_said_to_be_a_smaller_error() -> None:
    assert "Noise per cell is not the error of a probability" in everything(opened())


def test_where_fourier_wins_at_every_density_the_sentence_says_so() -> None:
    at = opened(**{"structure.nodes": "3"})
    assert headline(at) == "Fourier adds less noise than Laplace at every density on random graphs of 3 nodes."


def test_a_single_random_graph_has_no_standard_error() -> None:
    text = everything(opened(**{"structure.graphs": "1"}))
    assert "Each line is one random graph" in text
    assert "±" not in text
    assert "nan" not in text.replace("dominan", "")


def test_both_seats_see_the_same() -> None:
    curator, recipient = (opened(seat=seat) for seat in ("curator", "recipient"))
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
    at = opened(**query)
    assert not sentences(at)
    for name in names(at):
        assert None not in trace(at, name)["y"]


def test_the_formulas_hold_their_numbers_and_their_assumptions() -> None:
    text = everything(opened())
    for number in ("|N_I| = 24", "O = 17", "= 33.9$", "= 20.8$", "= 0.0625$"):
        assert number in text
    assert "✓ &nbsp;O is computed exactly" in text
    assert "✗ &nbsp;As Remark 1 assumes, no node here has more than half of the nodes as parents" in text
