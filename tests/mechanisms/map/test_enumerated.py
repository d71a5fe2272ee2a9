"""The private MAP estimate by enumeration: its guarantee by listing every table, and what it saves."""

from dataclasses import dataclass

import pytest

from dpbayes import InputError
from dpbayes.audit.loss.neighbours import all_tables
from dpbayes.mechanisms.map.enumerated import (
    MOST_MASSES,
    DecisionLaws,
    MapEnumerated,
    inner_map_epsilon,
    map_loss_bound,
)
from dpbayes.mechanisms.map.exponential import MapExponential
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.strategies import V_STRUCTURE, chain, counts_of, empty, rng

THREE = Network.from_edges("a", [], {"a": "xyz"})
MIXED = Network.from_edges("abc", ["ab"], {"a": "xy", "b": "uvw", "c": ["s"]})
TINY = {"one": empty(1), "two": empty(2), "chain": chain(2), "v": V_STRUCTURE, "three": THREE, "mixed": MIXED}


def listed_loss(mechanism: MapEnumerated | MapExponential, n: int) -> float:
    """The exact privacy loss over all pairs of tables: decisions are independent, so their largest losses add up."""
    tables = all_tables(mechanism.prior.network, n=n)
    law = mechanism.log_pmf(tables.counts)
    losses = law[tables.pairs[:, 0]] - law[tables.pairs[:, 1]]
    return float(losses.max(axis=-1).sum(axis=-1).max())


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_no_two_tables_differ_by_more_than_epsilon(name, n, epsilon):
    network = TINY[name]
    for prior in (Dirichlets.symmetric(network), Dirichlets(network, rng().uniform(0.1, 3, network.cell_count))):
        mechanism = MapEnumerated(prior=prior, epsilon=epsilon, n=n, cells=6)
        assert listed_loss(mechanism, n) <= epsilon
        assert mechanism.inner_epsilon >= epsilon
        assert mechanism.certified.epsilon == epsilon


@pytest.mark.parametrize("n", [1, 3, 30])
@pytest.mark.parametrize("cells", [2, 20])
def test_the_guarantee_is_tight_for_one_binary_node(n, cells):
    mechanism = MapEnumerated(prior=empty(1), epsilon=1.0, n=n, cells=cells)
    assert listed_loss(mechanism, n) == pytest.approx(1.0, rel=1e-5)


def test_the_proof_for_every_n_charges_two_to_six_times_as_much():
    shares = [
        MapEnumerated(prior=network, epsilon=1.0, n=n, cells=20).inner_epsilon
        for network, n in ((empty(1), 4), (empty(1), 50), (chain(2), 4), (V_STRUCTURE, 4))
    ]
    assert min(shares) > 2
    assert max(shares) > 5


def test_another_number_of_records_is_refused():
    mechanism = MapEnumerated(prior=chain(2), epsilon=1.0, n=12)
    release = mechanism.release(counts_of(chain(2), 12), rng(), (3,))
    assert release.outcome.probabilities.shape == (3, 6)
    assert release.guarantee.epsilon == 1.0
    assert release.public["inner epsilon"] == mechanism.inner_epsilon
    with pytest.raises(InputError, match="11"):
        mechanism.release(counts_of(chain(2), 11), rng())


def test_an_enumeration_that_is_too_large_is_refused():
    with pytest.raises(InputError, match=f"{MOST_MASSES:,}"):
        MapEnumerated(prior=chain(2), epsilon=1.0, n=1000, cells=1000)


def test_the_choice_depends_on_nothing_of_the_data():
    first, second = (MapEnumerated(prior=chain(2), epsilon=1.0, n=6) for _ in range(2))
    first.release(counts_of(chain(2), 6), rng())
    assert first.inner_epsilon == second.inner_epsilon == inner_map_epsilon(first.prior, epsilon=1.0, n=6, cells=20)


# Broken variants, which the listing of all tables must catch


@dataclass(frozen=True, kw_only=True)
class OneWay(MapEnumerated):
    """Broken on purpose: compares tables in one direction only."""

    @property
    def inner_epsilon(self) -> float:
        laws, low = DecisionLaws.of(self.prior, n=self.n, cells=self.cells), self.epsilon
        sensitivity = MapExponential(prior=self.prior, epsilon=1.0).sensitivity
        while laws.losses(low / (2 * sensitivity))[0].max() <= self.epsilon:
            low *= 1.01
        return low / 1.01


@dataclass(frozen=True, kw_only=True)
class OfManyRecords(MapEnumerated):
    """Broken on purpose: enumerates the tables of a hundred records, where one record matters less."""

    @property
    def inner_epsilon(self) -> float:
        return inner_map_epsilon(self.prior, epsilon=self.epsilon, n=100, cells=self.cells)


def test_the_listing_catches_an_enumeration_of_some_losses_only():
    assert listed_loss(OneWay(prior=chain(2), epsilon=1.0, n=4, cells=6), 4) > 1.0


def test_the_listing_catches_an_enumeration_of_other_tables():
    assert listed_loss(OfManyRecords(prior=empty(1), epsilon=1.0, n=2, cells=6), 2) > 1.0


def test_the_bound_is_at_least_the_loss_of_every_pair_of_tables():
    for network in TINY.values():
        prior = Dirichlets(network, rng().uniform(0.1, 3, network.cell_count))
        mechanism = MapExponential(prior=prior, epsilon=5.0, cells=4)
        laws = DecisionLaws.of(prior, n=3, cells=4)
        bound = map_loss_bound(prior, laws.losses(mechanism.rate))
        exact = listed_loss(mechanism, 3)
        assert exact <= bound * (1 + 1e-12)
        assert bound <= 5.0
        assert bound <= 1.6 * exact
