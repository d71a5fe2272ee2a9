"""The sampler draws from the network it is given, and a test that accepts it rejects a wrong network."""

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.synthetic import BLOCK, MAX_RECORDS, even_records, sample_dataset
from dpbayes.sources.named_networks import chain, load_named

ALARM = 1e-9
"""Chance of a false alarm of each statistical test, were its seed not fixed."""


def p_value(network: Network, p: np.ndarray, data: Dataset) -> float:
    """Chi-square over all rows, given how many records fell in each row."""
    seen = count(network, data).values.astype(float)
    expected = network.row_sums(seen)[network.row_of_cell] * p
    used = expected > 0
    degrees = used.sum() - np.unique(network.row_of_cell[used]).size
    return float(stats.chi2.sf(((seen - expected)[used] ** 2 / expected[used]).sum(), degrees))


@pytest.fixture(scope="module")
def mixed() -> Network:
    states = {"a": [str(i) for i in range(5)], "b": ["0", "1", "2"], "c": ["0", "1"], "d": ["only"]}
    return Network.from_edges("dcba", [("a", "b"), ("a", "c"), ("b", "c"), ("d", "c")], states)


def test_accepts_the_right_tables_and_rejects_wrong_ones(mixed: Network) -> None:
    p = random_cpts(mixed, np.random.default_rng(1))
    data = sample_dataset(mixed, p, 200_000, np.random.default_rng(2))
    assert p_value(mixed, p, data) > ALARM
    wrong = p.copy()
    a = mixed.index("a")
    cells = mixed.cells_of_row(int(mixed.row_offsets[a]))
    wrong[cells] = 0.95 * wrong[cells] + 0.05 / 5
    assert p_value(mixed, wrong, data) < ALARM
    assert p_value(mixed, random_cpts(mixed, np.random.default_rng(3)), data) < ALARM


@pytest.mark.parametrize("n", [0, 1, 2, BLOCK, BLOCK + 1])
def test_sizes_and_reproducibility(n: int) -> None:
    network = chain(3)
    p = np.full(network.cell_count, 0.5)
    data = sample_dataset(network, p, n, np.random.default_rng(7))
    again = sample_dataset(network, p, n, np.random.default_rng(7))
    assert data.n == n
    np.testing.assert_array_equal(data.codes, again.codes)


def test_random_cpts_are_inside_and_uniform(mixed: Network) -> None:
    p = random_cpts(mixed, np.random.default_rng(1))
    several = mixed.cards[mixed.node_of_row][mixed.row_of_cell] > 1
    assert (p[several] > 0).all()
    assert (p[several] < 1).all()
    assert (p[~several] == 1).all()
    np.testing.assert_allclose(mixed.row_sums(p), 1.0, atol=1e-12)
    uniform = random_cpts(chain(500), np.random.default_rng(1))[0::2]
    assert stats.kstest(uniform, "uniform").pvalue > ALARM


@pytest.mark.parametrize("n", [-1, 1.5, MAX_RECORDS + 1, "x"])
def test_wrong_sizes(n: int) -> None:
    network = chain(1)
    with pytest.raises(InputError, match="The number of records must be"):
        sample_dataset(network, [0.5, 0.5], n, np.random.default_rng(1))


class _Last:
    """A generator whose every uniform is the greatest there is: 1 - 2^-53."""

    def random(self, *, out):
        out[:] = 1 - 2.0**-53
        return out


def test_the_greatest_uniform_never_draws_a_state_without_probability():
    """Ten tenths add up to less than one in floating point, and the eleventh state has probability 0."""
    probabilities = np.array([0.1] * 10 + [0.0])
    assert np.cumsum(probabilities)[-1] <= 1 - 2.0**-53
    die = Network.from_edges(["die"], [], {"die": tuple("abcdefghijk")})
    assert set(sample_dataset(die, probabilities, 3, _Last()).codes.ravel()) == {9}


# Even records


def test_even_records_have_the_expected_counts_of_every_row_up_to_one() -> None:
    network, probabilities = load_named("asia")
    data = even_records(network, probabilities, 3000, np.random.default_rng(1))
    counts = count(network, data).values
    expected = network.over_cells(network.row_sums(counts)) * probabilities
    assert np.abs(counts - expected).max() < 1
    independent = count(network, sample_dataset(network, probabilities, 3000, np.random.default_rng(1))).values
    assert np.abs(independent - network.over_cells(network.row_sums(independent)) * probabilities).max() > 5


def test_every_even_record_has_the_distribution_of_the_network() -> None:
    """Of the first record of 5,000 tables of 3: its joint states, whose false alarm has a probability of 1e-9."""
    network = Network.from_edges("abc", ["ab", "ac"], {"b": "xyz"})
    probabilities = random_cpts(network, np.random.default_rng(2))
    rng, drawn = np.random.default_rng(3), np.zeros((2, 3, 2))
    for _ in range(5_000):
        drawn[tuple(even_records(network, probabilities, 3, rng).codes[0])] += 1
    a, b, c = (network.table(probabilities, i) for i in range(3))
    law = a[:, None, None] * b[:, :, None] * c[:, None, :]
    assert stats.chisquare(drawn.ravel(), 5_000 * law.ravel()).pvalue > 1e-9
    assert stats.chisquare(drawn.ravel(), np.full(12, 5_000 / 12)).pvalue < 1e-9


@pytest.mark.parametrize("n", [0, 1])
def test_few_even_records_are_sampled(n: int) -> None:
    network, probabilities = load_named("alarm")
    assert even_records(network, probabilities, n, np.random.default_rng(1)).n == n
