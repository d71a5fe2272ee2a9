"""Whatever is not exactly a known class is refused wherever a mechanism's class decides what is said of it."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from dpbayes.audit.draws import audit_by_draws
from dpbayes.audit.exact_class import formula, oddity
from dpbayes.audit.printed_map import PrintedMap
from dpbayes.audit.registry import audit
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import (
    MECHANISMS,
    Exact,
    LaplaceFourier,
    LaplaceUpdates,
    MapExponential,
    PosteriorSampler,
    Release,
    ReleasedPosterior,
)
from dpbayes.mechanisms.die.hellinger import HellingerEnumerated, HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import Die
from tests.strategies import chain

COIN = Die((1.0, 1.0), 5)
AUDITED = {
    kind.__name__: kind(prior=Dirichlets.symmetric(chain(2)), **({} if kind is Exact else {"epsilon": 1.0}))
    for kind in MECHANISMS
} | {
    "HellingerGlobal": HellingerGlobal(die=COIN, epsilon=1.0),
    "HellingerLocal": HellingerLocal(die=COIN, epsilon=1.0),
    "HellingerSmooth": HellingerSmooth(die=COIN, epsilon=1.0, delta=1e-5),
    "HellingerEnumerated": HellingerEnumerated(die=COIN, epsilon=1.0, delta=1e-5),
    "LaplaceCells": LaplaceCells(die=COIN, epsilon=1.0),
    "LaplaceOne": LaplaceOne(die=COIN, epsilon=1.0),
    "RegressionSampler": RegressionSampler(prior_precision=1.0),
    "PrintedMap": PrintedMap(prior=(1.0, 1.0), n=5, epsilon=1.0, omega=0.1),
}


def fields_of(value) -> dict:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def subclassed(mechanism):
    """The same mechanism as an instance of a subclass that changes nothing: there is no telling that it does not."""
    return type("Leak", (type(mechanism),), {})(**fields_of(mechanism))


def with_another_release(mechanism):
    mechanism = dataclasses.replace(mechanism)
    object.__setattr__(mechanism, "simulate", lambda counts, rng, size=(): counts)
    return mechanism


def strangers(mechanism) -> list:
    return [subclassed(mechanism), with_another_release(mechanism)]


class OddPrior(Dirichlets):
    @property
    def totals(self):
        return self.alpha


class OddNetwork(Network):
    @property
    def is_binary(self) -> bool:
        return True


class OddDie(Die):
    @cached_property
    def local_sensitivities(self):
        return np.ones(self.size)


ODD_NETWORK = OddNetwork(**fields_of(chain(2)))
ODD_PARTS = {
    "prior": OddPrior(chain(2), np.ones(6)),
    "network": Dirichlets.symmetric(ODD_NETWORK),
}


def with_odd_parts() -> list:
    odd_ones = [
        dataclasses.replace(AUDITED[kind.__name__], prior=prior) for kind in MECHANISMS for prior in ODD_PARTS.values()
    ]
    odd = OddDie(COIN.prior, COIN.n)
    return odd_ones + [
        dataclasses.replace(mechanism, die=odd) for mechanism in AUDITED.values() if hasattr(mechanism, "die")
    ]


def audited(mechanism):
    more = {"features": 2} if isinstance(mechanism, RegressionSampler) else {}
    return audit(mechanism, n=5, epsilons=[1.0], **more)


@dataclass(frozen=True, kw_only=True)
class Leak(LaplaceUpdates):
    """Promises what its parent promises, and hands over the counts as they are."""

    def simulate(self, statistic, rng, size=()):
        exact = np.broadcast_to(statistic.values.astype(float), (*size, *statistic.values.shape))
        return Release(ReleasedPosterior(self.prior, exact), self.certified, self.label)


def test_a_subclass_that_hands_over_the_counts_is_not_audited_as_its_parent():
    leak = Leak(prior=Dirichlets.symmetric(chain(1)), epsilon=1.0)
    with pytest.raises(
        InputError, match=r'no exact audit of the mechanism "Laplace" of the class Leak\. Use audit_by_draws'
    ):
        audit(leak, n=5, epsilons=[1.0])
    tables = [Counts(leak.prior.network, np.array(values), 5) for values in ([5, 0], [4, 1])]
    report = audit_by_draws(leak, first=tables[0], second=tables[1], rng=np.random.default_rng(1), draws=10_000)
    assert report.refutes(leak.claimed), "as the sentence says"


@pytest.mark.parametrize("name", AUDITED)
def test_the_known_classes_themselves_are_audited(name):
    assert audited(AUDITED[name]).exact > 0
    assert not oddity(AUDITED[name], type(AUDITED[name])), "after an audit, with all that it has computed and kept, too"


@pytest.mark.parametrize("name", AUDITED)
def test_no_stranger_is_audited(name):
    for stranger in strangers(AUDITED[name]):
        with pytest.raises(InputError, match=r"no exact audit of.*(of the class Leak|whose simulate was replaced)"):
            audited(stranger)


@pytest.mark.parametrize("mechanism", with_odd_parts(), ids=lambda m: type(m).__name__)
def test_no_mechanism_with_an_odd_prior_network_or_die_is_audited(mechanism):
    with pytest.raises(InputError, match=r"with a (prior|network|die).* of the class Odd"):
        audited(mechanism)


def test_an_exponential_mechanism_with_a_table_of_its_own_is_not_audited_as_if_it_were_symmetric():
    class Odd(HellingerGlobal):
        def log_pmf_table(self):
            with np.errstate(divide="ignore"):
                return np.log([[0.5, 0.5], [0.0, 1.0]])

    for prior in ((1.0, 1.0), (1.0, 2.0)):
        with pytest.raises(InputError, match="of the class Odd"):
            audit(Odd(die=Die(prior, 1), epsilon=1.0), n=1, epsilons=[1.0])


def test_a_stranger_has_no_formula_but_its_name():
    for kind in (LaplaceUpdates, LaplaceFourier, PosteriorSampler, MapExponential):
        assert "$" in formula(AUDITED[kind.__name__])
        assert formula(subclassed(AUDITED[kind.__name__])) == "Leak"
