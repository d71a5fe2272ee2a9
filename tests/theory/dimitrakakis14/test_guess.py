"""[Dimitrakakis14] Lemma 8."""

import numpy as np
import pytest
from scipy import integrate, stats

from dpbayes.theory.dimitrakakis14.answers import le_cam, lemma_8, overlap_at_least
from dpbayes.theory.dimitrakakis14.game import NormalPair


def test_lemma_8_two_point_equality():
    """[Dimitrakakis14] Lemma 8: Beta(2, 3) and (3, 2): .3125 (report)."""
    one, two = stats.beta(2, 3), stats.beta(3, 2)
    overlap, _ = integrate.quad(lambda t: min(one.pdf(t), two.pdf(t)), 0, 1, points=[0.5])
    assert float(le_cam(overlap, distance=1.0)) == pytest.approx(0.3125)
    assert 1 - one.cdf(0.5) == pytest.approx(0.3125)  # the likelier table, wrong on either side


def test_lemma_8_overlap_of_many_draws():
    """[Dimitrakakis14] Lemma 8: normal pairs, whose overlap of N draws is known."""
    pair = NormalPair(np.asarray(4.0), apart=1.0)
    n = np.array([1.0, 4.0, 50.0])
    shift = 1 / 4 / (1 / 2)  # difference of the means in standard deviations
    exact = 2 * stats.norm.cdf(-shift * np.sqrt(n) / 2)
    least = overlap_at_least(pair, answers=n)
    assert np.all(least <= exact)
    assert np.all(least > 0.1 * exact**2)
    assert float(overlap_at_least(pair, answers=0)) == 1.0
    bound = lemma_8(pair, answers=n)
    np.testing.assert_allclose(bound.certified, 1 - least, rtol=1e-12)
    np.testing.assert_allclose(bound.printed, 1 - exact[0], rtol=1e-12)
    assert np.all(1 - exact <= bound.certified)
    assert np.all(1 - exact[1:] > bound.printed[1:])
    assert not bound.applies
    assert lemma_8(pair, answers=1).applies
