"""The error of all tables of two columns by method, at one guarantee."""

import math
from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Partial, finished
from dpbayes.base.validation import InputError
from dpbayes.experiments.table_errors import METHODS, TableTrial, mean_errors, pair_error, require_small, table_errors
from dpbayes.model.network import Network


@pytest.fixture(scope="module")
def trial() -> TableTrial:
    network, probabilities = dp.load_named("asia")
    data = dp.sample_dataset(network, probabilities, 1000, np.random.default_rng(1))
    return TableTrial(data, network, 1.0, 1e-5)


def test_the_errors_are_those_of_releases_with_the_same_guarantee(trial: TableTrial) -> None:
    errors = finished(table_errors(trial, (1.0,), runs=1, seed=3))[0, 0]
    rng = stream(3, "table errors", "Adaptive release", "1.0", "0")
    release = dp.simulate_adaptive(trial.data, epsilon=1, delta=1e-5, rng=rng)
    by_name = dict(zip(METHODS, errors, strict=True))
    assert by_name["Adaptive release"] == pair_error(trial.data, release.network, release.probabilities)
    assert by_name["Known graph"] < by_name["Adaptive release, pure ε"]
    assert np.all((errors > 0) & (errors < 1))


def test_steps_fill_the_epsilons_of_a_run_first_and_what_is_refused_is_unknown(trial: TableTrial) -> None:
    steps = table_errors(replace(trial, data=trial.data.take(slice(0, 200))), (2000.0, 1.0), runs=2, seed=1)
    first = next(steps)
    assert isinstance(first, Partial)
    assert first.result.shape == (2, 2, len(METHODS))
    assert np.isnan(first.result).sum() >= first.result.size - 1
    errors = finished(steps)
    assert math.isnan(errors[0, 0, 1])  # above the largest epsilon of a plan
    assert np.isfinite(errors[:, 1]).all()


def test_means_and_standard_errors_are_of_what_is_known() -> None:
    errors = np.array([[[1.0, math.nan]], [[3.0, 2.0]], [[math.nan, math.nan]]])
    means, spread = mean_errors(errors)
    np.testing.assert_array_equal(means, [[2.0, 2.0]])
    assert spread[0, 0] == pytest.approx(1.0)
    assert math.isnan(spread[0, 1])


def test_a_graph_with_too_large_cliques_is_refused() -> None:
    names = tuple(f"v{j}" for j in range(16))
    wide = Network(names, (("no", "yes"),) * 16, (*((),) * 15, names[:15]))
    with pytest.raises(InputError, match="fewer arrows"):
        require_small(wide)
