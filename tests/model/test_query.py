from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.model import query as predictive
from dpbayes.model.network import Network
from dpbayes.model.query import query, query_slopes
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.strategies import ASIA, chain, naive_counts, networks

# Lauritzen and Spiegelhalter (1988), each row as (yes, no).
ASIA_ROWS = {
    "asia": [0.01],
    "tub": [0.05, 0.01],  # asia yes, no
    "smoke": [0.5],
    "lung": [0.1, 0.01],  # smoke yes, no
    "bronc": [0.6, 0.3],
    "either": [1, 1, 1, 0],  # tub, lung: yes yes, yes no, no yes, no no
    "xray": [0.98, 0.05],
    "dysp": [0.9, 0.8, 0.7, 0.1],  # bronc, either: yes yes, yes no, no yes, no no
}
ASIA_CPTS = np.concatenate([[[p, 1 - p] for p in ASIA_ROWS[name]] for name in ASIA.names]).ravel().astype(float)


def naive_query(network: Network, cpts: np.ndarray, target: str, evidence: dict[str, str]) -> np.ndarray:
    """Sum the joint probability of every record that agrees with the evidence."""
    answer = np.zeros(len(network.states[network.names.index(target)]))
    for record in product(*(range(len(s)) for s in network.states)):
        named = {n: s[c] for n, s, c in zip(network.names, network.states, record, strict=True)}
        if all(named[name] == state for name, state in evidence.items()):
            answer[record[network.names.index(target)]] += np.prod(cpts[naive_counts(network, [record]) == 1])
    return answer / answer.sum()


@given(networks(most_nodes=4, states=(1, 3)), st.data())
def test_a_query_is_what_summing_over_all_records_gives_for_every_batch(network, data):
    cpts = Dirichlets.symmetric(network).sample(np.random.default_rng(data.draw(st.integers(0, 99))), (2, 3))
    target = data.draw(st.sampled_from(network.names))
    given_names = data.draw(st.sets(st.sampled_from(network.names)))
    evidence = {n: data.draw(st.sampled_from(network.states[network.index(n)])) for n in given_names - {target}}
    answer = query(network, cpts, target, evidence)
    assert answer.shape == (2, 3, len(network.states[network.index(target)]))
    for i, j in product(range(2), range(3)):
        assert answer[i, j] == pytest.approx(naive_query(network, cpts[i, j], target, evidence), rel=1e-9)


@pytest.mark.parametrize(
    ("target", "evidence", "probability"),
    [
        ("tub", {}, 0.0104),
        ("lung", {}, 0.055),
        ("bronc", {}, 0.45),
        ("either", {}, 0.064828),
        ("xray", {}, 0.11029004),
        ("dysp", {}, 0.4359706),
        ("tub", {"asia": "yes"}, 0.05),
        ("lung", {"smoke": "yes"}, 0.1),
        ("smoke", {"lung": "yes"}, 0.05 / 0.055),
        ("lung", {"either": "yes"}, 0.055 / 0.064828),
        ("lung", {"either": "no"}, 0.0),
        ("either", {"xray": "yes"}, 0.98 * 0.064828 / 0.11029004),
        ("tub", {"asia": "yes", "smoke": "yes"}, 0.05),
    ],
)
def test_asia_answers_what_its_authors_tables_imply(target, evidence, probability):
    assert query(ASIA, ASIA_CPTS, target, evidence)[0] == pytest.approx(probability, abs=1e-7)


def test_a_long_chain_is_answered_without_its_joint_table():
    network = chain(60)
    cpts = Dirichlets.symmetric(network).sample(np.random.default_rng(0))
    step = np.eye(2)
    for node in range(1, 60):
        step = step @ network.table(cpts, node)
    assert query(network, cpts, "v59", {"v0": "yes"}) == pytest.approx(step[1], rel=1e-9)


@pytest.mark.parametrize(
    ("target", "evidence", "sentence"),
    [
        ("lung", {"lung": "yes"}, '"lung" is both the target and part of the evidence'),
        ("cancer", {}, 'no node "cancer"'),
        ("lung", {"cancer": "yes"}, 'no node "cancer"'),
        ("lung", {"smoke": "often"}, '"smoke" has no state "often"; it has "yes", "no"'),
        ("asia", {"either": "no", "lung": "yes"}, "evidence has probability zero"),
    ],
)
def test_an_impossible_question_is_refused_in_one_sentence(target, evidence, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        query(ASIA, ASIA_CPTS, target, evidence)
    assert str(caught.value).endswith(".")


def test_evidence_impossible_in_one_member_of_a_batch_is_refused():
    possible = Dirichlets.symmetric(ASIA).mean
    with pytest.raises(InputError, match="probability zero"):
        query(ASIA, np.stack([possible, ASIA_CPTS]), "asia", {"either": "no", "lung": "yes"})


def test_a_query_that_needs_too_large_a_table_is_refused(monkeypatch):
    monkeypatch.setattr(predictive, "MOST_ENTRIES", 2)
    with pytest.raises(InputError, match="connects too many nodes"):
        query(ASIA, ASIA_CPTS, "dysp", {"xray": "yes"})


@given(networks(most_nodes=4, states=(1, 3)), st.data())
def test_slopes_are_differences_of_answers(network, data):
    cpts = Dirichlets.symmetric(network).sample(np.random.default_rng(1), 2)
    target = data.draw(st.sampled_from(network.names))
    others = [name for name in network.names if name != target]
    evidence = {
        name: data.draw(st.sampled_from(network.states[network.index(name)]))
        for name in data.draw(st.lists(st.sampled_from(others), unique=True) if others else st.just([]))
    }
    slopes = query_slopes(network, cpts, target, evidence)
    step = 1e-6 * np.eye(network.cell_count)[:, None]
    above, below = (query(network, cpts + change, target, evidence) for change in (step, -step))
    np.testing.assert_allclose(slopes, np.moveaxis((above - below) / 2e-6, 0, -1), atol=1e-5)
