"""What a browser sends is untrusted: whatever arrives for whichever control, the page stays, and so do the settings."""

import functools
import json
import math
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.testing.v1 import AppTest

from dpbayes.ui.session.settings import Cpts, Settings
from dpbayes.ui.widgets.guard import LEFT_OUT
from tests.conftest import IS_THOROUGH, crossed, thorough
from tests.pages.conftest import (
    APP,
    NO_LIMIT,
    PAGES,
    components,
    fine,
    open_page,
    press,
    sentences,
    settings_of,
)

SCENES: dict[str, dict[str, str]] = {page: {} for page in PAGES} | {
    "pages/data.py?recipient": {"seat": "recipient"},
    "pages/data.py?table": {"data": "house_votes_84"},
    "pages/data.py?upload": {"data": "upload"},
    "pages/network.py?large": {"graph": "alarm"},
    "pages/network.py?strays": {"graph": "chain:5"},
    "pages/explore.py?large": {"source": "alarm", "mechanism": "PosteriorSampler"},
    "pages/explore.py?fourier": {"mechanism": "LaplaceFourier"},
    "pages/proofs.py?one row": {"audit.subject": "Density-scored MAP, as printed (one node)"},
}
"""Pages, and settings under which they have other controls."""

SINGLE = {
    "trigger_value": (True,),
    "bool_value": (True,),
    "int_value": (7, -1, 2**62),
    "double_value": (0.5, float("nan"), float("inf")),
    "bytes_value": (b"\xff\x00",),
    "string_value": ("", "text"),
    "json_value": ("{", "null", '"text"', '{"value": 1}', "[" * 100_000),
    "json_trigger_value": ("{", "null", '{"event": "graph"}'),
}
LISTS = {
    "double_array_value": ((), (0.5, float("nan"))),
    "int_array_value": ((), (2**40, -3)),
    "string_array_value": ((), ("text",), ("", "")),
}
MESSAGES = ("arrow_value", "file_uploader_state_value", "string_trigger_value", "chat_input_value")
TEXTS = ("", "text", "\0", "1e999", "NaN", "\u202e" * 10_000)


def every_kind(name: str) -> Iterator[WidgetState]:
    """Every kind of value that a message can carry for a control, and several of each."""
    for field, values in SINGLE.items():
        yield from (WidgetState(id=name, **{field: value}) for value in values)
    for field, values in (*LISTS.items(), *((field, (None,)) for field in MESSAGES)):
        for data in values:
            state = WidgetState(id=name)
            getattr(state, field).SetInParent()
            if data:
                getattr(state, field).data.extend(data)
            yield state


def unfit(name: str, kind: str) -> Iterator[WidgetState]:
    """What no control of this kind can have sent: other kinds, and options that it has not."""
    for state in every_kind(name):
        if state.WhichOneof("value") != kind or (kind == "string_array_value" and any(state.string_array_value.data)):
            yield state


def controls_of(at: AppTest) -> dict[str, str]:
    """Return the field in which each control of the page expects its value, by the control's id."""
    registered = at.session_state._state._state._new_widget_state.widget_metadata
    return {name: metadata.value_type for name, metadata in registered.items()}


def send(at: AppTest, states: Iterable[WidgetState]) -> AppTest:
    """Run the page as if this had come from the browser."""
    return fine(at._run(WidgetStates(widgets=states)))


SAID_ONCE = thorough(SCENES, sample=list(SCENES)[::4])
"""Where a run follows that brings nothing: what comes of it is the same code on all pages."""

PRESSED = ("bool_value", "trigger_value")
"""Switches and buttons: under `thorough` first those, then these; else all at once."""


def open_scene(scene: str) -> AppTest:
    return open_page(scene.partition("?")[0], **SCENES[scene])


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(("scene", "text"), crossed(list(SCENES), TEXTS, times=1))
def test_what_no_control_can_have_sent_is_left_out_any_text_refused_and_every_button_pressed_at_once(
    scene: str, text: str
) -> None:
    at = open_scene(scene)
    before, said, controls = settings_of(at), sentences(at), controls_of(at)
    for name, kind in controls.items():
        assert len(list(unfit(name, kind))) > 20
    send(at, (state for name, kind in controls.items() for state in unfit(name, kind)))
    new = [sentence for sentence in sentences(at) if sentence not in said]
    assert new == [LEFT_OUT]
    assert settings_of(at) == before
    if scene in SAID_ONCE:
        assert sentences(fine(at.run())) == said, "it is said once"
    send(at, (WidgetState(id=name, string_value=text) for name, kind in controls.items() if kind == "string_value"))
    assert settings_of(at) == before
    assert all(len(sentence) < 400 for sentence in sentences(at))
    controls = controls_of(at)
    for fields in [{field} for field in PRESSED] if IS_THOROUGH else [set(PRESSED)]:
        send(at, (WidgetState(id=name, **{kind: True}) for name, kind in controls.items() if kind in fields))


@pytest.mark.usefixtures("first_look")
def test_what_comes_before_the_session_knows_its_controls_is_checked_too() -> None:
    controls = controls_of(open_page("pages/explore.py"))
    for pick in (0, -1):
        at = AppTest.from_file(str(APP), default_timeout=NO_LIMIT)
        at.switch_page("pages/explore.py")
        send(at, (list(unfit(name, kind))[pick] for name, kind in controls.items()))
        assert sentences(at) == [LEFT_OUT]
        assert settings_of(at) == Settings()


@pytest.mark.usefixtures("first_look")
def test_a_message_that_is_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    at = open_page("pages/data.py")
    monkeypatch.setattr("streamlit.runtime.state.session_state.get_max_widget_state_size_bytes", lambda: 100)
    name = next(name for name in controls_of(at) if name.endswith("box.records"))
    send(at, (WidgetState(id=name, string_value="2" + 200 * " "),))
    assert sentences(at) == [LEFT_OUT]
    assert settings_of(at) == Settings()


@pytest.mark.parametrize("scene", ["pages/network.py", "pages/data.py?upload"])
def test_a_file_that_was_never_sent_is_no_file(scene: str) -> None:
    at = open_page(scene.partition("?")[0], **SCENES[scene])
    before, said = settings_of(at), sentences(at)
    state = WidgetState()
    sent = {"file_id": "../../etc/passwd", "name": "\u202etable.csv", "size": 2**40}
    state.file_uploader_state_value.uploaded_file_info.add(**sent)
    names = [name for name, kind in controls_of(at).items() if kind == "file_uploader_state_value"]
    assert names
    for name in names:
        state.id = name
        send(at, [state])
    assert settings_of(at) == before
    assert sentences(at) == said


def drawn(*names: str, edges: object = ()) -> dict[str, object]:
    return {"nodes": [{"name": name, "x": 1, "y": 1} for name in names], "edges": edges}


def drawings() -> dict[str, object]:
    """Return what is no drawing, by what is wrong with it; some are large."""
    many = [f"n{i}" for i in range(300)]
    return {
        "nothing": None,
        "a number": 3,
        "no drawing": {"nodes": {"a": 1}, "edges": "none"},
        "half a character": drawn("\ud800"),
        "an arrow to half a character": drawn("a", edges=[["a", "\ud800"]]),
        "very many arrows": drawn("a", "b", edges=[["a", "b"]] * (500_000 if IS_THOROUGH else 50_000)),
        "all arrows of 300 nodes": drawn(*many, edges=[[a, b] for a in many for b in many]),
        "names too long to keep": drawn(*("\U0001f600" * 70 + name for name in many)),
        "deep": drawn("a", edges=functools.reduce(lambda inner, _: [inner], range(900), [])),
    }


UNREADABLE = (
    "",
    "{",
    '"text"',
    "[]",
    "3",
    "null",
    '{"graph": {"nodes": [',
    '{"graph": ' + "9" * 5_000 + "}",
    '{"graph": Infinity}',
    *('{"graph": ' + "[" * depth + "]" * depth + "}" for depth in (10, 440, 480, 990, 100_000)),
)


@pytest.mark.usefixtures("first_look")
def test_what_is_no_state_of_the_editor_is_one_sentence_and_the_network_stays() -> None:
    at = open_page("pages/network.py", graph="chain:5", prior="1")
    before, said = settings_of(at), sentences(at)
    editor = next(name for name, kind in controls_of(at).items() if kind == "json_value")
    texts = {name: json.dumps({"graph": drawing}) for name, drawing in drawings().items()}
    unreadable = thorough(UNREADABLE, sample=[UNREADABLE[k] for k in (1, 3, 7, 8, 11, 13)])  # one of each kind
    for name, raw in (texts | {raw[:20] + str(len(raw)): raw for raw in unreadable}).items():
        send(at, [WidgetState(id=editor, json_value=raw)])
        new = [sentence for sentence in sentences(at) if sentence not in said]
        assert len(new) == 1, (name, new)
        assert len(new[0]) < 200, name
        assert settings_of(at) == before, name
        assert components(at, "dpbayes_dag_editor"), name
        assert sentences(send(at, [WidgetState(id=editor, json_value="{}")])) == said, "the next state is read anew"


UNFIT_EDITS = (
    {"edited_rows": {"99999": {"probability": 0.5}}},
    {"edited_rows": {"-1": {"probability": 0.5}}},
    {"edited_rows": {"0": {"nobody": 0.5}}},
    {"edited_rows": {"0": {"row": "a cell that cannot be typed in"}}},
    {"edited_rows": {"0": {"probability": [1, 2]}}},
    {"edited_rows": {"0": {"probability": "\ud800"}}},
    {"edited_rows": {"0": 3}},
    {"edited_rows": {"x": {}}},
    {"edited_rows": [1, 2]},
    {"edited_rows": {}, "added_rows": [{}]},
    {"edited_rows": {}, "deleted_rows": [0]},
    {"edited_rows": {}, "deleted_rows": "all"},
    [[]],
    None,
)


def test_edits_that_a_table_cannot_have_are_left_out_and_said_once() -> None:
    at = open_page("pages/data.py")
    editor = next(name for name in controls_of(at) if "-cpts." in name)
    for edits in UNFIT_EDITS:
        send(at, [WidgetState(id=editor, string_value=json.dumps(edits))])
        assert sentences(at) == [LEFT_OUT], edits
        assert settings_of(at) == Settings()
        assert not sentences(fine(at.run()))
    press(at, "Use these probabilities")
    assert settings_of(at) == Settings(cpts=Cpts.GIVEN)
    assert not sentences(at)


def test_a_number_that_is_no_probability_is_refused_when_it_is_used() -> None:
    at = open_page("pages/data.py")
    controls = controls_of(at)
    use = next(name for name, kind in controls.items() if kind == "trigger_value" and "None" in name)
    editor = next(name for name in controls if "-cpts." in name)
    for value in ("much", math.nan, math.inf, -1, 10**400, True, None):
        edits = json.dumps({"edited_rows": {"0": {"probability": value}}})
        send(at, [WidgetState(id=editor, string_value=edits), WidgetState(id=use, trigger_value=True)])
        assert len(sentences(at)) == 1, value
        assert settings_of(at) == Settings()


ODD: tuple[object, ...] = (None, 5, math.nan, b"text", "\ud800", ["text"], {"a": 1}, object(), np.arange(3))


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(("scene", "place"), crossed(list(SCENES), range(len(ODD)), times=1))
def test_a_control_shows_what_it_can_whatever_the_session_holds_for_it(
    scene: str, place: int, nothing_unforeseen: list[str]
) -> None:
    at = open_scene(scene)
    before = settings_of(at)
    kinds = ("string_value", "string_array_value", "bool_value")
    keys = {user_key_from_element_id(name) for name, kind in controls_of(at).items() if kind in kinds}
    for key in keys - {None}:
        at.session_state[key] = ODD[place]
    at._run(WidgetStates())  # nothing comes from the browser, which would not take what AppTest makes of this
    assert not at.exception
    assert not at.error
    assert all("cannot show" in line for line in nothing_unforeseen), nothing_unforeseen
    nothing_unforeseen.clear()
    assert settings_of(at) == before
