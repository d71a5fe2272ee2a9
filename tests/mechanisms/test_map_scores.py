"""How far one record moves the masses of cells: closed forms, and bounds for every n."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from dpbayes.mechanisms.map_scores import added_bound, cell_masses, replaced_bound

# Masses of cells


@pytest.mark.parametrize(
    ("a", "b", "cells"),
    [(1, 1, 20), (3.5, 0.2, 7), (1e-3, 1e-3, 5), (1000.5, 3, 10), (3, 1000.5, 10), (40, 60, 1000), (300, 450, 20)],
)
def test_masses_are_those_of_mpmath_however_small(a, b, cells):
    masses = cell_masses(a, b, cells=cells)
    places = sorted({0, 1, cells // 3, cells // 2, cells - 2, cells - 1})
    with mpmath.workdps(300):

        def below(k: int) -> mpmath.mpf:
            return mpmath.betainc(a, b, 0, mpmath.mpf(k) / cells, regularized=True)

        expected = [float(below(k + 1) - below(k)) for k in places]
    assert masses[places] == pytest.approx(expected, rel=1e-10, abs=1e-300)


@given(st.floats(1e-3, 1e9), st.floats(1e-3, 1e9), st.integers(2, 200))
def test_masses_are_a_distribution_and_mirror_when_the_states_are_exchanged(a, b, cells):
    masses = cell_masses(a, b, cells=cells)
    assert masses.shape == (cells,)
    assert masses.min() >= 0
    assert masses.sum() == pytest.approx(1, abs=1e-14)
    assert cell_masses(b, a, cells=cells)[::-1] == pytest.approx(masses, rel=1e-6, abs=1e-9)


# Bounds for every n


@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0, 2.0, 9.99, 10.0, 10.01, 137.0, 1e5, 1e9])
def test_what_one_more_count_moves_has_its_closed_form(a):
    with mpmath.workdps(40):
        expected = mpmath.exp(a * mpmath.log(a) - a - mpmath.loggamma(mpmath.mpf(a) + 1))
    assert float(added_bound(a)) == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("a", [0.02, 1.0, 4.5])
@pytest.mark.parametrize("b", [0.05, 1.0, 30.0, 1e5])
def test_the_bounds_are_total_variation_distances_found_by_quadrature(a, b):
    def distance(a1, b1, a2, b2):  # in log-odds, where the integrand decays at both ends
        z, step = np.linspace(-2000, 2000, 600_001, retstep=True)
        low, high = special.log_expit(z), special.log_expit(-z)
        density = [np.exp(p * low + q * high - special.betaln(p, q)) for p, q in ((a1, b1), (a2, b2))]
        return np.abs(density[0] - density[1]).sum() * step / 2

    assert distance(a + 1, b, a, b + 1) == pytest.approx(float(replaced_bound(a, b)), rel=1e-5)
    shorter = float(replaced_bound(a, b)) * b / (a + b)
    assert distance(a, b, a + 1, b) == pytest.approx(shorter, rel=1e-5)
    assert shorter <= float(added_bound(a)) * (1 + 1e-12)


def test_the_bound_for_one_more_count_is_reached_as_the_other_count_grows():
    rising = replaced_bound(1.0, 10.0 ** np.arange(9)) * 10.0 ** np.arange(9) / (1 + 10.0 ** np.arange(9))
    assert np.all(np.diff(rising) > 0)
    assert rising[-1] == pytest.approx(math.exp(-1), rel=1e-8)
    assert rising[-1] < math.exp(-1)


@given(
    st.tuples(st.floats(0.01, 20), st.floats(0.01, 20)),
    st.tuples(st.integers(0, 10**5), st.integers(0, 10**5)),
    st.integers(2, 300),
)
def test_no_cell_moves_further_than_the_bounds_whatever_the_counts(prior, counts, cells):
    a, b = np.add(prior, counts)
    before, one, other = (cell_masses(p, q, cells=cells) for p, q in ((a, b), (a + 1, b), (a, b + 1)))
    assert np.abs(one - before).max() <= added_bound(prior[0]) + 1e-11
    assert np.abs(other - before).max() <= added_bound(prior[1]) + 1e-11
    assert np.abs(one - other).max() <= replaced_bound(*prior) + 1e-11
