"""The intervals that recipients of planned releases get."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.ranks import drawn_counts
from dpbayes.base.steps import finished
from dpbayes.experiments.least_epsilon.planning import PlannedIntervals, interval_steps
from dpbayes.experiments.least_epsilon.wish import Question, Wish
from dpbayes.mechanisms import LaplaceUpdates, MapExponential
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import JOINT, NAIVE, ROW_WISE

CHAIN = Network.from_edges("ab", ["ab"])
QUESTION = Question(CHAIN, "b", "yes")
N, DRAWS = 200, 400


def planned(epsilon: float, reading: Reading) -> PlannedIntervals:
    """Return the intervals of planned releases at an epsilon; every probability of the network is 1/2."""
    rng = np.random.default_rng(1)
    cpts = np.tile(Dirichlets.symmetric(CHAIN).mean, (DRAWS, 1))
    wish = Wish(
        mechanism=LaplaceUpdates(prior=CHAIN, epsilon=1.0),
        question=QUESTION,
        tables=Counts(CHAIN, drawn_counts(CHAIN, cpts, N, rng), N),
        tolerance=0.1,
        draws=DRAWS,
    )
    planned_intervals = finished(interval_steps(wish, epsilon, 0.5, reading, rng, releases=DRAWS))
    assert planned_intervals is not None
    return planned_intervals


def test_intervals_narrow_as_epsilon_grows_and_contain_what_they_are_to() -> None:
    wide, narrow = (planned(epsilon, Reading.NOISE_AWARE) for epsilon in (0.1, 10.0))
    assert wide.posterior == narrow.posterior == JOINT
    assert np.median(wide.widths) > 3 * np.median(narrow.widths)
    assert wide.decided.mean() > narrow.decided.mean() == 0
    for intervals in (wide, narrow):
        assert intervals.contained.mean() > 0.85
        assert len(intervals.widths) == DRAWS


def test_a_naive_recipients_intervals_miss_the_truth_more_often() -> None:
    naive, aware = planned(0.3, Reading.AS_REAL), planned(0.3, Reading.NOISE_AWARE)
    assert naive.posterior == NAIVE
    assert naive.contained.mean() < 0.8 < aware.contained.mean()
    assert np.median(naive.widths) < np.median(aware.widths)


def test_releases_of_one_table_have_noise_of_their_own() -> None:
    counts = Counts(CHAIN, np.array([120, 80, 30, 90, 60, 20]), N)
    wish = Wish(
        mechanism=LaplaceUpdates(prior=CHAIN, epsilon=1.0), question=QUESTION, tables=counts, tolerance=0.1, draws=50
    )
    planned_intervals = finished(
        interval_steps(wish, 1.0, 0.55, Reading.NOISE_AWARE, np.random.default_rng(1), releases=50)
    )
    assert planned_intervals is not None
    assert len(np.unique(planned_intervals.widths)) == 50
    assert planned_intervals.contained.mean() > 0.85


def test_larger_networks_are_read_row_by_row_and_estimates_have_no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.experiments.least_epsilon.planning.QUICK_CELLS", 5)
    assert planned(1.0, Reading.NOISE_AWARE).posterior == ROW_WISE
    counts = Counts(CHAIN, np.array([120, 80, 30, 90, 60, 20]), N)
    wish = Wish(
        mechanism=MapExponential(prior=CHAIN, epsilon=1.0), question=QUESTION, tables=counts, tolerance=0.1, draws=20
    )
    rng = np.random.default_rng(1)
    assert finished(interval_steps(wish, 1.0, 0.55, Reading.NOISE_AWARE, rng, releases=20)) is None
    monkeypatch.setattr("dpbayes.experiments.least_epsilon.planning.MOST_CELLS", 5)
    laplace = replace(wish, mechanism=LaplaceUpdates(prior=CHAIN, epsilon=1.0))
    assert finished(interval_steps(laplace, 1.0, 0.55, Reading.NOISE_AWARE, rng, releases=20)) is None
