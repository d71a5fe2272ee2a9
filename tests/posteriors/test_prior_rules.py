"""Rules of priors: their texts, the priors that they give, and the rule that a prior is from."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR, Dirichlets
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule, decimals_of, prior_rule, rule_for, rule_of
from tests.strategies import ASIA, chain

STATES = {"a": "xyz", "b": "01", "c": "0123"}
NETWORK = Network.from_edges(STATES, [("a", "c"), ("b", "c")], STATES)
"""Nodes of 3, 2 and 24 cells."""

WIDE_STATES = {"a": "xyz", "b": "01234", "c": "0123"}
WIDE = Network.from_edges(WIDE_STATES, [("a", "b"), ("a", "c"), ("b", "c")], WIDE_STATES)
"""Nodes of 3, 15 and 60 cells."""

rules = st.builds(PriorRule, st.sampled_from(PriorKind), st.floats(LEAST_PRIOR, MOST_PRIOR))


@given(rules)
def test_the_text_of_a_rule_is_read_back_exactly(rule: PriorRule) -> None:
    assert prior_rule(str(rule)) == rule
    assert prior_rule(rule.value) == rule


@pytest.mark.parametrize(
    ("value", "rule", "text"),
    [
        ("1", PriorRule.symmetric(), "1"),
        (0.5, PriorRule.symmetric(0.5), "0.5"),
        (2, PriorRule.symmetric(2), "2"),
        ("capped", PriorRule(), "capped"),
        ("capped:4", PriorRule(), "capped"),
        (" capped:8 ", PriorRule(PriorKind.CAPPED, 8), "capped:8"),
        ("bdeu", PriorRule(PriorKind.BDEU, 1), "bdeu"),
        ("bdeu:2.5", PriorRule(PriorKind.BDEU, 2.5), "bdeu:2.5"),
    ],
)
def test_a_number_is_a_pseudo_count_and_a_name_is_a_rule(value: float | str, rule: PriorRule, text: str) -> None:
    assert prior_rule(value) == rule
    assert str(rule) == text


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("uniform", "State a pseudo-count such as 1, or capped or bdeu"),
        ("", "State a pseudo-count"),
        ("capped:", "equivalent sample size must be a number"),
        ("bdeu:0", "equivalent sample size must be between 0.001"),
        ("nan", 'must be a number, not "nan"'),
        ("0", "prior must be between 0.001"),
        (None, "must be a number"),
    ],
)
def test_another_text_is_one_sentence(value: object, why: str) -> None:
    with pytest.raises(InputError, match=why):
        prior_rule(value)  # type: ignore[arg-type]


def test_the_priors_are_those_of_dirichlets() -> None:
    for rule, prior in (
        (PriorRule(), Dirichlets.capped(NETWORK)),
        (prior_rule("capped:12"), Dirichlets.capped(NETWORK, 12)),
        (prior_rule("bdeu"), Dirichlets.bdeu(NETWORK)),
        (prior_rule("0.3"), Dirichlets.symmetric(NETWORK, 0.3)),
    ):
        assert np.array_equal(rule.on(NETWORK).alpha, prior.alpha)
        assert np.array_equal(np.repeat(rule.of_tables([3, 2, 24]), [3, 2, 24]), prior.alpha)
        assert rule.fits(prior)


@given(st.sampled_from([ASIA, NETWORK, WIDE, chain(2)]), st.sampled_from(PriorKind), st.floats(0.01, 100))
def test_the_rule_of_a_prior_gives_this_prior(network: Network, kind: PriorKind, size: float) -> None:
    """On networks of narrow nodes, several rules give one prior."""
    rule = PriorRule(kind, float(f"{size:.6g}"))
    decimals = np.array([float(text) for text in decimals_of(rule.on(network))])
    rounded = Dirichlets(network, np.resize(decimals, network.cell_count))
    recovered = rule_of(rounded)
    assert recovered is not None
    np.testing.assert_allclose(recovered.on(network).alpha, rule.on(network).alpha, rtol=1e-8)


def test_a_prior_of_no_rule_has_none() -> None:
    alpha = Dirichlets.capped(NETWORK).alpha.copy()
    alpha[-1] *= 1.001
    assert rule_of(Dirichlets(NETWORK, alpha)) is None


def test_the_own_rule_of_a_mechanism_replaces_a_capped_prior_only():
    own, stated = PriorRule.symmetric(), PriorRule.usual(PriorKind.BDEU)
    kind = SimpleNamespace(own_prior=own)
    assert [rule_for(kind, rule) for rule in (PriorRule(), stated)] == [own, stated]
    assert rule_for(object, PriorRule()) == PriorRule()
