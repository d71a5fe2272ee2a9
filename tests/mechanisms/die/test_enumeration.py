"""Smooth Hellinger noise certified by enumeration: the promise by definition, what it wins, and what is refused."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import special

from dpbayes.audit.die import audit_die
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.die.enumeration import MOST_ENUMERATED, enumerated_epsilon, largest_delta
from dpbayes.mechanisms.die.hellinger import HellingerEnumerated, HellingerSmooth
from dpbayes.mechanisms.finite import exact_curve
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.posteriors.hellinger import Die
from tests.conftest import thorough

SETTINGS = [
    (Die((1.0, 1.0), 12), 1.0, 1e-5),
    (Die((0.3, 2.0), 9), 0.2, 1e-3),
    (Die((1.0, 0.5, 0.5), 4), 2.0, 1e-4),
    (Die((1.0,) * 4, 3), 0.7, 0.2),
]


def enumerated_on(die: Die, epsilon: float, delta: float) -> HellingerEnumerated:
    return HellingerEnumerated(die=die, epsilon=epsilon, delta=delta)


def delta_by_definition(die: Die, *, inner: float, epsilon: float, delta: float) -> float:
    """The least delta at epsilon over all ordered pairs of tables, with log-gamma functions and loops."""
    tables = [tuple(row) for row in die.candidates.tolist()]

    def log_beta(counts: tuple[float, ...]) -> float:
        alpha = [a + c for a, c in zip(die.prior, counts, strict=True)]
        return float(special.gammaln(alpha).sum() - special.gammaln(sum(alpha)))

    def distance(x: tuple[int, ...], r: tuple[int, ...]) -> float:
        between = tuple((i + j) / 2 for i, j in zip(x, r, strict=True))
        return math.sqrt(max(0.0, -math.expm1(log_beta(between) - (log_beta(x) + log_beta(r)) / 2))) if x != r else 0.0

    def replaced(x: tuple[int, ...], y: tuple[int, ...]) -> int:
        return sum(abs(i - j) for i, j in zip(x, y, strict=True)) // 2

    local = {x: max(distance(x, y) for y in tables if replaced(x, y) == 1) for x in tables}
    decay = 1 + inner / (2 * math.log(2 * len(tables) / delta))
    law = {}
    for x in tables:
        smooth = max(local[y] / decay ** replaced(x, y) for y in tables)
        weights = np.array([math.exp(-inner * distance(x, r) / (2 * smooth)) for r in tables])
        law[x] = weights / weights.sum()
    near = [(x, y) for x, y in product(tables, tables) if replaced(x, y) == 1]
    return max(float(np.maximum(law[x] - math.exp(epsilon) * law[y], 0).sum()) for x, y in near)


@pytest.mark.parametrize(("die", "epsilon", "delta"), SETTINGS)
def test_the_promise_holds_by_definition_and_would_not_with_less_noise(die: Die, epsilon: float, delta: float) -> None:
    inner = enumerated_on(die, epsilon, delta).inner_epsilon
    assert delta_by_definition(die, inner=inner, epsilon=epsilon, delta=delta) <= delta
    assert delta_by_definition(die, inner=inner * (1 + 1e-4), epsilon=epsilon, delta=delta) > delta


@pytest.mark.parametrize(("die", "epsilon", "delta"), SETTINGS)
def test_the_audit_finds_all_of_the_promise_and_nothing_above(die: Die, epsilon: float, delta: float) -> None:
    report = audit_die(enumerated_on(die, epsilon, delta), n=die.n, epsilons=[epsilon])
    assert report.needed <= epsilon
    assert report.needed == pytest.approx(epsilon, rel=1e-4)
    assert report.curve.deltas[0] <= delta


@pytest.mark.parametrize(
    ("die", "inner"),
    [
        (Die((1.0, 1.0), 50), 1.7627),
        (Die((1.0, 1.0), 200), 1.8372),
        (Die((0.1, 0.1), 200), 1.7849),
        (Die((1.0,) * 3, 20), 1.7459),
    ],
)
def test_more_than_the_claim_of_one_and_the_proved_two_thirds(die: Die, inner: float) -> None:
    mechanism = enumerated_on(die, 1.0, 1e-5)
    assert mechanism.inner_epsilon == pytest.approx(inner, abs=1e-4)
    assert mechanism.certified == mechanism.claimed
    assert (mechanism.certified.epsilon, mechanism.certified.delta) == (1.0, 1e-5)


def test_the_promise_fails_and_holds_again_below_what_is_found() -> None:
    die = Die((1.0, 1.0), 200)
    lost = [
        audit_die(HellingerSmooth(die=die, epsilon=inner, delta=1e-5), n=200, epsilons=[]).needed
        for inner in (1.805, 1.811)
    ]
    assert lost[0] < 1 < lost[1]
    assert enumerated_on(die, 1.0, 1e-5).inner_epsilon > 1.83


EDGES = [
    (die, epsilon, delta)
    for die in (Die((1.0, 1.0), 1), Die((1e-3, 1e9), 5), Die((1e9, 1e9, 1e9), 2), Die((1.0,) * 6, 2))
    for epsilon in (1e-3, 1.0, 1000.0)
    for delta in (1e-12, 0.5)
]


@pytest.mark.parametrize(("die", "epsilon", "delta"), thorough(EDGES, sample=EDGES[::5]))
def test_the_edges_keep_their_promise(die: Die, epsilon: float, delta: float) -> None:
    mechanism = enumerated_on(die, epsilon, delta)
    assert 0 < mechanism.inner_epsilon < math.inf
    assert audit_die(mechanism, n=die.n, epsilons=[]).needed <= epsilon
    table, pairs = mechanism.log_pmf_table(), neighbour_pairs(die.n, sides=die.sides)
    assert exact_curve(table, pairs=pairs, epsilons=[epsilon])[0] <= delta


def test_one_candidate_needs_no_noise_and_no_comparison() -> None:
    assert enumerated_on(Die((1.0, 2.0), 0), 0.3, 1e-5).inner_epsilon == 0.3


def test_the_least_delta_is_that_of_the_auditor() -> None:
    rng = np.random.default_rng(1)
    weights = -rng.exponential(3.0, size=(6, 40))
    weights -= weights.max(axis=1, keepdims=True)
    pairs = np.array([(x, y) for x in range(6) for y in range(6) if x != y])
    law = special.log_softmax(weights, axis=1)
    for epsilon in (0.0, 0.5, 2.0, 50.0):
        curve = exact_curve(law, pairs=pairs, epsilons=[epsilon])
        delta, place = largest_delta(weights, pairs=pairs, epsilon=epsilon)
        assert delta == pytest.approx(curve[0], rel=1e-12)
        assert delta == pytest.approx(exact_curve(law, pairs=pairs[[place]], epsilons=[epsilon])[0], rel=1e-12)


def test_too_many_tables_are_refused_in_a_sentence_before_anything_is_computed() -> None:
    assert enumerated_on(Die((1.0, 1.0), MOST_ENUMERATED - 1), 1.0, 1e-5).die.size == MOST_ENUMERATED
    for attempt in (enumerated_on, lambda die, epsilon, delta: enumerated_epsilon(die, epsilon=epsilon, delta=delta)):
        with pytest.raises(InputError, match=r"501 possible posteriors, and at most 500 .* Use at most 499 throws"):
            attempt(Die((1.0, 1.0), MOST_ENUMERATED), 1.0, 1e-5)
    with pytest.raises(InputError, match="Use at most 30 throws, or fewer sides"):
        enumerated_on(Die((1.0,) * 3, 10**6), 1.0, 1e-5)
