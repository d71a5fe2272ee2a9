"""Standard errors over random graphs."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.experiments.graph_families import mean_crossing, means_by_density, random_costs, standard_error


def test_the_crossing_has_its_error_by_hand() -> None:
    # The mean goes from 0.5 to 1.5 and crosses halfway, where the ratios are 0.9 and 1.1: error 0.1, slope 1 per arrow.
    x, ratios = np.array([0.0, 1.0, 2.0]), np.array([[0.5, 1.3, 9.0], [0.5, 1.7, 9.0]])
    assert mean_crossing(x, ratios) == Estimate(pytest.approx(0.5), pytest.approx(0.1))
    # Twice as wide a step halves the slope.
    assert mean_crossing(2 * x, ratios) == Estimate(pytest.approx(1.0), pytest.approx(0.2))


def test_a_single_graph_has_no_error_and_no_crossing_is_none() -> None:
    x = np.array([0.0, 1.0])
    single = mean_crossing(x, np.array([[0.5, 1.5]]))
    assert single is not None
    assert single.value == 0.5
    assert math.isnan(single.error)
    assert np.isnan(standard_error(np.ones((1, 2)))).all()
    assert mean_crossing(x, np.array([[0.5, 0.9], [0.2, 0.8]])) is None
    assert mean_crossing(x, np.array([[1.1, 2.0], [1.1, 3.0]])) == Estimate(0.0, 0.0)


def test_crossings_of_other_graphs_lie_around_as_far_as_the_error_says() -> None:
    # 30 batches of 6 graphs: the mean square of errors is that of the deviations, up to a factor of 3. The ratio is
    # about chi-squared of 29 degrees over 29: above 3 or below 1/3.5 with p < 1e-6, at a fixed seed.
    crossings = []
    for i in range(30):
        costs = random_costs(6, stream(i, "spread"), graphs=6)
        crossings.append(mean_crossing(costs.arrows[0], costs.certified / costs.laplace))
    values = np.array([crossing.value for crossing in crossings if crossing is not None])
    errors = np.array([crossing.error for crossing in crossings if crossing is not None])
    assert len(values) == 30
    assert 1 / 3.5 < values.var(ddof=1) / np.mean(errors**2) < 3


def test_means_over_graphs_stand_beside_their_errors() -> None:
    costs = random_costs(9, stream(4, "frame"), graphs=5)
    frame = means_by_density(costs.frame(epsilon=0.5))
    assert frame["arrows per node"].tolist() == costs.arrows[0].tolist()
    for name, values in (("Fourier, proved", costs.certified), ("Remark 1's scale", costs.scale)):
        np.testing.assert_allclose(frame[name], values.mean(axis=0) / 0.5)
        np.testing.assert_allclose(frame[f"standard error: {name}"], stats.sem(values) / 0.5, atol=1e-12)
        np.testing.assert_allclose(standard_error(values), stats.sem(values), atol=1e-12)
    alone = means_by_density(random_costs(9, stream(4, "frame"), graphs=1).frame(epsilon=1.0))
    assert alone["standard error: O"].isna().all()
