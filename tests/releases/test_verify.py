"""Whatever is changed in a document is noticed: by reading, by its hashes, or by what it should be."""

import copy
import dataclasses
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.amounts import EpsilonDelta, Rho
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import RELEASABLE
from dpbayes.mechanisms.exact_form import Calibrated, ExactNoise
from dpbayes.releases import verify as module
from dpbayes.releases.document.canonical import hash_of
from dpbayes.releases.document.document import Composed, document_bytes, read_document
from dpbayes.releases.document.sampled import SampledTables
from dpbayes.releases.signing import NOT_SIGNED
from dpbayes.releases.verify import verify
from tests.conftest import thorough
from tests.releases.asking import drawn, failed, hashed, request_of, usual_loss
from tests.strategies import V_STRUCTURE, networks

NAMES = ("form", "hash", "sensitivity", "epsilon", "integers", "OpenDP", "audit", "certificate")

REAL = {mechanism: drawn(request_of(V_STRUCTURE, mechanism=mechanism)) for mechanism in RELEASABLE}

LEDGER_ALONE = (
    ("integers",),
    ("request", "network"),
    ("request", "prior"),
    ("request", "settings"),
    ("request", "prices"),
)
"""What may be written otherwise, with hashes that agree: the words of the states, the prior, what a lot brought, and a
price that the worst record does not pay."""


def content_of(mechanism: str = "laplace") -> dict:
    return copy.deepcopy(dict(read_document(REAL[mechanism]).content))


# What is true


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_a_real_document_is_verified(mechanism):
    verification = verify(REAL[mechanism])
    measure = read_document(REAL[mechanism]).request.entry.noise.measure
    assert [check.name for check in verification.checks] == [measure.value if n == "epsilon" else n for n in NAMES]
    assert verification.holds
    assert verification.left_out == (NOT_SIGNED,)
    assert all(check.sentence.endswith(".") for check in verification.checks)


@given(networks(most_nodes=4), st.sampled_from(list(RELEASABLE)), st.integers(10**9, 10**14))
def test_every_document_is_verified(network, mechanism, digits):
    request = request_of(network, mechanism=mechanism, n=20, **usual_loss(mechanism, Fraction(digits, 10**12)))
    assert not failed(drawn(request))


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    verification = verify(REAL["laplace"])
    assert verification.holds
    assert verification.left_out == (module.NO_OPENDP, NOT_SIGNED)


def test_an_audit_that_would_take_long_is_left_out(monkeypatch):
    monkeypatch.setattr(module, "MOST_AUDITED", 5)
    assert verify(REAL["laplace"]).left_out == (
        "There was no audit: the network has more than 5 cells.",
        NOT_SIGNED,
    )


# Bytes


@pytest.mark.parametrize("mechanism", thorough(RELEASABLE, sample=["laplace", "map", "gaussian", "residuals"]))
def test_no_byte_can_be_changed(mechanism):
    data = REAL[mechanism]
    places = thorough(range(len(data)), sample=range(0, len(data), 211))
    for place in places:
        for other in {ord("0"), ord("1"), ord(" "), ord("x"), data[place] ^ 1} - {data[place]}:
            assert _is_noticed(data[:place] + bytes([other]) + data[place + 1 :]), (place, chr(other))
        assert _is_noticed(data[:place] + data[place + 1 :])
        assert _is_noticed(data[:place] + b" " + data[place:])


def _is_noticed(data: bytes) -> bool:
    """The two checks that see every byte, without those that take longer."""
    try:
        document = read_document(data)
    except InputError:
        return True
    return document.content["hash"] != hash_of(document.content)


@given(st.data())
def test_a_changed_file_is_never_verified(data):
    real = REAL[data.draw(st.sampled_from(list(RELEASABLE)))]
    start = data.draw(st.integers(0, len(real)))
    end = data.draw(st.integers(start, min(len(real), start + 20)))
    changed = real[:start] + data.draw(st.binary(max_size=20)) + real[end:]
    assert changed == real or failed(changed)


# Fields


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, (*path, place))
    else:
        yield path


def changed_values(value):
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 1, str(value), 2**62]
    if isinstance(value, str):
        digits = [value.replace(digit, str((int(digit) + 1) % 10), 1) for digit in value if digit.isdigit()][:2]
        return [value + "x", value[1:], "", None, *digits]
    return ["x", 0, "1/2"]


def put(content: dict, path: tuple, value: object) -> dict:
    changed = copy.deepcopy(content)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_new_hashes_hide_nothing_that_can_be_worked_out(mechanism):
    """Only what the ledger alone knows can be written otherwise: words, the prior, and what the lot brought."""
    content = content_of(mechanism)
    for path in leaves({key: value for key, value in content.items() if key != "hash"}):
        if any(path[: len(free)] == free for free in LEDGER_ALONE):
            continue
        value = content
        for key in path:
            value = value[key]
        others = [changed for changed in changed_values(value) if changed != value]
        for other in thorough(others, sample=others[:1]):
            assert failed(hashed(put(content, path, other))), (path, other)


# What is caught, by which check


def forged(content: dict | None = None, **changes) -> bytes:
    """A document that somebody wrote with this program: all its texts and hashes agree with its numbers."""
    document = read_document(hashed(content) if content else REAL["laplace"])
    own = {name: changes.get(name, getattr(document.sampled, name)) for name in ("request", "calibration", "integers")}
    composed, drawn = (changes.get(name, getattr(document, name)) for name in ("composed", "drawn"))
    return document_bytes(SampledTables(**own), composed, drawn)


@pytest.mark.parametrize(
    ("scale", "answer", "caught"),
    [
        (Fraction(1, 2), Fraction(2), {"epsilon", "OpenDP"}),
        (Fraction(1, 2), Fraction(1), {"epsilon", "OpenDP"}),
        (Fraction(2), Fraction(1, 2), {"epsilon"}),
        (Fraction(1), Fraction(1, 2), {"OpenDP"}),
    ],
)
def test_too_little_or_too_much_noise_and_an_answer_that_opendp_did_not_give_are_caught(scale, answer, caught):
    """Of the real scale and the real answer, so many times."""
    real = read_document(REAL["laplace"]).sampled.calibration
    assert failed(forged(calibration=Calibrated(real.scale * scale, real.answer * answer))) == caught


def test_a_promise_that_is_too_small_is_caught():
    request = request_of(V_STRUCTURE, epsilon=Fraction(1, 4))
    assert failed(forged(request=request)) == {"epsilon", "OpenDP"}


@pytest.mark.parametrize(("epsilon", "is_exact"), [(Fraction(1, 4), True), (Fraction(5, 2), False)])
def test_a_loss_is_called_exact_only_if_it_is(epsilon, is_exact):
    (said,) = [check.sentence for check in verify(drawn(request_of(epsilon=epsilon))).checks if check.name == "epsilon"]
    assert ("exactly" in said) is is_exact


def test_what_a_forged_document_of_a_rho_promises_too_much_is_caught():
    content = content_of("gaussian")
    document = read_document(REAL["gaussian"])
    real, request = document.sampled.calibration, document.request
    assert failed(forged(content, calibration=Calibrated(real.scale / 2, real.answer))) == {"rho", "OpenDP"}
    assert failed(forged(content, calibration=Calibrated(real.scale * 2, real.answer))) == {"rho", "OpenDP"}
    assert failed(forged(content, request=dataclasses.replace(request, rho=request.rho / 2))) == {"rho", "OpenDP"}
    assert failed(forged(content, composed=Composed(3, Rho(Fraction(1, 2))))) == set()


@pytest.mark.parametrize("mechanism", ["gaussian", "residuals"])
def test_a_stated_epsilon_and_delta_is_verified_and_a_smaller_one_is_caught(mechanism):
    stated = EpsilonDelta(Fraction(1, 2), Fraction(1, 10**5))
    data = drawn(request_of(V_STRUCTURE, mechanism=mechanism, stated=stated, rho=Fraction(0)))
    content = copy.deepcopy(dict(read_document(data).content))
    assert not failed(data)
    assert "epsilon 0.5 at delta 0.00001, which this rho implies" in content["certificate"]["promise"]
    assert failed(hashed(put(content, ("request", "stated", "epsilon"), "49/100"))) == {"form"}
    assert failed(hashed(put(content, ("request", "stated", "delta"), "1/1000000"))) == {"form"}
    assert failed(hashed(put(content, ("request", "stated", "epsilon"), "51/100"))) == {"certificate"}


@pytest.mark.parametrize("composed", [{"releases": 2}, {"releases": 2, "rho": "3/10", "epsilon": "3/10"}])
def test_what_was_spent_is_in_one_measure(composed):
    assert failed(hashed(content_of() | {"composed": composed})) == {"form"}


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        ("gaussian", {"epsilon": "1/2"}),
        ("gaussian", {"epsilon": "0/1"}),
        ("laplace", {"rho": "1/2"}),
        ("laplace", {"rho": "0/1"}),
        ("laplace", {"stated": {"epsilon": "1/2", "delta": "1/100000"}}),
        ("laplace", {"prices": [1]}),
    ],
)
def test_a_request_has_what_its_mechanism_promises_and_nothing_else(mechanism, more):
    content = content_of(mechanism) | {"composed": {"releases": 2, "rho": "3/10"}}
    assert failed(hashed(content | {"request": content["request"] | more})) == {"form"}
    lacking = {name: value for name, value in content["request"].items() if name not in ("epsilon", "rho")}
    assert failed(hashed(content | {"request": lacking})) == {"form"}


def test_an_audit_that_finds_more_than_a_rho_gives_is_caught(monkeypatch):
    real = module.audit
    monkeypatch.setattr(module, "audit", lambda *a, **k: dataclasses.replace(real(*a, **k), needed=99.0))
    assert failed(REAL["gaussian"]) == {"audit"}


def test_a_wrong_sensitivity_is_caught():
    content = content_of()
    content["noise"]["sensitivity"] = 4
    assert failed(hashed(content)) == {"sensitivity", "certificate", "epsilon"}


@pytest.mark.parametrize("value", [10**6, -(10**6), 2**63 - 1])
def test_an_integer_that_no_noise_brings_is_caught(value):
    integers = (value, *read_document(REAL["laplace"]).sampled.integers[1:])
    assert failed(forged(integers=integers)) == {"integers"}


def test_a_cell_that_is_none_is_caught():
    integers = (20, *read_document(REAL["map"]).sampled.integers[1:])
    assert failed(forged(content_of("map"), integers=integers)) == {"integers"}


@pytest.mark.parametrize("number", [0, 1, 11, 13])
def test_another_number_of_integers_is_caught(number):
    integers = (*read_document(REAL["laplace"]).sampled.integers, 5)[:number]
    assert "integers" in failed(forged(integers=integers))


def test_an_answer_of_a_version_that_is_not_here_is_not_taken_on_trust():
    """99.0 is no version; its answer, which is smaller, could not be confirmed by anyone."""
    document = read_document(REAL["laplace"])
    drawn = dataclasses.replace(document.drawn, opendp="99.0")
    answer = Calibrated(document.sampled.calibration.scale, Fraction(1, 1024))
    assert failed(forged(drawn=drawn, calibration=answer)) == {"OpenDP"}
    assert failed(forged(drawn=drawn)) == set(), "the same answer as here is confirmed, whatever drew it"


def test_a_map_that_says_more_is_caught(monkeypatch):
    monkeypatch.setattr(ExactNoise, "answer", lambda law, sensitivity, scale: 0.7)
    assert failed(REAL["laplace"]) == {"OpenDP"}


def test_an_audit_that_finds_more_is_caught(monkeypatch):
    class Report:
        exact = at_least = 0.51

    monkeypatch.setattr(module, "audit", lambda *_, **__: Report())
    assert failed(REAL["laplace"]) == {"audit"}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("composed", {"releases": 1, "epsilon": "3/10"}),
        ("composed", {"releases": 0, "epsilon": "0/1"}),
        ("sentences", ["All is well."] * 4),
    ],
)
def test_a_certificate_of_something_else_is_caught(place, value):
    assert failed(hashed(content_of() | {place: value})) == {"certificate"}
