"""[Zhang16] Table 1: Laplace, Fourier, Sampler, MAP."""

import math
import re

import mpmath
import numpy as np
import pytest
from scipy import optimize

from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from dpbayes.posteriors.smoothness import beta_concentration_from
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import ClaimParameters, EvaluationPoint, Subject
from dpbayes.theory.zhang16.sampling import THEOREM_4_2, least_printed_variation, theorem_4_2
from dpbayes.theory.zhang16.summary import FOURIER, LAPLACE, MAP, SAMPLER, Table1Row, not_computable, table_1
from tests.strategies import NAIVE_BAYES, empty

TERNARY = Network.from_edges("ab", ["ab"], {"a": ("x", "y", "z"), "b": ("u", "v")})


def rows_at(network: Network, *, prior=1.0, epsilon=1.0, draws=1, **knobs: float) -> dict[str, Table1Row]:
    """Return the rows of the table for 50 random records."""
    random = np.random.default_rng(19)
    codes = np.stack([random.integers(0, card, 50) for card in network.cards], axis=1).astype(np.uint8)
    counts = count(network, Dataset(network.names, network.states, codes))
    at = EvaluationPoint((epsilon,), draws, ClaimParameters.usual(**knobs))
    return {row.mechanism: row for row in table_1(Subject(network, prior, 50, counts, 1), at)}


def test_table_1_laplace_fourier_and_map():
    """[Zhang16] Table 1, Laplace: m = 33, n = 50, constant 1. [Zhang16] Table 1, Fourier: |N| = 34, O = 32.

    [Zhang16] Table 1, MAP.
    """
    rows = rows_at(NAIVE_BAYES, t=1.0)
    assert {name: row.utility.claim for name, row in rows.items()} == dict(
        Laplace=LAPLACE, Fourier=FOURIER, Sampler=SAMPLER, MAP=MAP
    )
    assert {name for name, row in rows.items() if row.uses is Uses.COUNTS} == {"Laplace", "MAP"}
    size = 33 * 50 * math.log(50)
    printed = size * (1 - math.exp(-50 / 34)) + math.sqrt(size * math.log(20))
    laplace, fourier, mode = rows["Laplace"], rows["Fourier"], rows["MAP"]
    assert laplace.utility.printed[0] == pytest.approx(printed)
    assert laplace.utility.certified[0] < printed
    assert laplace.privacy[0].certified == 1.0
    assert fourier.privacy[0].certified == pytest.approx(32 / 34)
    assert fourier.utility.printed == pytest.approx(4 * 34 * (2 * math.log(34 / 0.05) + 34))
    assert fourier.utility.certified < fourier.utility.printed
    assert mode.privacy[0].certified > mode.privacy[0].printed
    sharp = rows_at(NAIVE_BAYES, epsilon=300.0)["MAP"].utility  # t = gap / 2 = 0.1, Delta = sqrt(L)
    ratio = 300 * 0.1 * (1 - 1 / (2 * math.sqrt(math.log(9))))
    assert math.log(sharp.certified / sharp.printed) == pytest.approx(ratio)


def test_table_1_sampler_lacks_the_distance_and_the_draws():
    """[Zhang16] Table 1, Sampler: 2 L = 4.39 at omega = .1, per record and draw 17 * 4.39; and Theorem 4(2)."""
    row = rows_at(NAIVE_BAYES, draws=200)["Sampler"]
    lipschitz_row, stochastic = row.privacy
    assert float(lipschitz_row.printed) == pytest.approx(2 * math.log(9))
    assert float(lipschitz_row.certified) == pytest.approx(200 * 17 * 2 * math.log(9))
    assert np.isnan(stochastic.printed) or stochastic.printed > 1
    values = np.random.default_rng(20).random((20_000, 200)) < 0.5
    far = np.abs(values.mean(axis=1) - 0.5) > float(row.utility.certified)
    assert far.mean() < 0.05
    two = Network.from_edges("ab", ["ab"])
    stochastic, bound = (
        rows_at(two, prior=100.0, start=20.0)["Sampler"].privacy[1],
        theorem_4_2(two, prior=100.0, start=20.0),
    )
    assert (stochastic.printed, stochastic.certified) == (bound.printed, bound.certified)


def test_table_1_says_why_a_row_is_missing():
    """[Zhang16] Table 1."""
    binary = Network.from_edges("ab", ["ab"])
    assert not_computable(binary, 100) == {}
    assert set(not_computable(binary, 0)) == {"Laplace", "MAP"}
    assert "2,000" in not_computable(binary, 2001)["MAP"]
    assert set(not_computable(TERNARY, 100)) == {"Fourier", "MAP"}
    assert list(rows_at(TERNARY)) == ["Laplace", "Sampler"]


def variation_by_mpmath(a: float, start: float, slack: float) -> tuple[float, float]:
    """Return sqrt(M/2) of one Beta(a, a) row, and (1 - delta) c, from the paper's formulas in 40 digits."""
    with mpmath.workdps(40):
        w = mpmath.findroot(lambda x: mpmath.e**x - 2 * x - 1, 1.25)
        a, start, d = mpmath.mpf(a), mpmath.mpf(start), mpmath.mpf(slack)
        density = lambda t: mpmath.exp(a * t - 2 * a * mpmath.log1p(mpmath.exp(t)))  # noqa: E731
        points = [-start - 2**k / mpmath.sqrt(a) for k in range(7, -8, -1)]
        beyond = 2 * mpmath.quad(density, [*points, -start]) / mpmath.beta(a, a)
        c = -mpmath.log(beyond) / start
        tail = mpmath.exp(-start * d * c) / (mpmath.exp(-w * (1 - d)) - mpmath.exp(-w))
        last = mpmath.log(tail + mpmath.exp(start * (1 - d) * c))
        kappa = 2 * w / (1 - mpmath.exp(-w)) ** 2
        m = 2 * (kappa / c + start * (1 / (1 - mpmath.exp(-w)) + 1) + mpmath.log(2) + last)
        return float(mpmath.sqrt(m / 2)), float((1 - d) * c)


def least_variation(a: float) -> tuple[float, float, float]:
    """Return the least sqrt(M/2) of one Beta(a, a) row whose conditions hold, with its L0 and slack."""

    def slack(start: float) -> float:
        return 1 - (1 + 1e-9) / beta_concentration_from(a, start)

    def printed(log_start: float) -> float:
        start = math.exp(log_start)
        return float(theorem_4_2(empty(1), prior=a, start=start, slack=slack(start)).printed)

    low, high = (math.log(x / math.sqrt(a)) for x in (2, 10))
    start = math.exp(optimize.minimize_scalar(printed, bounds=(low, high), method="bounded").x)
    return printed(math.log(start)), start, slack(start)


def test_sqrt_m_half_is_below_1_for_one_node_with_a_concentrated_prior():
    """[Zhang16] Table 1, Sampler: below 1 with all conditions true, in 40 digits too, and never below sqrt(ln 2)."""
    printed, start, slack = least_variation(1e5)
    bound = theorem_4_2(empty(1), prior=1e5, start=start, slack=slack)
    assert bound.applies
    exact, apart = variation_by_mpmath(1e5, start, slack)
    assert apart >= 1 - 1e-6
    assert printed == pytest.approx(exact, rel=1e-9)
    assert math.sqrt(math.log(2)) < least_variation(1e7)[0] < printed < 0.87
    assert float(bound.certified) < 0.01


@pytest.mark.parametrize("claim", [SAMPLER, THEOREM_4_2])
def test_the_findings_state_the_least_values_of_sqrt_m_half(claim):
    """[Zhang16] Table 1, Sampler; Theorem 4(2): 1.66 for two nodes, 0.833 for one, and below 1 from a = 3,020 on."""
    stated = re.findall(r"\d[\d,.]*\d", claim.finding)
    assert f"{math.floor(100 * least_printed_variation(empty(2))) / 100}" in stated
    assert f"{least_printed_variation(empty(1)):.3f}" in stated
    from_a = optimize.brentq(lambda a: least_variation(a)[0] - 1, 2000, 5000, xtol=1.0)
    assert f"{math.ceil(from_a / 10) * 10:,}" in stated
