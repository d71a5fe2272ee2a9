"""What may be asked for, in one form, with exact numbers."""

import dataclasses
import json
from fractions import Fraction

import pytest

from dpbayes.base.amounts import EpsilonDelta, Rho
from dpbayes.base.validation import InputError
from dpbayes.base.zcdp import zcdp_epsilon, zcdp_rho
from dpbayes.mechanisms import RELEASABLE
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import decimals_of, prior_rule
from dpbayes.releases.document.canonical import decimal
from dpbayes.releases.document.request import question_of, request_from
from tests.releases.asking import request_of
from tests.strategies import ASIA, chain

TERNARY = Network.from_edges("ab", ["ab"], {"a": ["x", "y", "z"], "b": ["0", "1"]})


@pytest.mark.parametrize("epsilon", [*map(Fraction, ("0", "0.0009", "1000.0001", "0.1000000000001")), 0.5])
def test_another_epsilon_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        request_of(epsilon=epsilon)


@pytest.mark.parametrize("text", ["0.001", "1000"])
def test_the_least_and_the_largest_epsilon_are_kept_exactly(text):
    assert request_of(epsilon=decimal("epsilon", text)).epsilon == Fraction(text)


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_a_request_is_read_from_its_own_question(mechanism):
    request = request_of(mechanism=mechanism)
    again = request_from(json.loads(question_of(request)))
    assert again == request
    assert question_of(again) == question_of(request)


def test_the_same_question_has_the_same_bytes():
    same = request_of(mechanism="fourier", prior=("1.0",) * ASIA.cell_count, settings={"t": "0.50"})
    assert question_of(same) == question_of(request_of(mechanism="fourier"))
    assert b"0.5" in question_of(same)
    for change in (
        {"n": 201},
        {"epsilon": Fraction(1, 4)},
        {"prior": ("2",)},
        {"dataset": "x"},
        {"settings": {"t": "1"}},
    ):
        assert question_of(dataclasses.replace(same, **change)) != question_of(same)


STATED = EpsilonDelta(Fraction(1, 2), Fraction(1, 100_000))


@pytest.mark.parametrize("mechanism", ["gaussian", "residuals"])
def test_a_rho_that_gives_a_stated_epsilon_and_delta_is_charged(mechanism):
    request = request_of(mechanism=mechanism, stated=STATED, rho=Fraction(0))
    largest = zcdp_rho(0.5, delta=1e-5)
    assert request.cost == Rho(request.rho)
    assert 0 < largest - float(request.rho) < 2e-5 * largest
    assert zcdp_epsilon(float(request.rho), delta=1e-5) <= 0.5
    again = request_from(json.loads(question_of(request)))
    assert again == request
    assert again.stated == STATED


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rho": Fraction(1, 100)}, "do not follow from the stated rho"),
        ({"rho": Fraction(0), "epsilon": Fraction(1, 2)}, "not in epsilon. State a delta"),
        ({"rho": Fraction(0), "mechanism": "laplace", "epsilon": Fraction(1, 2)}, "with delta 0. Leave delta out"),
        ({"rho": Fraction(0), "stated": EpsilonDelta(Fraction(1, 2), Fraction(0))}, "delta must be"),
        ({"rho": Fraction(0), "stated": EpsilonDelta(Fraction(1, 2), Fraction(1, 3))}, "delta must be"),
        ({"rho": Fraction(0), "stated": EpsilonDelta(Fraction(1, 10**6), Fraction(1, 2))}, "epsilon must be"),
        ({"rho": Fraction(0), "stated": EpsilonDelta(0.5, Fraction(1, 3))}, "fraction"),
        ({"rho": Fraction(0), "stated": EpsilonDelta(Fraction(1, 1000), Fraction(1, 10**12))}, "rho must be between"),
    ],
)
def test_an_epsilon_and_delta_that_cannot_be_are_refused(change, said):
    with pytest.raises(InputError, match=said):
        request_of(**({"mechanism": "gaussian", "stated": STATED} | change))


def test_a_node_of_many_cells_may_have_small_parameters():
    """Under BDeu with N' = 1, a node of 3,200 cells has 1/3200 in each of them."""
    states = {name: tuple(map(str, range(size))) for name, size in {"a": 40, "b": 40, "c": 2}.items()}
    network = Network.from_edges(states, [("a", "c"), ("b", "c")], states)
    request = request_of(network, prior=decimals_of(prior_rule("bdeu").on(network)))
    assert request.prior[-1] == "0.0003125"
    assert request_from(json.loads(question_of(request))) == request
    with pytest.raises(InputError, match=r"prior must be between 0\.001"):
        request_of(network, prior=("0.0003125",))


def test_a_capped_prior_of_narrow_nodes_has_the_bytes_of_the_uniform_prior():
    line = chain(3)
    capped, ones = (request_of(line, prior=decimals_of(prior_rule(text).on(line))) for text in ("capped", "1"))
    assert question_of(capped) == question_of(ones) == question_of(request_of(line))
    assert capped.prior == ("1",)


def test_the_prior_is_what_was_typed():
    request = request_of(prior=("0.1",) * (ASIA.cell_count - 1) + ("0.30",))
    assert request.prior[-2:] == ("0.1", "0.3")
    assert request.dirichlets.alpha[-2:].tolist() == [0.1, 0.3]
    assert request_of().dirichlets.alpha.tolist() == [1.0] * ASIA.cell_count


@pytest.mark.parametrize("mechanism", ["sampler", "Hellinger", "exact", "", None, 1])
def test_what_cannot_be_drawn_exactly_is_refused_and_what_can_is_named(mechanism):
    with pytest.raises(InputError, match=", ".join(RELEASABLE) + r"\.$"):
        request_of(mechanism=mechanism)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dataset": ""}, "id"),
        ({"dataset": "a" * 201}, "id"),
        ({"dataset": "a\nb"}, "must be one line"),
        ({"dataset": " a"}, "must be one line"),
        ({"dataset": "\ud800"}, "must be one line"),
        ({"n": 0}, "records"),
        ({"n": True}, "records"),
        ({"prior": ("1", "2")}, "one for each of the network's 36 cells"),
        ({"prior": ("0",)}, "prior must be between"),
        ({"prior": ("x",)}, "decimal"),
        ({"settings": {"t": "1"}}, 'no setting "t"'),
        ({"prices": (1,)}, "takes no prices"),
        ({"mechanism": "fourier", "settings": {"t": "51"}}, "between"),
        ({"mechanism": "map", "settings": {"cells": "2.5"}}, "whole"),
        ({"mechanism": "map", "settings": {"cells": Fraction(1, 3)}}, "decimal"),
        ({"network": TERNARY, "mechanism": "fourier"}, "binary"),
        ({"network": Network.from_edges("a", [], {"a": ["x"]})}, "nothing to release"),
    ],
)
def test_a_request_that_cannot_be_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        request_of(**change)
