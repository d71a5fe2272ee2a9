"""What looks for wrong numbers on every page notices them, and leaves right ones alone."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.numbers import D3_WRONG, wrong_numbers


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


def test_a_cell_is_read_as_it_is_shown() -> None:
    def table(*, styled: bool) -> None:
        import pandas as pd
        import streamlit as st

        frame = pd.DataFrame({"loss": [0.1 + 0.2]})
        st.dataframe(frame.style.format("{:.1f}") if styled else frame)

    def faults(styled: bool) -> list[str]:
        return wrong_numbers(AppTest.from_function(table, kwargs={"styled": styled}).run())

    assert faults(styled=False) == ["too long: 0.30000000000000004"]
    assert faults(styled=True) == []


@pytest.mark.parametrize(("form", "is_wrong"), [("%{y:.3f}", True), ("%{y:.2e}", True), ("%{y:,.3~r}", False)])
def test_a_format_that_may_write_a_zero_or_an_e_is_noticed(form: str, is_wrong: bool) -> None:
    assert bool(D3_WRONG.search(form)) == is_wrong
