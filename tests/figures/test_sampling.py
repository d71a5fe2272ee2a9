import numpy as np
import pytest

from dpbayes.base.looks import BOUND, EXACT, INVALID, PURPLE
from dpbayes.figures.sampling import (
    SHOWN_DRAWS,
    SHOWN_GAMES,
    adversary_figure,
    game_figure,
    mean_error_figure,
    omega_figure,
    trim_figure,
)

THETA = np.linspace(0.01, 0.99, 99)


def named(figure, part):
    return next(trace for trace in figure.data if part in trace.name)


def test_the_trimmed_row_shows_exact_blue_drawn_in_the_samplers_colour_and_the_region_dashed():
    exact, trimmed = 5 * THETA, np.where(np.abs(THETA - 0.5) < 0.1, 40.0, 0.0)
    figure = trim_figure(
        (THETA, exact, trimmed), np.array([0.45, 0.52]), region=(0.4, 0.6), name="a<b>", colour=PURPLE
    ).to_plotly()
    assert named(figure, "exact").line.color == EXACT
    assert max(named(figure, "exact").y) == 1
    assert named(figure, "trimmed posterior").line.color == PURPLE
    assert list(named(figure, "released").x) == [0.45, 0.52]
    assert named(figure, "region").line.dash == "dash"
    assert figure.layout.xaxis.title.text == "P(a&lt;b&gt;)"
    assert "peak" in figure.layout.yaxis.title.text


def test_without_an_exact_density_nothing_is_called_exact_or_posterior():
    figure = trim_figure(
        (THETA, None, THETA), np.full(2000, 0.5), region=(0.4, 0.6), name="a", colour=PURPLE
    ).to_plotly()
    names = " ".join(trace.name for trace in figure.data)
    assert "exact" not in names
    assert "posterior" not in names
    assert len(named(figure, "released").x) == SHOWN_DRAWS
    assert f"first {SHOWN_DRAWS}" in names


def test_the_best_number_of_draws_is_marked_on_every_curve():
    draws, errors = np.array([1, 2, 4]), np.array([[0.3, 0.2, 0.4], [0.1, 0.2, 0.3]])
    figure = mean_error_figure(draws, errors, ["one", "two"], best=np.array([2, 1]), colour=PURPLE).to_plotly()
    assert list(named(figure, "best").x) == [2, 1]
    assert list(named(figure, "best").y) == [0.2, 0.1]
    assert "probability" in figure.layout.yaxis.title.text


def test_a_printed_omega_is_red_only_where_it_breaks_its_promise():
    epsilon = np.array([1.0, 2.0, 3.0])
    figure = omega_figure(
        epsilon, np.full(3, 0.3), np.array([np.nan, 0.4, 0.2]), chosen=(1.0, 0.1), colour=PURPLE
    ).to_plotly()
    safe, broken = (trace for trace in figure.data if "paper" in trace.name)
    assert (safe.line.color, broken.line.color) == (BOUND, INVALID)
    assert np.array_equal(safe.y, [np.nan, 0.4, np.nan], equal_nan=True)
    assert np.array_equal(broken.y, [np.nan, np.nan, 0.2], equal_nan=True)
    assert "too small" in broken.name
    kept = omega_figure(epsilon, np.full(3, 0.3), np.full(3, 0.4), chosen=(1.0, 0.1), colour=PURPLE).to_plotly()
    assert not [trace for trace in kept.data if "too small" in trace.name]


def test_one_game_is_bold_and_a_broken_ceiling_is_red():
    belief = np.linspace(0, 1, 3)[:, None] * np.ones(100)
    ceilings = [("proved", np.ones(3), True), ("stated", np.full(3, 0.6), False)]
    figure = game_figure(np.arange(3.0), belief, ceilings, colour=PURPLE).to_plotly()
    assert list(named(figure, "this game").y) == [0, 0.5, 1]
    assert len(named(figure, "other games").x) == 4 * SHOWN_GAMES
    assert named(figure, "proved").line.color == BOUND
    assert named(figure, "stated").line.color == INVALID


def test_marks_of_needed_answers_are_in_the_picture():
    marks = [("least", 3.0, True), ("paper", 900.0, False)]
    answers = np.arange(1.0, 6)
    figure = adversary_figure(
        answers, np.linspace(0.5, 0.9, 5), np.full(5, 0.01), level=0.95, marks=marks, colour=PURPLE
    ).to_plotly()
    assert 10 ** figure.layout.xaxis.range[1] > 900
    assert named(figure, "least").line.color == BOUND
    assert named(figure, "paper").line.color == INVALID
    assert list(named(figure, "simulated").y) == pytest.approx(np.linspace(0.5, 0.9, 5))
