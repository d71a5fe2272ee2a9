import math

import pytest

from dpbayes.base.text import escaped
from dpbayes.base.validation import InputError, brief, distinct_names, finite_number, whole_number

NOT_NUMBERS = [None, True, "many", "", [1], {}, 1j, object()]


def is_one_sentence(text: str) -> bool:
    return text[0].isupper() and text.endswith(".") and "\n" not in text


@pytest.mark.parametrize("check", [finite_number, whole_number])
@pytest.mark.parametrize("value", [*NOT_NUMBERS, math.nan, math.inf, -math.inf, 0, 3, 10**400])
def test_what_is_no_number_in_range_is_refused_in_one_sentence_naming_it(check, value):
    with pytest.raises(InputError, match="The width") as caught:
        check("The width", value, low=1, high=2)
    assert is_one_sentence(str(caught.value))


def test_the_ends_of_a_range_are_in_it_and_a_large_whole_number_is_not_rounded():
    assert [finite_number("x", end, low=1, high=2) for end in (1, 2)] == [1, 2]
    assert whole_number("x", 2**53 + 1, low=0, high=2**63) == 2**53 + 1


def test_a_fraction_is_not_a_whole_number():
    with pytest.raises(InputError, match=r"whole number; 1\.5 is not"):
        whole_number("x", 1.5, low=0, high=5)


@pytest.mark.parametrize("value", ["x" * 10_000, "a\nb", "<script>"])
def test_hostile_text_stays_on_one_short_line(value):
    assert len(brief(value)) <= 42
    assert "\n" not in brief(value)


@pytest.mark.parametrize("names", [["a", "a"], ["a", ""], ["  "], [3], [None], ["\ud800"]])
def test_empty_repeated_and_non_text_names_are_refused(names):
    with pytest.raises(InputError, match="node") as caught:
        distinct_names("node", names)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize("control", ["\u202e", "\u2066", "\x1b", "\x00", "\ud800"])
def test_a_quoted_or_shown_text_contains_no_control_that_changes_the_text_around_it(control: str) -> None:
    for shown in (brief(f"gpj{control}exe"), escaped(f"gpj{control}exe")):
        assert control not in shown
        assert f"u{ord(control):04x}" in shown
    assert brief("نام‌ها é 🧑‍🔬") == '"نام‌ها é 🧑‍🔬"'
