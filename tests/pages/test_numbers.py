"""What looks for wrong numbers on every page notices them, and leaves right ones alone."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.numbers import wrong_numbers


def page(text: str) -> None:
    import streamlit as st

    st.markdown(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It takes 2.9e+02 MB.", "an e"),
        ("At delta 1.5e-05 it holds.", "an e"),
        ("The mean is nan.", "no number"),
        ("It lies between -0 and 1.", "a zero with a sign"),
        ("It holds in 95 % of releases.", "a space in a percentage"),
        ("The error is 0.000 on average.", "zeros that say nothing"),
        ("There are 300 rows of 1 columns.", "one of many"),
        ("The sum is 0.30000000000000004.", "too long"),
    ],
)
def test_a_wrong_number_is_noticed(text: str, fault: str) -> None:
    at = AppTest.from_function(page, args=(text,)).run()
    assert wrong_numbers(at) == [f"{fault}: {text}"]


@pytest.mark.parametrize(
    "text",
    [
        "It takes 290 MB, at δ = 0.00001, of 1 record and 21 columns.",
        "It is 0.0 ± 0.3 points; 7 × 10⁻⁶; ε = 10⁻⁷; 99.9999999% of releases, from −0.5 to 0.5.",
    ],
)
def test_right_numbers_are_left_alone(text: str) -> None:
    assert wrong_numbers(AppTest.from_function(page, args=(text,)).run()) == []
