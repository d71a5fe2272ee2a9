import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.base.validation import InputError
from tests.audit.loss.closed_forms import (
    laplace_cells_delta,
    laplace_cells_epsilon,
    laplace_one_delta,
    laplace_one_epsilon,
)

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


@pytest.mark.parametrize(("moved", "ratio"), [(3, 0.4), (6, 0.2), (17, 0.5), (40, 3.0)])
def test_near_the_pure_epsilon_the_curve_is_a_mixture_of_gamma_laws(moved, ratio):
    noise = LaplaceNoise(moved, ratio)
    for share in (0.2, 1.0, 1.9):
        low, high = noise.deltas(noise.pure_epsilon - share * ratio)
        exact = near_the_end(moved, share * ratio)
        assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
        assert high - low < 1e-6 * max(exact, 1e-3)


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
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="delta must be"):
            noise.epsilon(bad)


# Whole numbers


def convolved(moved: int, step: int, scale: float, epsilon: float) -> float:
    """delta by mpmath: the laws of one noisy number over its outputs, their losses convolved one value at a time."""
    with mpmath.workdps(40):
        b, whole = mpmath.mpf(scale), range(-1, step + 2)
        q = mpmath.exp(-1 / b)

        def at(k: int, mean: int) -> mpmath.mpf:
            """Both ends stand for all that lies beyond."""
            if k == whole[0]:
                return q ** (mean - k) / (1 + q)
            return q ** (k - mean) / (1 + q) if k == whole[-1] else (1 - q) / (1 + q) * q ** abs(k - mean)

        one: dict[int, mpmath.mpf] = {}
        for k in whole:
            loss = abs(k) - abs(k - step)  # in units of 1/b
            assert at(k, step) / at(k, 0) == pytest.approx(float(mpmath.exp(loss / b)))
            one[loss] = one.get(loss, 0) + at(k, step)
        total = {0: mpmath.mpf(1)}
        for _ in range(moved):
            joined: dict[int, mpmath.mpf] = {}
            for (loss, mass), (more, share) in product(total.items(), one.items()):
                joined[loss + more] = joined.get(loss + more, 0) + mass * share
            total = joined
        return float(sum(max(mass * (1 - mpmath.exp(epsilon - loss / b)), 0) for loss, mass in total.items()))


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize(("moved", "scale"), [(1, 1.0), (2, 0.1), (4, 16.0), (14, 28.0), (40, 3.0), (3, 0.01)])
def test_whole_numbers_have_the_curve_of_their_convolved_losses(moved, step, scale):
    noise = LaplaceNoise(moved, step / scale, whole=step)
    assert noise.pure_epsilon == pytest.approx(moved * step / scale)
    for share in (0.0, 0.2, 0.37, 0.8, 0.99, 1.0):
        epsilon = share * noise.pure_epsilon
        low, high = noise.deltas(epsilon)
        exact = convolved(moved, step, scale, epsilon)
        rounding = 1e-20  # of the pure epsilon, beyond which nothing is left
        assert low * (1 - 1e-12) - rounding <= exact <= high * (1 + 1e-12) + rounding
        assert high - low <= 1e-9 * max(exact, 1e-3)


@pytest.mark.parametrize(("moved", "step"), [(1, 1), (4, 1), (14, 2), (50, 1)])
def test_whole_noise_has_the_pure_epsilon_of_real_noise_and_at_fine_steps_its_curve(moved, step):
    for epsilon in (0.5, 3.0):
        real, whole = LaplaceNoise(moved, epsilon / moved), LaplaceNoise(moved, epsilon / moved, whole=step)
        assert whole.pure_epsilon == real.pure_epsilon
        assert whole.epsilon(0.0) == (whole.pure_epsilon,) * 2
    fine = LaplaceNoise(moved, 1e-3, whole=16).deltas(np.linspace(0, moved * 1e-3, 20))
    smooth = LaplaceNoise(moved, 1e-3).deltas(np.linspace(0, moved * 1e-3, 20))
    assert fine[1] == pytest.approx(smooth[1], abs=1e-4)


@pytest.mark.parametrize("step", [1, 2])
def test_the_limits_of_whole_numbers(step):
    """With epsilon to infinity the tables are told apart for certain, with epsilon to zero not at all."""
    assert LaplaceNoise(5, 100.0, whole=step).deltas(0.0)[0] == pytest.approx(1, abs=1e-12)
    assert LaplaceNoise(5, 1e-8, whole=step).deltas(0.0)[1] < 1e-7
    assert LaplaceNoise(5, 1.0, whole=step).deltas(5.0) == (0, 0)
    low, high = LaplaceNoise(5, 1.0, whole=step).epsilon(1e-6)
    assert high - low < 1e-6
    assert LaplaceNoise(5, 1.0, whole=step).deltas(high)[1] <= 1e-6


@pytest.mark.parametrize("whole", [-1, 0.5, 17, math.nan, "one"])
def test_a_bad_step_of_whole_numbers_is_refused(whole):
    with pytest.raises(InputError, match="step of whole numbers must be"):
        LaplaceNoise(1, 1.0, whole=whole)
