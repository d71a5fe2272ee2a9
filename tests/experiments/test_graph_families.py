"""What privacy costs families of graphs: known costs by hand, and what growing random graphs have to satisfy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.experiments.graph_families import (
    arrow_numbers,
    costs_of,
    crossing,
    growing_graphs,
    named_families,
    random_costs,
)
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import chain, empty
from tests.strategies import sd_of_cells


def test_costs_without_arrows_are_those_by_hand() -> None:
    # k families of two cells: |N_I| = k + 1, O = k; Laplace 2k, Fourier one noisy coefficient in two, printed two.
    k = 6
    costs = costs_of([empty(k)])
    assert (costs.arrows[0], costs.largest[0], costs.closure[0], costs.overlap[0]) == (0, 0, k + 1, k)
    np.testing.assert_allclose(costs.laplace, math.sqrt(2) * 2 * k)
    np.testing.assert_allclose(costs.certified, math.sqrt(2) * 2 * k / 2)
    np.testing.assert_allclose(costs.printed, math.sqrt(2) * 2 * (k + 1) / math.sqrt(2))
    np.testing.assert_allclose(costs.scale, math.sqrt(2) * 2 * (k + 1) / 2 ** (k / 2))


def test_costs_are_the_mean_noise_of_the_mechanisms() -> None:
    networks = [*named_families(7).values(), *growing_graphs(7, stream(3, "t"), arrows=[0, 5, 12, 21])]
    costs = costs_of(networks)
    epsilon = 0.7
    for i, network in enumerate(networks):
        prior = Dirichlets.symmetric(network)
        mechanisms = (
            (LaplaceUpdates(prior=prior, epsilon=epsilon), costs.laplace),
            (LaplaceFourier(prior=prior, epsilon=epsilon, t=0.0), costs.certified),
            (LaplaceFourier(prior=prior, epsilon=epsilon, t=0.0, calibration=Calibration.AS_PRINTED), costs.printed),
        )
        for mechanism, noise in mechanisms:
            assert noise[i] / epsilon == pytest.approx(float(np.mean(sd_of_cells(mechanism))))
        sd = sd_of_cells(mechanisms[1][0])
        nodes = [sd[a] for a in network.cell_offsets[:-1]]
        assert costs.certified_by_node[i] / epsilon == pytest.approx(float(np.mean(nodes)))


def test_a_chain_a_tree_and_naive_bayes_have_equal_density_and_closure_but_not_equal_overlap() -> None:
    costs = costs_of(list(named_families(12).values()))
    assert set(costs.arrows) == {11 / 12}
    assert set(costs.closure) == {24}
    # One record flips in naive Bayes all singletons but the class, and all pairs: 2 * 11.
    assert costs.overlap[2] == 22
    assert costs.overlap[0] < costs.overlap[1] < costs.overlap[2]


@given(nodes=st.integers(2, 14), seed=st.integers(0, 50))
def test_growing_graphs_only_grow_and_have_the_given_sizes(nodes: int, seed: int) -> None:
    numbers = arrow_numbers(nodes)
    graphs = growing_graphs(nodes, stream(seed, "grow"), arrows=numbers)
    assert [len(graph.edges) for graph in graphs] == numbers
    assert numbers == sorted(set(numbers))
    for small, large in itertools.pairwise(graphs):
        assert set(small.edges) < set(large.edges)


def test_every_arrow_is_as_likely_as_any_other() -> None:
    # 4000 graphs of 5 nodes with 3 of 10 arrows. Chi-squared of 10 cells without replacement; alarm at p < 1e-9.
    rng = stream(5, "uniform")
    tally: dict[tuple[str, str], int] = {}
    for _ in range(4000):
        for edge in growing_graphs(5, rng, arrows=[3])[0].edges:
            tally[edge] = tally.get(edge, 0) + 1
    counts = np.array(list(tally.values()))
    assert len(counts) == 10
    # Variance of one count is n p (1 - p), correlated so that the sum below is chi-squared of 9 degrees.
    statistic = ((counts - 1200) ** 2).sum() / (4000 * 0.3 * 0.7) * 0.9
    assert statistic < 62


def test_more_graphs_keep_the_first_ones() -> None:
    few, many = (random_costs(8, stream(1, "keep"), graphs=n) for n in (2, 5))
    np.testing.assert_array_equal(few.certified, many.certified[:2])
    assert many.certified.shape == (5, len(arrow_numbers(8)))
    assert many.exact.all()


def test_denser_graphs_cost_fourier_more_and_laplace_nothing() -> None:
    costs = random_costs(12, stream(1, "dense"), graphs=6)
    assert np.ptp(costs.laplace) == 0
    assert np.all(np.diff(costs.overlap, axis=1) >= 0)
    assert np.all(costs.certified <= costs.printed)
    assert np.all(costs.certified[:, 0] == costs.laplace[:, 0] / 2)
    assert np.all(costs.certified[:, -1] > costs.laplace[:, -1])


def test_what_remark_1_compares_is_far_below_noise_in_counts() -> None:
    costs = costs_of([chain(20)])
    assert costs.scale[0] < costs.laplace[0] / 500
    assert costs.printed[0] > costs.laplace[0]


def test_the_frame_scales_with_epsilon() -> None:
    costs = costs_of([chain(4), empty(4)])
    one, four = (costs.frame(epsilon=e) for e in (1.0, 4.0))
    for name in ("Laplace", "Fourier, proved", "Fourier, as stated", "Remark 1's scale"):
        np.testing.assert_allclose(one[name], 4 * four[name])


@pytest.mark.parametrize(
    ("ratio", "where"),
    [([0.5, 0.9, 1.1, 2.0], 1.5), ([1.2, 0.5, 2.0, 3.0], 0.0), ([0.1, 0.2, 0.3, 0.4], None), ([0.5, 1.0, 3.0, 9], 1.0)],
)
def test_crossing(ratio: list[float], where: float | None) -> None:
    estimate = crossing(np.arange(4.0), np.array(ratio))
    assert estimate == (None if where is None else pytest.approx(where))


def test_graphs_of_other_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="the same number of nodes"):
        costs_of([chain(3), chain(4)])
    with pytest.raises(InputError, match="at least one"):
        costs_of([])
