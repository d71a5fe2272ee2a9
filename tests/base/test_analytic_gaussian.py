"""The curve of Gaussian noise against its definition, and the shift that a promise allows."""

import math

import numpy as np
import pytest

from dpbayes.base.zcdp import gaussian_delta, gaussian_epsilon, gaussian_shift


@pytest.mark.parametrize("shift", [0.05, 1.0, 6.0])
def test_delta_is_the_integral_of_what_one_density_exceeds_the_other_by(shift):
    x = np.linspace(-40, 60, 1_000_001)
    p, q = (np.exp(-((x - at) ** 2) / 2) / math.sqrt(2 * math.pi) for at in (shift, 0.0))
    for epsilon in (0.0, shift / 3, shift, 3 * shift, shift**2):
        integral = float(np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0.0), x))
        assert float(gaussian_delta(shift, epsilon)) == pytest.approx(integral, rel=1e-6, abs=1e-14)


def test_small_deltas_keep_their_digits():
    """(2 pi)^-1/2 mu integral over z > epsilon/mu of (z - epsilon/mu) exp(-z^2/2), for a small mu."""
    shift, epsilon = 1e-6, 1e-5
    z = np.linspace(10, 30, 2_000_001)
    limit = shift * float(np.trapezoid((z - 10) * np.exp(-(z**2) / 2), z)) / math.sqrt(2 * math.pi)
    assert float(gaussian_delta(shift, epsilon)) == pytest.approx(limit, rel=1e-4)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.5])
def test_the_largest_shift_of_a_promise_uses_it_up_and_no_more(epsilon, delta):
    shift = gaussian_shift(epsilon, delta=delta)
    assert float(gaussian_delta(shift, epsilon)) <= delta
    assert float(gaussian_delta(1.001 * shift, epsilon)) > delta
    assert gaussian_epsilon(shift, delta=delta) == pytest.approx(epsilon, rel=1e-8)


@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.2])
def test_the_epsilon_of_a_shift_is_rounded_up(delta):
    """The delta at this epsilon is sufficient, for every shift: the end on the safe side is taken."""
    for shift in np.geomspace(0.01, 20, 40):
        epsilon = gaussian_epsilon(shift, delta=delta)
        assert float(gaussian_delta(shift, epsilon)) <= delta


def test_published_values_of_the_analytic_calibration():
    """[Balle18]: for epsilon below 1 the classical sqrt(2 ln(1.25/delta))/epsilon is more than is needed."""
    for epsilon in (0.1, 0.5, 0.99):
        assert 1 / gaussian_shift(epsilon, delta=1e-6) < math.sqrt(2 * math.log(1.25e6)) / epsilon
    assert 1 / gaussian_shift(1.0, delta=1e-6) == pytest.approx(4.2247, abs=1e-4)


def test_the_edges():
    assert gaussian_shift(1.0, delta=0.0) == 0
    assert math.isinf(gaussian_epsilon(1.0, delta=0.0))
    assert gaussian_epsilon(0.0, delta=0.0) == 0
    assert gaussian_epsilon(0.1, delta=0.5) == 0
    assert not gaussian_delta(0.0, [0.0, 1.0]).any()
