"""The heights of Home's small picture: in proportion to the densities, within the picture, and whole numbers."""

import numpy as np
from scipy import stats

from dpbayes.figures.posterior import PRIOR_ALONE
from dpbayes.ui.pages.stories.miniature import HIGH, ROOM, computed, density_heights

THETA = np.linspace(0.01, 0.99, 99)


def test_the_exact_density_fits_and_a_private_one_keeps_its_proportion_to_it() -> None:
    exact = stats.beta(30, 10).pdf(THETA)
    of_exact, (of_half, of_same) = density_heights(exact, np.array([exact / 2, exact]))
    assert of_same == of_exact
    assert max(of_exact) == round(HIGH / ROOM)
    np.testing.assert_allclose(of_half, np.array(of_exact) / 2, atol=0.51)
    assert all(type(height) is int for height in of_half), "a browser is sent whole numbers"


def test_a_density_that_is_higher_than_the_picture_is_cut_off() -> None:
    _, (heights,) = density_heights(stats.beta(3, 2).pdf(THETA), stats.beta(3000, 2000).pdf(THETA)[None])
    assert (min(heights), max(heights)) == (0, HIGH)


def test_a_small_epsilon_reads_as_the_prior_and_a_large_one_does_not():
    notes = dict(zip(computed().epsilons, computed().notes, strict=True))
    assert [notes[epsilon][2] == PRIOR_ALONE for epsilon in ("0.01", "1", "100")] == [True, False, False]
