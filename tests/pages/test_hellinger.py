"""The Hellinger page: its numbers are the core's, its refusals are sentences, and both seats see the same."""

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.experiments.hellinger.errors import LEVELS, DieNoise, error_laws, mean_errors_over_tables, most_throws
from dpbayes.experiments.hellinger.scenario import Balance, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.hellinger.study import settings_of
from dpbayes.ui.pages.hellinger.page import comparison_sentence, enumeration_wins, scenario_of, verdict
from dpbayes.ui.session.link import query_of, settings_from
from dpbayes.ui.session.settings import Seat, Settings
from tests.conftest import thorough
from tests.pages.conftest import everything, figures, fine, headline, one_sentence, open_page, put, sentences, unfold

PAGE = "pages/hellinger.py"
ALWAYS = {"hellinger.errors", "hellinger.throws", "hellinger.epsilons"}
SIDES = "hellinger.sides"


def medians(scenario: Scenario, seed: int = 1) -> dict[DieMethod, float]:
    """Return what the page should say, from the core alone."""
    laws = error_laws([scenario], DieNoise.draw(stream(seed, "hellinger"), sides=scenario.sides))
    return {method: float(law.quantiles()[0, LEVELS.index(0.5)]) for method, law in laws.items()}


def table(at: AppTest) -> dict[str, float]:
    frame = next(f.value for f in at.table if "median error" in f.value.columns)
    return dict(zip(frame.index, frame["median error"].astype(float), strict=True))


def test_the_first_picture_is_the_cores_and_laplace_wins() -> None:
    at = open_page(PAGE)
    errors = medians(Scenario())
    assert headline(at) == (
        "Laplace noise on one count is closest to the exact posterior: the median Hellinger distance is "
        f"{errors[DieMethod.ONE]:.2g}."
    )
    assert (
        "The best exponential mechanism with a proof (smooth, by enumeration) has a median distance of "
        f"{errors[DieMethod.ENUMERATED]:.2g}. On average over all tables, enumeration cuts the error of smooth "
        "sensitivity 3.2-fold."
    ) in [text.value for text in at.markdown]
    assert "The mean error over all tables is 0.22 instead of 0.71." in everything(at)
    assert table(at) == pytest.approx({method.value: error for method, error in errors.items()}, rel=6e-3)
    assert set(figures(at)) == ALWAYS | {SIDES}
    boxes = [trace for trace in figures(at)["hellinger.errors"]["data"] if trace["type"] == "box"]
    assert [box["median"][0] for box in boxes] == pytest.approx(list(errors.values()))


@pytest.mark.parametrize(
    ("query", "scenario"),
    [
        ({"hellinger.n": "20", "epsilon": "0.5"}, Scenario(n=20, epsilon=0.5)),
        ({"hellinger.sides": "3", "hellinger.balance": "skewed"}, Scenario(sides=3, balance=Balance.SKEWED)),
        (
            {"hellinger.balance": "by share", "hellinger.share": "0.2", "hellinger.prior": "0.1"},
            Scenario(balance=Balance.SHARE, share=0.2, prior=0.1),
        ),
        (
            {"hellinger.calibration": "as printed", "hellinger.delta": "0.01"},
            Scenario(calibration=SmoothRun.AS_PRINTED, delta=0.01),
        ),
    ],
)
def test_every_setting_reaches_the_numbers_and_the_link(query: dict[str, str], scenario: Scenario) -> None:
    settings, problems = settings_from(query)
    assert not problems
    assert scenario_of(settings) == scenario
    assert settings_from(query_of(settings))[0] == settings
    at = open_page(PAGE, **query)
    assert table(at) == pytest.approx({m.value: error for m, error in medians(scenario).items()}, rel=6e-3)


def test_enumeration_says_what_it_went_through_and_is_refused_in_a_sentence_beyond() -> None:
    at = open_page(PAGE)
    text = everything(at)
    assert "101 tables of 100 throws, 200 ordered pairs of neighbours and every output were compared" in text
    assert "internal ε of 1.84; the proof for every die allows 0.6667." in text
    curves = figures(at)["hellinger.throws"]["data"]
    (line,) = (trace for trace in curves if trace.get("name") == DieMethod.ENUMERATED.value)
    assert max(line["x"]) < 500
    put(at, "box.hellinger.n", "500")
    refused = "501 possible posteriors, and at most 500 can be listed here. Use at most 499 throws, or fewer sides."
    assert f"There is no proof by enumeration here. A die of 2 sides thrown 500 times has {refused}" in everything(at)
    assert DieMethod.ENUMERATED.value not in table(at)
    assert "Enumeration" not in headline(at)
    fine(at.segmented_control(key="parameter.hellinger.calibration").set_value(SmoothRun.CERTIFIED).run())
    assert "numerat" not in headline(at) + str(table(at))


def test_a_slider_moves_every_picture_that_depends_on_it() -> None:
    at = open_page(PAGE)
    before = figures(at)
    fine(at.select_slider(key="parameter.epsilon").set_value(4.0).run())
    after = figures(at)
    assert set(before) == set(after)
    assert all(before[key]["data"] != after[key]["data"] for key in before)
    fine(at.select_slider(key="parameter.hellinger.n").set_value(200).run())
    assert "100 + 100" in everything(at)
    assert all(after[key]["data"] != figures(at)[key]["data"] for key in after)


def test_the_printed_run_says_what_is_proved_of_it() -> None:
    at = open_page(PAGE, **{"hellinger.calibration": "as printed"})
    assert "For smooth sensitivity only ε = 1.5, δ = 5 × 10⁻⁶ is proved." in everything(at)
    assert table(at)["smooth sensitivity"] == pytest.approx(0.140, abs=1e-3)


@pytest.mark.parametrize(("sides", "n"), thorough([(3, 20), (4, 10), (5, 8), (6, 6)], sample=[(3, 20), (6, 6)]))
def test_more_sides_have_the_same_pictures(sides: int, n: int) -> None:
    at = open_page(PAGE, **{"hellinger.sides": str(sides), "hellinger.n": str(n)})
    assert not sentences(at)
    assert set(figures(at)) == ALWAYS | {SIDES}
    assert "Laplace, one count" not in table(at)


@pytest.mark.parametrize(
    ("query", "most"), [({"hellinger.sides": "6"}, 26), ({"hellinger.sides": "3", "hellinger.n": "1000"}, 630)]
)
def test_too_many_posteriors_are_one_sentence_and_the_picture_is_of_the_most(query: dict[str, str], most: int) -> None:
    at = open_page(PAGE, **query)
    said = f"at most {most} throws, or fewer sides. The page shows the nearest possible setting: throws = {most}."
    one_sentence(at, said)
    assert at.select_slider(key="parameter.hellinger.n").options[-2] == str(most)
    assert set(figures(at)) >= ALWAYS - {"hellinger.sides"}
    fine(at.select_slider(key="parameter.hellinger.sides").set_value(2).run())
    assert not sentences(at)
    assert set(figures(at)) >= ALWAYS


EDGES: list[dict[str, str]] = [
    {"hellinger.n": "1", "epsilon": "1000"},
    {"hellinger.n": "2", "hellinger.sides": "6", "hellinger.balance": "skewed"},
    {"hellinger.n": "100000"},
    {"epsilon": "0.001", "hellinger.delta": "0.1"},
    {"hellinger.prior": "0.001", "hellinger.balance": "by share", "hellinger.share": "1"},
    {"hellinger.n": "3000"},
    {"hellinger.n": "1"},
    {"hellinger.n": "500", "hellinger.sides": "3"},
    {"hellinger.prior": "1000"},
]
"""First each setting at an edge; the last three are between these, or what the test of all options turns too."""


@pytest.mark.parametrize("query", thorough(EDGES, sample=EDGES[:-3]))
def test_the_edges_have_pictures_without_gaps(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    assert not sentences(at)
    text = everything(at) + "".join(frame.value.to_csv() for frame in at.table)
    assert "nan" not in text
    assert "by -0" not in text
    assert set(figures(at)) >= ALWAYS


BAD = {"n": ("0", "2.5", "<b>"), "sides": ("7", ""), "delta": ("0.5",), "prior": ("nan",)}


def test_a_bad_number_gives_one_sentence_and_keeps_the_last() -> None:
    at = open_page(PAGE)
    for boxes, (box, wrong) in enumerate(BAD.items(), start=1):
        for bad in wrong:
            put(at, f"box.hellinger.{box}", bad)
            assert len(sentences(at)) == boxes, "that of each box stays until it is mended"
            assert all("The value is still " in sentence and len(sentence) < 400 for sentence in sentences(at))
            assert "50 + 50" in everything(at)


def test_both_seats_see_the_same_for_the_throws_are_made_up() -> None:
    curator, recipient = (open_page(PAGE, seat=seat.value) for seat in Seat)
    assert headline(curator) == headline(recipient)
    assert figures(curator) == figures(recipient)
    assert "urator only" not in everything(curator)


def test_the_audit_is_made_on_request() -> None:
    at = open_page(PAGE, **{"hellinger.n": "20"})
    assert not any(len(f.value) == 4 for f in at.table)
    unfold(at, "hellinger.audit")
    frame = next(f.value for f in at.table if len(f.value) == 4)
    assert DieMethod.ENUMERATED.value in frame.index
    losses = frame.iloc[:, -1].astype(float)
    assert losses.drop(DieMethod.ENUMERATED.value).max() < 1
    assert losses[DieMethod.ENUMERATED.value] == pytest.approx(1, abs=0.01), "all of what is promised is used up"
    at.session_state["hellinger.audit"] = True
    put(at, "box.hellinger.n", "1000")
    one_sentence(at, "at most 300")


def test_the_formulas_hold_their_numbers() -> None:
    text = everything(open_page(PAGE))
    for number in ("= 101$", "0.3389", "0.07028", "0.6667", r"\delta = 0.00002$"):
        assert number in text
    assert "✗ &nbsp;Local sensitivity" in text


# Along the number of sides


def test_the_curves_along_sides_have_every_die_that_fits_and_say_what_would_fit_more() -> None:
    at = open_page(PAGE)
    lines = {trace["name"]: trace for trace in figures(at)[SIDES]["data"] if trace.get("showlegend") is not False}
    assert lines[DieMethod.CELLS.value]["x"] == [2, 3, 4]
    assert lines[DieMethod.ONE.value]["x"] == [2]
    assert lines["chosen"]["x"] == [2, 2]
    assert f"up to {most_throws(5)} for m = 5, {most_throws(6)} for m = 6." in everything(at)
    put(at, "box.hellinger.n", "20")
    assert figures(at)[SIDES]["data"][0]["x"][:5] == [2, 3, 4, 5, 6]
    assert "Fewer throws" not in everything(at)


def test_where_only_two_sides_fit_there_is_a_sentence_and_it_is_right() -> None:
    at = open_page(PAGE, **{"hellinger.n": "631"})
    assert SIDES not in figures(at)
    assert not sentences(at)
    assert "with 631 throws, a die of more than two sides" in everything(at)
    assert "up to 630 for m = 3, " in everything(at)
    put(at, "box.hellinger.n", "630")
    assert figures(at)[SIDES]["data"][0]["x"][:2] == [2, 3]


# The same experiment elsewhere

CHANGED = {
    "hellinger.n": "30",
    "hellinger.sides": "3",
    "hellinger.balance": "by share",
    "hellinger.share": "0.6",
    "hellinger.prior": "0.5",
    "hellinger.delta": "0.001",
    "hellinger.calibration": "as printed",
    "epsilon": "2",
    "seed": "7",
}


def shown_code(at: AppTest, start: str) -> str:
    return str(next(code.value for code in at.code if code.value.startswith(start)))


def medians_along(frame: pd.DataFrame, along: str, mechanism: str) -> list[float]:
    return frame[(frame["along"] == along) & (frame["mechanism"] == mechanism)]["median"].tolist()


@pytest.mark.parametrize("query", [{"hellinger.n": "40"}, CHANGED], ids=["default", "changed"])
def test_the_code_shown_gives_the_numbers_of_every_picture(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    printed: list[pd.DataFrame] = []
    exec(shown_code(at, "from dpbayes"), {"print": printed.append})
    frame, shown = printed[0], figures(at)
    boxes = {trace["name"]: trace["median"] for trace in shown["hellinger.errors"]["data"] if trace["type"] == "box"}
    for mechanism, median in boxes.items():
        assert medians_along(frame, "the setting", mechanism) == pytest.approx(median), mechanism
    for along, key in (("n", "hellinger.throws"), ("epsilon", "hellinger.epsilons"), ("m", SIDES)):
        lines = [t for t in shown[key]["data"] if t.get("showlegend") is not False and t["name"] != "chosen"]
        assert {line["name"] for line in lines} == set(frame[frame["along"] == along]["mechanism"])
        for line in lines:
            assert medians_along(frame, along, line["name"]) == pytest.approx(line["y"]), (along, line["name"])
            assert frame[(frame["along"] == along) & (frame["mechanism"] == line["name"])][along].tolist() == line["x"]


def test_the_downloads_carry_the_settings() -> None:
    at = open_page(PAGE, **CHANGED)
    names = ("hellinger", "hellinger-errors")
    for name in names:
        at.session_state[f"numbers.{name}"] = True
    fine(at.run())
    scenario = scenario_of(settings_from(CHANGED)[0])
    assert len(at.dataframe) == len(names)
    for shown in at.dataframe:
        line = shown.value.iloc[0]
        for name, value in settings_of(scenario, seed=7).items():
            assert line[name] == value, name
    labels = sorted(button.label for button in at.get("download_button"))
    assert labels == ["Download CSV"] * len(names)


# The verdict, in words


def test_what_enumeration_wins_is_said_where_it_wins_and_where_it_can_be_done() -> None:
    no_gain = "On average over all tables, enumeration does not cut the error of smooth sensitivity."
    assert enumeration_wins(Scenario(n=1, epsilon=0.001)) == no_gain
    assert enumeration_wins(Scenario(n=1, epsilon=1000.0)) != ""
    assert enumeration_wins(Scenario(n=500)) == ""
    assert enumeration_wins(Scenario(calibration=SmoothRun.AS_PRINTED)) == ""
    means = list(mean_errors_over_tables(Scenario(n=30)).values())
    assert f" {means[0] / means[1]:.2g}-fold." in enumeration_wins(Scenario(n=30))


def said(**errors: float) -> str:
    return verdict({DieMethod[name]: error for name, error in errors.items()})


def below(scenario: Scenario, **errors: float) -> str:
    return comparison_sentence({DieMethod[name]: error for name, error in errors.items()}, scenario)


def test_the_verdict_names_the_best_with_a_proof_and_the_text_below_the_best_of_the_other_family() -> None:
    errors = {"GLOBAL": 0.3, "SMOOTH": 0.2, "LOCAL": 0.01, "CELLS": 0.4, "ONE": 0.1}
    assert said(**errors).startswith("Laplace noise on one count is closest")
    assert "best exponential mechanism with a proof (smooth sensitivity) has a median distance of 0.2." in below(
        Scenario(n=1), **errors
    )
    errors |= {"GLOBAL": 0.1, "ONE": 0.3}
    assert said(**errors).startswith("The exponential mechanism with global sensitivity is closest")
    assert "best Laplace mechanism with a proof (Laplace, one count) has a median distance of 0.3." in below(
        Scenario(), **errors
    )
    assert "local" not in said(**errors)


def test_a_winner_has_another_number_than_the_loser() -> None:
    errors = {"GLOBAL": 0.2844, "SMOOTH": 0.9, "CELLS": 0.2752}
    assert said(**errors).endswith("distance is 0.275.")
    assert "distance of 0.284." in below(Scenario(), **errors)


def test_the_verdict_calls_a_tie_and_noise_by_their_names() -> None:
    assert said(GLOBAL=0.1, SMOOTH=0.1, CELLS=0.101).startswith("No clear difference between ")
    assert "with a proof" not in below(Scenario(), GLOBAL=0.1, SMOOTH=0.1, CELLS=0.101)
    assert "Neither mechanism is close to the exact posterior." in below(Scenario(), GLOBAL=0.9, SMOOTH=0.9, CELLS=0.7)
    assert said(GLOBAL=0.0, SMOOTH=0.0, CELLS=0.0).startswith("No clear difference between ")


def test_options_have_defaults_that_make_the_default_scenario() -> None:
    assert scenario_of(Settings()) == Scenario()
    assert np.array_equal(Scenario().counts, [50, 50])
