"""Adaptive releases as documents: charged before they are drawn, read back, and checked from their bytes."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpbayes.base.amounts import number_of, rho_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.draws import SimulatedDraws
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import carried_out, most_steps
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease
from dpbayes.model.dataset import count
from dpbayes.model.network import Network
from dpbayes.releases import ledger, publishing
from dpbayes.releases import verify as verification
from dpbayes.releases.document.canonical import canonical
from dpbayes.releases.document.document import document_bytes, read_document
from dpbayes.releases.document.request import AdaptiveRequest
from dpbayes.releases.document.sampled import SampledSteps
from dpbayes.releases.publishing import publish, shown_again
from dpbayes.releases.signing import NOT_SIGNED
from dpbayes.releases.verify import verify
from tests.releases.asking import failed, hashed
from tests.releases.made import opened, opened_in_rho
from tests.releases.made_adaptive import (
    DATA,
    PLAN,
    PURE,
    PURE_REQUEST,
    REQUEST,
    drawn_under_pure_privacy,
    drawn_with_a_generator,
    table,
)

FIRST, LAST = ("form", "hash", "steps", "integers"), ("OpenDP", "certificate")
"""The checks before and after that of the budget."""


@pytest.fixture(scope="module")
def document() -> bytes:
    return drawn_with_a_generator()


@pytest.fixture(scope="module")
def pure() -> bytes:
    return drawn_under_pure_privacy()


def test_a_document_is_read_back_as_it_was_written(document: bytes) -> None:
    read = read_document(document)
    process = carried_out(PLAN, DATA, SimulatedDraws(np.random.default_rng(2)))
    assert read.request == REQUEST
    assert read.sampled.process.events == process.events
    drawn = AdaptiveRelease(PLAN, process, is_simulated=True)
    np.testing.assert_array_equal(read.sampled.release.probabilities, drawn.probabilities)
    np.testing.assert_array_equal(read.sampled.process.measured.numbers, process.measured.numbers)
    assert document_bytes(read.sampled, read.composed, read.drawn) == document
    assert any(event.stage == "parents" for event in process.events)


def test_a_document_is_verified(document: bytes) -> None:
    checked = verify(document)
    assert checked.holds, checked
    assert [check.name for check in checked.checks] == [*FIRST, "rho", *LAST]
    assert checked.left_out == (NOT_SIGNED,)


def test_a_target_is_a_public_part_of_the_request_and_no_arrow_is(document: bytes) -> None:
    request = AdaptiveRequest.of("garden", DATA, plan_for(5, 1e-5, "d"))
    process = carried_out(request.plan, DATA, SimulatedDraws(np.random.default_rng(2)))
    read = read_document(document)
    drawn = document_bytes(SampledSteps(request, process), read.composed, read.drawn)
    assert read_document(drawn).request == request
    assert "predictions of d" in read_document(drawn).sampled.accuracy
    assert verify(drawn).holds
    content = json.loads(drawn)
    content["request"]["target"] = "a"
    assert "steps" in failed(hashed(content))
    with pytest.raises(InputError, match="target"):
        AdaptiveRequest.of("garden", DATA, plan_for(5, 1e-5, "e"))
    with pytest.raises(InputError, match="starts without arrows"):
        replace(REQUEST, columns=Network(DATA.names, DATA.states, ((), (), (), (DATA.names[0],))))


def test_a_release_is_charged_before_it_is_drawn_and_shown_again_for_nothing(tmp_path) -> None:
    path = opened_in_rho(tmp_path)
    plan = AdaptivePlan(epsilon=Fraction(1), delta=Fraction(1, 10**5))
    request = AdaptiveRequest.of("garden", DATA, plan)
    published = publish(path, request, DATA)
    (spending,) = ledger.read_books(path).of("garden")
    assert spending.cost == plan.rho
    assert shown_again(path, request) == published
    assert verify(published.document).holds
    release = read_document(published.document).sampled.release
    assert release.guarantee.rho >= float(plan.rho) >= float(release.process.cost)
    with pytest.raises(InputError):
        publish(path, request, DATA)
    again = publish(path, request, DATA, after=published.row)
    composed = read_document(again.document).composed
    assert (composed.releases, number_of(composed.spent)) == (1, plan.rho)


@pytest.mark.parametrize("request_", [REQUEST, PURE_REQUEST], ids=["with delta", "pure"])
def test_nine_of_ten_counts_are_as_near_as_stated(request_: AdaptiveRequest) -> None:
    near = []
    for seed in range(60):
        drawn = SampledSteps(request_, carried_out(request_.plan, DATA, SimulatedDraws(np.random.default_rng(seed))))
        (stated,) = re.findall(r"is within (\d+) records? of", drawn.accuracy)
        errors = drawn.tables.outcome.updates - count(drawn.network, DATA).values
        near.append(np.mean(np.abs(errors) <= int(stated)))
    assert 0.9 < np.mean(near) < 0.995


def test_a_pure_document_is_read_back_and_verified(pure: bytes) -> None:
    read = read_document(pure)
    assert read.request == PURE_REQUEST
    assert read.sampled.process.events == carried_out(PURE, DATA, SimulatedDraws(np.random.default_rng(2))).events
    assert document_bytes(read.sampled, read.composed, read.drawn) == pure
    checked = verify(pure)
    assert checked.holds, checked
    assert [check.name for check in checked.checks] == [*FIRST, "epsilon", *LAST]
    content = json.loads(pure)
    assert content["version"] == 1
    assert "rho" not in pure.decode()
    assert content["certificate"]["epsilon"] == "5/1"
    assert "Laplace" in content["certificate"]["noise"]


@pytest.mark.parametrize("in_rho", [False, True])
def test_a_pure_release_is_charged_to_either_budget(tmp_path, in_rho: bool) -> None:
    path = opened_in_rho(tmp_path) if in_rho else opened(tmp_path)
    plan = plan_for(Fraction(1, 2), Fraction(0))
    request = AdaptiveRequest.of("garden", DATA, plan)
    published = publish(path, request, DATA)
    (spending,) = ledger.read_books(path).of("garden")
    assert spending.cost == (rho_of(plan.total) if in_rho else plan.total)
    assert verify(published.document).holds
    assert shown_again(path, request) == published
    assert read_document(published.document).sampled.release.guarantee.epsilon == 0.5


def test_nothing_is_drawn_where_it_cannot_be_paid(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr(publishing, "carried_out", never)
    with pytest.raises(InputError):
        publish(opened(tmp_path), REQUEST, DATA)  # a budget in epsilon
    other = AdaptiveRequest.of("garden", table(301), PLAN)
    with pytest.raises(InputError, match="differ from the request"):
        publish(tmp_path / "none", other, DATA)


# What a changed document says


def of_stage(content: dict, stage: str) -> dict:
    return next(step for step in content["steps"] if step["stage"] == stage)


def with_larger_prices(content: dict) -> None:
    step = of_stage(content, "columns")
    step["prices"] = [3 * price for price in step["prices"]]


def with_cheaper_choice(content: dict) -> None:
    step = of_stage(content, "forest")
    step["rho" if "rho" in step else "epsilon"] = "1/1000000"


def with_another_pair(content: dict) -> None:
    step = of_stage(content, "forest")
    step["pair"] = [0, 3] if step["pair"] != [0, 3] else [1, 3]


def without_last_step(content: dict) -> None:
    while content["steps"][-1]["stage"] == "families":
        content["steps"].pop()


def with_forest_twice(content: dict) -> None:
    content["steps"].append(of_stage(content, "forest"))


def with_share_of_a_later_stage(content: dict) -> None:
    """The columns cost more than their share, and the last measurement so much less that the total is the same."""
    step = of_stage(content, "columns")
    step["prices"] = [price + price // 50 for price in step["prices"]]
    step = content["steps"][-1]
    step["prices"] = [price - price // 5 for price in step["prices"]]


def with_closed_cycle(content: dict) -> None:
    """A parent is chosen that is connected to its child already."""
    of_stage(content, "parents")["pair"] = of_stage(content, "forest")["pair"]


def with_shorter_forest(content: dict) -> None:
    """The forest ends without having chosen nothing, though there are candidates."""
    last = max(place for place, step in enumerate(content["steps"]) if step["stage"] == "forest")
    del content["steps"][last]


def with_impossible_integers(content: dict) -> None:
    step = content["steps"][-1]
    step["integers"] = [9 * 10**18] * len(step["integers"])


def with_another_sentence(content: dict) -> None:
    content["sentences"][0] += " It is exact."


CHANGES = [
    (with_larger_prices, {"measure", "steps"}),
    (with_share_of_a_later_stage, {"steps"}),
    (with_closed_cycle, {"steps"}),
    (with_shorter_forest, {"steps"}),
    (with_cheaper_choice, {"steps"}),
    (with_another_pair, {"steps"}),
    (without_last_step, {"steps"}),
    (with_forest_twice, {"steps", "measure"}),
    (with_impossible_integers, {"integers"}),
    (with_another_sentence, {"certificate"}),
]
"""What a change makes fail; "measure" stands for the check of rho or epsilon."""


@pytest.mark.parametrize(
    ("kind", "measure", "change", "fails"),
    [("document", "rho", *change) for change in CHANGES]
    # The pure document chooses no parents.
    + [("pure", "epsilon", *change) for change in CHANGES if change[0] is not with_closed_cycle],
)
def test_a_changed_document_fails_where_it_was_changed(
    request: pytest.FixtureRequest, kind: str, measure: str, change, fails: set[str]
) -> None:
    content = json.loads(request.getfixturevalue(kind))
    change(content)
    expected = {measure if name == "measure" else name for name in fails}
    assert expected <= failed(hashed(content)) <= expected | {"certificate"}
    assert "hash" in failed(canonical(content))


def test_more_steps_than_the_plan_allows_are_refused_before_they_are_followed(document: bytes) -> None:
    content = json.loads(document)
    most = most_steps(PLAN, len(DATA.names))
    assert len(content["steps"]) <= most
    content["steps"] = [content["steps"][0]] * (most + 1)
    with pytest.raises(InputError, match="more steps than its plan allows"):
        read_document(hashed(content))
    assert failed(hashed(content)) == {"form"}


@pytest.mark.parametrize(
    ("stage", "field", "value", "sentence"),
    [
        ("columns", "prices", [0, -1, 5, 5, 5], "integers that are not negative"),
        ("columns", "prices", [], "integers that are not negative"),
        ("columns", "prices", [1, 5, 5, 5, 5], "price of the empty set must be 0"),
        ("columns", "prices", [0, 0, 5, 5, 5], "has 5 integers; its prices need 4"),
        ("columns", "prices", [0, 5], "needs 5 prices"),
        ("columns", "prices", [0, 2**61, 2**61, 5, 5], "integers that are not negative"),
        ("columns", "prices", [0, 10**19 - 1, 5, 5, 5], "integers that are not negative"),
        ("columns", "integers", [1], "has 1 integers"),
        ("columns", "parents", [[1], [0], [], []], "close a cycle"),
        ("columns", "parents", [[7], [], [], []], "parents of every column by their places"),
        ("columns", "parents", [[]], "parents of every column by their places"),
        ("forest", "pair", [0, 4], "two columns by their places, or none"),
        ("forest", "pair", [-1, 0], "two columns by their places, or none"),
        ("forest", "pair", [0], "two columns by their places, or none"),
        ("forest", "pair", [0, 1, 2], "two columns by their places, or none"),
        ("forest", "rho", "0/1", "must be above 0 and at most"),
        ("forest", "rho", "9/1", "must be above 0 and at most"),
    ],
)
def test_a_step_that_does_not_fit_is_refused(
    document: bytes, stage: str, field: str, value: list, sentence: str
) -> None:
    content = json.loads(document)
    of_stage(content, stage)[field] = value
    with pytest.raises(InputError, match=sentence):
        read_document(hashed(content))
    assert failed(hashed(content)) == {"form"}


@pytest.mark.parametrize(("kind", "change"), [("document", {"rho": "1/2"}), ("pure", {"delta": "0/1"})])
def test_a_request_that_is_not_canonical_is_refused(request: pytest.FixtureRequest, kind: str, change: dict) -> None:
    content = json.loads(request.getfixturevalue(kind))
    with pytest.raises(InputError, match=r"not in canonical form|exactly these fields"):
        read_document(hashed(content | {"request": content["request"] | change}))


@pytest.mark.parametrize("step", ["confirmed_noise", "confirmed_choice"])
def test_a_step_that_opendp_does_not_confirm_is_caught(document: bytes, monkeypatch, step: str) -> None:
    def refused(*_: object) -> None:
        raise InputError("OpenDP does not confirm it.")

    monkeypatch.setattr(verification, step, refused)
    assert failed(document) == {"OpenDP"}


def test_a_request_that_cannot_be_carried_out_is_refused() -> None:
    with pytest.raises(InputError, match="decimal of at most"):
        AdaptiveRequest.of("garden", DATA, AdaptivePlan(epsilon=Fraction(1, 3), delta=Fraction(1, 10**5)))
