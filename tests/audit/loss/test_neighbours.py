from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from dpbayes.audit.loss.tables import all_tables
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.finite import exact_pure_epsilon
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from tests.strategies import NAIVE_BAYES, V_STRUCTURE, all_records, chain, empty

TINY = {
    "one node": empty(1),
    "three states": Network.from_edges("a", [], {"a": "xyz"}),
    "two nodes": chain(2),
    "v-structure": V_STRUCTURE,
}
with_every_network = pytest.mark.parametrize("network", TINY.values(), ids=TINY)


def listed(network: Network, n: int) -> tuple[list[Counter], list[tuple[int, ...]]]:
    """Every table as the records that it has, and its counts, by another route."""
    bags = [Counter(records) for records in combinations_with_replacement(all_records(network), n)]
    codes = [np.array(sorted(bag.elements()), dtype=np.uint8).reshape(n, len(network.names)) for bag in bags]
    counts = [count(network, Dataset(network.names, network.states, rows)).values for rows in codes]
    return bags, [tuple(values.tolist()) for values in counts]


@with_every_network
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_every_table_is_there_once_with_its_counts(network, n):
    tables = all_tables(network, n=n)
    assert sorted(map(tuple, tables.counts.tolist())) == sorted(listed(network, n)[1])


@with_every_network
def test_neighbours_are_the_tables_that_differ_in_one_record(network):
    """Tables of a network this small are known by their counts, but for those of equal counts."""
    tables = all_tables(network, n=2)
    bags, counts = listed(network, 2)
    apart = [(counts[x], counts[y]) for (x, a), (y, b) in product(enumerate(bags), repeat=2) if (a - b).total() == 1]
    pairs = [tuple(tuple(tables.counts[k].tolist()) for k in pair) for pair in tables.pairs]
    assert sorted(pairs) == sorted(apart)


@with_every_network
def test_the_counts_of_neighbours_differ_by_the_known_sensitivity_at_most(network):
    tables = all_tables(network, n=2)
    moved = np.abs(tables.counts[tables.pairs[:, 0]] - tables.counts[tables.pairs[:, 1]]).sum(axis=1)
    assert moved.max() == network.count_sensitivity


def test_an_audit_of_a_network_mechanism_over_all_tables():
    # Randomised response on the parity of one cell count: truth with probability 3/4.
    tables = all_tables(V_STRUCTURE, n=2)
    parity = tables.counts[:, 4] % 2
    log_pmf = np.log(np.where(parity[:, None] == [0, 1], 0.75, 0.25))
    assert exact_pure_epsilon(log_pmf, pairs=tables.pairs).epsilon == pytest.approx(np.log(3))


@pytest.mark.parametrize(("network", "n"), [(NAIVE_BAYES, 1), (NAIVE_BAYES, 2000), (V_STRUCTURE, 20)])
def test_too_many_tables_are_refused_in_a_sentence(network, n):
    with pytest.raises(InputError, match="use fewer records or fewer nodes"):
        all_tables(network, n=n)


@pytest.mark.parametrize("n", [-1, 1.5, "two"])
def test_a_bad_number_of_records_is_refused(n):
    with pytest.raises(InputError, match="number of records must be"):
        all_tables(V_STRUCTURE, n=n)
