"""[Zhang16] Table 1: Laplace, Fourier, Sampler, MAP."""

import math
import re

import mpmath
import numpy as np
import pytest
from scipy import optimize

from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.smoothness import beta_concentration_from
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.dimitrakakis14 import answers, constants, draws, empirical, families, guess, neighbours, robustness
from dpbayes.theory.index import claims_of
from dpbayes.theory.notes import lemmas as notes_lemmas
from dpbayes.theory.notes import mechanisms, sensitivities
from dpbayes.theory.zhang16 import map as map_bounds
from dpbayes.theory.zhang16 import regression, sampling, summary
from dpbayes.theory.zhang16 import smoothness as lipschitz
from dpbayes.theory.zhang16.sampling import THEOREM_4_2, least_printed_variation, theorem_4_2
from dpbayes.theory.zhang16.summary import FOURIER, LAPLACE, MAP, SAMPLER, Setting, not_computable, table_1
from tests.strategies import NAIVE_BAYES, empty

MODULES = (
    answers, constants, draws, empirical, families, guess, lipschitz, map_bounds, mechanisms, neighbours,
    notes_lemmas, regression, robustness, sampling, sensitivities, summary,
)  # fmt: skip


def random_counts(network, n):
    random = np.random.default_rng(19)
    codes = np.stack([random.integers(0, card, n) for card in network.cards], axis=1).astype(np.uint8)
    return count(network, Dataset(network.names, network.states, codes))


@pytest.fixture(scope="module")
def rows():
    counts = random_counts(NAIVE_BAYES, 50)
    return {r.mechanism: r for r in table_1(Dirichlets.symmetric(NAIVE_BAYES), counts)}


def test_table_1_has_the_four_rows_of_the_paper(rows):
    """[Zhang16] Table 1."""
    assert tuple(rows) == ("Laplace", "Fourier", "Sampler", "MAP")
    assert {row.utility.claim for row in rows.values()} == {LAPLACE, FOURIER, SAMPLER, MAP}


def test_table_1_laplace(rows):
    """[Zhang16] Table 1, Laplace: m = 33, n = 50, constant 1."""
    size = 33 * 50 * math.log(50)
    printed = size * (1 - math.exp(-50 / 34)) + math.sqrt(size * math.log(20))
    assert rows["Laplace"].utility.printed[0] == pytest.approx(printed)
    assert rows["Laplace"].utility.certified[0] < printed
    assert rows["Laplace"].uses is Uses.COUNTS
    assert float(rows["Laplace"].privacy[0].certified) == 1.0


def test_table_1_fourier(rows):
    """[Zhang16] Table 1, Fourier: |N| = 34, O = 32."""
    row = rows["Fourier"]
    assert float(row.privacy[0].certified) == pytest.approx(32 / 34)
    printed = 4 * 34 * (np.array([1] + [2] * 16) * math.log(34 / 0.05) + 34)
    np.testing.assert_allclose(row.utility.printed, printed)
    assert np.all(row.utility.certified < row.utility.printed)


def test_table_1_sampler_lacks_the_distance_and_the_draws():
    """[Zhang16] Table 1, Sampler: 2 L = 4.39 at omega = .1, per record and two draws 17 * 2 * 4.39."""
    counts = random_counts(NAIVE_BAYES, 50)
    row = next(
        r for r in table_1(Dirichlets.symmetric(NAIVE_BAYES), counts, Setting(draws=200)) if r.mechanism == "Sampler"
    )
    lipschitz_row, stochastic = row.privacy
    assert float(lipschitz_row.printed) == pytest.approx(2 * math.log(9))
    assert float(lipschitz_row.certified) == pytest.approx(200 * 17 * 2 * math.log(9))
    assert np.isnan(stochastic.printed) or stochastic.printed > 1
    values = np.random.default_rng(20).random((20_000, 200)) < 0.5
    far = np.abs(values.mean(axis=1) - 0.5) > float(row.utility.certified)
    assert far.mean() < 0.05


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


def test_sqrt_m_half_is_above_1_on_every_network_but_one_binary_node():
    """[Zhang16] Theorem 4(2): three states, or two nodes, are enough."""
    three = Network.from_edges("a", [], {"a": ("x", "y", "z")})
    assert min(least_printed_variation(network) for network in (three, empty(2), empty(5), NAIVE_BAYES)) > 1.28


def test_table_1_map_promises_less_than_it_loses(rows):
    """[Zhang16] Table 1, MAP."""
    row = rows["MAP"]
    assert float(row.privacy[0].certified) > float(row.privacy[0].printed)
    assert row.uses is Uses.COUNTS


def test_table_1_without_binary_nodes_has_the_rows_that_can_be_computed():
    """[Zhang16] Table 1."""
    network = Network.from_edges("ab", ["ab"], {"a": ("x", "y", "z"), "b": ("u", "v")})
    counts = random_counts(network, 30)
    names = [r.mechanism for r in table_1(Dirichlets.symmetric(network), counts)]
    assert names == ["Laplace", "Sampler"]


def test_every_claim_has_its_own_place_and_a_sentence():
    places = [str(claim.reference) for module in MODULES for claim in claims_of(module)]
    assert len(places) == len(set(places))
    for module in MODULES:
        for claim in claims_of(module):
            assert claim.finding.endswith(".")
            assert claim.title


def test_every_false_claim_is_shown_failing():
    """Each claim that is false as printed has a counterexample here, computed now."""
    shown = {
        str(example.claim.reference)
        for module in MODULES
        for name in dir(module)
        if name.startswith("counterexample_")
        if (example := getattr(module, name)()).refutes
    }
    false = {str(c.reference) for m in MODULES for c in claims_of(m) if c.verdict is Verdict.FALSE}
    assert false <= shown


def test_table_1_sampler_moves_with_the_prior_and_l0():
    """[Zhang16] Table 1, Sampler: its second promise is Theorem 4(2) at this setting."""
    network = Network.from_edges("ab", ["ab"])
    prior, counts = Dirichlets.symmetric(network, 100.0), random_counts(network, 50)
    rows = {row.mechanism: row for row in table_1(prior, counts, Setting(prior=100.0, start=20.0))}
    stochastic = rows["Sampler"].privacy[1]
    bound = theorem_4_2(network, prior=100.0, start=20.0)
    assert float(stochastic.printed) == float(bound.printed)
    assert float(stochastic.certified) == float(bound.certified) < 1


def test_table_1_says_why_a_row_is_missing():
    """[Zhang16] Table 1."""
    binary = Network.from_edges("ab", ["ab"])
    ternary = Network.from_edges("ab", ["ab"], {"a": ("x", "y", "z"), "b": ("u", "v")})
    assert not_computable(binary, 100) == {}
    assert "no records" in not_computable(binary, 0)["MAP"]
    assert "2,000" in not_computable(binary, 2001)["MAP"]
    assert set(not_computable(ternary, 100)) == {"Fourier", "MAP"}
