"""The MAP estimate as printed, scored by a density: its law, and the audit that refutes it."""

import math

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.audit.printed_map import PrintedMap
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.finite import exact_pure_epsilon
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.posteriors.trimmed import log_mass


@pytest.mark.parametrize(
    ("n", "epsilon", "density", "loss"),
    [
        (1, 1, 2.0, 0.675),
        (5, 1, 4.44, 1.34),
        (50, 1, 9.44, 3.22),
        (1000, 1, 11.0, 4.20),
        (5, 0.1, 4.44, 0.149),
        (50, 0.1, 9.44, 0.312),
        (1000, 0.1, 11.0, 0.402),
    ],
)
def test_an_exact_audit_refutes_the_printed_promise(n, epsilon, density, loss):
    printed = PrintedMap(prior=(1, 1), n=n, epsilon=epsilon, omega=0.1, points=4001)
    assert printed.sensitivity == pytest.approx(1.482, abs=5e-4)
    assert printed.claimed.epsilon == epsilon
    first = 1.0 + np.arange(n + 1)
    logs = stats.beta.logpdf(printed.theta, first[:, None], n + 2 - first[:, None])
    trimmed = log_mass(first, n + 2 - first, 0.1) - special.betaln(first, n + 2 - first)
    densities = np.exp(logs - trimmed[:, None])
    assert np.abs(np.diff(densities, axis=0)).max() == pytest.approx(density, abs=0.02)
    worst = exact_pure_epsilon(printed.log_pmf_table(), pairs=neighbour_pairs(n, sides=2))
    assert worst.epsilon == pytest.approx(loss, rel=0.003)
    assert (worst.epsilon > printed.claimed.epsilon) is (n > 1)


@pytest.mark.parametrize(("n", "k"), [(5, 4), (50, 0), (1000, 0)])
def test_the_printed_law_is_that_of_the_density_between_the_points(n, k):
    # Its loss by quadrature on points that crowd geometrically at both ends, where the density is a spike.
    offset = np.concatenate([[0], np.geomspace(1e-12, 0.4, 200_001)])
    theta = np.concatenate([0.1 + offset, (0.9 - offset[:-1])[::-1]])
    scores = []
    for first in (k, k + 1):
        log_mass_here = float(log_mass(1 + first, 1 + n - first, 0.1))
        density = np.exp(special.xlogy(first, theta) + special.xlog1py(n - first, -theta) - log_mass_here)
        scores.append(density / (2 * math.sqrt(math.log(9))))
    weights = np.convolve(np.diff(theta), [0.5, 0.5])
    loss = np.abs(np.diff([s - special.logsumexp(s, b=weights) for s in scores], axis=0)).max()
    table = PrintedMap(prior=(1, 1), n=n, epsilon=1, omega=0.1, points=4001).log_pmf_table()
    assert np.abs(table[k] - table[k + 1]).max() == pytest.approx(loss, rel=5e-4)


def test_the_printed_law_of_one_row_sums_to_one_at_every_edge():
    for omega in (1e-300, 1e-9, 0.4999999):
        printed = PrintedMap(prior=(0.5, 2.0), n=3, epsilon=2, omega=omega, points=101)
        table = printed.log_pmf_table()
        assert table.shape == (4, 101)
        assert special.logsumexp(table, axis=1) == pytest.approx(np.zeros(4), abs=1e-9)


def test_printed_laws_refuse_what_makes_no_sense():
    good = {"prior": (1, 1), "n": 5, "epsilon": 1, "omega": 0.1}
    for bad, sentence in [
        ({"omega": 0.5}, "below 1/2"),
        ({"omega": 0}, "omega must be"),
        ({"epsilon": math.nan}, "epsilon must be"),
        ({"n": 1.5}, "whole number"),
        ({"points": 1}, "points must be"),
        ({"prior": (0, 1)}, "The prior must be"),
        ({"prior": (1, 1, 1)}, "two numbers"),
        ({"prior": ((1, 1), (2, 2))}, "The prior must be"),
        ({"n": 10**5}, "too large"),
    ]:
        with pytest.raises(InputError, match=sentence):
            PrintedMap(**{**good, **bad})
