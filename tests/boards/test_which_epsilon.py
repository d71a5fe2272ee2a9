"""The board of the least epsilon: its answers against other releases, and whose tables it is computed from."""

from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.boards.which_epsilon import LEAST_RELEASES, LOOKED, PRIOR_ANSWERS, WHY, ToleranceInputs, which_epsilon
from dpbayes.experiments.planned_tables import PlannedTables, TrueTable
from dpbayes.experiments.releases import concluded
from dpbayes.model.question import Question
from dpbayes.posteriors.noise_model import Reading

NETWORK, CPTS = dp.load_named("asia")
QUESTION = Question(NETWORK, "bronc", "yes", {"smoke": "yes"})
PLANNED = PlannedTables(NETWORK, CPTS, 1000)
COUNTS = dp.count(NETWORK, dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(1)))


def laplace_at(epsilon: float) -> dp.LaplaceUpdates:
    return dp.LaplaceUpdates(prior=NETWORK, epsilon=epsilon)


INPUTS = ToleranceInputs(laplace_at, QUESTION, PLANNED)


def share_within(epsilon: float, tolerance: float) -> float:
    """Return the share of other releases, of other tables, that keep to a tolerance."""
    tables, mechanism = replace(PLANNED, seed=77).of(3000), laplace_at(epsilon)
    release = mechanism.simulate(tables, np.random.default_rng(8))
    answers = concluded(release, Reading.NOISE_AWARE, QUESTION.cells)[:, QUESTION.cell]
    exact = mechanism.prior.updated(tables).mean[:, QUESTION.cell]
    return float(np.mean(np.abs(answers - exact) <= tolerance))


@pytest.mark.parametrize("tolerance", [0.02, 0.05, 0.1])
def test_the_answer_is_true_of_other_releases_and_hardly_more(tolerance: float):
    frame = which_epsilon(INPUTS).frames_at(str(tolerance))[0]
    epsilon = frame.numbers["least epsilon"]
    assert share_within(epsilon, tolerance) > 0.94
    assert share_within(epsilon / 1.35, tolerance) < 0.95
    assert f"about {epsilon:g} " in frame.headline
    (mark,) = (trace for trace in frame.figures["errors"].data if trace.get("name") == "least ε")
    assert (mark["x"], mark["text"]) == ([epsilon], [f"ε = {epsilon:g}"]), "the mark is where its text says"


def test_a_stricter_tolerance_needs_a_larger_epsilon():
    board = which_epsilon(INPUTS).complete()
    stops = [stop for stop in board.slider.stops if float(stop) < INPUTS.errors.blind(0.95)]
    needed = [board.frames[stop][0].numbers.get("least epsilon", np.inf) for stop in stops]
    assert needed == sorted(needed, reverse=True)
    assert len(board.block()) < 100_000


def test_no_release_is_offered_for_an_error_that_a_guess_without_data_meets():
    """P(bronc | smoke) is .6, and the prior answers .5."""
    assert 0.1 < INPUTS.errors.blind(0.95) < 0.15
    frame = which_epsilon(INPUTS).frames_at("0.2")[0]
    assert "least epsilon" not in frame.numbers
    assert "No release is needed" in frame.headline


def test_an_error_that_rises_before_it_falls_is_explained_below_and_in_the_picture():
    """P(bronc | smoke) is .6: the prior's .5 is nearer than what little a release at .08 tells."""
    far = replace(INPUTS, question=Question(NETWORK, "tub", "no", {"asia": "no"}))  # the prior is as far as can be
    for inputs, rises in ((INPUTS, True), (far, False)):
        frame = which_epsilon(inputs).frames_at("0.05")[0]
        assert (PRIOR_ANSWERS in frame.captions["errors"]) == rises


def test_what_no_epsilon_reaches_is_said():
    noisy = replace(INPUTS, mechanism_at=lambda epsilon: laplace_at(epsilon / 1000 + 1e-3))
    frame = which_epsilon(noisy).frames_at("0.001")[0]
    assert "No ε up to 100" in frame.headline
    assert "least epsilon" not in frame.numbers


def test_only_the_table_itself_makes_a_private_board():
    of_table = replace(INPUTS, tables=TrueTable(COUNTS))
    assert which_epsilon(of_table).board.private
    assert not which_epsilon(INPUTS).board.private
    assert [which_epsilon(inputs).frames_at("0.05")[0].notes[0] for inputs in (of_table, INPUTS)] == [LOOKED, WHY]


def test_a_question_about_many_cells_is_answered_from_fewer_releases():
    wide = replace(INPUTS, question=Question(NETWORK, "dysp", "yes", {"smoke": "yes"}))
    assert LEAST_RELEASES <= wide.releases < INPUTS.releases
