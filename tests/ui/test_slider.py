"""What a browser says was moved or typed is checked before anybody reads it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.ui.session.settings import PARAMETERS
from dpbayes.ui.widgets import slider
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.slider import MOST_MOVES, MOST_TYPED, Wording, live_slider, read_move

NOTHING = (None, 0)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.text(max_size=MOST_TYPED), st.integers(1, MOST_MOVES - 1))
def test_a_text_that_can_be_typed_is_read_as_it_is(text: str, number: int) -> None:
    state = {"move": {"text": text, "number": number}}
    assert read_move(state) == (text, number)


@given(JSON)
def test_what_is_no_move_is_none(state: Any) -> None:
    assert read_move(state) == NOTHING
    assert read_move({"move": state}) == NOTHING


@given(JSON.filter(lambda value: not isinstance(value, str)))
def test_what_is_no_text_is_answered_and_changes_nothing(value: Any) -> None:
    assert read_move({"move": {"text": value, "number": 3}}) == (None, 3)


@pytest.mark.parametrize("text", ["1" * (MOST_TYPED + 1), "1" * 1_000_000, "\ud800", "1\udfff"])
def test_a_text_that_nobody_can_have_typed_changes_nothing(text: str) -> None:
    assert read_move({"move": {"text": text, "number": 3}}) == (None, 3)


@pytest.mark.parametrize("number", [0, -1, MOST_MOVES, 10**400, 1.0, float("nan"), True, "1", None, [1]])
def test_a_number_that_counts_no_move_is_none(number: object) -> None:
    assert read_move({"move": {"text": "1", "number": number}}) == ("1", 0)


def test_a_move_is_answered_even_where_its_callback_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, Any] = {"number.x": {"move": {"text": "2", "number": 7}}}
    mounted: dict[str, Any] = {}
    monkeypatch.setattr(slider.st, "session_state", session)
    monkeypatch.setattr(slider, "_mount", lambda **given: mounted.update(given))

    def fail(text: str) -> None:
        raise RuntimeError(text)

    def show() -> int:
        live_slider(Wording("X", "X"), ["1", "2"], "1", key="number.x", on_text=fail)
        return int(mounted["data"]["seen"])

    assert show() == 0
    with pytest.raises(RuntimeError, match="2"):
        mounted["on_move_change"]()
    assert show() == 7
    session["number.x"] = {"move": {"text": "2", "number": "no number"}}
    mounted["on_move_change"]()
    assert show() == 7, "what counts no move is no move"


def test_a_move_that_is_sent_again_is_not_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, Any] = {"number.x": {"move": {"text": "2", "number": 7}}}
    mounted: dict[str, Any] = {}
    texts: list[str] = []
    monkeypatch.setattr(slider.st, "session_state", session)
    monkeypatch.setattr(slider, "_mount", lambda **given: mounted.update(given))
    live_slider(Wording("X", "X"), ["1", "2"], "1", key="number.x", on_text=texts.append)
    for number in (7, 7, 8, 1):  # a browser that begins anew may count from one
        session["number.x"] = {"move": {"text": str(number), "number": number}}
        mounted["on_move_change"]()
    assert texts == ["7", "8", "1"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_the_browser_gets_of_a_number_is_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    monkeypatch.setattr(slider, "_mount", lambda **given: messages.append(json.dumps(given["data"])))
    parameter_control(name)
    assert all(len(text) < 1_500 for text in messages)
