"""The error of simulated releases, and what counts as a clear difference."""

import numpy as np
import pytest
from scipy import stats

from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.experiments.planned_errors import is_near, release_errors
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import Reading
from dpbayes.sources.named_networks import load_named
from tests.experiments.shifts import mean_shift

ASIA, CPTS = load_named("asia")

ADDED = 3.1, 4.0
"""Standard errors of the planned and of the simulated change that each must be from 0: a false alarm, where one of them
were 0 or less, has a probability below 1e-3 for the planned and 3.2e-5 for the simulated one, 3.1e-8 for both."""


@pytest.mark.parametrize("reading", Reading)
def test_an_added_arrow_changes_the_planned_error_as_it_changes_that_of_releases(reading):
    """The tables are drawn from the published network, whatever arrows are fitted."""
    states = dict(zip(ASIA.names, ASIA.states, strict=True))
    wider = Network.from_edges(ASIA.names, [*ASIA.edges, ("asia", "bronc")], states)
    planned, simulated = [], []
    for fitted in (ASIA, wider):
        laplace = LaplaceUpdates(prior=Dirichlets.symmetric(fitted), epsilon=1.0)
        tables = planned_tables(ASIA, CPTS, 1000, 100, np.random.default_rng(3), fitted=fitted)
        planned.append(release_errors(tables, laplace, reading, np.random.default_rng(4)))
        fresh = planned_tables(ASIA, CPTS, 1000, 40, np.random.default_rng(5), fitted=fitted).values
        counts = [Counts(fitted, table, 1000) for table in fresh]
        releases = 80 if reading is Reading.NOISE_AWARE else 20
        rngs = map(np.random.default_rng, range(len(counts)))
        shifts = [mean_shift(laplace, *table, releases, reading) for table in zip(counts, rngs, strict=True)]
        simulated.append(np.array(shifts))
    for (before, after), far in zip((planned, simulated), ADDED, strict=True):
        change = after - before
        assert change.mean() > far * stats.sem(change)


def test_errors_are_those_of_the_releases():
    tables = planned_tables(ASIA, CPTS, 500, 3, np.random.default_rng(1))
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(ASIA), epsilon=1.0)
    errors = release_errors(tables, mechanism, Reading.AS_REAL, np.random.default_rng(2))
    release = mechanism.simulate(tables, np.random.default_rng(2))
    off = np.abs(release.outcome.probabilities - mechanism.prior.updated(tables).mean)
    np.testing.assert_allclose(errors, off.mean(axis=-1))


def test_what_is_near_is_decided_by_pairs_and_by_a_margin():
    noise = np.random.default_rng(1).normal(scale=0.1, size=50)
    assert is_near(np.full(50, 0.01), 1.0)
    assert not is_near(np.full(50, 0.1), 1.0), "both have the same tables"
    assert is_near(0.05 - 4 * noise, 1.0)
    assert is_near(np.array([1.0]), 1.0), "one table tells nothing"
