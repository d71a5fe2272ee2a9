"""Groups of whole numbers stand for all their numbers, also where a factor falls steeply from 0."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import special

import dpbayes as dp
from dpbayes.posteriors import row_priors
from dpbayes.posteriors.joint.groups import log_mean_changes
from dpbayes.posteriors.row_priors import RowPriors, log_rising

EDGES = [0, 1, 2, 3, 5, 8, 9, 20, 37, 61]
MIDDLE = np.array([(first + end - 1) / 2 for first, end in pairwise(EDGES)])
SPREAD = np.array([((end - first) ** 2 - 1) / 12 for first, end in pairwise(EDGES)])


@pytest.mark.parametrize("alpha", [[0.002, 0.002], [0.3, 0.3], [0.125, 0.9], [0.9, 0.125], [0.3, 2.0]])
@pytest.mark.parametrize("is_near", [True, False])
def test_the_mean_of_a_group_is_that_of_all_its_numbers(alpha, is_near):
    """Of a total of 200 and, the other way round, of totals whose rest is the smaller count."""
    parameters = np.array(alpha)[:, None]
    cells = np.stack((MIDDLE, 200 - MIDDLE) if is_near else (200 - MIDDLE, MIDDLE))
    change = log_mean_changes(cells, SPREAD[None], parameters, lambda counts, k: log_rising(counts, parameters[k]))
    steep = alpha[0] if is_near else alpha[1]
    for (first, end), own in zip(pairwise(EDGES), change, strict=True):
        factors = special.gamma(np.arange(first, end) + steep) / special.factorial(np.arange(first, end))
        middle = (first + end - 1) / 2
        expected = np.log(factors.mean()) - log_rising(np.array(middle), np.array(steep)) if steep < 1 else 0.0
        assert own == pytest.approx(expected, abs=1e-9)


def test_the_table_of_halves_has_the_factors_of_every_cell(monkeypatch):
    """Also where there is no table, because it would be too large."""
    prior = dp.Dirichlets(dp.chain(2), np.array([1.0, 2.0, 0.3, 0.3, 0.125, 4.0]))
    rows = RowPriors.of_rows(prior, row_priors.row_shares(prior), 40, np.arange(3))
    halves = np.broadcast_to(np.arange(83) / 2, (3, 83))
    expected = [log_rising(halves, prior.alpha[rows.cells[:, [k]]]) for k in range(2)]
    size = rows.within.kinds.size * 83
    for most in (size, size - 1):
        monkeypatch.setattr(row_priors, "_MOST_TABULATED", most)
        for k in range(2):
            np.testing.assert_allclose(rows.within.at(halves, rows.cell_kind[k]), expected[k], atol=1e-12)
