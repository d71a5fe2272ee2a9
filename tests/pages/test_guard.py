"""Whatever fails on a page is one plain sentence there and a traceback in the log; and no test takes it for fine."""

import ast
import functools
import importlib
import inspect
import json
import logging
import tomllib
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.util import patch_config_options

from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import guard
from dpbayes.ui.widgets.guard import WENT_WRONG
from tests.conftest import thorough
from tests.pages.conftest import (
    APP,
    NO_LIMIT,
    PAGES,
    fine,
    open_page,
    sentences,
    settings_of,
)

FRAGMENTS = tuple(page for page in PAGES if "\nlive(" in (APP.parent / page).read_text(encoding="utf-8"))
"""Pages of which a part runs again alone, and fails there too in a test of its own."""

WHOLE = tuple(page for page in PAGES if page not in FRAGMENTS)


def fail(*_: Any, **__: Any) -> None:
    raise RuntimeError("a fault that nobody foresaw")


def break_parts_of(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every function that the page file takes from the dashboard fail, but what shows sentences and settings."""
    for line in ast.parse((APP.parent / page).read_text(encoding="utf-8")).body:
        kept = ("dpbayes.ui.widgets.page", "dpbayes.ui.widgets.show", "dpbayes.ui.session.current")
        if isinstance(line, ast.ImportFrom) and line.module not in kept:
            module = importlib.import_module(str(line.module))
            for name in line.names:
                part = getattr(module, name.name)
                if part is Chosen:
                    monkeypatch.setattr(Chosen, "now", fail)
                elif callable(part):
                    monkeypatch.setattr(module, name.name, fail)


def is_a_sentence_with_everything_around_it(at: AppTest) -> bool:
    assert not at.exception
    assert {error.value for error in at.error} == {WENT_WRONG}
    return bool(at.title)


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    "page", thorough(PAGES, sample=[FRAGMENTS[0], *(page for page in PAGES if page not in FRAGMENTS)])
)
def test_a_page_that_fails_is_a_sentence(
    page: str, monkeypatch: pytest.MonkeyPatch, nothing_unforeseen: list[str]
) -> None:
    at = open_page(page, data_seed="7")
    with monkeypatch.context() as patch:
        break_parts_of(page, patch)
        assert is_a_sentence_with_everything_around_it(at.run())
        assert settings_of(at) == Settings(data_seed=7)
        assert 'raise RuntimeError("a fault that nobody foresaw")' in nothing_unforeseen[0]
        with pytest.raises(AssertionError, match="a fault that nobody foresaw"):
            fine(at)
    nothing_unforeseen.clear()
    assert not fine(at.run()).error


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("page", FRAGMENTS)
def test_a_fragment_that_fails_when_it_reruns_alone_is_a_sentence(
    page: str, monkeypatch: pytest.MonkeyPatch, nothing_unforeseen: list[str]
) -> None:
    at = open_page(page)
    with monkeypatch.context() as patch:
        break_parts_of(page, patch)
        at.run()
        nothing_unforeseen.clear()
        alone = functools.partial(RerunData, fragment_id_queue=list(at._fragment_storage._fragments))
        patch.setattr("streamlit.testing.v1.local_script_runner.RerunData", alone)
        patch.setattr(st, "title", fail)  # the rest of the page does not run
        at.run()
    assert not at.exception
    assert {error.value for error in at.error} == {WENT_WRONG}
    assert nothing_unforeseen
    nothing_unforeseen.clear()


def test_a_callback_of_the_graph_editor_that_fails_is_a_sentence_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, nothing_unforeseen: list[str]
) -> None:
    at = open_page("pages/network.py", graph="chain:5")
    before, editor = settings_of(at), control(at, "dag")
    drawing = {"nodes": [{"name": "a", "x": 1, "y": 1}], "edges": []}
    state = {"graph": {"rev": 1, "drawing": drawing}, "turn": "undo"}
    with monkeypatch.context() as patch:
        patch.setattr("dpbayes.ui.pages.network.editor.travel", fail)
        at._run(WidgetStates(widgets=[WidgetState(id=editor, json_value=json.dumps(state))]))
    assert not at.exception
    assert WENT_WRONG in sentences(at)
    assert settings_of(at) == before
    assert len(nothing_unforeseen) == 1
    nothing_unforeseen.clear()


def test_a_refusal_in_a_callback_is_its_sentence_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(**fields: object) -> None:
        at.session_state["settings"] = Settings(data_seed=7)
        raise InputError("There is no such seat.")

    at = open_page("pages/explore.py")
    monkeypatch.setattr("dpbayes.ui.widgets.controls.change", half)
    fine(at.segmented_control(key="segments.seat").set_value(at.segmented_control[0].options[1]).run())
    assert sentences(at) == ["There is no such seat."]
    assert settings_of(at) == Settings()


def test_the_log_of_the_server_has_the_traceback(
    monkeypatch: pytest.MonkeyPatch, nothing_unforeseen: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.explore.page.explore_page", fail)
    open_page_that_fails = pytest.raises(AssertionError)
    with open_page_that_fails, caplog.at_level(logging.ERROR):
        open_page("pages/explore.py")
    assert "a fault that nobody foresaw" in caplog.text
    assert "Traceback" in caplog.text
    nothing_unforeseen.clear()


def test_what_fails_outside_of_every_guard_shows_no_traceback_either() -> None:
    options = tomllib.loads((APP.parent / ".streamlit/config.toml").read_text(encoding="utf-8"))["client"]
    with patch_config_options({"client.showErrorDetails": options["showErrorDetails"]}):
        at = AppTest.from_string("raise ValueError('a secret of the table')").run()
    assert at.exception
    assert "secret" not in at.exception[0].message
    assert not at.exception[0].stack_trace


def control(at: AppTest, key: str) -> str:
    metadata = at.session_state._state._state._new_widget_state.widget_metadata
    return next(name for name in metadata if name.endswith(f"-{key}"))


def _sent(at: AppTest) -> tuple[object, ...]:
    """What the browser is told of epsilon's slider, and of the box of the prior: whether to move it, and where to."""
    slider, box = at.get("bidi_component")[0].proto, at.text_input(key="box.prior").proto
    data = json.loads(slider.json)
    return data["seen"], data["value"], box.set_value, box.value


def test_a_dashboard_that_can_draw_nothing_does_not_run_for_ever(
    monkeypatch: pytest.MonkeyPatch, nothing_unforeseen: list[str]
) -> None:
    sent = WidgetStates()
    sent.widgets.add(id="$$ID-of-a-control", string_value="1")
    monkeypatch.setattr("dpbayes.ui.bar.current", fail)
    at = AppTest.from_file(str(APP), default_timeout=NO_LIMIT)
    at._run(sent)
    assert not at.exception
    assert {error.value for error in at.error} == {WENT_WRONG}
    nothing_unforeseen.clear()


@pytest.mark.parametrize(
    ("pressed", "fragment"),
    [
        (["slider"], "of the page"),
        (["slider", "gone"], "of the page"),
        (["slider", "story"], ""),
        (["slider", "other"], ""),
    ],
)
def test_what_is_pressed_outside_the_part_that_reruns_is_heard_by_the_whole_page(
    pressed: list[str], fragment: str
) -> None:
    places = {"slider": "of the page", "story": None, "other": "of another page"}
    state = SimpleNamespace(
        _new_widget_state=SimpleNamespace(
            widget_metadata={name: SimpleNamespace(fragment_id=place) for name, place in places.items()}
        )
    )
    client = ClientState(fragment_id="of the page")
    client.widget_states.widgets.add(id="story", string_value="typed, not pressed")
    for name in pressed:
        client.widget_states.widgets.add(id=name, json_trigger_value="[]")
    sent: list[ClientState] = []
    session: Any = SimpleNamespace(session_state=state)
    guard._whole_page_if_needed(lambda _, client: sent.append(client))(session, client)
    assert [message.fragment_id for message in sent] == [fragment]


class Interrupted(ScriptRunner):
    """A run for which another message has come."""

    def __init__(self) -> None:
        self._execing = True

    def look(self) -> None:
        if self._execing:
            raise RerunException(RerunData())


def test_a_message_that_comes_at_the_beginning_of_a_run_leaves_the_callbacks_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = SafeSessionState(SessionState(), Interrupted().look)

    def callbacks(state: SessionState, *_: object, **__: object) -> None:
        session["settings"] = "after the move"

    monkeypatch.setattr(SessionState, "on_script_will_rerun", callbacks)
    with pytest.raises(RerunException):
        inspect.unwrap(SafeSessionState.on_script_will_rerun)(session, WidgetStates())
    assert session.filtered_state == {}, "what Streamlit does: the move is lost"
    session.on_script_will_rerun(WidgetStates())
    assert session.filtered_state == {"settings": "after the move"}
    with pytest.raises(RerunException):  # read right afterwards
        session["settings"]


@pytest.mark.parametrize(("page", "late"), [("left", True), ("next", False)])
def test_a_fragments_message_replaces_no_waiting_request_for_another_page(page: str, late: bool) -> None:
    waiting = ScriptRequests()
    waiting.request_rerun(RerunData(page_script_hash="next", query_string="epsilon=2", is_history_navigation=True))
    assert waiting.request_rerun(RerunData(page_script_hash=page, fragment_id="a part", query_string="epsilon=1"))
    data = waiting.on_scriptrunner_ready().rerun_data
    assert (data.page_script_hash, data.fragment_id_queue) == ("next", [])
    assert (data.query_string, data.is_history_navigation) == (("epsilon=2", True) if late else ("epsilon=1", False))


def test_a_fragments_message_does_not_return_to_a_page_that_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "get_script_run_ctx", lambda **_: SimpleNamespace(page_script_hash="shown"))
    requests = ScriptRequests()
    for fragment, page in (("a part of the page left", "shown"), (None, "left")):
        requests.request_rerun(RerunData(page_script_hash="left", fragment_id=fragment))
        assert requests.on_scriptrunner_ready().rerun_data.page_script_hash == page
