"""The boards of posterior sampling: one row, what a recipient sees of it, and the query game."""

import re
from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.boards.sampling import (
    EPSILONS,
    MOST_LOSS,
    ReleasedSamples,
    SamplingInputs,
    posterior_sampling,
    query_game,
    samples_of,
)
from dpbayes.experiments.sampling import LEVEL, Game, RowState, answering
from dpbayes.mechanisms import Calibration, PosteriorSampler

NETWORK, CPTS = dp.load_named("sprinkler")
COUNTS = [dp.count(NETWORK, dp.sample_dataset(NETWORK, CPTS, 500, np.random.default_rng(k))) for k in (1, 2)]
CELL = NETWORK.cell_count - 1


def sampler_at(epsilon):
    return PosteriorSampler(prior=NETWORK, epsilon=epsilon, draws=20)


INPUTS = SamplingInputs(sampler_at, CELL, COUNTS[0])


def test_every_sample_lies_in_the_region_of_its_epsilon():
    for epsilon in (0.1, 1.0, 30.0):
        samples, bound = samples_of(INPUTS, epsilon), sampler_at(epsilon).log_odds_bound
        assert samples.shape == (20,)
        assert np.all(np.abs(np.log(samples / (1 - samples))) <= bound + 1e-9)


def test_the_curators_board_says_which_epsilon_is_needed_and_is_private():
    one = replace(INPUTS, sampler_at=lambda epsilon: PosteriorSampler(prior=NETWORK, epsilon=epsilon))
    board = posterior_sampling(one).complete()
    assert board.private
    assert len({frame.notes[0] for (frame,) in board.frames.values()}) == 1, "one advice for one table"
    needed = float(re.search(r"ε = ([\d.]+) is enough", board.frame.notes[0])[1])
    for stop, (frame,) in board.frames.items():
        assert ("about as close" in frame.headline) == (float(stop) >= needed)
    state = RowState.of(one.sampler_at(1.0).prior.updated(COUNTS[0]), CELL)
    before = max(at for at in EPSILONS if at < 0.999 * needed)
    assert list(state.contains_mean([one.sampler_at(at).log_odds_bound for at in (before, needed)])) == [False, True]
    assert state.shift(one.sampler_at(needed).log_odds_bound) <= state.deviation
    for figure in board.frame.figures.values():
        figure.to_plotly()


def test_a_recipients_board_is_equal_for_two_tables_with_the_same_samples():
    """What the table adds to a recipient's board are its samples; nothing else of it is passed on."""
    samples = {epsilon: samples_of(INPUTS, epsilon) for epsilon in (0.5, 1.0)}
    blocks = []
    for counts in COUNTS:
        assert not np.array_equal(samples_of(SamplingInputs(sampler_at, CELL, counts), 1.0), samples[1.0]) or (
            counts is COUNTS[0]
        )
        view = posterior_sampling(ReleasedSamples(sampler_at, CELL, samples.__getitem__))
        blocks.append(view.with_frames({stop: view.frames_at(stop) for stop in ("0.5", "1")}, "1").block())
    assert blocks[0] == blocks[1]
    other = SamplingInputs(sampler_at, CELL, COUNTS[1])
    view = posterior_sampling(ReleasedSamples(sampler_at, CELL, lambda epsilon: samples_of(other, epsilon)))
    assert not view.board.private
    assert view.with_frames({stop: view.frames_at(stop) for stop in ("0.5", "1")}, "1").block() != blocks[0]


def test_the_headline_of_the_paper_s_calibration_states_both_epsilons():
    printed = replace(INPUTS, sampler_at=lambda at: replace(sampler_at(at), calibration=Calibration.AS_PRINTED))
    headline = posterior_sampling(printed).frames_at("10")[0].headline
    assert "ε = 10 " in headline
    assert printed.sampler_at(10).certified.epsilon > 10


def test_the_advice_names_no_epsilon_if_none_suffices():
    (frame,) = posterior_sampling(replace(INPUTS, sampler_at=lambda at: sampler_at(at / 100))).frames_at("1")
    assert frame.notes[0].startswith("So: even ε = 100 is not enough: the interval shifts the mean of 20 samples")


def test_an_interval_with_the_answer_that_shifts_the_mean_of_samples_is_not_called_too_narrow():
    inputs = replace(INPUTS, cell=0)
    epsilons, _, is_inside = inputs.shifts
    stops = epsilons[int(is_inside.argmax()) - 1 :][:2].tolist()
    before, then = (posterior_sampling(inputs).frames_at(f"{stop:g}")[0].headline for stop in stops)
    assert "too narrow for the table’s answer" in before
    assert "which shifts the mean of 20 samples" in then


def game(epsilon):
    return Game(answering(1, epsilon=epsilon, calibration=Calibration.CERTIFIED), 20, 15)


def test_the_attacker_wins_more_games_with_more_answers_on_axes_that_stay():
    view = query_game(game(2.0), value="2")
    (first,), (last,) = (view.frames_at(view.board.slider.stops[place]) for place in (0, -1))
    assert last.numbers["won"] > max(first.numbers["won"], 0.9)
    axes = [figure.layout["xaxis"] for frame in (first, last) for figure in frame.figures.values()]
    assert all(axis == axes[0] for axis in axes)


def test_the_privacy_of_an_answer_leaves_the_slider_of_answers_alone():
    views = [query_game(game(epsilon)) for epsilon in (1.0, 10.0)]
    assert views[0].board.slider == views[1].board.slider
    assert [view.board.value for view in views] == ["100", "100"]


@pytest.mark.parametrize(("epsilon", "advice"), [(0.1, "allow at most 29 answers"), (10.0, "choose a smaller ε₁.")])
def test_the_advice_of_the_game_is_where_the_limit_for_any_attacker_crosses_the_level(epsilon, advice):
    (frame,) = query_game(game(epsilon)).frames_at("5")
    assert frame.notes[0].startswith(f"So: {advice}")
    assert f"ε = {5 * epsilon:g} in total." in frame.captions["won"]
    ceiling = game(epsilon).ceiling(epsilon)
    assert np.count_nonzero(ceiling < LEVEL) == int(MOST_LOSS / epsilon)
    limit = next(trace for trace in frame.figures["won"].data if trace.get("name") == "any attacker (limit)")
    np.testing.assert_allclose(limit["y"], ceiling[limit["x"].astype(int) - 1])
