"""Numbers as text: a person never reads e-notation, at any magnitude, and the text says the number."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpbayes.base.text import (
    escaped,
    in_hundred,
    interval_texts,
    latex,
    letters,
    near_one,
    numeral,
    numeral_above,
    percent,
    share_text,
    shortest,
    typed,
    whole_percent,
)
from dpbayes.boards.board import distinct_texts

E_NOTATION = re.compile(r"\d(?:\.\d+)?e[-+]?\d")
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBERS = st.floats(min_value=1e-300, max_value=1e300)


def value_of(text: str) -> float:
    """Read a number as a person does."""
    mantissa, _, power = (
        text.replace(",", "").rpartition("10") if re.search("10[⁻⁰-⁹¹²³]+$", text) else (text.replace(",", ""), "", "")
    )
    if not power:
        return float(mantissa)
    sign = {"": 1.0, "-": -1.0}
    factor = sign[mantissa] if mantissa in sign else float(mantissa.removesuffix(" × "))
    return factor * 10.0 ** int(power.translate(RAISED))


@given(NUMBERS, st.integers(1, 8))
@example(0.12341, 4)
@example(0.99999, 4)
@example(8e-6, 1)
def test_what_is_at_most_so_much_is_never_rounded_down(number: float, most: int) -> None:
    text = numeral_above(number, most)
    assert number <= value_of(text) * (1 + 1e-15)
    assert value_of(text) <= number * (1 + 10.0 ** (1 - most)) * (1 + 1e-15)
    assert not E_NOTATION.search(text)


def test_at_most_nothing_and_at_most_anything() -> None:
    assert (numeral_above(0.0), numeral_above(math.inf), numeral_above(-0.0)) == ("0", "∞", "0")
    assert (numeral_above(0.12341, 4), numeral_above(0.1234, 4)) == ("0.1235", "0.1234")
    assert [numeral_above(math.exp(loss)) for loss in (0.001, 0.01, 1, 10)] == ["1.0011", "1.011", "2.72", "22,027"]


@given(st.floats(0, 1))
def test_no_share_is_rounded_to_all_or_nothing(part: float) -> None:
    for said in (whole_percent(part), share_text(part)):
        assert (said == "0%") == (100 * part == 0)
        assert (said == "100%") == (100 * part == 100)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.2, 0.45678, ("0.2", "0.457")),
        (0.00001, 0.999987, ("0.00001", "0.999987")),
        (0.45123, 0.45234, ("0.4512", "0.4523")),
        (0.5, 0.5, ("0.5", "0.5")),
        (0.0, 1.0, ("0", "1")),
    ],
)
def test_the_ends_of_a_range_differ_from_another_and_from_certainty(
    low: float, high: float, said: tuple[str, str]
) -> None:
    assert interval_texts(low, high) == said


@given(st.floats(1e-9, 1 - 1e-12), st.integers(2, 5))
@example(0.99996, 3)
def test_a_probability_is_never_rounded_to_one(probability: float, most: int) -> None:
    assert near_one(probability, most) != "1"
    assert percent(probability, most) != "100%"


WRITTEN = {
    numeral: [
        (0.000015, "0.000015"),
        (0.1, "0.1"),
        (1000, "1,000"),
        (1e-6, "10⁻⁶"),
        (1.5e-7, "1.5 × 10⁻⁷"),
        (-1e-9, "-10⁻⁹"),
        (999.6, "1,000"),
        (38824.2, "38,824"),
        (16067697, "16,067,697"),
        (2.5e12, "2.5 × 10¹²"),
        (0, "0"),
        (-0.0, "0"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (math.nan, "unknown"),
    ],
    # Two digits, or a whole number.
    # What is not quite all or nothing does not read so.
    whole_percent: [(0, "0%"), (1, "100%"), (0.9534, "95%"), (0.996, "more than 99%"), (0.002, "less than 1%")],
    share_text: [
        (0, "0%"),
        (1, "100%"),
        (0.9, "90%"),
        (0.99999, "more than 99.9%"),
        (1e-9, "less than 0.1%"),
        (0.1234, "12.3%"),
    ],
    # Rounded up.
    in_hundred: [
        (0.5, "50.0"),
        (0.23102, "23.2"),
        (0.99911, "99.92"),
        (0.99999, "99.999"),
        (1 - 1e-12, "100"),
        (0.0, "0.0"),
    ],
    # Letters for a symbol where no formula can stand.
    letters: [
        (r"\epsilon", "ε"),
        (r"\epsilon_1", "ε₁"),
        (r"\sigma^2", "σ²"),
        (r"L \rho", "L ρ"),
        (r"|\mathcal I|", "|I|"),
        ("n_1/n", "n₁/n"),
        ("2t", "2t"),
        ("", ""),
    ],
}
"""Values and their texts, by the function that writes them."""


@pytest.mark.parametrize(
    ("write", "value", "text"), [(write, *pair) for write, pairs in WRITTEN.items() for pair in pairs]
)
def test_a_value_is_written_as_a_person_writes_it(write: Callable[[Any], str], value: Any, text: str) -> None:
    assert write(value) == text


@given(NUMBERS, st.integers(1, 12))
@example(9.9999e-6, 3)
@example(999_999_999.7, 3)
@example(0.99996, 4)
def test_every_magnitude_is_said_without_e_and_to_its_digits(number: float, most: int) -> None:
    for signed in (number, -number):
        text = numeral(signed, most)
        assert not E_NOTATION.search(text)
        assert value_of(text) == pytest.approx(signed, rel=0.51 * 10.0 ** (1 - most))


@given(NUMBERS)
def test_a_formula_and_a_box_have_no_e_either(number: float) -> None:
    assert not E_NOTATION.search(latex(number))
    assert not E_NOTATION.search(typed(number))
    assert float(typed(number)) == pytest.approx(number, rel=1e-11)


def test_a_formula_writes_powers_and_separators_out() -> None:
    assert [latex(x) for x in (0.25, 38824.2, 1.5e-7, 1e-9)] == ["0.25", "38{,}824", r"1.5 \cdot 10^{-7}", "10^{-9}"]


@given(st.floats(1e-9, 1e6), st.floats(0, 1e-3))
@example(0.28, 0.004 / 0.28)
def test_two_numbers_that_differ_read_differently_or_are_called_equal(first: float, more: float) -> None:
    texts = distinct_texts(first, first * (1 + more), most=2)
    assert len(set(texts)) == 2 or more <= 1e-4
    assert not any(E_NOTATION.search(text) for text in texts)


def test_two_numbers_far_apart_have_few_digits() -> None:
    assert distinct_texts(0.098123, 0.20345, most=2) == ("0.098", "0.2")
    assert distinct_texts(0.2801, 0.2849, most=2) == ("0.28", "0.285")
    assert distinct_texts(1 / 3, 1 / 3, most=2) == ("0.33", "0.33")


@given(st.floats(-1e300, 1e300))
@example(-0.0)
@example(1e15)
@example(2.0**53)
def test_the_shortest_text_is_exactly_the_number(number: float) -> None:
    assert float(shortest(number)) == number


def test_whole_numbers_are_written_without_a_point() -> None:
    assert [shortest(x) for x in (3.0, -0.0, 0.1, 1e14, -2.5)] == ["3", "0", "0.1", "1" + "0" * 14, "-2.5"]
    assert shortest(1e15) == "1000000000000000.0", "from here on a text of digits would look like a name"


LINKED = re.compile(r"https?://\S|\bwww\.\S|[-.\w+]@[-\w]+\.\w", re.IGNORECASE)
"""What GitHub's Markdown makes links of, within text in which nothing is escaped any more."""


@pytest.mark.parametrize(
    "name",
    [
        "https://evil.example",
        "(HTTP://evil.example/?a=1)",
        "see WWW.evil.example",
        "a.b@evil.example",
        "mailto:a@b.example",
    ],
)
def test_an_address_in_a_name_is_no_link(name: str) -> None:
    assert LINKED.search(name)
    shown = escaped(name).replace("\\", "")
    assert not LINKED.search(shown)
    assert shown.replace("\u2060", "") == name, "what a person reads is the same"
