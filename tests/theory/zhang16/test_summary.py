"""[Zhang16] Table 1: Laplace, Fourier, Sampler, MAP."""

import math

import numpy as np
import pytest

from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.dimitrakakis14 import answers, constants, draws, empirical, families, guess, neighbours, robustness
from dpbayes.theory.notes import lemmas as notes_lemmas
from dpbayes.theory.notes import mechanisms, sensitivities
from dpbayes.theory.zhang16 import map as map_bounds
from dpbayes.theory.zhang16 import regression, sampling, summary
from dpbayes.theory.zhang16 import smoothness as lipschitz
from dpbayes.theory.zhang16.sampling import theorem_4_2
from dpbayes.theory.zhang16.summary import FOURIER, LAPLACE, MAP, SAMPLER, Setting, not_computable, table_1
from tests.strategies import NAIVE_BAYES

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
    places = [str(claim.reference) for module in MODULES for claim in module.CLAIMS]
    assert len(places) == len(set(places))
    for module in MODULES:
        for claim in module.CLAIMS:
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
    false = {str(c.reference) for m in MODULES for c in m.CLAIMS if c.verdict is Verdict.FALSE}
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
