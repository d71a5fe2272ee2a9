"""A mistake in Python gets one sentence that names the argument, the value and the cure."""

import tempfile
from functools import cache

import numpy as np
import pandas as pd
import pytest

import dpbayes as dp
from dpbayes.mechanisms.regression import RegressionSampler

ASIA, CPTS = dp.load_named("asia")
DATA = dp.sample_dataset(ASIA, CPTS, 100, 1)
COUNTS = dp.count(ASIA, DATA)
FRAME = pd.DataFrame({"smoke": ["yes", "no"]})
LAPLACE = dp.LaplaceUpdates(prior=ASIA, epsilon=1)
SIMULATED = LAPLACE.simulate(COUNTS, 1)
POSTERIOR = LAPLACE.prior.updated(COUNTS)
BINARY = dp.network("a -> b")
SAMPLER = dp.PosteriorSampler(prior=ASIA, epsilon=1)
SMOKE = dp.LaplaceUpdates(prior=dp.network("smoke"), epsilon=1)
REGRESSION = RegressionSampler(prior_precision=1)
OTHER = dp.LaplaceUpdates(prior=BINARY, epsilon=1)
BINS = dp.Dirichlets.symmetric(dp.network("years -> b", {"years": ["< 30", "30 to < 50", ">= 50"]}))


@cache
def released():
    table = dp.sample_dataset(BINARY, np.full(6, 0.5), 9, 1)
    with pytest.warns(dp.UnaccountedWarning):
        return dp.release(table, OTHER, graph_unseen=True)


class One:
    def simulate(self, statistic, rng, size):
        return rng.random(2)


class Own(One):
    prior = ASIA


def audited(second, mechanism=LAPLACE):
    return dp.audit_by_draws(mechanism, first=DATA, second=second, rng=1)


def least(kind, n):
    return dp.least_epsilon(dp.Question(ASIA, "dysp", "yes"), CPTS, kind, n=n, tolerance=0.1)


def loaded(declarations):
    return dp.load(released().save(f"{tempfile.mkdtemp()}/release.json"), declarations)


MISTAKES = {
    "a frame is counted": (lambda: dp.count(ASIA, FRAME), "DataFrame", "from_frame"),
    "a graph that may depend on records": (lambda: dp.release(DATA, LAPLACE), "graph", "graph_unseen=True"),
    "a name instead of a mechanism's value": (lambda: dp.release(DATA, "laplace", graph_unseen=True), "str", "Laplace"),
    "no real release": (lambda: dp.release(DATA, SAMPLER, graph_unseen=True), "PosteriorSampler", "LaplaceUpdates"),
    "a release that is not there": (lambda: dp.load("nowhere.json"), "nowhere.json", "No such file"),
    "records instead of counts": (lambda: LAPLACE.simulate(DATA, 1), "Dataset", "dp.count"),
    "a text as a seed": (lambda: LAPLACE.simulate(COUNTS, "1"), "seed", "1"),
    "a negative seed": (lambda: dp.sample_dataset(ASIA, CPTS, 10, -1), "seed", "-1"),
    "a text as a file": (lambda: dp.read_table("a.csv", "a,b\n1,2\n"), "str", "bytes"),
    "a file that does not exist": (lambda: dp.read_table("nowhere.csv"), "nowhere.csv", "No such file"),
    "NaN among cut points": (lambda: dp.cuts(0, 30, float("nan"), 120), '"nan"', "None"),
    "a frame as states": (lambda: dp.network("a -> b", FRAME), "DataFrame", '{"smoker": ["no", "yes"]}'),
    "a guess without names": (lambda: dp.guess(BINARY, [0.1]), "list", '{"smoke=yes": 0.3}'),
    "texts for truth values": (
        lambda: dp.Table.from_frame(pd.DataFrame({"ill": [True]}), {"ill": ["no", "yes"]}),
        '"True"',
        "[False, True]",
    ),
    "a table of a frame": (lambda: dp.Table(FRAME, {"smoke": ["no", "yes"]}), "dp.Table", "from_frame"),
    "another arrow": (lambda: dp.network("a => b"), "a => b", '"->"'),
    "an arrow to the left": (lambda: dp.network("a; b <- c"), "b <- c", '"->"'),
    "one text as states": (lambda: dp.Categories("smoke", "yes"), "yes", '["no", "yes"]'),
    "one text as a node's states": (lambda: dp.network("a -> b", {"a": "yes"}), '"a"', '["no", "yes"]'),
    "a text instead of a pair": (lambda: dp.network(["a -> b"]), "arrows[0]", "texts"),
    "a graph as a dictionary of texts": (lambda: dp.network({"a": 1}), "pairs", "->"),
    "two networks": (lambda: dp.kl(POSTERIOR, dp.Dirichlets.symmetric(dp.chain(3))), "different networks", "one"),
    "negative counts": (lambda: dp.Counts(dp.chain(1), np.array([-1, 2]), 1), "whole numbers", "dp.count"),
    "epsilon as text": (lambda: dp.LaplaceUpdates(prior=ASIA, epsilon="1"), "epsilon", "quotation marks"),
    "too few counts": (lambda: LAPLACE.prior.updated(np.ones(3)), "36", "(3,)"),
    "records update a prior": (lambda: LAPLACE.prior.updated(DATA), "Dataset", "dp.count"),
    "evidence as text": (lambda: POSTERIOR.query("dysp", "smoke=yes"), "str", '{"smoke": "yes"}'),
    "an unknown node": (lambda: POSTERIOR.query("Dysp"), "Dysp", "dysp"),
    "a level as a truth value": (lambda: POSTERIOR.query("dysp", interval=True), "interval", "True"),
    "a negative epsilon to compare": (lambda: dp.compare(DATA, ASIA, epsilons=[-1]), "epsilons", "0.001 and 1,000; -1"),
    "an adaptive delta of 1": (lambda: dp.release_adaptive(DATA, epsilon=1, delta=1), "delta", "; 1 is not"),
    "arrows as a prior": (lambda: dp.LaplaceUpdates(prior="a -> b", epsilon=1), '"a -> b"', "dp.network("),
    "a wrong state in a guess": (lambda: dp.guess(BINARY, {"a=maybe": 0.1}), "a=maybe", '"a=no" or "a=yes"'),
    "a node that is no column": (lambda: dp.network("Smoke -> dysp", DATA), "Smoke", "smoke"),
    "a comma between arrows": (lambda: dp.network("a -> b, b -> c"), "a -> b, b -> c", "semicolons"),
    "another domain": (lambda: dp.release(DATA, SMOKE, graph_unseen=True), "smoke", "dp.network(arrows, table)"),
    "nearly the name of a bin": (lambda: dp.cuts(15, 25, 50, missing="<25"), "<25", '"< 25"'),
    "a regression's table": (lambda: REGRESSION.simulate(DATA, 1), "Dataset", "scaled("),
    "no ledger": (lambda: dp.release(DATA, LAPLACE, graph_unseen=True, ledger="no"), "no ledger at no", "open_ledger("),
    "a mechanism's value instead of its class": (lambda: least(LAPLACE, n=9), "LaplaceUpdates", "dp.LaplaceUpdates"),
    "a description that is not there": (lambda: dp.read_domains("d.toml"), "d.toml", "No such file"),
    "a simulated release is verified": (lambda: dp.verify(LAPLACE.simulate(COUNTS, 1)), "Release", "dp.release"),
    "table and network in the other order": (lambda: dp.explore(ASIA, DATA), "interchanged", "explore(table, network"),
    "a mechanism as text": (lambda: dp.explore(DATA, ASIA, mechanism="laplace"), "laplace", "dp.LaplaceUpdates"),
    "one epsilon to compare": (lambda: dp.compare(DATA, ASIA, epsilons=1), "epsilons", "[0.1, 1]"),
    "a function is audited": (lambda: dp.audit_by_draws(len, first=1, second=2, rng=1), "mechanism", "simulate(stat"),
    "an unknown state": (lambda: POSTERIOR.query("dysp", {"smoke": "maybe"}), "maybe", '"yes", "no"'),
    "an unknown state of an answer": (lambda: POSTERIOR.query("dysp", interval=0.9)["maybe"], "maybe", '"yes", "no"'),
    "a number among bins": (lambda: BINS.query("b", {"years": 30}), '"30"', '"30 to < 50"'),
    "too few probabilities": (lambda: dp.query(ASIA, CPTS[:3], "dysp", {}), "36", "(3,)"),
    "a name that is no probability": (lambda: dp.guess(BINARY, {"b": 0.1}), '"b"', '"b=yes | a=yes"'),
    "probabilities above 1": (lambda: dp.guess(BINARY, {"a=yes": 0.7, "a=no": 0.7}), '"a"', "sum to 1"),
    "the risk of a name": (lambda: dp.risk("laplace", n=10), "str", "a mechanism or a release"),
    "the risk without n": (lambda: dp.risk(LAPLACE), "number of records", "n=1000"),
    "a name instead of a mechanism": (lambda: dp.audit_report("laplace", n=10, epsilons=[1]), "laplace", "prior="),
    "a record that is not there": (lambda: DATA.take([1000]), "1000", "100"),
    "a batch is drawn": (
        lambda: dp.plot.posteriors(LAPLACE.simulate(COUNTS, 1, (3,)), "smoke=yes"),
        "batch",
        "part(0)",
    ),
    "an unknown seat": (lambda: dp.explore(DATA, ASIA, seat="auditor"), "auditor", "curator, recipient"),
    "one release to compare": (lambda: dp.compare(DATA, ASIA, epsilons=[1], releases=1), "releases", "2"),
    "arguments without their names": (lambda: dp.LaplaceUpdates(ASIA, 1), "positional", "prior=..., epsilon=..."),
    "a wrong name of an argument": (lambda: dp.risk(LAPLACE, N=9), "'N'", "risk(mechanism, n=..."),
    "a column of a table": (lambda: DATA["smoke"], "smoke", ".to_frame()"),
    "a table instead of a release": (lambda: dp.load(__file__), "test_mistakes.py", "release.save"),
    "the declarations of other columns": (lambda: loaded({"b": ["no", "yes"]}), '"a"', "column"),
    "a question about another network": (lambda: dp.explore(DATA, ASIA, dp.Question(BINARY, "a", "no")), "another", ""),
    "mechanisms by name": (lambda: dp.plot.accuracy(ASIA, DATA, "dysp", mechanisms=["laplace"]), "laplace", "dp.Lapl"),
    "evidence twice": (lambda: POSTERIOR.query("dysp", {"smoke": "yes"}, smoke="no"), '"smoke"', "once"),
    "no epsilon to compare": (lambda: dp.compare(DATA, ASIA, epsilons=[]), "epsilons", "[0.1, 1]"),
    "a misspelt field": (lambda: dp.declare({"a": {"value": ["no", "yes"]}}), '"a"', "fields values, groups, cuts"),
    "a misspelt rule": (lambda: dp.declare({"a": {"cuts": [0, 1, 2], "missin": True}}), '"a"', "perhaps missing"),
    "a mechanism is drawn": (lambda: dp.plot.posteriors(LAPLACE, "smoke=yes"), "LaplaceUpdates", "returns"),
    "a text among numbers": (lambda: dp.compare(DATA, ASIA, epsilons=["x"]), "epsilons[0]", "0.5"),
    "a number as a name": (lambda: dp.guess(BINARY, {1: 0.5}), "stated", "quotation marks"),
    "a query of nothing": (lambda: released().query(a="no"), "'target'", "query(target, evidence"),
    "a frame's library": (lambda: released().synthetic(5).to_frame("polars"), "positional", "to_frame("),
    "arrows instead of a network": (lambda: dp.Dirichlets.capped("a -> b"), '"a -> b"', "dp.network"),
    "a board in no folder": (lambda: dp.explore(DATA, ASIA).save("no/x.html"), "no/x.html", "cannot be written"),
    "a class is audited": (lambda: dp.audit_report(dp.LaplaceUpdates, n=9, epsilons=[1]), "object", "prior=network"),
    "the class of a mechanism": (lambda: dp.release(DATA, dp.LaplaceUpdates, graph_unseen=True), "prior=", "LaplaceUp"),
    "draws that ignore their number": (lambda: dp.audit_by_draws(One(), first=1, second=2, rng=1), "simulate", "size"),
    "one epsilon twice": (lambda: dp.compare(DATA, ASIA, epsilons=[1, 1]), "epsilons", "once"),
    "cut points that fall": (lambda: dp.cuts(30, 0, 100), "0 follows 30", "increase"),
    "a BIF file that is not there": (lambda: dp.read_bif("nowhere.bif"), "nowhere.bif", "No such file"),
    "too few codes": (lambda: DATA.replace(0, [9, 9]), "[9, 9]", "table.codes[1]"),
    "a ledger in no folder": (lambda: dp.open_ledger("no/x", epsilon=1, reason="x"), "no/x", "Make the folder"),
    "a frame is audited": (lambda: audited(FRAME), "data", "from_frame"),
    "tables without a prior": (
        lambda: audited(DATA.replace(0, DATA.codes[-1]), One()),
        "no prior",
        "dp.count(network, table)",
    ),
    "a network as an own prior": (lambda: dp.audit_by_draws(Own(), first=1, second=2, rng=1), "Network", "capped("),
    "an own class": (lambda: least(One, n=1), "One", "MECH"),
    "a negative number of samples": (lambda: POSTERIOR.sample(1, -1), "size", "-1"),
    "another posterior": (lambda: dp.plot.posteriors(SIMULATED, "smoke=yes", exact=BINS), "exact", "another network"),
    "a part of one release": (lambda: SIMULATED.part(0), '"0"', "(36,)"),
    "a part that is not there": (lambda: LAPLACE.simulate(COUNTS, 1, (2,)).part(9), '"9"', "(2, 36)"),
    "no points": (lambda: SIMULATED.noise_aware(points=-3), "points", "1"),
    "a negative number of releases": (lambda: LAPLACE.simulate(COUNTS, 1, (-1,)), "size", "0"),
    "tables that are no neighbours": (lambda: audited(DATA.take(slice(9))), "100 records", "table.replace"),
    "a table and itself": (lambda: audited(DATA), "0 records", "table.replace"),
    "an arrow that is not there": (lambda: ASIA.without_edge("asia", "smoke"), "asia -> smoke", "network.edges"),
    "arrows as a text": (lambda: dp.Network.from_edges(["a"], "a -> b"), "from_edges", '[("a", "b")]'),
    "a cell that is not there": (lambda: ASIA.cell_label(999), "999", "35"),
    "a row that is not there": (lambda: ASIA.row_label(999), "999", "17"),
    "a node and its values": (lambda: ASIA.table(0, COUNTS.values), "()", "36"),
    "NaN as probabilities": (lambda: dp.query(ASIA, CPTS * np.nan, "dysp", {}), "sum to 1", "posterior.mean"),
    "rows that sum to 3": (lambda: dp.query(ASIA, CPTS * 3, "dysp", {}), "sum to 1", "posterior.mean"),
    "no records are planned": (lambda: least(dp.LaplaceUpdates, n=0), "n must be", "1"),
    "the least epsilon of no noise": (lambda: least(dp.Exact, n=9), "Exact", "private"),
    "a board without noise": (lambda: dp.explore(DATA, ASIA, mechanism=dp.Exact), "Exact", "dp.LaplaceUpdates"),
    "another network's mechanism": (lambda: dp.explore(DATA, ASIA, mechanism=OTHER), "mechanism", "another network"),
    "a negative seed of a board": (lambda: dp.explore(DATA, ASIA, seed=-1), "seed", "-1"),
    "another class": (lambda: dp.plot.accuracy(ASIA, DATA, "dysp", mechanisms=[int]), "mechanisms", "dp.Laplace"),
    "a file as an engine": (lambda: dp.DeclaredTable("patients.csv", ()), "patients.csv", "dp.open_table"),
    "texts as probabilities": (lambda: dp.Dirichlets(BINARY, np.array(["a"])), "array of <U1", "numbers"),
    "an audit without n": (lambda: dp.audit_report(LAPLACE), "'n'", "audit_report(mechanism, n=..."),
}


def test_a_table_has_a_length_and_names_the_way_to_a_frame():
    assert len(DATA) == 100
    with pytest.raises(AttributeError, match=r"Dataset has no head; .* to_frame"):
        DATA.head()


@pytest.mark.parametrize(("mistake", "value", "cure"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_has_one_sentence(mistake, value, cure):
    with pytest.raises(dp.InputError) as refusal:
        mistake()
    assert value in str(refusal.value)
    assert cure in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_simulated_release_answers_as_its_noise_aware_posterior():
    adaptive = dp.simulate_adaptive(DATA.select(["smoke", "bronc"]), epsilon=1, rng=1)
    for release in (adaptive, adaptive.tables, LAPLACE.simulate(COUNTS, 1)):
        aware = getattr(release, "tables", release).joint_noise_aware()
        np.testing.assert_array_equal(
            release.query("bronc", smoke="yes").low, aware.query("bronc", {"smoke": "yes"}, interval=0.95).low
        )


def test_an_integer_is_a_seed():
    released = [LAPLACE.simulate(COUNTS, seed).numbers for seed in (1, np.random.default_rng(1))]
    seeds = (1, np.random.default_rng(1))
    np.testing.assert_array_equal(*released)
    audits = [dp.audit_by_draws(LAPLACE, first=COUNTS, second=COUNTS, rng=seed, draws=2000) for seed in seeds]
    assert audits[0] == audits[1]
    np.testing.assert_array_equal(DATA.codes, dp.sample_dataset(ASIA, CPTS, 100, np.random.default_rng(1)).codes)


def test_states_are_words_of_the_call():
    expected = POSTERIOR.query("dysp", {"smoke": "yes", "bronc": "no"})
    assert repr(POSTERIOR.query("dysp", {"smoke": "yes"}, bronc="no")) == repr(expected)
    network = dp.network("a -> b", {"a": ["False", "True"]})
    posterior = dp.Dirichlets.symmetric(network).updated([1, 2, 3, 4, 5, 6])
    answer = posterior.query("b", a=True, interval=0.9)
    assert repr(answer) == repr(posterior.query("b", {"a": "True"}, interval=0.9))
    assert answer.question == "P(b | a=True)"
    question = dp.Question(network, "b", "yes", {"a": True})
    assert question.text == "b = yes if a = True"
    assert question.answers(posterior.mean) == dp.query(network, posterior.mean, "b", {"a": True})[1]
    assert answer["yes"] == answer.mean[1]
    assert dp.Question(network, "a", True).answers(posterior.mean) == posterior.query("a")["True"]


def test_an_answer_has_labels():
    answer = POSTERIOR.query("dysp", {"smoke": "yes"}, interval=0.9)
    assert answer.question == "P(dysp | smoke=yes)"
    frame = answer.to_frame()
    assert frame["state"].tolist() == ["yes", "no"]
    np.testing.assert_allclose(frame["probability"].sum(), 1)
    assert (frame.attrs["question"], frame.attrs["level"]) == (answer.question, 0.9)
    assert answer["yes"] == frame["probability"][0]
    assert repr(answer).splitlines()[0] == "P(dysp | smoke=yes), 90% intervals"
    plain = POSTERIOR.query("dysp", {"smoke": "yes"})
    assert (plain.level, plain.to_frame().columns.tolist()) == (None, frame.columns.tolist())
    np.testing.assert_array_equal(plain["yes"], dp.query(ASIA, POSTERIOR.mean, "dysp", {"smoke": "yes"})[0])
    assert repr(plain).splitlines() == ["P(dysp | smoke=yes), without intervals", "  yes: 0.480", "  no: 0.520"]
    batch = LAPLACE.simulate(COUNTS, 1, (2,)).posterior.query("dysp", interval=0.9)
    assert "(2,) of them" in repr(batch)
    with pytest.raises(dp.InputError):
        batch.to_frame()
