"""The Accuracy page: its curves are the core's, real records are the curator's, and long work can be stopped."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.experiments.accuracy.methods import ALL_METHODS, AWARE, METHODS
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic, default_target, epsilon_grid
from dpbayes.experiments.accuracy.study import accuracy_study
from dpbayes.sources.named_networks import load_named, naive_bayes
from dpbayes.sources.shipped_tables import default_network, load_shipped
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.session.graphs import Graph, code_of
from dpbayes.ui.session.options.accuracy import CURVES_LEFT_OUT, Added, Drawn, Scene, Shown
from dpbayes.ui.session.settings import Seat, Settings
from tests.pages.conftest import (
    charts,
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
    settings_of,
    stop_after_a_step,
    unfold,
)

PAGE = "pages/accuracy.py"
FIGURE_1 = {"accuracy.scene": Scene.NAIVE_BAYES.value, "accuracy.curves": "both"}
FAST = FIGURE_1 | {
    "accuracy.features": "3",
    "accuracy.records": "200",
    "accuracy.repeats": "20",
    "accuracy.points": "5",
}
TABLE = {"accuracy.scene": Scene.TABLE.value, "accuracy.repeats": "10", "accuracy.points": "5"}


AT_FIRST = tuple(m for m in ALL_METHODS.values() if m not in Settings().options("accuracy").left_out)
"""What the page compares unless more is asked for; all of it fits binary nodes."""


def curves(at: AppTest, key: str = "accuracy.curves") -> dict:
    return {t["name"]: t for t in figures(at)[key]["data"] if t.get("showlegend") is not False}


def fast_plan(**more) -> AccuracyPlan:
    given = {
        "network": naive_bayes(3),
        "target": "class",
        "source": Synthetic(records=200),
        "epsilons": epsilon_grid(0.1, 100, points=5),
        "methods": AT_FIRST,
        "repeats": 20,
        "prior": 1.0,
    }
    return AccuracyPlan(**(given | more))


def test_figure_1_says_the_highest_accuracy_and_which_curve_has_it():
    at = open_page(PAGE, **FIGURE_1)
    assert re.fullmatch(
        r"At ε = 1, the highest accuracy for class is (\S+)% \(96\.\d% without privacy\)\.", plain(headline(at))
    )
    below = re.search(
        r"The highest private accuracy is that of Gaussian residuals \(δ = 0\.00001\): (\S+) ± \S+ points below the "
        r"exact posterior\.",
        plain(everything(at)),
    )
    assert below
    assert 16 < float(below.group(1)) < 36
    assert set(curves(at)) == {method.called(100) for method in AT_FIRST}
    alt = charts(at)[0]["alt"]
    assert "sampling (paper, 100 samples) 0." in alt
    assert "N samples" not in alt


def test_the_default_is_the_chosen_table_and_graph_with_an_even_target_and_proved_curves():
    at = open_page(PAGE)
    network, cpts = load_named("asia")
    table = sample_dataset(network, cpts, 1000, stream(1, "records"))
    target = default_target(network, table)
    share = np.bincount(table.column(target)).max() / table.n
    assert share <= 0.9
    assert f"the highest accuracy for {target} is" in headline(at)
    assert not [name for name in curves(at) if "paper" in name]
    plan = AccuracyPlan(network=network, target=target, source=table, epsilons=epsilon_grid(0.1, 100, points=19))
    assert curves(at)["Laplace"]["y"] == pytest.approx(accuracy_study(plan).mean(METHODS["laplace"]))


def test_explore_opens_it_with_its_own_number_of_training_records():
    at = open_page("pages/explore.py", source="sprinkler", records="500")
    seen = figures(at)["explore.accuracy"]["data"]
    exact = next(curve for curve in seen if curve["name"] == "exact")["y"][0]
    fine(at.button(key="more.accuracy").click().run())
    assert settings_of(at).options("accuracy").training == 400
    assert curves(at)["exact (not private)"]["y"][0] == pytest.approx(exact, abs=0.02)


def test_the_chosen_mechanism_is_drawn_with_the_chosen_table():
    at = open_page(PAGE, mechanism="ConsistentLaplace", **TABLE)
    assert "Consistent Laplace" in curves(at)
    assert "consistent" in at.multiselect(key="accuracy.mechanisms").value
    assert "Consistent Laplace" not in curves(open_page(PAGE, mechanism="ConsistentLaplace", **FAST))


def test_the_curves_are_the_cores():
    at = open_page(PAGE, **FAST)
    study = accuracy_study(fast_plan())
    shown = curves(at)
    assert shown["Laplace"]["x"] == list(study.plan.epsilons)
    assert shown["Laplace"]["y"] == pytest.approx(study.mean(METHODS["laplace"]))
    assert shown["sampling (paper, 100 samples)"]["y"] == pytest.approx(study.mean(METHODS["sampler_many"]))


@pytest.mark.parametrize(("shown", "axis"), [(Shown.PROVED, "proved ε"), (Shown.LOG_LOSS, "ε")])
def test_other_views(shown, axis):
    at = open_page(PAGE, **FAST, **{"accuracy.shown": shown.value})
    assert axis in figures(at)["accuracy.curves"]["layout"]["xaxis"]["title"]["text"]


def test_calibrations_are_chosen():
    at = open_page(PAGE, **FAST | {"accuracy.curves": "certified"})
    assert not [name for name in curves(at) if "paper" in name]
    at = open_page(PAGE, **FAST | {"accuracy.curves": "as printed"})
    assert not [name for name in curves(at) if "proved" in name]


def test_house_votes_of_the_curator():
    at = open_page(PAGE, data="house_votes_84", **TABLE)
    plan = AccuracyPlan(
        network=default_network("house_votes_84"),
        target="party",
        source=load_shipped("house_votes_84"),
        epsilons=epsilon_grid(0.1, 100, points=5),
        repeats=10,
    )
    assert curves(at)["Laplace"]["y"] == pytest.approx(accuracy_study(plan).mean(METHODS["laplace"]))
    assert "the highest accuracy for party is" in headline(at)
    assert any("Not private (curator view)" in caption.value for caption in at.caption)
    fine(at.selectbox(key="choice.target").set_value("crime").run())
    assert settings_of(at).target == "crime"
    assert "the highest accuracy for crime is" in headline(at)


def test_the_recipient_sees_synthetic_records_only():
    at = open_page(PAGE, seat=Seat.RECIPIENT.value, data="house_votes_84", **TABLE)
    assert any("use synthetic records of the same network" in caption.value for caption in at.caption)
    network = default_network("house_votes_84")
    plan = AccuracyPlan(
        network=network,
        target=default_target(network),
        source=Synthetic(records=1000),
        epsilons=epsilon_grid(0.1, 100, points=5),
        repeats=10,
    )
    assert curves(at)["Laplace"]["y"] == pytest.approx(accuracy_study(plan).mean(METHODS["laplace"]))
    at = open_page(PAGE, seat=Seat.RECIPIENT.value, **FAST)
    assert curves(at)["Laplace"]["y"] == pytest.approx(accuracy_study(fast_plan()).mean(METHODS["laplace"]))


@pytest.mark.parametrize("seat", Seat)
def test_a_network_of_many_states_without_fourier(seat):
    at = open_page(
        PAGE,
        seat=seat.value,
        source="survey",
        **{"accuracy.scene": Scene.NETWORK.value, "accuracy.repeats": "10", "accuracy.points": "4"},
    )
    assert not sentences(at)
    assert not [name for name in curves(at) if "Fourier" in name]
    assert "nan" not in everything(at)


def test_every_part_opens():
    at = open_page(PAGE, **FAST)
    at.session_state["numbers.accuracy"] = True
    at = fine(at.run())
    assert "accuracy.curves" in figures(at)
    frame = next(f.value for f in at.dataframe if "accuracy standard error" in f.value.columns)
    assert (frame["repeats"] == 20).all()
    assert not sentences(at)


LAPLACE_ALONE = FAST | {f"accuracy.{name}": "no" for name in CURVES_LEFT_OUT if name != "laplace"}


@pytest.fixture
def step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run of the page takes a single step and does not run again by itself."""
    stop_after_a_step()
    monkeypatch.setattr("dpbayes.experiments.accuracy.plan._TOGETHER", 4)


def repeats_shown(at: AppTest) -> int:
    said = [caption.value for caption in at.caption if "simulated repeats" in caption.value]
    return int(said[0].split()[0]) if said else 0


def until_repeats(at: AppTest, least: int) -> AppTest:
    for _ in range(200):
        if repeats_shown(at) >= least:
            return at
        fine(at.run())
    raise AssertionError("the work never went on")


@pytest.mark.usefixtures("step_by_step")
def test_the_button_stops_the_work_and_goes_on_with_it():
    at = open_page(PAGE, **LAPLACE_ALONE)
    assert at.button(key="accuracy.stop").label == "Stop", "before there is any picture"
    assert "box.accuracy.repeats" in [box.key for box in at.text_input]
    until_repeats(at, 10)
    press(at, "Stop")
    for _ in range(5):
        fine(at.run())
        assert repeats_shown(at) == 10, "it stands still"
    assert at.button(key="accuracy.stop").label == "Continue"
    so_far = (
        accuracy_study(fast_plan(methods=(METHODS["laplace"],))).measures[METHODS["laplace"]].accuracy[:10].mean(axis=0)
    )
    assert curves(at)["Laplace"]["y"] == pytest.approx(so_far), "what is done is shown"
    press(at, "Continue")
    until_repeats(at, 20)
    fine(at.run())
    assert not [button for button in at.button if button.key == "accuracy.stop"]
    whole = accuracy_study(fast_plan(methods=(METHODS["laplace"],)))
    assert curves(at)["Laplace"]["y"] == pytest.approx(whole.mean(METHODS["laplace"])), "nothing is lost or done twice"


@pytest.mark.usefixtures("step_by_step")
def test_another_plan_is_begun_at_once_and_the_old_one_gone_on_with():
    at = until_repeats(open_page(PAGE, **LAPLACE_ALONE), 10)
    put(at, "box.accuracy.training", "40")
    assert repeats_shown(at) < 10
    put(at, "box.accuracy.training", "50")
    assert repeats_shown(at) >= 10


def test_a_finished_study_is_kept():
    at = open_page(PAGE, **FAST)
    first = next(iter(at.session_state["accuracy.running"].values())).so_far
    put(at, "box.accuracy.repeats", "21")
    put(at, "box.accuracy.repeats", "20")
    runs = at.session_state["accuracy.running"]
    assert len(runs) == 2
    assert list(runs.values())[-1].so_far is first


def test_mechanisms_are_left_out_and_the_others_stay_the_same():
    at = open_page(PAGE, **FAST, **{"accuracy.private_map": "yes"})
    whole = curves(at)
    box = at.multiselect(key="accuracy.mechanisms")
    assert box.value == ["laplace", "fourier", "sampling", "sampling_many", "private_map", "residuals"]
    assert len(box.options) == len(CURVES_LEFT_OUT), "all that there are can be chosen"
    fine(box.set_value(["fourier", "private_map"]).run())
    kept = curves(at)
    assert [name for name in kept if "Laplace" in name or "sampling" in name] == []
    assert kept["Private MAP"]["y"] == pytest.approx(whole["Private MAP"]["y"])
    assert kept["Fourier (proved)"]["y"] == pytest.approx(whole["Fourier (proved)"]["y"])
    assert "the highest accuracy for class is" in headline(at)
    assert settings_of(at).parameter("accuracy.laplace") is Drawn.NO
    assert settings_of(at).parameter("accuracy.private_map") is Added.YES
    fine(at.multiselect(key="accuracy.mechanisms").set_value([]).run())
    assert set(curves(at)) == {"exact (not private)", "majority class"}
    fine(at.multiselect(key="accuracy.mechanisms").set_value(["laplace"]).run())
    assert "Laplace" in curves(at)
    at = open_page(PAGE, **FAST, **{"accuracy.sampling_many": "no"})
    assert "sampling (paper, 100 samples)" not in curves(at)


@pytest.mark.usefixtures("few_are_read")
def test_noise_aware_curves_are_one_click_away_dashed_and_of_the_first_repeats():
    at = open_page(PAGE, **LAPLACE_ALONE)
    assert not [name for name in curves(at) if "noise-aware" in name]
    fine(at.multiselect(key="accuracy.mechanisms").set_value(["laplace", "laplace_aware"]).run())
    aware = ALL_METHODS["laplace_aware"]
    line = curves(at)["Laplace, noise-aware"]
    assert line["line"]["dash"] == "dash"
    study = accuracy_study(fast_plan(methods=(METHODS["laplace"], aware)))
    assert line["y"] == pytest.approx(study.mean(aware))
    assert any("Noise-aware curves use the first 3." in caption.value for caption in at.caption)
    frame = next(f.value for f in unfold(at, "numbers.accuracy").dataframe if "repeats" in f.value.columns)
    assert set(frame["repeats"][frame["method"] == aware.title]) == {3}
    assert set(frame["repeats"][frame["method"] == "Laplace"]) == {20}


@pytest.fixture
def few_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise-aware curves take their time; here of three repeats."""
    monkeypatch.setattr("dpbayes.experiments.accuracy.plan.AWARE_REPEATS", 3)
    for method in AWARE:
        monkeypatch.setitem(method.__dict__, "most_repeats", 3)


def test_fewer_records_are_tested_on():
    at = open_page(PAGE, **FAST, **{"accuracy.testing": "60"})
    assert any("60 test records" in caption.value for caption in at.caption)
    assert curves(at)["Laplace"]["y"] == pytest.approx(accuracy_study(fast_plan(testing=60)).mean(METHODS["laplace"]))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (FIGURE_1 | {"accuracy.repeats": "10000", "accuracy.points": "200"}, "do not fit in memory"),
        ({"accuracy.low": "10", "accuracy.high": "1"}, "is not below"),
        (FIGURE_1 | {"accuracy.training": "1000"}, "no test record is left"),
        ({"accuracy.scene": Scene.TABLE.value, "records": "10"}, "no test record is left"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_the_picture_is_of_the_nearest(query, said, monkeypatch):
    stop_after_a_step()
    at = open_page(PAGE, **query)
    while "accuracy.curves" not in figures(at):
        fine(at.run())
    one_sentence(at, said)
    assert "The page shows the nearest possible setting: " in sentences(at)[0]
    assert "box.accuracy.repeats" in [box.key for box in at.text_input], "the controls are still there"


def test_a_slider_ends_at_what_can_be_run():
    at = open_page(PAGE, **FAST)
    ends = {slider.key.rpartition(".")[2]: slider.options[-1] for slider in at.select_slider}
    records = settings_of(at).parameter("accuracy.records")
    assert int(ends["training"]) < records <= int(ends["records"])
    assert int(ends["repeats"]) == 10_000
    fast_plan(repeats=int(ends["repeats"]))


def test_a_lonely_column_cannot_be_predicted():
    graph = code_of(Graph(("a", "b"), (("a", "b"),), {}, {"a": ("only",), "b": ("y", "z", "w")}))
    at = open_page(PAGE, source=graph, cpts="random", target="a", **{"accuracy.scene": Scene.NETWORK.value})
    one_sentence(at, "only one state")


@pytest.mark.parametrize(
    "query",
    [
        FIGURE_1
        | {"accuracy.features": "1", "accuracy.training": "1", "accuracy.repeats": "2", "accuracy.points": "1"},
        FIGURE_1 | {"accuracy.strength": "0", "accuracy.repeats": "4"},
        {"prior": "1000000000", "accuracy.repeats": "4"},
        {"prior": "0.001", "accuracy.repeats": "4", "accuracy.low": "0.001", "accuracy.high": "1000"},
        FIGURE_1 | {"accuracy.features": "200", "accuracy.repeats": "2", "accuracy.points": "3", "accuracy.draws": "1"},
    ],
)
def test_the_edges_are_shown(query):
    at = open_page(PAGE, **query)
    assert not sentences(at)
    for curve in curves(at).values():
        assert np.isfinite(np.array(curve["y"], dtype=float)).all()


def test_odd_names_are_text():
    odd = ("<b>x</b>", "$y$")
    graph = code_of(Graph(odd, ((odd[0], odd[1]),), {}, {odd[1]: ("<i>", "b|c")}))
    at = open_page(PAGE, source=graph, cpts="random", target=odd[0], **{"accuracy.scene": Scene.NETWORK.value})
    raw = next(m.value for m in at.markdown if m.value.startswith("## "))
    assert "\\<b\\>" in raw
    assert "<b>x</b>" in plain(raw)
