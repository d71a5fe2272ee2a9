"""Standard errors over random graphs, in numbers and in the picture of them."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.estimates import Estimate
from dpbayes.base.looks import BOUND
from dpbayes.base.randomness import stream
from dpbayes.experiments.graph_families import mean_crossing, means_by_density, random_costs, standard_error
from dpbayes.figures.graph_families import COMPARED, graph_families_figure
from dpbayes.ui.pages.structure.page import CERTIFIED, LAPLACE, PRINTED


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
    for name, values in (("Fourier certified", costs.certified), ("Remark 1's scale", costs.scale)):
        np.testing.assert_allclose(frame[name], values.mean(axis=0) / 0.5)
        np.testing.assert_allclose(frame[f"standard error: {name}"], stats.sem(values) / 0.5, atol=1e-12)
        np.testing.assert_allclose(standard_error(values), stats.sem(values), atol=1e-12)
    alone = means_by_density(random_costs(9, stream(4, "frame"), graphs=1).frame(epsilon=1.0))
    assert alone["standard error: O"].isna().all()


def test_a_band_of_one_standard_error_lies_around_every_mean_that_varies() -> None:
    arrows, certified = np.array([0.0, 1.0]), np.array([[1.0, 4.0], [3.0, 4.0]])
    noise = {LAPLACE: np.full((2, 2), 2.0), CERTIFIED: certified, PRINTED: 2 * certified}
    figure = graph_families_figure(arrows, noise, {}, scale=certified / 10, crossing=None).to_plotly()
    bands = {trace.name: trace for trace in figure.data if trace.fill == "toself"}
    assert set(bands) == {f"{name}: standard error" for name in (CERTIFIED.name, PRINTED.name, COMPARED)}
    assert list(bands[f"{CERTIFIED.name}: standard error"].y) == [3, 4, 4, 1]
    single = graph_families_figure(
        arrows, {name: values[:1] for name, values in noise.items()}, {}, scale=certified[:1], crossing=None
    ).to_plotly()
    assert not [trace for trace in single.data if trace.fill == "toself"]


def test_the_legend_symbol_of_a_family_is_grey_and_its_points_have_their_mechanisms_colours() -> None:
    noise = {LAPLACE: 3.0, CERTIFIED: 2.0, PRINTED: 4.0}
    varying = {name: np.array([[1.0, 2.0]]) for name in noise}
    figure = graph_families_figure(
        np.array([0.0, 1.0]), varying, {"chain": (0.5, noise)}, scale=np.array([[0.1, 0.2]]), crossing=0.4
    ).to_plotly()
    chain = next(trace for trace in figure.data if trace.name == "chain")
    assert list(chain.marker.color) == [BOUND, *(look.colour for look in noise)]
    assert np.isnan(chain.y[0]), "the legend takes the first point's colour, and that point is nowhere"
    assert list(chain.y[1:]) == [3, 2, 4]
    assert list(chain.text[1:]) == [look.name for look in noise]
