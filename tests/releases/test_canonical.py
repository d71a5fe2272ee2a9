"""One form for each content, exact numbers, and a reader that hostile files do not get past."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.amounts import amount_text
from dpbayes.base.validation import InputError
from dpbayes.releases.document import canonical as module
from dpbayes.releases.document.canonical import canonical, decimal, fraction, fraction_text, read_canonical


@given(st.integers(0, 10**15), st.integers(0, 12))
def test_a_decimal_is_read_exactly_and_written_again(digits, places):
    value = Fraction(digits, 10**places)
    assert decimal("x", amount_text(value)) == value


def test_decimals_are_exact():
    assert decimal("x", "0.1") == decimal("x", "1e-1") == Fraction(1, 10) != Fraction(0.1)
    assert (decimal("x", "2.5E+3"), decimal("x", "1e-05")) == (2500, Fraction(1, 10**5))
    assert decimal("x", ".5") == decimal("x", "0.5")
    assert amount_text(Fraction(1, 8)) == "0.125"
    assert amount_text(Fraction(1200)) == "1200"
    assert amount_text(Fraction(1, 3)) == "1/3"


@pytest.mark.parametrize("text", ["", "-1", "1e", "1e100", "1.", ".", "0,5", "nan", "１", "1" * 21, None, 0.5])
def test_what_is_no_decimal_is_refused(text):
    with pytest.raises(InputError, match="decimal such as"):
        decimal("x", text)


@given(st.fractions(min_value=0))
def test_a_fraction_is_read_as_it_was_written(value):
    assert fraction("x", fraction_text(value)) == value


@pytest.mark.parametrize("text", ["2/4", "1/0", "01/2", "1", "1/2 ", "-1/2", "1/" + "9" * 70, 5])
def test_a_fraction_has_one_form(text):
    with pytest.raises(InputError, match="lowest terms"):
        fraction("x", text)


def test_the_canonical_form_is_read():
    content = {"b": [1, -2], "a": {"ü": None, "x": "1/2"}}
    assert canonical(content) == '{"a":{"x":"1/2","ü":null},"b":[1,-2]}'.encode()
    assert read_canonical(canonical(content)) == content


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": 1}', "form"),
        (b'{"a":1}\n', "form"),
        (b'{"b":1,"a":1}', "form"),
        (b'{"a":"\\u00fc"}', "form"),
        (b'{"a":-0}', "form"),
        (b'{"a":1,"a":1}', "form"),
        (b'{"a":NaN}', "integers"),
        (b'{"a":-Infinity}', "integers"),
        (b'{"a":1.0}', "integers"),
        (b'{"a":1e999999999}', "integers"),
        (b'{"a":' + b"9" * 5000 + b"}", "digits"),
        (b'{"a":"\\ud800"}', "unpaired surrogate"),
        (b"\xff\xfe", "UTF-8"),
        (b"\xef\xbb\xbf{}", "JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "deep"),
        (b'{"a":', "not JSON"),
        (b"", "not JSON"),
    ],
)
def test_a_hostile_file_is_refused_with_a_sentence(data, said):
    with pytest.raises(InputError, match=said) as refusal:
        read_canonical(data)
    assert str(refusal.value).endswith(".")
    assert len(str(refusal.value)) < 200


def test_sizes_are_checked_before_anything_is_made_of_the_text(monkeypatch):
    def never(*_, **__):
        raise AssertionError("the text was parsed")

    monkeypatch.setattr(json, "loads", never)
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    monkeypatch.setattr(module, "_MOST_PLACES", 100)
    for data in (b'"' + b"a" * 1000 + b'"', b"[" + b"1," * 101 + b"1]", b"[" * 101, b'{"a":' * 101):
        with pytest.raises(InputError):
            read_canonical(data)
