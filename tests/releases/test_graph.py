"""A learnt graph: paid before it is drawn, counted once, checked from its bytes, and asked for by a release of it."""

import copy
from dataclasses import replace
from fractions import Fraction

import pytest

from dpbayes.base.amounts import Rho, amount_text, rho_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.structure.choice import StructureChoice, round_after
from dpbayes.model.counts import count
from dpbayes.model.network import Network
from dpbayes.releases import ledger, publishing
from dpbayes.releases.document.canonical import canonical
from dpbayes.releases.document.certificate import Composed
from dpbayes.releases.document.graph import StructureRequest, is_structure, read_structure
from dpbayes.releases.document.release import document_bytes, read_document
from dpbayes.releases.document.request import DomainChoice, columns_as_network, columns_from
from dpbayes.releases.publishing import learnt_as, learnt_graphs, publish, publish_structure, shown_again
from dpbayes.releases.verify import verify
from tests.releases.asking import failed, hashed
from tests.releases.made import opened, opened_in_rho, request_with
from tests.releases.made_adaptive import DATA, REQUEST, table

STATES = dict(zip(DATA.names, DATA.states, strict=True))
COST = Fraction(1, 4)


def request(**other: object) -> StructureRequest:
    return StructureRequest.of("garden", DATA, StructureChoice(**({"epsilon": COST} | other)), DomainChoice.CURATOR)


def release_of_learnt(learnt: publishing.LearntGraph, **other: object):
    network = learnt.document.network
    return request_with(**({"network": network, "n": DATA.n, **learnt.document.stated} | other)), count(network, DATA)


@pytest.fixture
def path(tmp_path):
    return opened(tmp_path)


@pytest.fixture
def learnt(path):
    publish_structure(path, request(), DATA)
    return learnt_graphs(path, "garden")[0]


# The event


def test_a_graph_is_learnt_charged_verified_and_shown_again_for_nothing(path):
    assert shown_again(path, request()) is None
    published = publish_structure(path, request(), DATA)
    assert ledger.account_of(path, "garden").spent == COST
    assert shown_again(path, request()) == published
    verification = verify(published.document)
    assert verification.holds
    assert [check.name for check in verification.checks] == ["form", "hash", "graph", "epsilon", "OpenDP", "sentences"]
    document = read_structure(published.document)
    assert document.request.question == request().question
    assert document.network.states == tuple(STATES.values())
    with pytest.raises(ledger.RepeatedRequestError):
        publish_structure(path, request(), DATA)
    publish_structure(path, request(), DATA, after=published.row)
    assert ledger.account_of(path, "garden").spent == 2 * COST


def test_at_a_large_epsilon_the_graph_is_what_the_records_say(tmp_path):
    path = opened(tmp_path, budget="1000")
    wanted = request(epsilon=Fraction(1000), parents=1)
    network = read_structure(publish_structure(path, wanted, DATA).document).network
    assert "d" not in {parent for parent, _ in network.edges}
    assert {name for edge in network.edges for name in edge} >= {"a", "b", "c"}
    assert len(network.edges) == 3


def spent_at_the_draw(path, monkeypatch) -> list[Fraction]:
    """Learn a graph, and return what the ledger had charged whenever one was drawn."""
    spent = []
    real = publishing.draw_structure

    def watched(*given):
        spent.append(ledger.account_of(path, "garden").spent)
        return real(*given)

    monkeypatch.setattr(publishing, "draw_structure", watched)
    publish_structure(path, request(), DATA)
    return spent


def test_the_reservation_is_on_the_disk_before_the_graph_is_drawn(path, monkeypatch):
    assert spent_at_the_draw(path, monkeypatch) == [COST]


def test_the_broken_twin_that_draws_before_it_pays_is_seen(path, monkeypatch):
    real = ledger.spend

    def twin(path, dataset, epsilon, question, draw, **more):
        outcome = draw()
        return real(path, dataset, epsilon, question, lambda: outcome, **more)

    monkeypatch.setattr(ledger, "spend", twin)
    with pytest.raises(InputError):  # without its own row, what was composed before is below nothing
        publish_structure(path, request(), DATA)
    monkeypatch.setattr(publishing, "_composed_before", lambda *_: Composed())
    assert spent_at_the_draw(path, monkeypatch) == [0]


def test_beyond_the_budget_nothing_is_drawn(path, monkeypatch):
    def never(*_: object) -> None:
        raise AssertionError("a graph was drawn without a budget")

    monkeypatch.setattr(publishing, "draw_structure", never)
    with pytest.raises(ledger.OverBudgetError):
        publish_structure(path, request(epsilon=Fraction(3)), DATA)
    assert ledger.account_of(path, "garden").spent == 0


def test_a_drawing_that_fails_stays_spent_and_leaves_no_graph_to_release_with(path, monkeypatch):
    def fails(*_: object) -> None:
        raise RuntimeError("no randomness")

    monkeypatch.setattr(publishing, "draw_structure", fails)
    with pytest.raises(ledger.EpsilonLostError):
        publish_structure(path, request(), DATA)
    assert ledger.account_of(path, "garden").spent == COST
    assert learnt_graphs(path, "garden") == ()


@pytest.mark.parametrize("other", [table(301), DATA.select("bacd"), DATA.select("abc")])
def test_another_table_is_refused_before_anything_is_spent(path, other):
    with pytest.raises(InputError, match="columns or the number of records differ"):
        publish_structure(path, request(), other)
    assert ledger.account_of(path, "garden").spent == 0


@pytest.mark.parametrize(
    ("data", "choice", "why"),
    [
        (DATA.select("a"), {}, "at least two columns"),
        (DATA, {"first": "e"}, "no column"),
        (DATA, {"epsilon": Fraction(1, 3)}, "decimal"),
        (DATA, {"epsilon": Fraction(1, 10**9)}, "between"),
        (table(1), {}, "at least two records"),
    ],
)
def test_an_impossible_graph_request_is_refused(data, choice, why):
    with pytest.raises(InputError, match=why):
        StructureRequest.of("garden", data, StructureChoice(**({"epsilon": COST} | choice)), DomainChoice.CURATOR)


@pytest.mark.parametrize("usual", [request(), REQUEST], ids=["graph", "adaptive release"])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"dataset": " garden"}, "single line"),
        ({"n": 0}, "number of records"),
        ({"columns": columns_as_network([f"{k}" for k in range(2001)], [("x", "y")] * 2001)}, "2,001 nodes"),
        ({"columns": columns_as_network("ab", [("x", "y" * 201), ("x", "y")])}, "more than 200 letters"),
        ({"columns": columns_as_network("ab", [("x", "\ud800"), ("x", "y")])}, "unpaired surrogate"),
    ],
)
def test_columns_that_no_request_may_have_are_refused(usual, change, why):
    with pytest.raises(InputError, match=why):
        replace(usual, **change)


def test_columns_are_numbered_before_a_network_is_made_of_them(monkeypatch):
    monkeypatch.setattr("dpbayes.releases.document.request.Network", lambda *_: pytest.fail("a network was made"))
    with pytest.raises(InputError, match="2,001 nodes"):
        columns_from([{"name": f"{k}", "states": ["x", "y"]} for k in range(2001)])


def test_the_first_column_by_default_and_by_name_is_one_question():
    assert request(first="a").question == request().question
    others = (request(first="b"), request(parents=1), request(most_cells=100), request(epsilon=Fraction(1, 2)))
    assert len({request().question, *(other.question for other in others)}) == 5


# Releases of it


def test_a_release_of_the_learnt_graph_counts_it_exactly_once(path, learnt):
    wanted, counts = release_of_learnt(learnt)
    published = publish(path, wanted, counts)
    document = read_document(published.document)
    assert verify(published.document).holds
    assert (document.composed.releases, document.composed.spent) == (1, COST)
    assert ledger.account_of(path, "garden").spent == COST + wanted.epsilon
    content = document.content
    candidates = ", ".join(map(str, learnt.document.candidates[:-1])) + f" and {learnt.document.candidates[-1]}"
    assert (
        "with this one it is 0.75, the exact sum. The graph was chosen privately" in content["certificate"]["composed"]
    )
    assert "release of its own of epsilon 0.25" in content["certificate"]["composed"]
    assert f"of {candidates} pairs in turn" in content["certificate"]["composed"]
    assert (
        "2 releases of this dataset, this one and the choice of its graph included, have spent epsilon 0.75"
        in (content["sentences"][2])
    )


@pytest.mark.parametrize("before", [Composed(), Composed(1, COST / 2)])
def test_a_certificate_that_never_counted_the_choice_is_caught(path, learnt, before):
    wanted, counts = release_of_learnt(learnt)
    document = read_document(publish(path, wanted, counts).document)
    forged = document_bytes(wanted, document.calibration, document.integers, before, document.drawn)
    assert failed(forged) == {"graph"}


COMPOSED_BEFORE = publishing._composed_before


def _twice(path, wanted):
    composed = COMPOSED_BEFORE(path, wanted)
    return Composed(composed.releases + 1, composed.spent + wanted.graph_epsilon)


def _never(path, wanted):
    composed, rows = COMPOSED_BEFORE(path, wanted), learnt_graphs(path, wanted.dataset)
    return Composed(composed.releases - len(rows), composed.spent - COST * len(rows))


@pytest.mark.parametrize(("twin", "is_noticed"), [(COMPOSED_BEFORE, False), (_twice, False), (_never, True)])
def test_the_broken_twins_that_count_the_choice_twice_or_never_are_seen(path, learnt, monkeypatch, twin, is_noticed):
    monkeypatch.setattr(publishing, "_composed_before", twin)
    wanted, counts = release_of_learnt(learnt)
    published = publish(path, wanted, counts)
    once = ledger.account_of(path, "garden").spent - wanted.epsilon
    assert (read_document(published.document).composed.spent == once) == (twin is COMPOSED_BEFORE)
    assert (failed(published.document) == {"graph"}) == is_noticed


def test_an_order_of_the_nodes_is_no_other_graph(path, learnt):
    names = tuple(reversed(learnt.document.network.names))
    turned = Network.from_edges(names, reversed(learnt.document.network.edges), STATES)
    assert learnt_as(path, "garden", turned) == learnt
    publish(path, release_of_learnt(learnt, network=turned)[0], count(turned, DATA))


def test_a_graph_that_the_ledger_has_not_is_refused_and_costs_nothing(path, learnt):
    network = learnt.document.network
    missing = next(Network.from_edges(network.names, edges, STATES) for edges in (network.edges[1:],))
    wider = Network.from_edges(network.names, network.edges, STATES | {"d": ("no", "yes", "unknown")})
    ledger.open_dataset(path, "forest", Fraction(2), reason="another table")
    wrong = [
        {"network": missing},
        {"network": wider},
        {"graph_epsilon": COST / 2},
        {"graph_candidates": (1,) * 3},
        {"dataset": "forest"},
    ]
    for change in wrong:
        wanted, _ = release_of_learnt(learnt, **change)
        with pytest.raises(InputError, match="does not contain this graph"):
            publish(path, wanted, count(wanted.network, DATA) if wanted.network != wider else None)  # type: ignore[arg-type]
    assert ledger.account_of(path, "garden").spent == COST
    assert ledger.account_of(path, "forest").spent == 0


def test_a_release_of_counts_is_no_learnt_graph(path, learnt):
    wanted, counts = release_of_learnt(learnt)
    data = publish(path, wanted, counts).document
    assert not is_structure(data)
    assert not is_structure(b"\xff")
    assert learnt_graphs(path, "garden") == (learnt,)


# The document


def content_of(learnt: publishing.LearntGraph) -> dict:
    return copy.deepcopy(dict(learnt.document.content))


def test_the_rounds_are_those_of_what_is_public(learnt):
    document = learnt.document
    places = [document.network.position[name] for name in document.joined]
    for k, stage in enumerate(document.content["rounds"], start=1):
        expected = round_after(document.request.choice, (2, 2, 3, 2), DATA.n, places[:k])
        assert stage == {"candidates": expected.candidates, "epsilon": "1/12", "sensitivity": expected.sensitivity}
    assert sum(Fraction(stage["epsilon"]) for stage in document.content["rounds"]) == COST


def test_no_byte_of_a_learnt_graph_can_be_changed(path, learnt):
    data = ledger.outcome(path, learnt.row)
    for place in range(0, len(data), 61):
        for other in {ord("0"), ord("x"), data[place] ^ 1} - {data[place]}:
            assert failed(data[:place] + bytes([other]) + data[place + 1 :]), place
        assert failed(data[:place] + b" " + data[place:])


def test_new_hashes_hide_nothing_that_can_be_worked_out(learnt):
    content = content_of(learnt)
    impossible = copy.deepcopy(content)
    impossible["parents"][0], impossible["parents"][1] = ["b"], []
    changes = {
        "graph": hashed(impossible),
        "epsilon": hashed(content | {"rounds": [stage | {"candidates": 1} for stage in content["rounds"]]}),
        "sentences": hashed(content | {"sentences": ["All is well."] * 6}),
        "hash": canonical(content | {"hash": "0" * 64}),
    }
    for name, data in changes.items():
        assert failed(data) == {name}
    cheaper = copy.deepcopy(content)
    cheaper["request"]["epsilon"] = "1/8"
    assert failed(hashed(cheaper)) == {"epsilon", "sentences"}
    composed = hashed(content | {"composed": {"releases": 1, "epsilon": "1/2"}})
    assert failed(composed) == {"sentences"}


def test_a_round_that_opendp_does_not_confirm_is_caught(path, learnt, monkeypatch):
    def refused(*_: object) -> None:
        raise InputError("OpenDP does not confirm it.")

    monkeypatch.setattr("dpbayes.releases.verify.confirmed_chooser", refused)
    assert failed(ledger.outcome(path, learnt.row)) == {"OpenDP"}


def test_what_is_no_learnt_graph_is_one_sentence(learnt):
    content = content_of(learnt)
    request_content = content["request"]
    for wrong in (
        content | {"version": 2},
        content | {"more": 1},
        content | {"joined": content["joined"][:-1]},
        content | {"joined": [content["joined"][0]] * 4},
        content | {"parents": [["e"], [], [], []]},
        content | {"request": request_content | {"first": "e"}},
        content | {"request": request_content | {"epsilon": "1/3"}},
        content | {"request": request_content | {"n": 0}},
        content | {"request": request_content | {"parents": 9}},
        content | {"request": request_content | {"columns": request_content["columns"] * 2}},
        content | {"request": request_content | {"columns": []}},
    ):
        verification = verify(hashed(wrong))
        assert [check.name for check in verification.checks] == ["form"]
        assert verification.checks[0].sentence.endswith(".")
        assert not verification.holds


def test_without_opendp_nothing_is_spent_and_the_check_says_so(path, learnt, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.measurements", None)
    with pytest.raises(InputError, match="needs opendp"):
        publish_structure(path, request(parents=1), DATA)
    assert ledger.account_of(path, "garden").spent == COST
    verification = verify(ledger.outcome(path, learnt.row))
    assert verification.holds
    assert len(verification.left_out) == 2


# A budget in rho


def test_a_graph_is_learnt_and_released_from_a_budget_in_rho(tmp_path):
    """The graph's pure epsilon costs a rho, which is one of those before the release, and both documents verify."""
    path = opened_in_rho(tmp_path)
    published = publish_structure(path, request(), DATA)
    assert ledger.account_of(path, "garden").spent == rho_of(COST)
    assert verify(published.document).holds
    graph = read_structure(published.document)
    assert (graph.content["version"], graph.composed) == (2, Composed(0, Rho(Fraction(0))))
    assert f"have spent rho {amount_text(rho_of(COST))}" in " ".join(graph.content["sentences"])
    gaussian = request_with(network=graph.network, mechanism="gaussian", rho=Fraction(1, 10), n=DATA.n, **graph.stated)
    document = read_document(publish(path, gaussian, count(graph.network, DATA)).document)
    assert document.composed == Composed(1, Rho(rho_of(COST)))
    cheap = document_bytes(
        gaussian, document.calibration, document.integers, Composed(1, Rho(rho_of(COST) / 2)), document.drawn
    )
    assert failed(cheap) == {"graph"}
