"""A graph chosen from a private table: its promise by enumeration, its limits, and what it refuses before it draws."""

import dataclasses
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.mechanisms.structure import choice as structure_choice
from dpbayes.mechanisms.structure.choice import (
    MOST_PAIRS,
    CandidateFamily,
    ChosenStructure,
    Round,
    StructureChoice,
    cards_of,
    distance_from_independence,
    distance_sensitivity,
    draw_structure,
    families_after,
    noise_share,
    require_feasible,
    round_after,
    simulate_structure,
)
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from tests.conftest import crossed, thorough
from tests.mechanisms.structure.flip_law import round_log_pmf
from tests.strategies import all_records, empty, random_table, table_of

CERTAINTY = 1e-9
WITHOUT_SEED = 1e-6
"""How improbable a false alarm is where the operating system draws, each time anew."""

TEN = empty(10)
HALF = StructureChoice(epsilon=Fraction(1, 2))
Graph = tuple[tuple[int, tuple[int, ...]], ...]
"""The families of a choice in the order in which they were joined: more than the network tells."""


def law(
    choice: StructureChoice, data: Dataset, joined: tuple[int, ...] = (0,), so_far: Graph = ()
) -> dict[Graph, float]:
    """ln of the probability of every course that the choice can take."""
    if len(joined) == len(data.names):
        return {so_far: 0.0}
    families, log_pmf = round_log_pmf(choice, data, joined)
    courses: dict[Graph, float] = {}
    for family, first in zip(families, log_pmf, strict=True):
        step = (family.child, family.parents)
        for course, rest in law(choice, data, (*joined, family.child), (*so_far, step)).items():
            courses[course] = float(first) + rest
    return courses


def graph_law(choice: StructureChoice, data: Dataset) -> dict[Graph, float]:
    """ln of the probability of every graph."""
    graphs: dict[Graph, float] = {}
    for course, log_p in law(choice, data).items():
        graph = tuple(sorted(course))
        graphs[graph] = float(np.logaddexp(graphs.get(graph, -math.inf), log_p))
    return graphs


def graph_of(network: Network) -> Graph:
    families = ((family[-1], tuple(sorted(family[:-1]))) for family in network.families)
    return tuple(sorted(family for family in families if family[0]))


def neighbours(network: Network, n: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of tables of n records that differ in one, as sorted places of records: their order does not count."""
    kinds = range(len(all_records(network)))
    return [
        (tuple(sorted((*rest, a))), tuple(sorted((*rest, b))))
        for rest in combinations_with_replacement(kinds, n - 1)
        for a, b in combinations(kinds, 2)
    ]


def worst_loss(choice: StructureChoice, network: Network, n: int) -> float:
    """The worst log ratio of the probabilities of any course, over all neighbouring tables."""
    records = all_records(network)
    tables = {table for pair in neighbours(network, n) for table in pair}
    laws = {t: np.array([*law(choice, table_of(network, [records[k] for k in t])).values()]) for t in tables}
    return max(float(np.abs(laws[a] - laws[b]).max()) for a, b in neighbours(network, n))


MIXED = Network.from_edges("abc", [], {"a": "xyz", "b": "uvw", "c": "no"})
CASES = [
    (empty(3), 1, 1),
    (empty(3), 1, 2),
    (empty(3), 1, 3),
    (empty(3), 2, 3),
    (empty(2), 1, 3),
    (MIXED, 1, 2),
]
MORE = [(MIXED, 2, 2), (MIXED, 1, 3), (empty(3), 1, 5), (empty(4), 2, 2)]


EPSILONS = [Fraction(1, 10), Fraction(2)]


@pytest.mark.parametrize(("case", "epsilon"), crossed(thorough([*CASES, *MORE], sample=CASES), EPSILONS, times=1))
def test_over_all_neighbouring_tables_no_course_loses_more_than_epsilon(case, epsilon) -> None:
    """[Zhang17] Algorithm 2, records replaced: the whole choice, with the order in which nodes were joined."""
    network, parents, n = case
    choice = StructureChoice(epsilon=epsilon, parents=parents)
    assert worst_loss(choice, network, n) <= float(epsilon) * (1 + 1e-12)


def test_half_the_noise_loses_more_than_epsilon(monkeypatch) -> None:
    monkeypatch.setattr(structure_choice, "distance_sensitivity", lambda *sizes: distance_sensitivity(*sizes) // 2)
    for n in (2, 3):
        assert worst_loss(StructureChoice(epsilon=Fraction(2), parents=1), empty(3), n) > 2.2


def test_the_laws_of_all_rounds_make_a_law() -> None:
    data = random_table(MIXED, np.random.default_rng(1), 20)
    for parents in (1, 2):
        courses = law(StructureChoice(epsilon=Fraction(3), parents=parents), data)
        assert np.exp([*courses.values()]).sum() == pytest.approx(1.0)


# What there is to choose from


def families_by_definition(choice: StructureChoice, data: Dataset, joined: tuple[int, ...]) -> set[CandidateFamily]:
    """Every allowed pair that is in no larger allowed pair of the same node."""
    cards = [len(states) for states in data.states]

    def allowed(child: int, parents: tuple[int, ...]) -> bool:
        cells = math.prod(cards[j] for j in (child, *parents))
        return len(parents) <= choice.parents and (cells <= choice.most_cells or not parents)

    left = set(range(len(cards))) - set(joined)
    sets = [s for size in range(len(joined) + 1) for s in combinations(sorted(joined), size)]
    pairs = [(child, s) for child in left for s in sets if allowed(child, s)]
    return {CandidateFamily(c, s) for c, s in pairs if not any(c == d and set(s) < set(t) for d, t in pairs)}


@pytest.mark.parametrize("parents", [1, 2, 3])
@pytest.mark.parametrize("cells", [2, 8, 12, 30, 500])
def test_the_pairs_are_the_largest_that_parents_and_cells_allow(parents: int, cells: int) -> None:
    states = {"a": "no", "b": "xyz", "c": "no", "d": "stuvw", "e": "xyz"}
    data = random_table(Network.from_edges("abcde", [], states), np.random.default_rng(0), 4)
    choice = StructureChoice(epsilon=Fraction(1), parents=parents, most_cells=cells)
    for size in range(1, 5):
        for joined in combinations(range(5), size):
            families = families_after(choice, cards_of(data), joined)
            assert len(set(families)) == len(families)
            assert set(families) == families_by_definition(choice, data, joined)


# Limits


def correlated(rng: np.random.Generator, n: int) -> Dataset:
    """a and d are nearly the same, as are c and b; b follows d in some records."""
    d = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.6, d, rng.integers(0, 2, n))
    flip = lambda column, share: column ^ (rng.random(n) < share)  # noqa: E731
    codes = np.stack([flip(d, 0.02), b, flip(b, 0.05), d], axis=1)
    return Dataset(tuple("abcd"), (("no", "yes"),) * 4, codes)


def test_a_large_epsilon_takes_the_best_of_each_round() -> None:
    data = correlated(np.random.default_rng(3), 800)
    choice = StructureChoice(epsilon=Fraction(1000), parents=1)
    network = simulate_structure(choice, data, np.random.default_rng(0)).network
    assert set(network.edges) == {("a", "d"), ("d", "b"), ("b", "c")}
    joined = [0]
    for best in (3, 1, 2):
        families, log_pmf = round_log_pmf(choice, data, joined)
        scores = [structure_choice._scores(data, [family], {})[0] for family in families]
        assert families[int(np.argmax(scores))].child == families[int(np.argmax(log_pmf))].child == best
        joined.append(best)


def test_a_small_epsilon_chooses_by_chance() -> None:
    data = correlated(np.random.default_rng(3), 800)
    choice = StructureChoice(epsilon=Fraction(1, 10**9), parents=2)
    for joined in ((0,), (0, 3), (0, 1, 2)):
        families, log_pmf = round_log_pmf(choice, data, joined)
        np.testing.assert_allclose(log_pmf, -math.log(len(families)), atol=1e-6)


def test_the_order_of_the_records_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    data = random_table(MIXED, rng, 30)
    assert law(HALF, data) == law(HALF, data.take(rng.permutation(30)))


def test_scores_are_those_of_counting_by_hand() -> None:
    data = random_table(MIXED, np.random.default_rng(5), 40)
    table = np.zeros((3 * 2, 3), dtype=np.int64)
    for a, b, c in data.codes.tolist():
        table[a * 2 + c, b] += 1
    scores = structure_choice._scores(data, [CandidateFamily(1, (0, 2)), CandidateFamily(1, ())], {})
    assert scores.tolist() == [distance_from_independence(table), 0]


def test_no_table_is_counted_twice(monkeypatch) -> None:
    tables = []

    def counting(counts: np.ndarray) -> int:
        tables.append(counts.shape)
        return distance_from_independence(counts)

    monkeypatch.setattr(structure_choice, "distance_from_independence", counting)
    data = random_table(empty(6), np.random.default_rng(6), 50)
    simulate_structure(StructureChoice(epsilon=Fraction(1), parents=1), data, np.random.default_rng(0))
    assert len(tables) == 6 * 5 / 2  # in each round the pairs of the node that was just joined


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize(
    "draw", [draw_structure, lambda c, data: simulate_structure(c, data, np.random.default_rng(1))]
)
def test_without_records_to_tell_apart_a_graph_is_chosen_by_chance(n: int, draw) -> None:
    chosen = draw(HALF, random_table(MIXED, np.random.default_rng(0), n))
    assert chosen.spent == Fraction(1, 2)
    assert [stage.sensitivity for stage in chosen.rounds] == [0, 0]


def test_a_table_of_one_column_costs_nothing() -> None:
    chosen = draw_structure(HALF, random_table(empty(1), np.random.default_rng(0), 5))
    assert (chosen.network, chosen.joined, chosen.rounds, chosen.spent) == (empty(1), ("v0",), (), 0)


# What is handed over


def test_the_rounds_state_what_each_was_and_add_up_to_epsilon() -> None:
    data = random_table(MIXED, np.random.default_rng(7), 25)
    choice = StructureChoice(epsilon=Fraction("0.7"), parents=2, first="b")
    chosen = simulate_structure(choice, data, np.random.default_rng(7))
    assert chosen.spent == Fraction(7, 10)
    assert Fraction(chosen.certified.epsilon) >= chosen.spent  # 0.7 as a double is below 7/10
    assert chosen.certified.epsilon == pytest.approx(0.7, rel=1e-15)
    assert [(stage.candidates, stage.epsilon) for stage in chosen.rounds] == [
        (2, Fraction(7, 20)),
        (1, Fraction(7, 20)),
    ]
    assert chosen.rounds[0].sensitivity == 6 * 24  # b and a have three states each
    assert chosen.network.names == data.names
    assert chosen.network.states == data.states
    assert chosen.network.parents[1] == ()


def test_binary_columns_need_less_noise() -> None:
    data = random_table(empty(4), np.random.default_rng(7), 25)
    chosen = simulate_structure(HALF, data, np.random.default_rng(7))
    assert [stage.sensitivity for stage in chosen.rounds] == [4 * 24] * 3


def test_nothing_but_the_graph_and_its_order_depends_on_the_records() -> None:
    """Whatever the table, the rounds are those that follow from the domains, n and the order; and orders differ."""
    rng, orders = np.random.default_rng(9), set()
    mixed = Network.from_edges("abcd", [], {"a": "no", "b": "xyz", "c": "no", "d": "uvwxy"})
    choice = StructureChoice(epsilon=Fraction(1, 2), most_cells=12)
    for seed in range(40):
        chosen = simulate_structure(choice, random_table(mixed, rng, 6), np.random.default_rng(seed))
        places = [mixed.position[name] for name in chosen.joined]
        assert sorted(places) == [0, 1, 2, 3]
        expected = [round_after(choice, (2, 3, 2, 5), 6, places[:size]) for size in (1, 2, 3)]
        assert (chosen.choice, list(chosen.rounds)) == (choice, expected)
        assert all(
            set(ps) <= set(chosen.joined[: chosen.joined.index(c)])
            for c, ps in zip("abcd", chosen.network.parents, strict=True)
        )
        orders.add(chosen.joined)
    assert len(orders) > 3
    assert {field.name for field in dataclasses.fields(ChosenStructure)} == {"network", "joined", "choice", "rounds"}
    assert {field.name for field in dataclasses.fields(Round)} == {"candidates", "epsilon", "sensitivity"}


# Draws


def p_value(networks: list[Network], log_law: dict[Graph, float]) -> float:
    seen = Counter(map(graph_of, networks))
    assert set(seen) <= set(log_law)
    expected = np.exp([*log_law.values()]) * len(networks)
    return float(stats.chisquare([seen[graph] for graph in log_law], expected / expected.sum() * len(networks)).pvalue)


def test_simulated_graphs_follow_the_law_and_not_that_of_another_epsilon() -> None:
    data, rng = correlated(np.random.default_rng(10), 60).select("abc"), np.random.default_rng(10)
    choice = StructureChoice(epsilon=Fraction(1), parents=1)
    networks = [simulate_structure(choice, data, rng).network for _ in range(4_000)]
    assert p_value(networks, graph_law(choice, data)) > CERTAINTY
    assert p_value(networks, graph_law(dataclasses.replace(choice, epsilon=Fraction(2)), data)) < CERTAINTY


def test_graphs_drawn_by_opendp_follow_the_law_and_not_that_of_half_the_noise() -> None:
    """No seed: false alarms are as improbable as WITHOUT_SEED says, and missing half the noise still less probable."""
    data = correlated(np.random.default_rng(10), 60).select("abc")
    choice = StructureChoice(
        epsilon=Fraction(1), parents=1
    )  # every graph is drawn a hundred times, as chi-square needs
    networks = [draw_structure(choice, data).network for _ in range(800)]
    assert p_value(networks, graph_law(choice, data)) > WITHOUT_SEED
    assert p_value(networks, graph_law(dataclasses.replace(choice, epsilon=Fraction(2)), data)) < WITHOUT_SEED


def test_opendp_gets_the_sensitivity_and_the_epsilon_of_every_round(monkeypatch) -> None:
    calls = []

    def remembered(scores, *, sensitivity, epsilon):
        calls.append((len(scores), epsilon, sensitivity, scores.dtype))
        return 0

    monkeypatch.setattr(structure_choice, "draw_flip", remembered)
    chosen = draw_structure(HALF, random_table(MIXED, np.random.default_rng(0), 30))
    assert calls == [(stage.candidates, stage.epsilon, stage.sensitivity, np.int64) for stage in chosen.rounds]
    assert all(isinstance(sensitivity, int) for _, _, sensitivity, _ in calls)


# Refusals


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"epsilon": 0.5}, "exact number"),
        ({"epsilon": True}, "exact number"),
        ({"epsilon": "1"}, "exact number"),
        ({"epsilon": Fraction(0)}, "above 0"),
        ({"epsilon": Fraction(-1)}, "above 0"),
        ({"epsilon": Fraction(1001)}, "at most 1000"),
        ({"epsilon": 1, "parents": 0}, "between 1 and 8"),
        ({"epsilon": 1, "parents": 1.5}, "whole number"),
        ({"epsilon": 1, "most_cells": 1}, "between 2 and"),
    ],
)
def test_choices_that_cannot_be_made_are_refused(settings: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        StructureChoice(**settings)


def wide(columns: int) -> Dataset:
    return Dataset(
        tuple(f"v{j}" for j in range(columns)), (("no", "yes"),) * columns, np.zeros((3, columns), dtype=int)
    )


def nothing_is_drawn(choice: StructureChoice, data: Dataset, sentence: str, monkeypatch) -> None:
    def drawn(*arguments, **settings):
        raise AssertionError("drawn")

    monkeypatch.setattr(structure_choice, "draw_flip", drawn)
    monkeypatch.setattr(structure_choice, "simulate_flip", drawn)
    for attempt in (
        lambda: draw_structure(choice, data),
        lambda: simulate_structure(choice, data, np.random.default_rng(0)),
    ):
        with pytest.raises(InputError, match=sentence):
            attempt()


@pytest.mark.parametrize(
    ("settings", "data", "sentence"),
    [
        ({"parents": 3}, wide(30), "Allow fewer parents or use fewer columns"),
        ({"first": "age"}, wide(3), '"age"'),
        ({"most_cells": 100_000}, wide(20), "Allow smaller tables"),
        ({}, wide(0), "no nodes"),
        ({}, Dataset(("a", "b"), (("x", "x"), ("x", "y")), np.zeros((1, 2), dtype=int)), "used twice"),
    ],
)
def test_what_cannot_be_carried_through_is_refused_before_anything_is_drawn(
    settings, data, sentence, monkeypatch
) -> None:
    nothing_is_drawn(StructureChoice(epsilon=Fraction(1), **settings), data, sentence, monkeypatch)


def test_a_table_with_more_records_than_64_bits_can_score_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(structure_choice, "MOST_RECORDS", 2)
    nothing_is_drawn(HALF, wide(3), "at most 2", monkeypatch)


def test_the_number_of_pairs_is_counted_before_they_are_listed() -> None:
    choice = StructureChoice(epsilon=Fraction(1), parents=2)
    require_feasible(choice, wide(34))  # 34 (1 + 33 + 528) = 19,108
    with pytest.raises(InputError, match=f"20,860 pairs .*the limit is {MOST_PAIRS:,}"):
        require_feasible(choice, wide(35))


# Power


@pytest.mark.parametrize(("first", "strongest"), [("bronc", "dysp"), ("smoke", "bronc")])
def test_the_distance_takes_the_strongest_arrow_of_a_first_round(first, strongest) -> None:
    network, cpts = load_named("asia")
    data = sample_dataset(network, cpts, 1000, np.random.default_rng(12))
    arrow = CandidateFamily(data.position[strongest], (data.position[first],))
    choice = StructureChoice(epsilon=Fraction(1), parents=1, first=first)
    families, log_pmf = round_log_pmf(choice, data, arrow.parents)
    assert math.exp(log_pmf[families.index(arrow)]) > 0.9


# How much of a choice is noise


def test_the_share_of_noise_is_that_of_the_formula():
    """Two binary columns: one pair, so nothing to choose; three: in the last round two pairs, at epsilon / 2 each."""
    assert noise_share(HALF, (2, 2), 100) == 0
    one_parent = dataclasses.replace(HALF, parents=1)
    scale = 2 * 4 * 99 / 0.25
    assert noise_share(one_parent, (2, 2, 2), 100) == pytest.approx(scale * 1.5 / 100**2)
    assert noise_share(one_parent, (2, 1, 1), 100) == 0
    assert math.isinf(noise_share(one_parent, (2, 2, 2), 0))


def test_the_share_of_noise_falls_with_records_and_epsilon_and_grows_with_columns():
    def share(*, d: int = 6, n: int = 400, epsilon: int = 1) -> float:
        return noise_share(StructureChoice(epsilon=Fraction(epsilon)), (2,) * d, n)

    assert share(n=800) == pytest.approx(share() / 2, rel=0.01)
    assert share(epsilon=2) == pytest.approx(share() / 2)
    assert share(d=12) > share(d=6)


def test_no_dependence_is_stronger_than_the_strongest_there_can_be():
    for states in (2, 3, 5):
        even = 30 * np.eye(states, dtype=np.int64)
        n = int(even.sum())
        assert distance_from_independence(even) == 2 * n**2 * (states - 1) // states
        rng = np.random.default_rng(states)
        for lines in (2, states, 7):
            counts = rng.multinomial(n, rng.dirichlet(np.full(lines * states, 0.2))).reshape(lines, states)
            assert distance_from_independence(counts) <= 2 * n**2 * (1 - 1 / min(lines, states)) + CERTAINTY


@pytest.mark.parametrize(("n", "is_lost"), [(30, True), (5000, False)])
def test_where_noise_is_beyond_the_strongest_dependence_even_a_copy_is_lost_among_others(n, is_lost):
    """Ten columns, of which the last is a copy of the first: with few records it is often joined to another one."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2, (n, 10))
    codes[:, 9] = codes[:, 0]
    data = table_of(TEN, codes)
    choice = StructureChoice(epsilon=Fraction(1), parents=1)
    assert (noise_share(choice, cards_of(data), n) > 1) == is_lost
    chosen = [simulate_structure(choice, data, np.random.default_rng(seed)).network for seed in range(20)]
    copies = sum(any({parent, child} == {TEN.names[0], TEN.names[9]} for parent, child in net.edges) for net in chosen)
    assert (copies < 20) == is_lost
