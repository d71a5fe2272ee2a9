"""A plan is imported as it was exported, what is unknown in it is refused, and commands write it and carry it out."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpbayes.base.amounts import EpsilonDelta, Rho
from dpbayes.base.command import HOLDS, REFUSED
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import RELEASABLE
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.model.network import Network
from dpbayes.releases import ledger
from dpbayes.releases.commands.main import main
from dpbayes.releases.document import read_document
from dpbayes.releases.document.adaptive import AdaptiveRequest, read_adaptive
from dpbayes.releases.document.plan import PlanFile, PlannedQuestion, read_plan, write_plan
from dpbayes.releases.document.request import DomainChoice
from dpbayes.sources.columns import Cuts, OwnState
from dpbayes.sources.domains import DeclaredColumn
from tests.releases.asking import request_of
from tests.releases.made import COLUMNS, NETWORK, opened, request_with, written

BARE = Network(NETWORK.names, NETWORK.states, ((), ()))
ADAPTIVE = AdaptiveRequest(
    dataset="garden",
    columns=BARE,
    plan=AdaptivePlan(epsilon=Fraction(1), delta=Fraction(1, 10**5)),
    n=60,
    domains=DomainChoice.CURATOR,
)
QUESTION = PlannedQuestion("grass", {"rain": "yes"})


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_a_plan_of_a_release_is_read_back(mechanism: str) -> None:
    plan = PlanFile(request_of(mechanism=mechanism))
    assert read_plan(write_plan(plan)).request.question == plan.request.question


@pytest.mark.parametrize(
    "plan",
    [
        PlanFile(request_with(prior=("0.5",)), COLUMNS, QUESTION),
        PlanFile(
            request_with(
                mechanism="gaussian", stated=EpsilonDelta(Fraction(1), Fraction(1, 10**5)), epsilon=Fraction(0)
            )
        ),
        PlanFile(ADAPTIVE, COLUMNS, PlannedQuestion("rain")),
    ],
    ids=["with bounds and a question", "epsilon and delta", "adaptive"],
)
def test_every_kind_is_read_back(plan: PlanFile) -> None:
    again = read_plan(write_plan(plan))
    assert (again.request.question, again.columns, again.question) == (
        plan.request.question,
        plan.columns,
        plan.question,
    )


def test_bounds_are_read_back_as_numbers() -> None:
    column = Cuts("age", (0.1, 1 / 3, 65), public=True, missing=OwnState())
    network = Network(("age",), (column.domain,), ((),))
    plan = read_plan(write_plan(PlanFile(request_with(network=network), (DeclaredColumn("age", column),))))
    assert plan.columns[0].domain == column


CONTENT: dict[str, Any] = json.loads(write_plan(PlanFile(request_with(), COLUMNS, QUESTION)))


def changed(**fields: Any) -> bytes:
    return json.dumps(CONTENT | fields).encode()


def with_request(**fields: Any) -> bytes:
    return changed(request=CONTENT["request"] | fields)


def test_white_space_and_the_order_of_fields_do_not_matter() -> None:
    turned = dict(reversed(CONTENT.items()))
    assert read_plan(json.dumps(turned, indent=4).encode()) == read_plan(changed())


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", 'its format is not "dpbayes plan"'),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": "dpbayes plan", "format": "dpbayes plan"}', 'the field "format" twice'),
        (changed(format="dpbayes release"), "is not a plan"),
        (changed(version=2), 'has version "2"; this program reads version 1'),
        (changed(version=True), "version"),
        (changed(kind="guess"), 'the kind "guess"; this program reads release, adaptive release'),
        (changed(records=[1, 2]), "exactly these fields: format, version, kind, domains, question, request"),
        (with_request(more="x"), "exactly these fields"),
        (with_request(n="60"), "wrong type"),
        (with_request(n=0), "number of records"),
        (with_request(n=1e400), "Infinity"),
        (with_request(epsilon="0.5"), "fraction in lowest terms"),
        (with_request(epsilon="5000/1"), "epsilon must be between"),
        (with_request(mechanism="guess"), "no exact sampler"),
        (with_request(prior=["01"]), "unusual form"),
        (with_request(prior=["1", "2"]), "one for each of the network's"),
        (with_request(settings={"width": "1"}), 'has no setting "width"'),
        (changed(question={"target": "sun", "given": {}}), 'no node "sun"'),
        (
            changed(question={"target": "grass", "given": {"rain": "maybe"}}),
            'the state "maybe", which "rain" does not have',
        ),
        (changed(question={"target": "grass", "given": {"grass": "dry"}}), "as the target and as given"),
        (changed(question={"target": "grass", "given": {"rain": 1}}), "name of a state for every node"),
        (changed(question={"target": "grass"}), "exactly these fields: target, given"),
        (changed(domains={"format": "x"}), "description"),
        (changed(domains=CONTENT["domains"] | {"columns": CONTENT["domains"]["columns"][:1]}), "different states"),
    ],
)
def test_what_a_plan_does_not_understand_is_one_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_plan(data)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(InputError, match="unpaired surrogate"):
        read_plan(write_plan(PlanFile(request_with())).replace(b'"garden"', b'"\\ud800"'))


# Commands


def planned(tmp_path: Path, *more: str) -> Path:
    _, domains = written(tmp_path)
    words = ["plan", "--dataset", "garden", "--domains", str(domains), "--records", "60", "--network", "rain -> grass"]
    words += ["--mechanism", "laplace", "--epsilon", "0.5", "--out", str(tmp_path / "plan.json")]
    assert main([*words, *more]) == HOLDS
    return tmp_path / "plan.json"


def carried_out(tmp_path: Path, command: str, file: Path, *more: str, budget: str = "2") -> int:
    table, _ = written(tmp_path)
    path = tmp_path / "ledger.sqlite"
    if not path.exists():
        opened(tmp_path, budget)
    words = [command, "--ledger", str(path), "--dataset", "garden", "--data", str(table), "--plan", str(file), *more]
    return main([*words, "--out", str(tmp_path / ("graph.txt" if command == "learn" else "release.json"))])


def test_a_plan_of_the_command_is_carried_out_as_the_same_request(tmp_path: Path) -> None:
    file = planned(tmp_path, "--target", "grass", "--given", "rain=yes")
    assert read_plan(file.read_bytes()).question == QUESTION
    assert carried_out(tmp_path, "release", file, "--graph-unseen") == HOLDS
    released = read_document((tmp_path / "release.json").read_bytes())
    assert released.request.question == read_plan(file.read_bytes()).request.question


def test_plans_of_a_graph_and_of_an_adaptive_release_are_carried_out(tmp_path: Path) -> None:
    other = tmp_path / "adaptive"
    other.mkdir()
    ledger.open_dataset(other / "ledger.sqlite", "garden", Rho(Fraction(1)), reason="for a test")
    (other / "plan.json").write_bytes(write_plan(PlanFile(ADAPTIVE, COLUMNS)))
    assert carried_out(other, "adaptive", other / "plan.json") == HOLDS
    assert read_adaptive((other / "release.json").read_bytes()).request.question == ADAPTIVE.question


def test_what_does_not_fit_a_plan_is_refused_and_costs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = planned(tmp_path)
    cases = {
        "Leave out --epsilon": ("release", file, "--graph-unseen", "--epsilon", "1"),
        "is for the command `release`": ("adaptive", file),
        "reveals information": ("release", file),
    }
    for sentence, (command, plan, *more) in cases.items():
        assert carried_out(tmp_path, command, plan, *more) == REFUSED
        assert sentence in capsys.readouterr().err
    file.write_bytes(file.read_bytes().replace(b'"n": 60', b'"n": 61'))
    assert carried_out(tmp_path, "release", file, "--graph-unseen") == REFUSED
    assert "for 61 records" in capsys.readouterr().err
    (tmp_path / "bare.json").write_bytes(write_plan(PlanFile(request_with())))
    assert carried_out(tmp_path, "release", tmp_path / "bare.json", "--graph-unseen") == REFUSED
    assert "State --domains" in capsys.readouterr().err
    assert not ledger.spendings(tmp_path / "ledger.sqlite", "garden")


def test_a_command_needs_its_words_or_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, domains = written(tmp_path)
    words = ["--ledger", str(opened(tmp_path)), "--dataset", "garden", "--data", str(table), "--domains", str(domains)]
    for command, out, more in (
        ("release", "r.json", ["--graph-unseen", "--epsilon", "1"]),
        ("adaptive", "r.json", []),
    ):
        assert main([command, *words, *more, "--out", str(tmp_path / out)]) == REFUSED
        assert ", or a plan by --plan." in capsys.readouterr().err


def test_a_plan_of_domains_read_off_the_records_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = planned(tmp_path)
    domains = tmp_path / "domains.json"
    domains.write_text(domains.read_text().replace('"public": true', '"public": false'))
    file.unlink()
    words = ["plan", "--dataset", "garden", "--domains", str(domains), "--records", "60", "--network", "rain -> grass"]
    assert main([*words, "--mechanism", "laplace", "--epsilon", "1", "--out", str(file)]) == REFUSED
    assert "were read from the records" in capsys.readouterr().err
    assert not file.exists()
