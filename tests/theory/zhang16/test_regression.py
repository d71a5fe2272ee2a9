"""[Zhang16] Appendix D, Lemma D.1, Section 5.2."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate

from dpbayes.model.regression import ScaledRegression, moments
from dpbayes.posteriors.gaussian import weights_posterior
from dpbayes.theory.zhang16.regression import (
    appendix_d,
    counterexample_appendix_d,
    counterexample_gradient,
    counterexample_norm,
    counterexample_proportionality,
    gradient,
    gradient_norm,
    printed_gradient,
    proportionality,
    worst_range,
)


def log_likelihood(record, w, variance=1.0):
    *x, y = record
    return -((y - np.dot(x, w)) ** 2) / (2 * variance)


def test_appendix_d_gradient_agrees_with_finite_differences_and_the_printed_does_not():
    """[Zhang16] Appendix D, the gradient: (.1035, -.2415, -.345) against (-.001, .1425, .1725) (report)."""
    w, record, step = np.array([0.3, -0.7]), np.array([0.1, 0.25, 0.2]), 1e-6
    differences = [
        (log_likelihood(record + e, w) - log_likelihood(record - e, w)) / (2 * step) for e in step * np.eye(3)
    ]
    np.testing.assert_allclose(gradient(w, x=record[:2], y=record[2]), differences, atol=1e-9)
    np.testing.assert_allclose(differences, [0.1035, -0.2415, -0.345], atol=1e-9)
    np.testing.assert_allclose(printed_gradient(w, x=record[:2], y=record[2]), [-0.001, 0.1425, 0.1725], atol=1e-12)
    assert counterexample_gradient().refutes


@pytest.mark.parametrize("norm_bound", [0.0, 0.3, 1.0, 4.0])
def test_appendix_d_gradient_norm_is_bounded_and_attained(norm_bound):
    """[Zhang16] Appendix D, the norm of the gradient."""
    random = np.random.default_rng(5)
    bound = float(gradient_norm(norm_bound, features=3, noise_variance=2.0).certified)
    for _ in range(500):
        w, x = random.normal(size=(2, 3))
        w, x = norm_bound * w / np.linalg.norm(w), x / max(1, np.linalg.norm(x))
        assert np.linalg.norm(gradient(w, x=x, y=random.uniform(-1, 1), noise_variance=2.0)) <= bound * (1 + 1e-12)
    w = np.array([norm_bound, 0, 0])
    assert np.linalg.norm(gradient(w, x=[-1, 0, 0], y=1.0, noise_variance=2.0)) == pytest.approx(bound)
    assert counterexample_norm().refutes


@pytest.mark.parametrize(
    ("b", "certified", "printed"), [(100, 10201, 8.0e7), (10, 121, 8.0e6), (math.sqrt(10), 17.3, 2.6e6), (1, 4, 8.3e5)]
)
def test_appendix_d_epsilons_of_figure_2(b, certified, printed):
    """[Zhang16] Appendix D, Figure 2: n = 37,000, 14 features (report)."""
    bound = appendix_d(37_000, norm_bound=b, features=14)
    assert float(bound.certified) == pytest.approx(certified, rel=2e-3)
    assert float(bound.printed) == pytest.approx(printed, rel=2e-2)
    assert appendix_d(37_000, norm_bound=[1e-3, 0.0], features=14).printed.min() >= 37_000


@pytest.mark.parametrize("norm_bound", [0.25, 1.0, 3.0])
def test_appendix_d_certified_loss_is_the_range_of_log_likelihood_ratios(norm_bound):
    """[Zhang16] Appendix D, corrected: a grid of pairs of records and weights, one and two features."""
    random = np.random.default_rng(6)
    bound = float(appendix_d(1, norm_bound=norm_bound, features=2).certified)
    angles = np.linspace(0, 2 * np.pi, 73)
    radii = np.linspace(0, norm_bound, 25)
    w = (radii[:, None, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)).reshape(-1, 2)
    corners = [(np.cos(t), np.sin(t), y) for t in np.linspace(0, 2 * np.pi, 37) for y in (-1, 0, 1)]
    inside = [(*random.uniform(-0.7, 0.7, 2), y) for y in random.uniform(-1, 1, 40)]
    values = np.array([-((r[2] - w @ r[:2]) ** 2) / 2 for r in corners + inside])
    ranges = [np.ptp(values - values[i], axis=1).max() for i in range(len(values))]
    assert max(ranges) <= bound * (1 + 1e-9)
    assert max(ranges) >= 0.98 * bound


@pytest.mark.parametrize("features", [1, 2])
@pytest.mark.parametrize("norm_bound", [0.3, 1.0, 1.5, 4.0])
def test_appendix_d_the_range_of_two_records_is_that_over_the_ball(norm_bound, features):
    """[Zhang16] Appendix D: over the sphere, whose points attain the largest and the smallest ratio."""
    at = SimpleNamespace(knobs=SimpleNamespace(norm_bound=norm_bound, noise_variance=2.0))
    cosine = -1 / norm_bound if features == 2 and norm_bound > 1 else -1.0
    turn = np.linspace(0, 2 * np.pi, 200_001)
    w = norm_bound * np.array([np.cos(turn), np.sin(turn) * (features == 2)])
    records = (1.0, 0.0, -1.0), (cosine, math.sqrt(1 - cosine**2), -1.0)
    first, second = (log_likelihood(record, w, 2.0) for record in records)
    assert worst_range(at, features=features) == pytest.approx(np.ptp(first - second), rel=1e-8)


def test_appendix_d_is_violated_by_one_record_and_a_large_ball():
    """[Zhang16] Appendix D: 2 L rho = 43.8 < 59.9 for n = 1, B = 10, by adaptive quadrature."""
    example = counterexample_appendix_d(10.0)

    def log_posterior(x, y):
        def kernel(w):
            return math.exp(-(w**2) / 2 - (y - x * w) ** 2 / 2)

        mass = integrate.quad(kernel, -10, 10, points=[-0.5, 0])[0]
        return -(10**2) / 2 - (y - x * 10) ** 2 / 2 - math.log(mass)

    assert example.truth == pytest.approx(log_posterior(0, 0) - log_posterior(1, -1), rel=1e-9)
    assert example.printed == pytest.approx(math.sqrt(2) * 31)
    assert example.refutes
    assert example.truth <= example.certified


def test_section_5_2_proportional_up_to_one_only():
    """[Zhang16] Section 5.2: privacy proportional to the bounded norm."""
    bound = proportionality([0.1, 0.5, 1.0, 2.0, 10.0])
    np.testing.assert_allclose(bound.certified[:3], bound.printed[:3])
    assert np.all(bound.certified[3:] > bound.printed[3:])
    assert bound.applies, "the paper names no condition that could fail"
    assert counterexample_proportionality().refutes


def test_lemma_d_1_the_cut_posterior_is_the_cut_gaussian():
    """[Zhang16] Lemma D.1: ln posterior - ln Gaussian is one constant over the ball, as its formulas say."""
    random = np.random.default_rng(7)
    x, y = random.uniform(-0.5, 0.5, (6, 3)), random.uniform(-1, 1, 6)
    b, variance = 2.0, 0.5
    records = moments(ScaledRegression(x, y, ("x0", "x1", "x2", "y")))
    gaussian = weights_posterior(records, prior_precision=b, noise_variance=variance)
    np.testing.assert_allclose(gaussian.mean, np.linalg.solve(x.T @ x + variance * b * np.eye(3), x.T @ y))
    np.testing.assert_allclose(gaussian.precision, x.T @ x / variance + b * np.eye(3))
    w = random.normal(size=(50, 3)) / 4
    joint = -((y - w @ x.T) ** 2).sum(axis=1) / (2 * variance) - b * (w**2).sum(axis=1) / 2
    away = w - gaussian.mean
    normal = -np.einsum("ni,ij,nj->n", away, gaussian.precision, away) / 2
    assert np.ptp(joint - normal) < 1e-10
