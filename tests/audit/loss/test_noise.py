import math
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import fft

from dpbayes.audit.loss import noise as composition
from dpbayes.audit.loss.continuous import (
    laplace_cells_delta,
    laplace_cells_epsilon,
    laplace_one_delta,
    laplace_one_epsilon,
)
from dpbayes.audit.loss.neighbours import all_tables
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.sensitivity import count_sensitivity
from tests.strategies import V_STRUCTURE, chain, empty

CLOSED = {1: (laplace_one_delta, laplace_one_epsilon), 2: (laplace_cells_delta, laplace_cells_epsilon)}


def near_the_end(moved: int, short: float) -> float:
    """delta at x = k a - epsilon <= 2a, where no loss is capped: a mixture of Gamma laws, by mpmath."""
    with mpmath.workdps(30):
        total = mpmath.mpf(2) ** -moved * (1 - mpmath.exp(-short))
        for j in range(1, moved + 1):
            share = mpmath.binomial(moved, j) * mpmath.mpf(2) ** -moved

            def density(g: mpmath.mpf, j: int = j) -> mpmath.mpf:
                return g ** (j - 1) * mpmath.exp(-g / 2) / 2**j / mpmath.gamma(j) * (1 - mpmath.exp(g - short))

            total += share * mpmath.quad(density, [0, short])
        return float(total)


@pytest.mark.parametrize("moved", CLOSED)
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 10.0, 1000.0])
def test_one_and_two_values_have_their_closed_forms(moved, epsilon):
    noise, (delta_of, epsilon_of) = LaplaceNoise(moved, epsilon / moved), CLOSED[moved]
    grid = np.linspace(0, 1.2 * epsilon, 61)
    low, high = noise.deltas(grid)
    exact = delta_of(grid, scale=moved / epsilon)
    assert np.all(low <= exact + 1e-15)
    assert np.all(exact <= high + 1e-15)
    assert np.max(high - low) < 2e-7
    for delta in (1e-2, 1e-6):
        below, above = noise.epsilon(delta)
        assert below - 1e-9 <= epsilon_of(delta, scale=moved / epsilon) <= above + 1e-9
        assert noise.upper_epsilon(delta) == above


@pytest.mark.parametrize(("moved", "ratio"), [(3, 0.4), (6, 0.2), (17, 0.5), (40, 3.0)])
def test_near_the_pure_epsilon_the_curve_is_a_mixture_of_gamma_laws(moved, ratio):
    noise = LaplaceNoise(moved, ratio)
    for share in (0.2, 1.0, 1.9):
        low, high = noise.deltas(noise.pure_epsilon - share * ratio)
        exact = near_the_end(moved, share * ratio)
        assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
        assert high - low < 1e-6 * max(exact, 1e-3)


@pytest.mark.parametrize(("moved", "ratio"), [(5, 1.0), (34, 0.1), (200, 0.05)])
def test_simulated_losses_have_the_curve(moved, ratio):
    draws = 200_000
    noise, total, rng = LaplaceNoise(moved, ratio), np.zeros(draws), np.random.default_rng(5)
    for _ in range(moved):
        z = rng.laplace(size=draws)
        total += np.abs(z - ratio) - np.abs(z)
    for share in (0.0, 0.1, 0.3):
        epsilon = share * noise.pure_epsilon
        sample = np.maximum(-np.expm1(epsilon - total), 0.0)
        doubt = 6.2 * sample.std() / math.sqrt(draws)  # a false alarm has probability below 1e-9
        low, high = noise.deltas(epsilon)
        assert low - doubt <= sample.mean() <= high + doubt
        assert doubt < 0.01
        assert LaplaceNoise(moved, 2 * ratio).deltas(epsilon)[0] > sample.mean() + doubt  # half the noise is noticed


@given(st.integers(1, 60), st.floats(1e-4, 20), st.floats(0, 1), st.floats(0, 1))
def test_bounds_are_ordered_and_fall_with_epsilon(moved, ratio, first, second):
    noise = LaplaceNoise(moved, ratio)
    low, high = noise.deltas(np.sort([first, second]) * noise.pure_epsilon)
    assert np.all((low >= 0) & (low <= high) & (high <= 1))
    assert low[1] <= high[0]
    assert np.all(high - low <= 1e-3)


@pytest.mark.parametrize("moved", [1, 4, 100])
def test_delta_is_zero_from_the_pure_epsilon_on_and_not_before(moved):
    noise = LaplaceNoise(moved, 1 / moved)
    low, high = noise.deltas([noise.pure_epsilon, 2.0])
    assert low.tolist() == high.tolist() == [0, 0]
    # Reached with probability 2^-k.
    just_below = 1 - 1e-3
    assert noise.deltas(just_below)[1] >= 2.0**-moved * -math.expm1(just_below - 1)
    if moved < 10:
        assert noise.deltas(just_below)[0] > 0
    assert noise.epsilon(0.0) == (noise.pure_epsilon, noise.pure_epsilon)


@pytest.mark.parametrize(("moved", "epsilon"), [(446, 1.0), (1019, 1.0), (1019, 50.0)])
def test_large_networks_have_narrow_bounds(moved, epsilon):
    low, high = LaplaceNoise(moved, epsilon / moved).deltas(np.linspace(0, epsilon, 61))
    seen = high > 1e-12
    assert np.max(high[seen] / low[seen]) < 1.001
    assert np.all(np.diff(high) <= 1e-12)


@pytest.mark.parametrize("moved", [2, 446, 1019, 8192])
def test_the_whole_curve_takes_six_transforms_on_a_lattice_whose_size_does_not_grow(moved, monkeypatch):
    sizes, rfft = [], fft.rfft

    def counted(values, size):
        sizes.append(size)
        return rfft(values, size)

    monkeypatch.setattr(fft, "rfft", counted)
    noise = LaplaceNoise(moved, 1 / moved)
    noise.deltas(np.linspace(0, 1, 61))
    noise.deltas(0.3)
    noise.epsilon(1e-6)
    assert len(sizes) <= 6, "two lattices, three tilts of each, whatever is asked of them"
    assert max(sizes) <= 1.1 * 2**16


class Counted(np.ndarray):
    """An array that counts how often it is multiplied."""

    times = 0

    def __mul__(self, other):
        Counted.times += 1
        return super().__mul__(other)


@pytest.mark.parametrize("exponent", [1, 2, 3, 446, 1019, 100_000])
def test_a_power_takes_a_logarithm_of_multiplications(exponent):
    values, Counted.times = np.array([0.5j, 1.0, -0.9999]).view(Counted), 0
    assert np.asarray(composition._power(values, exponent)) == pytest.approx(np.asarray(values) ** exponent, rel=1e-9)
    assert Counted.times <= 2 * exponent.bit_length()


@pytest.mark.parametrize(("moved", "epsilon"), [(34, 1.0), (446, 1.0), (1019, 50.0)])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_the_epsilon_at_delta_inverts_the_bounds(moved, epsilon, delta):
    noise = LaplaceNoise(moved, epsilon / moved)
    low, high = noise.epsilon(delta)
    assert low <= high <= low * 1.001
    assert noise.deltas(high)[1] <= delta
    assert noise.deltas(low * (1 - 1e-6))[0] > delta


def test_nothing_moved_loses_nothing_and_a_large_delta_needs_no_epsilon():
    assert [bound.tolist() for bound in LaplaceNoise(0, 1.0).deltas([0.0, 1.0])] == [[0, 0], [0, 0]]
    assert LaplaceNoise(0, 1.0).epsilon(0.1) == (0, 0)
    assert LaplaceNoise(3, 1.0).epsilon(0.99) == (0, 0)


# Clipping


def clipped_losses(first: int, second: int, n: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """The law of a clipped noisy count, as atoms at 0 and n and fine bins between: probabilities under both."""
    edges = np.array([-np.inf, *np.linspace(0, n, 200 * n + 1), np.inf])
    laws = []
    for count in (first, second):
        z = (edges - count) / scale
        cumulative = np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)
        laws.append(np.diff(cumulative))
    return laws[0], laws[1]


def clipped_delta(pairs: list[tuple[int, int]], n: int, scale: float, epsilon: float) -> float:
    p, q = np.ones(1), np.ones(1)
    for first, second in pairs:
        one, other = clipped_losses(first, second, n, scale)
        p, q = np.multiply.outer(p, one).ravel(), np.multiply.outer(q, other).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_clipping_to_the_possible_counts_hides_nothing(n, epsilon):
    scale = 2 / epsilon
    for first in range(1, n + 1):
        pairs = [(first, first - 1), (n - first, n - first + 1)]
        for share in (0.0, 0.3, 0.8):
            # Bins between the atoms are coarser than the true law, so that this is a lower value, and close.
            found = clipped_delta(pairs, n, scale, share * epsilon)
            exact = float(laplace_cells_delta(share * epsilon, scale=scale))
            assert exact * (1 - 2e-3) <= found <= exact * (1 + 1e-9)


@pytest.mark.parametrize("network", [empty(1), chain(2), V_STRUCTURE])
@pytest.mark.parametrize("n", [1, 2])
def test_the_pure_epsilon_of_clipped_counts_is_attained_on_tiny_networks(network, n):
    # The clipped law has atoms at 0 and n: at one of them, or between, every moved count loses 1/b.
    scale = 2.0
    tables = all_tables(network, n=n)
    worst = 0.0
    for x, y in tables.pairs:
        loss = 0.0
        for first, second in zip(tables.counts[x], tables.counts[y], strict=True):
            p, q = clipped_losses(int(first), int(second), n, scale)
            loss += float(np.log(p / q).max())
        worst = max(worst, loss)
    noise = LaplaceNoise(count_sensitivity(network), 1 / scale)
    assert worst == pytest.approx(noise.pure_epsilon, rel=1e-9)


# Bad input


@pytest.mark.parametrize(
    ("moved", "ratio"), [(-1, 1.0), (1.5, 1.0), (10**6, 1.0), (1, 0.0), (1, -1.0), (1, math.nan), (1, math.inf)]
)
def test_bad_noise_is_refused(moved, ratio):
    with pytest.raises(InputError, match="must be"):
        LaplaceNoise(moved, ratio)


def test_bad_epsilons_and_deltas_are_refused():
    noise = LaplaceNoise(2, 1.0)
    for bad in (-0.1, math.nan):
        with pytest.raises(InputError, match="must not be negative"):
            noise.deltas(bad)
    for bad, method in product((-0.1, 1.1, math.nan), (noise.epsilon, noise.upper_epsilon)):
        with pytest.raises(InputError, match="delta must be"):
            method(bad)


def test_more_moved_values_lose_more_at_the_same_step():
    curves = [LaplaceNoise(k, 0.3).deltas(np.linspace(0, 0.9, 10)) for k in (1, 2, 5, 20)]
    for small, large in pairwise(curves):
        assert np.all(small[1] <= large[1] + 1e-9)
