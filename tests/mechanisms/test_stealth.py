import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration, LaplaceFourier
from dpbayes.mechanisms.fourier import increment_for, needed_increments
from dpbayes.mechanisms.stealth import (
    Needed,
    Sense,
    UnitNoise,
    are_enough,
    is_table_in_reach,
    least_cells,
    least_noise,
    simulate_for_counts,
)
from dpbayes.model.closure import walsh
from dpbayes.model.counts import count
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import empty, full, load_named, naive_bayes
from tests.strategies import ASIA, NAIVE_BAYES, V_STRUCTURE, chain, networks, random_table

ALARM = 1e-9
PRINTED, CERTIFIED = Calibration.AS_PRINTED, Calibration.CERTIFIED


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def fourier(network: Network, calibration: Calibration = PRINTED, **more: float) -> LaplaceFourier:
    prior = Dirichlets.symmetric(network, more.pop("prior", 1.0))
    return LaplaceFourier(prior=prior, calibration=calibration, **({"epsilon": 1.0} | more))


def simulated(
    sense: Sense, network: Network, calibration: Calibration = PRINTED, draws: int = 40_000, **more
) -> Needed:
    noise = UnitNoise.draw(network, calibration, rng(), draws=draws)
    return simulate_for_counts(sense, noise, fourier(network, calibration, **more))


def agrees(needed: Needed, t: float, probability: float) -> bool:
    """Whether the share at t is one that this probability gives."""
    draws = len(needed.increments)
    kept = round(float(needed.probability(t)) * draws)
    return min(stats.binom.cdf(kept, draws, probability), stats.binom.sf(kept - 1, draws, probability)) > ALARM


# The least cell of the whole table


def all_cells(network: Network, values: np.ndarray) -> np.ndarray:
    """Every signed sum, over a table on all of I: (draws, 2^|I|)."""
    k = len(network.names)
    table = np.zeros((len(values), 2**k))
    table[:, [sum(1 << (k - 1 - i) for i in range(k) if g >> i & 1) for g in network.closure.members]] = values
    return walsh(table.reshape(-1, *(2,) * k), k).reshape(len(values), -1)


@given(networks(most_nodes=6), st.integers(0, 10**6))
def test_the_least_cell_found_by_elimination_is_that_of_the_whole_table(network, seed):
    values = np.random.default_rng(seed).laplace(size=(5, len(network.closure)))
    assert least_cells(network, values) == pytest.approx(all_cells(network, values).min(axis=-1), abs=1e-9)


def test_graphs_beyond_reach_are_said_to_be():
    andes, _ = load_named("andes")
    assert not is_table_in_reach(andes, draws=2_000)
    assert is_table_in_reach(ASIA, draws=10_000)
    roots = [f"a{i}" for i in range(19)]
    pairs = list(itertools.combinations(roots, 2))
    wide = Network.from_edges(
        [*roots, *("".join(pair) for pair in pairs)], [(parent, "".join(pair)) for pair in pairs for parent in pair]
    )
    assert not is_table_in_reach(wide, draws=1)
    with pytest.raises(InputError, match="is too large"):
        least_cells(wide, np.zeros((1, len(wide.closure))))


# Probabilities

INCREMENTS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 1, 2.303]
TABLE = [0, 0, 0.0001, 0.0021, 0.116, 0.579, 0.916, 0.992, 1, 1]
MARGINALS = [0.118, 0.713, 0.965, 0.997, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(("sense", "expected"), [(Sense.TABLE, TABLE), (Sense.MARGINALS, MARGINALS)])
def test_naive_bayes_has_its_known_probabilities(sense, expected):
    # From 10^6 draws, printed to three digits: the rounding is added to six standard errors of the two simulations.
    release = simulated(sense, NAIVE_BAYES, draws=100_000)
    error = 6 * np.hypot(release.standard_error(INCREMENTS), release.standard_error(INCREMENTS) / math.sqrt(10)) + 5e-4
    assert np.all(np.abs(release.probability(INCREMENTS) - expected) < error)


@pytest.mark.parametrize(
    ("network", "table", "marginal"),
    [
        (empty(1), 0.788, 0.788),
        (chain(2), 0.680, 0.680),
        (empty(3), 0.735, 0.515),
        (empty(6), 0.692, 0.342),
        (chain(5), 0.583, 0.354),
        (full(3), 0.557, 0.557),
        (full(4), 0.440, 0.440),
        (naive_bayes(6), 0.551, 0.268),
    ],
)
def test_small_graphs_have_their_known_increments_for_ninety_percent(network, table, marginal):
    noise = UnitNoise.draw(network, PRINTED, rng(), draws=40_000)
    for sense, expected in [(Sense.TABLE, table), (Sense.MARGINALS, marginal)]:
        simulation = simulate_for_counts(sense, noise, fourier(network))
        assert simulation.probability([expected - 0.012, expected + 0.012]).tolist() == pytest.approx(
            [0.9, 0.9], abs=0.03
        )
        assert simulation.probability(expected - 0.012) < 0.9 < simulation.probability(expected + 0.012)


@pytest.mark.parametrize("t", [0.0, 0.1, 0.5])
def test_one_binary_node_is_exact_by_hand(t):
    # Certified: cells are t-lift +- X_1, so P = 1 - exp(-4t). Printed: X_0 + 4t >= |X_1|.
    assert agrees(simulated(Sense.MARGINALS, empty(1), CERTIFIED), t, -math.expm1(-4 * t))
    kept = mpmath.quad(lambda x: mpmath.exp(-abs(x)) / 2 * -mpmath.expm1(-(x + 4 * t)), [-4 * t, 0, mpmath.inf])
    assert agrees(simulated(Sense.MARGINALS, empty(1)), t, float(kept))


@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize("network", [ASIA, V_STRUCTURE, chain(4)], ids=["Asia", "v", "chain"])
def test_every_sense_is_no_easier_than_the_one_it_implies(network, calibration):
    noise = UnitNoise.draw(network, calibration, rng(), draws=2_000)
    table, marginal, parameters = (
        simulate_for_counts(sense, noise, fourier(network, calibration)).increments
        for sense in (Sense.TABLE, Sense.MARGINALS, Sense.PARAMETERS)
    )
    assert np.all(table >= marginal - 1e-12)
    assert np.all(marginal >= parameters)


@pytest.mark.parametrize("network", [ASIA, V_STRUCTURE, chain(4)], ids=["Asia", "v", "chain"])
@pytest.mark.parametrize(("epsilon", "prior"), [(1.0, 1.0), (8.0, 3.0), (0.01, 0.5)])
def test_the_least_noise_by_size_answers_for_every_epsilon_and_prior(network, epsilon, prior):
    noise = UnitNoise.draw(network, CERTIFIED, rng(), draws=500)
    mechanism, least = fourier(network, CERTIFIED, epsilon=epsilon, prior=prior), least_noise(noise)
    tables = simulate_for_counts(Sense.MARGINALS, noise, mechanism)
    assert least.needed().increments == pytest.approx(tables.increments, rel=1e-12)
    parameters = simulate_for_counts(Sense.PARAMETERS, noise, mechanism)
    assert least.needed(prior / mechanism.noise_scale).increments == pytest.approx(parameters.increments, rel=1e-9)


def test_tables_at_zero_counts_need_what_the_mechanism_says():
    release = simulated(Sense.MARGINALS, ASIA, CERTIFIED, draws=3_000)
    mechanism = needed_increments(ASIA, CERTIFIED, rng(), draws=3_000)
    assert np.array_equal(release.increments, np.sort(mechanism))
    assert release.increment(0.9) == increment_for(0.9, mechanism)


@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize(("n", "epsilon", "prior"), [(0, 1.0, 1.0), (60, 0.3, 5.0), (500, 5.0, 0.5)])
def test_real_releases_are_non_negative_exactly_as_often_as_said(calibration, n, epsilon, prior):
    counts = count(ASIA, random_table(ASIA, rng(5), n))
    mechanism = fourier(ASIA, calibration, epsilon=epsilon, prior=prior, t=0.15)
    draws = 2_000
    updates = mechanism.release(counts, rng(), (draws,)).outcome.updates  # the same noise, as nothing else is drawn
    noise = UnitNoise.draw(ASIA, calibration, rng(), draws=draws)
    tables = simulate_for_counts(Sense.MARGINALS, noise, mechanism, counts.values)
    assert tables.probability(0.15) == (updates >= 0).all(axis=-1).mean()
    positive = simulate_for_counts(Sense.PARAMETERS, noise, mechanism, counts.values)
    assert positive.probability(0.15) == (updates + prior > 0).all(axis=-1).mean()
    whole = all_cells(ASIA, coefficients(ASIA, counts.values) + mechanism.noise_scale * noise.values)
    table = simulate_for_counts(Sense.TABLE, noise, mechanism, counts.values)
    assert table.probability(0.15) == (whole.min(axis=-1) + mechanism.lift >= 0).mean()


def test_real_counts_help_the_tables_and_may_ruin_the_whole_table():
    network = empty(2)
    noise = UnitNoise.draw(network, PRINTED, rng(), draws=2_000)
    mechanism, counts = fourier(network, epsilon=10.0), np.array([1000, 0, 1000, 0])
    worst, real = (simulate_for_counts(Sense.MARGINALS, noise, mechanism, values) for values in (0, counts))
    assert np.all(real.increments <= worst.increments)
    assert simulate_for_counts(Sense.TABLE, noise, mechanism, 0).probability(3.0) > 0.99
    assert simulate_for_counts(Sense.TABLE, noise, mechanism, counts).probability(3.0) == 0


def test_shares_have_standard_errors_that_are_never_zero():
    needed = Needed(np.array([0.0, 0.1, 0.1, 0.4]))
    assert needed.probability([0.0, 0.05, 0.1, 1.0]).tolist() == [0.25, 0.25, 0.75, 1.0]
    assert needed.standard_error(1.0) == pytest.approx(math.sqrt(5 / 6 * 1 / 6 / 4))
    with pytest.raises(InputError, match="more than 4"):
        needed.increment(0.9)


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.99, 0.9999999, 1.0])
@pytest.mark.parametrize("draws", [5, 200, 10_000])
def test_draws_are_enough_exactly_where_they_give_an_increment(draws, probability):
    needed = Needed(np.sort(rng().random(draws)))
    if are_enough(draws, probability):
        assert 0 <= needed.increment(probability) <= 1
    else:
        with pytest.raises(InputError, match="simulated samples"):
            needed.increment(probability)
    assert are_enough(draws, probability) is (draws * -math.log(probability) > -math.log(1e-3))
