"""What is planned agrees with what is released: the mechanism named is the one with the least error on a table."""

import itertools
from contextlib import suppress

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.experiments.planned_errors import Plan, PlannedErrors, errors_of, planned_errors
from dpbayes.mechanisms import PRIVATE, LaplaceUpdates
from dpbayes.model.counts import Counts
from dpbayes.model.cpts import random_cpts
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import Reading
from dpbayes.sources.named_networks import chain, empty, full, load_named, naive_bayes, tree
from dpbayes.ui.pages.network.errors import MOST_SLOW, names_compared
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.settings import Settings
from tests.conftest import thorough
from tests.experiments.shifts import concluded_and_exact, mean_shift

RELEASES, FRESH = 200, 10
"""Releases that are simulated, and tables that they are of where an average over tables is told."""


def random_network(seed: int) -> Network:
    """A graph of three to seven nodes; of every other seed some have three states."""
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(rng.integers(3, 8))]
    arrows = [pair for pair in itertools.combinations(names, 2) if rng.random() < 0.35]
    most = 4 if seed % 2 else 3
    return Network.from_edges(names, arrows, {name: tuple("abc"[: rng.integers(2, most)]) for name in names})


NETWORKS = {
    **{key: load_named(key) for key in ("asia", "sprinkler", "cancer", "earthquake", "survey", "sachs")},
    **{
        name: (network, random_cpts(network, np.random.default_rng(len(name))))
        for name, network in {
            "chain": chain(8),
            "tree": tree(8),
            "bayes": naive_bayes(8),
            "full": full(5),
            "empty": empty(6),
            "short": chain(3),
            **{f"random {seed}": random_network(seed) for seed in range(8)},
        }.items()
    },
}
"""Twenty networks, with the probabilities that all their tables come from."""


COMPARED = tuple(map(kind_called, names_compared(Chosen(Settings()), searched=True)))
"""The mechanisms that the headline of Network compares on Asia, and on each of these: none has more cells than that."""


def mechanisms_of(network: Network, epsilon: float) -> list:
    """Return those that can be run on a network."""
    able = []
    for kind in COMPARED:
        with suppress(InputError):  # some need binary nodes
            able.append(kind(prior=Dirichlets.symmetric(network), epsilon=epsilon))
    return able


def test_every_mechanism_with_a_promise_takes_part_on_asia():
    assert set(COMPARED) == set(PRIVATE)
    assert [type(mechanism) for mechanism in mechanisms_of(NETWORKS["asia"][0], 1.0)] == list(COMPARED)
    assert max(network.cell_count for network, _ in NETWORKS.values()) <= MOST_SLOW


def quick_mechanisms_of(network: Network, epsilon: float) -> list:
    """Return those that are drawn together, which the page compares where every arrow of many cells is removed."""
    return [mechanism for mechanism in mechanisms_of(network, epsilon) if hasattr(mechanism, "node_noise_sd")]


SAMPLE = ("asia", "survey", "tree", "short", "random 2")

READ = thorough(
    itertools.product(NETWORKS, Reading),
    sample=[*((name, Reading.AS_REAL) for name in SAMPLE), *((name, Reading.NOISE_AWARE) for name in SAMPLE[:2])],
)
"""Networks, and how their releases are read."""


@pytest.mark.parametrize(("epsilon", "n"), thorough([(1.0, 1000), (0.3, 200)], sample=[(1.0, 1000)]))
@pytest.mark.parametrize(("name", "reading"), READ)
def test_the_mechanism_that_is_named_has_the_least_error_on_a_table(name, epsilon, n, reading):
    (network, cpts), rng = NETWORKS[name], np.random.default_rng(7)
    mechanisms = mechanisms_of(network, epsilon)
    tables = planned_tables(network, cpts, n, max(8, min(100, 4000 // network.cell_count)), rng)
    planned = finished(planned_errors(Plan(tables, reading), mechanisms, np.random.default_rng, at_once=50))
    table = Counts(network, planned_tables(network, cpts, n, 1, rng).values[0], n)
    simulated = [mean_shift(mechanism, table, rng, RELEASES, reading) for mechanism in mechanisms]
    assert int(np.argmin(simulated)) in (planned.least, *planned.near)


@pytest.mark.parametrize("name", thorough(NETWORKS, sample=["asia", "sachs", "bayes", "random 2"]))
def test_the_mechanism_that_is_named_for_a_question_answers_it_best(name):
    (network, cpts), rng = NETWORKS[name], np.random.default_rng(7)
    mechanisms, question = mechanisms_of(network, 1.0), question_of(network)
    tables = planned_tables(network, cpts, 1000, max(8, min(100, 4000 // network.cell_count)), rng)
    work = planned_errors(Plan(tables, Reading.AS_REAL, question), mechanisms, np.random.default_rng, at_once=50)
    planned = finished(work).of_answer
    assert planned is not None
    errors = []
    for mechanism in mechanisms:
        fresh = fresh_tables(name, 1000, rng)
        pairs = [concluded_and_exact(mechanism, table, rng, RELEASES // FRESH) for table in fresh]
        answers = [[query(network, cells, *question) for cells in pair] for pair in pairs]
        errors.append(np.mean([np.abs(private - exact).mean() for private, exact in answers]))
    assert int(np.argmin(errors)) in (planned.least, *planned.near)


ADDED = 3.1, 4.0
"""Standard errors of the planned and of the simulated change that each must be from 0: a false alarm, where one of them
were 0 or less, has a probability below 1e-3 for the planned and 3.2e-5 for the simulated one, 3.1e-8 for both."""


@pytest.mark.parametrize("reading", Reading)
def test_an_added_arrow_changes_the_planned_error_as_it_changes_that_of_releases(reading):
    """The tables are drawn from the published network, whatever arrows are fitted."""
    asia, cpts = NETWORKS["asia"]
    states = dict(zip(asia.names, asia.states, strict=True))
    wider = Network.from_edges(asia.names, [*asia.edges, ("asia", "bronc")], states)
    planned, simulated = [], []
    for fitted in (asia, wider):
        laplace = LaplaceUpdates(prior=Dirichlets.symmetric(fitted), epsilon=1.0)
        plan = Plan(planned_tables(asia, cpts, 1000, 100, np.random.default_rng(3), fitted=fitted), reading)
        planned.append(errors_of(plan, laplace, np.random.default_rng(4)).cells)
        fresh = planned_tables(asia, cpts, 1000, 40, np.random.default_rng(5), fitted=fitted).values
        counts = [Counts(fitted, table, 1000) for table in fresh]
        releases = 80 if reading is Reading.NOISE_AWARE else 20
        rngs = map(np.random.default_rng, range(len(counts)))
        shifts = [mean_shift(laplace, *table, releases, reading) for table in zip(counts, rngs, strict=True)]
        simulated.append(np.array(shifts))
    for (before, after), far in zip((planned, simulated), ADDED, strict=True):
        change = after - before
        assert change.mean() > far * stats.sem(change)


def question_of(network: Network) -> tuple[str, dict[str, str]]:
    """What is asked of a network: its last node, given its first one."""
    return network.names[-1], {network.names[0]: network.states[0][0]}


def fresh_tables(name: str, n: int, rng: np.random.Generator) -> list[Counts]:
    """Some more tables of the same probabilities, as they might come true."""
    network, cpts = NETWORKS[name]
    return [Counts(network, values, n) for values in planned_tables(network, cpts, n, FRESH, rng).values]


@pytest.mark.parametrize("name", ["asia", "survey", "tree"])
def test_it_is_not_always_too_near_to_call(name):
    network, cpts = NETWORKS[name]
    tables = planned_tables(network, cpts, 1000, 60, np.random.default_rng(3))
    pair = mechanisms_of(network, 1.0)
    pair = [pair[0], pair[-1]]
    planned = finished(planned_errors(Plan(tables, Reading.AS_REAL), pair, np.random.default_rng, at_once=60))
    assert (planned.least, planned.near) == (1, ())


def test_errors_are_those_of_the_releases():
    (network, cpts), rng = NETWORKS["asia"], np.random.default_rng(1)
    tables = planned_tables(network, cpts, 500, 3, rng)
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(network), epsilon=1.0)
    question = ("dysp", {"smoke": "yes"})
    cells, nodes, answers = errors_of(Plan(tables, Reading.AS_REAL, question), mechanism, np.random.default_rng(2))
    release = mechanism.release(tables, np.random.default_rng(2), ())
    exact = mechanism.prior.updated(tables)
    off = np.abs(release.outcome.probabilities - exact.mean)
    np.testing.assert_allclose(cells, off.mean(axis=-1))
    for node in range(len(network.names)):
        of_node = network.table(off, node).reshape(3, -1)
        np.testing.assert_allclose(nodes[:, node], of_node.mean(axis=-1))
    private, without_noise = release.posterior.query(*question), exact.query(*question)
    np.testing.assert_allclose(answers, np.abs(private - without_noise).mean(axis=-1))


def test_tables_taken_in_parts_have_the_errors_of_all():
    (network, cpts), rng = NETWORKS["sprinkler"], np.random.default_rng(1)
    plan = Plan(planned_tables(network, cpts, 100, 7, rng), Reading.AS_REAL)
    mechanisms = mechanisms_of(network, 1.0)
    work = planned_errors(plan, mechanisms, np.random.default_rng, at_once=3)
    assert [step.result.cells.shape[1] for step in work] == [3, 6]
    planned = finished(planned_errors(plan, mechanisms, np.random.default_rng, at_once=3))
    assert planned.cells.shape == (len(mechanisms), 7)
    assert planned.nodes is not None
    assert planned.nodes.shape == (len(mechanisms), 7, len(network.names))
    sizes = np.diff(network.cell_offsets) / network.cell_count
    np.testing.assert_allclose(planned.nodes @ sizes, planned.cells)
    assert planned.answers is None


def test_what_is_near_is_decided_by_pairs_and_by_a_margin():
    noise = np.random.default_rng(1).normal(scale=0.1, size=50)
    errors = PlannedErrors(("least", "near", "far"), np.stack([1 + noise, 1.01 + noise, 1.1 + noise]))
    assert (errors.least, errors.near) == (0, (1,)), "far is far, as both have the same tables"
    apart = PlannedErrors(("least", "far"), np.stack([1 + noise, 1.05 - 3 * noise]))
    assert apart.near == (1,)
    assert PlannedErrors(("a", "b"), np.array([[1.0], [2.0]])).near == (1,), "one table tells nothing"


def test_the_farthest_node_is_named_with_those_too_near_to_it_by_the_least_mechanism_alone():
    noise = np.random.default_rng(1).normal(scale=0.1, size=(50, 1))
    least = np.array([0.1, 0.4, 0.41, 0.2]) + 0.1 * noise
    other = np.array([0.9, 0.1, 0.1, 0.1]) + noise
    nodes = np.stack([other, least])
    errors = PlannedErrors(("other", "least"), nodes.mean(axis=-1), nodes)
    assert errors.least == 1
    assert errors.farthest == (2, 1)
    np.testing.assert_allclose(errors.node_means, nodes.mean(axis=1))
    assert PlannedErrors(("a",), np.ones((1, 3))).farthest == ()
