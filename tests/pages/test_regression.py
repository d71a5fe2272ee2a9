"""The Regression page: its numbers are the core's, real errors are the curator's, and refusals are sentences."""

import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpbayes.base.steps import finished
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.scenario import Records, RegressionScenario, experiment, records_of
from dpbayes.experiments.regression.scenario import settings_of as scenario_settings
from dpbayes.ui.pages.regression.page import verdict
from dpbayes.ui.session.link import query_of, settings_from
from dpbayes.ui.session.settings import Seat, Settings
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    one_sentence,
    one_step_at_a_time,
    open_page,
    put,
    sentences,
    stop_after_a_step,
)

PAGE = "pages/regression.py"
SMALL = {"regression.n": "2000", "regression.repeats": "3", "regression.points": "5"}
FULTON = {"regression.records": "Fulton census", "regression.repeats": "3", "regression.points": "5"}
ERRORS, EPSILONS = "regression.errors", "regression.epsilons"


def result_of(query: dict[str, str], seed: int = 1) -> tuple[RegressionScenario, RegressionResult]:
    """Return what the page should show, from the core alone."""
    settings, problems = settings_from(query)
    assert not problems
    scenario = settings.options("regression")
    return scenario, finished(experiment(scenario, records_of(scenario, seed=1), seed=seed))


def line(at: AppTest, name: str, key: str = ERRORS) -> list[float]:
    return next(t["y"] for t in figures(at)[key]["data"] if t.get("name") == name)


def test_the_default_is_figure_2_and_both_seats_see_it() -> None:
    at = open_page(PAGE)
    text = headline(at)
    assert re.fullmatch(
        r"One private sample predicts income with a mean squared error of 0\.026\d; without privacy it is 0\.024\d\.",
        text,
    )
    said = "At prior precision b = 100, the proved ε is 4; the paper's formula gives ε = 830,000."
    assert said in [markdown.value for markdown in at.markdown]
    other = open_page(PAGE, seat=Seat.RECIPIENT.value)
    assert headline(other) == text
    assert figures(other) == figures(at)
    assert "urator only" not in everything(at)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"regression.draws": "6", "regression.noise_variance": "2.5"},
        {"regression.norm_bound": "from a certified ε", "regression.epsilon": "1.5"},
        {"regression.features": "3", "regression.train_share": "0.4", "seed": "4"},
        {"regression.lowest": "1", "regression.highest": "50", "regression.precision": "7"},
    ],
)
def test_every_setting_reaches_the_numbers_and_the_link(more: dict[str, str]) -> None:
    query = SMALL | more
    scenario, result = result_of(query, seed=int(more.get("seed", "1")))
    assert settings_from(query_of(settings_from(query)[0]))[0] == settings_from(query)[0]
    at = open_page(PAGE, **query)
    assert not sentences(at)
    for name, errors in result.errors.items():
        assert line(at, name) == pytest.approx(errors.mean)
    assert headline(at) == verdict(result, scenario, target="income")


def test_real_errors_are_the_curators() -> None:
    curator, recipient = (open_page(PAGE, seat=seat.value, **FULTON) for seat in Seat)
    _, result = result_of(FULTON)
    assert line(curator, "exact") == pytest.approx(result.exact.mean)
    assert "Not private (curator view)" in everything(curator)
    assert set(figures(curator)) == {ERRORS, EPSILONS}
    assert set(figures(recipient)) == {EPSILONS}
    assert figures(recipient) == {EPSILONS: figures(curator)[EPSILONS]}
    assert "has a proved ε of" in headline(recipient)
    shown = everything(recipient)
    for value in (*result.exact.mean, *result.one.mean, *result.several.mean, *result.baseline.mean):
        assert f"{value:.3g}" not in shown
    assert "clipped." not in shown.replace("and values outside are clipped.", "")


def test_long_work_shows_what_is_in_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run of the page does one step; the person presses Stop while the second is shown."""
    one_step_at_a_time()
    shown: list[int] = []

    def again() -> None:
        (run,) = st.session_state["regression.running"].values()
        shown.append(run.so_far.result.repeats)
        run.stopped = len(shown) == 2
        st.rerun()

    monkeypatch.setattr("dpbayes.ui.widgets.page.run_again", again)
    at = open_page(PAGE, **(SMALL | {"regression.repeats": "120"}))
    assert shown == [25, 50]
    assert "Stopped after 50 of 120 repeats." in [p.proto.text for p in at.get("progress")]
    go_on = next(button for button in at.button if button.label == "Continue")
    fine(go_on.click().run())
    assert not [button for button in at.button if button.label in ("Continue", "Stop")]
    _, result = result_of(SMALL | {"regression.repeats": "120"})
    assert line(at, "exact") == pytest.approx(result.exact.mean), "stopping loses nothing and repeats nothing"


def test_moving_the_precision_looked_at_repeats_no_work() -> None:
    at = open_page(PAGE, **SMALL)
    before = dict(at.session_state["regression.running"])
    put(at, "box.regression.precision", "1e4")
    assert "At prior precision b = 10,000," in everything(at)
    assert dict(at.session_state["regression.running"]) == before


def test_what_is_nearest_to_the_chosen_precision_is_said() -> None:
    at = open_page(PAGE, **(SMALL | {"regression.precision": "90"}))
    assert "At prior precision b = 100 (the nearest to 90 of 5 values), the proved" in everything(at)
    recipient = open_page(PAGE, seat=Seat.RECIPIENT.value, **(FULTON | {"regression.precision": "90"}))
    assert "At prior precision b = 100 (the nearest to 90 of 5 values), the proved" in everything(recipient)


def test_a_single_precision_is_the_chosen_one_and_nothing_hides_it() -> None:
    at = open_page(PAGE, **(SMALL | {"regression.points": "1"}))
    assert "At prior precision b = 100, the proved" in everything(at)
    assert not [box for box in at.text_input if box.key in ("box.regression.lowest", "box.regression.highest")]
    for figure in figures(at).values():
        assert {(*trace["x"], trace["mode"]) for trace in figure["data"]} == {(100.0, "markers")}
        assert "chosen" not in [trace["name"] for trace in figure["data"]]
    put(at, "box.regression.precision", "40")
    assert "At prior precision b = 40, the proved" in everything(at)
    _, result = result_of(SMALL | {"regression.points": "1", "regression.precision": "40"})
    assert line(at, "exact") == pytest.approx(result.exact.mean)


def test_no_negative_error_is_shown_where_a_curve_is_next_to_unknown() -> None:
    query = {"regression.n": "200", "regression.noise_variance": "1000", "regression.lowest": "0.001", "seed": "3"}
    at = open_page(PAGE, **(SMALL | query | {"regression.precision": "0.001"}))
    _, result = result_of(SMALL | query | {"regression.precision": "0.001"}, seed=3)
    assert result.cut.mean.min() < 0, "the test can fail"
    for trace in figures(at)[ERRORS]["data"]:
        assert all(y is None or y >= 0 for y in trace["y"])
    (table,) = (frame.value for frame in at.dataframe if "standard error" in frame.value)
    assert not table["mean squared error"].str.startswith("-").any()
    assert "unknown" in set(table["mean squared error"])


# Files and code to copy


def code(at: AppTest) -> list[str]:
    """Return the code to copy."""
    return [shown.value for shown in at.code if shown.language == "python"]


@pytest.mark.parametrize("query", [SMALL | {"regression.draws": "3", "seed": "4"}, FULTON])
def test_the_code_shown_gives_the_numbers_shown(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    (python,) = code(at)
    printed: list[pd.DataFrame] = []
    exec(python, {"print": printed.append})
    frame = printed[0].set_index("predictor")
    for name in ("exact", "exact, truncated", "one private sample", "training mean"):
        assert line(at, name) == frame.loc[name, "mse"].tolist()


@pytest.mark.parametrize("name", ["regression", "regression-epsilons"])
def test_files_hold_their_settings(name: str) -> None:
    query = SMALL | {"regression.epsilon": "2.5", "seed": "4", "data_seed": "9"}
    at = open_page(PAGE, **query)
    at.session_state[f"numbers.{name}"] = True
    frame = next(frame.value for frame in fine(at.run()).dataframe if "data_seed" in frame.value)
    scenario, _ = result_of(query, seed=4)
    for field, value in scenario_settings(scenario, seed=4, data_seed=9).items():
        assert set(frame[field]) == {value}, field


def test_a_seat_that_sees_no_errors_sees_no_code_that_would_give_them() -> None:
    assert code(open_page(PAGE, seat=Seat.RECIPIENT.value, **FULTON)) == []
    assert len(code(open_page(PAGE, seat=Seat.RECIPIENT.value, **SMALL))) == 1, "made-up records are nobody's"


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({"regression.lowest": "1000", "regression.highest": "10"}, "1,000 is not below 10"),
        ({"regression.n": "50"}, "more features (14) than training records (5)"),
        ({"regression.n": "2", "regression.features": "1"}, "leaves no training or no test records"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_the_picture_is_of_the_nearest(more: dict[str, str], part: str) -> None:
    at = open_page(PAGE, **(SMALL | more))
    one_sentence(at, part)
    assert "The page shows the nearest possible setting: " in sentences(at)[0]
    assert set(figures(at)) == {ERRORS, EPSILONS}
    assert "nan" not in headline(at)


def test_more_repeats_than_there_is_time_for_are_as_many_as_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after_a_step()
    at = open_page(PAGE, **(SMALL | {"regression.repeats": "1000000000"}))
    most = int(sentences(at)[0].split("at most ")[1].split(" ")[0].replace(",", ""))
    one_sentence(at, f"The page shows the nearest possible setting: repeats = {most:,}.")
    assert set(figures(at)) == {ERRORS, EPSILONS}
    sliders = at.select_slider(key="parameter.regression.repeats").options
    assert int(sliders[-1]) == 10**9
    assert int(sliders[-2]) == most


@pytest.mark.parametrize(
    "more",
    [
        {"regression.repeats": "1"},
        {"regression.points": "1", "regression.lowest": "5", "regression.highest": "5"},
        {"regression.n": "100", "regression.features": "1", "regression.draws": "100"},
        {"regression.noise_variance": "0.0001"},
        {"regression.lowest": "0.001", "regression.highest": "1e9"},
        {"regression.norm_bound": "from a certified ε", "regression.epsilon": "0.001"},
    ],
)
def test_the_edges_have_pictures_without_gaps(more: dict[str, str]) -> None:
    at = open_page(PAGE, **(SMALL | more))
    assert not sentences(at)
    assert set(figures(at)) == {ERRORS, EPSILONS}
    assert "nan" not in headline(at)
    for name in ("exact", "one private sample", "training mean"):
        assert all(np.isfinite(line(at, name)))


def test_a_printed_value_below_what_is_proved_is_said() -> None:
    at = open_page(PAGE, **(SMALL | {"regression.n": "200", "regression.features": "1", "regression.lowest": "0.001"}))
    names = [trace["name"] for trace in figures(at)[EPSILONS]["data"]]
    assert any("below the proved ε" in name for name in names)
    assert "✗ &nbsp;The paper's 2L(w) is at least the proved ε" in everything(at)


def test_the_formulas_hold_their_numbers() -> None:
    text = everything(open_page(PAGE))
    for number in (r"10/\sqrt{b} = 1$", r"= 4B/\sigma^2", "n = 37,000", r"831{,}883"):
        assert number in text, number


def test_the_options_are_the_scenario() -> None:
    assert Settings().options("regression") == RegressionScenario()
    assert [record.value for record in Records] == ["synthetic", "Fulton census"]
