"""Pictures of claims: known values are drawn, violated ones are red, and the setting is marked."""

from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.base.looks import INVALID
from dpbayes.figures.claims import BoundCurves, bound_figure

X = np.geomspace(0.01, 100, 41)
NONE = np.full(41, np.nan)
CURVES = BoundCurves(
    x=X,
    printed=10 / X,
    certified=5 / X,
    violated=np.zeros(41, dtype=bool),
    exact=2 / X,
    value=4 / X,
    low=3.9 / X,
    high=4.2 / X,
    exact_name="exact mean",
    name="simulated quantile",
)


def traces(curves: BoundCurves, at: float = 1.0) -> dict[str, Any]:
    figure = bound_figure(
        curves, x_title="epsilon", y_title="nats", chosen=(at, {"printed": 20.0, "certified": 5.0})
    ).to_plotly()
    return {trace["name"]: trace for trace in figure.data}


def test_dots_carry_their_interval() -> None:
    dots = traces(CURVES)["simulated quantile"]
    np.testing.assert_allclose(dots["y"], (4 / X)[::2])
    np.testing.assert_allclose(dots["error_y"]["array"], (0.2 / X)[::2])
    np.testing.assert_allclose(dots["error_y"]["arrayminus"], (0.1 / X)[::2])


def test_only_the_violated_part_is_red() -> None:
    violated = X < 1
    red = traces(replace(CURVES, violated=violated))["as stated, exceeded"]
    assert red["line"]["color"] == INVALID
    assert np.array_equal(np.isfinite(red["y"].astype(float)), violated)


def test_what_is_not_known_or_not_positive_is_not_drawn() -> None:
    drawn = traces(replace(CURVES, exact=NONE, value=NONE, certified=np.where(X < 1, np.inf, 0.0)))
    assert "exact mean" not in drawn
    assert "simulated quantile" not in drawn
    assert "proved" not in drawn


def test_the_setting_is_marked_unless_it_is_beyond_the_axis() -> None:
    assert list(traces(CURVES)["value of the slider"]["text"]) == ["certified", "printed"]
    assert not len(traces(CURVES, at=1000.0)["value of the slider"]["x"])


def test_the_upper_text_is_where_there_is_room() -> None:
    sides = [list(traces(CURVES, at=at)["value of the slider"]["textposition"]) for at in (0.1, 90.0)]
    assert sides == [["bottom left", "top right"], ["bottom left", "bottom left"]]


def test_a_picture_ends_where_nothing_is_known_and_a_share_has_the_whole_range() -> None:
    proved = np.where(X < 1, np.nan, CURVES.certified)
    part = replace(CURVES, certified=proved, exact=proved, value=NONE)
    assert traces(part)["as stated"]["x"][0] == X[X >= 1][0]
    assert traces(part, at=0.1)["value of the slider"]["x"][0] == 0.1
    assert "as stated = proved = exact mean" in traces(replace(part, printed=proved))
    curves = replace(part, printed=np.exp(-X), certified=NONE, exact=NONE, value=1 - X / 100, violated=X < 0.1)
    picture = bound_figure(curves, x_title="t", y_title="probability", chosen=(0.05, {}))
    np.testing.assert_allclose(picture.data[2]["y"], picture.data[2]["x"] / 100, err_msg="1 - p, from 0% up to 99.9%")


def test_the_stated_line_has_no_gap_beside_its_red_part_and_red_reaches_a_value_that_vanishes() -> None:
    drawn = traces(replace(CURVES, printed=np.where(X > 10, 0.0, 1 / X), violated=X > 1))
    assert np.isfinite(drawn["as stated"]["y"] + drawn["as stated, exceeded"]["y"]).sum() == 1
    assert max(drawn["above the stated bound"]["x"]) == X[-1]
