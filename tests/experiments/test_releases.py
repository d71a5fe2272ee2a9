"""Many releases read by someone who knows of the noise, some at a time: the numbers are those of all at once."""

import itertools

import numpy as np
import pytest

from dpbayes.base.steps import Partial, finished
from dpbayes.experiments.releases import (
    ReleaseStudy,
    cumulative,
    density,
    density_grid,
    interval_coverage,
    read_cell,
    read_releases,
    study_release,
)
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.mechanisms.release import Release
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset

POINTS = 64


@pytest.fixture(scope="module")
def study() -> ReleaseStudy:
    network, cpts = load_named("sprinkler")
    counts: Counts = count(network, sample_dataset(network, cpts, 200, np.random.default_rng(1)))
    return study_release(LaplaceUpdates(prior=network, epsilon=0.5), counts, np.random.default_rng(2), 12)


@pytest.mark.parametrize("at_once", [1, 5, 12, 99])
def test_releases_read_some_at_a_time_are_those_read_at_once(study: ReleaseStudy, at_once: int) -> None:
    whole = study.knowing_noise(12, points=POINTS)
    read = study.read(finished(read_releases(study, releases=12, points=POINTS, at_once=at_once)))
    assert read.count == 12
    for name in ("private", "kl_rows", "kl", "predictive_kl_rows", "shifts"):
        np.testing.assert_allclose(getattr(read, name), getattr(whole, name), rtol=1e-9, atol=1e-12)
    question = ("wet", {"rain": "yes"})
    np.testing.assert_allclose(read.query(*question)[1], whole.query(*question)[1])


def test_every_step_has_the_releases_read_so_far(study: ReleaseStudy) -> None:
    steps = list(itertools.islice(read_releases(study, releases=10, points=POINTS, at_once=4), 9))
    assert all(isinstance(step, Partial) for step in steps)
    assert [(round(step.share, 9), len(step.result.mean)) for step in steps if isinstance(step, Partial)] == [
        (0.4, 4),
        (0.8, 8),
    ]


def test_no_more_than_a_steps_posteriors_are_worked_out_at_once(
    study: ReleaseStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    whole = Release.noise_aware

    def watched(release: Release, *, points: int | None = None) -> object:
        sizes.append(len(release.numbers))
        return whole(release, points=points)

    monkeypatch.setattr(Release, "noise_aware", watched)
    finished(read_releases(study, releases=12, points=POINTS, at_once=5))
    assert sizes == [5, 5, 2]


@pytest.mark.parametrize("at_once", [5, 12])
def test_a_cell_of_all_releases_has_its_means_and_how_much_its_intervals_hold(
    study: ReleaseStudy, at_once: int
) -> None:
    cell, level = 3, 0.9
    law = study.release.noise_aware_cells(np.array([cell]), points=POINTS)
    low, high = law.interval(level)
    read = finished(read_cell(study, cell, level=level, releases=12, points=POINTS, at_once=at_once))
    np.testing.assert_allclose(read.means, law.mean[:, 0])
    np.testing.assert_allclose(
        read.covered, interval_coverage(study.exact, cell, (low[:, 0], high[:, 0])), rtol=1e-6, atol=1e-9
    )
    assert 0.3 < read.covered.mean() < 1
    assert np.ptp(read.covered) > 0


@pytest.mark.parametrize(("parents", "covered", "is_of_the_prior"), [(("a", "b", "c"), 0, True), (("a",), 12, False)])
def test_an_answer_whose_interval_the_prior_makes_narrow_is_marked(
    parents: tuple[str, ...], covered: int, is_of_the_prior: bool
) -> None:
    """64 rows with a uniform prior each say "about half" of a marginal, whatever 228 records say."""
    states = {"a": ("0", "1"), "b": tuple("0123"), "c": tuple("01234567"), "d": ("0", "1")}
    network = Network.from_edges(states, [(parent, "d") for parent in parents], states)
    rng = np.random.default_rng(1)
    codes = np.column_stack([*(rng.integers(0, len(states[name]), 228) for name in "abc"), rng.random(228) < 0.28])
    counts = count(network, Dataset(network.names, network.states, codes.astype(int)))
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(network), epsilon=1.0)
    exact = mechanism.prior.updated(counts).query("d")[0]
    hits, marks = 0, []
    for seed in range(12):
        release = mechanism.release(counts, np.random.default_rng(seed))
        answer = release.noise_aware().query("d", interval=0.95)
        hits += bool(answer.low[0] <= exact <= answer.high[0])
        marks.append(answer.is_prior_decisive)
    assert hits == covered
    assert marks == [is_of_the_prior] * 12


def test_the_points_of_a_density_are_close_in_its_tails_and_beside_it() -> None:
    network = Network.from_edges("a", [])
    mean, records = 0.8, 100_000
    theta = density_grid([Dirichlets(network, records * np.array([mean, 1 - mean]))], 0)
    sd = np.sqrt(mean * (1 - mean) / records)
    seen = theta[np.abs(theta - mean) < 8 * sd]
    assert seen.min() < mean - 7 * sd
    assert seen.max() > mean + 7 * sd
    assert np.diff(seen).max() < 0.7 * sd
    assert np.diff(seen[np.abs(seen - mean) < 4 * sd]).max() < 0.3 * sd


def test_a_cells_distribution_function_is_the_integral_of_its_density() -> None:
    network = load_named("asia")[0]
    prior, theta = Dirichlets.capped(network), np.linspace(0.3, 0.6, 2001)
    below = cumulative(prior, 9, theta)
    assert below[-1] - below[0] == pytest.approx(np.trapezoid(density(prior, 9, theta), theta), rel=1e-6)
