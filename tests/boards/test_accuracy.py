"""The board of accuracy: its curves at every stop, and the same numbers in its sentences."""

from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.estimates import Estimate
from dpbayes.boards.accuracy import AccuracyInputs, accuracy_advice, accuracy_headline, prediction_accuracy
from dpbayes.boards.against_epsilon import STOPS as GRID
from dpbayes.experiments.accuracy.methods import ALL_METHODS, EXACT, MAJORITY, METHODS, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_study
from dpbayes.mechanisms import Calibration
from dpbayes.sources.named_networks import naive_bayes

FIGURE_1 = AccuracyPlan(
    network=naive_bayes(16), target="class", epsilons=GRID, methods=tuple(METHODS.values()), repeats=10
)
INPUTS = AccuracyInputs(FIGURE_1)


def test_all_stops_have_the_same_curves_and_a_line_at_their_epsilon():
    view = prediction_accuracy(INPUTS)
    frames = {stop: view.frames_at(stop)[0] for stop in ("0.01", "1", "100")}
    for key in ("accuracy", "loss"):
        figures = [frame.figures[key] for frame in frames.values()]
        for first, last in zip(figures[0].data, figures[2].data, strict=True):
            assert "text" in first or list(first["y"]) == list(last["y"])  # a text is that of the best curve here
        assert [figure.layout["shapes"][0]["x0"] for figure in figures] == [0.01, 1, 100]
    for figure in frames["1"].figures.values():
        figure.to_plotly()  # refuses a property that Plotly does not know


def test_the_curves_of_figure_1_are_those_of_the_study():
    frame = prediction_accuracy(INPUTS).frames_at("1")[0]
    study = accuracy_study(FIGURE_1)
    drawn = {trace["name"]: trace["y"] for trace in frame.figures["accuracy"].data if "text" not in trace}
    for method in study.methods:
        np.testing.assert_array_equal(drawn[method.called(study.plan.draws)], study.mean(method))
    k = GRID.index(1.0)
    assert frame.numbers == {method.name: 100 * float(study.mean(method)[k]) for method in study.methods}
    pure = [m for m in study.plan.private if study.certified[m][k] <= 1 + 1e-9 and "δ" not in m.title]
    assert study.ranked_at(k)[0] is max(pure, key=lambda m: float(study.mean(m)[k]))


def test_the_noise_of_a_count_is_drawn_in_place_of_the_loss():
    frame = prediction_accuracy(AccuracyInputs(FIGURE_1, with_noise=True)).frames_at("1")[0]
    assert list(frame.figures) == ["accuracy", "noise"]
    names = [name["text"] for name in frame.figures["noise"].layout["annotations"]]
    assert "the mean of 4, one without noise" in names[2]


def test_the_headline_states_the_best_accuracy_in_percent():
    study, k = INPUTS.study, GRID.index(1.0)
    alike, headline = study.alike_at(k), accuracy_headline(INPUTS, 1.0)
    least = min(float(study.mean(method)[k]) for method in alike)
    for share in (least, float(study.mean(EXACT)[k])):
        assert f"{100 * share:.3g}%" in headline
    assert [method.called(100) in headline for method in alike] == [True] * len(alike)
    assert ("at least" in headline) == (len(alike) > 1)
    assert "nearest simulated ε = 1," in accuracy_headline(INPUTS, 1.05)


@pytest.mark.parametrize("lost", [0.04, 0.004])
def test_only_a_clear_loss_is_stated(monkeypatch, lost):
    def behind(_, method, __, other=EXACT):
        return Estimate(0.3 if method is MAJORITY else lost if other is EXACT else 0.0, 0.005)

    monkeypatch.setattr(AccuracyStudy, "behind", behind)
    assert ("as well as without privacy" in accuracy_headline(INPUTS, 1.0)) == (lost < 0.01)
    monkeypatch.setattr(AccuracyStudy, "behind", lambda *_: Estimate(0.0, 0.005))
    assert "no prediction of class in random models clearly beats" in accuracy_headline(INPUTS, 1.0)


@pytest.mark.parametrize("kept", [0.87, 0.85])
def test_the_advice_is_the_least_epsilon_that_keeps_nine_tenths_of_the_gain(monkeypatch, kept):
    private = np.where(np.array(GRID) < 10, 0.8, kept)
    means = {EXACT: np.full(len(GRID), 0.9), MAJORITY: np.full(len(GRID), 0.5)}
    monkeypatch.setattr(AccuracyStudy, "mean", lambda _, method: means.get(method, private))
    assert ("choose ε = 10 or more" in accuracy_advice(INPUTS.study)) == (kept == 0.87)


@pytest.mark.parametrize("error", [0.001, 0.2])
def test_the_advice_names_the_mechanism_with_the_smaller_epsilon_and_those_whose_bands_overlap(monkeypatch, error):
    early, late = (np.where(np.array(GRID) < least, 0.6, 0.9) for least in (0.1, 1.0))
    fourier, laplace = METHODS["fourier"], METHODS["laplace"]
    means = {EXACT: np.full(len(GRID), 0.9), MAJORITY: np.full(len(GRID), 0.5), fourier: early, laplace: late}
    monkeypatch.setattr(AccuracyStudy, "mean", lambda _, method: means[method])
    monkeypatch.setattr(AccuracyStudy, "error", lambda *_: np.full(len(GRID), error))
    monkeypatch.setattr(AccuracyStudy, "ranked_at", lambda *_: [fourier, laplace])
    advice = accuracy_advice(INPUTS.study)
    assert "ε = 0.1 or more with Fourier" in advice
    assert ("or Laplace (no clear difference)" in advice) == (error == 0.2)


def test_only_a_board_of_a_table_is_private():
    network, cpts = dp.load_named("sprinkler")
    table = dp.sample_dataset(network, cpts, 200, np.random.default_rng(1))
    methods = methods_for(network, (Calibration.CERTIFIED,), among=[ALL_METHODS["laplace"]])
    for source in (table, Synthetic(records=200)):
        plan = replace(FIGURE_1, network=network, target=network.names[-1], source=source, methods=methods, repeats=3)
        assert prediction_accuracy(AccuracyInputs(plan)).complete().private is (source is table)
