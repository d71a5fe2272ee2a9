"""What a browser sends is untrusted: whatever arrives for whichever control, the page stays, and so do the settings."""

import functools
import json
from collections.abc import Iterable

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from tests.conftest import IS_THOROUGH
from tests.pages.conftest import components, fine, open_page, sentences, settings_of


def controls_of(at: AppTest) -> dict[str, str]:
    """Return the field in which each control of the page expects its value, by the control's id."""
    registered = at.session_state._state._state._new_widget_state.widget_metadata
    return {name: metadata.value_type for name, metadata in registered.items()}


def send(at: AppTest, states: Iterable[WidgetState]) -> AppTest:
    """Run the page as if this had come from the browser."""
    return fine(at._run(WidgetStates(widgets=states)))


@pytest.mark.parametrize(("page", "query"), [("pages/network.py", {}), ("pages/data.py", {"data": "upload"})])
def test_a_file_that_was_never_sent_is_no_file(page: str, query: dict[str, str]) -> None:
    at = open_page(page, **query)
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
        "no drawing": {"nodes": {"a": 1}, "edges": "none"},
        "an arrow to half a character": drawn("a", edges=[["a", "\ud800"]]),
        "very many arrows": drawn("a", "b", edges=[["a", "b"]] * (500_000 if IS_THOROUGH else 50_000)),
        "all arrows of 300 nodes": drawn(*many, edges=[[a, b] for a in many for b in many]),
        "names too long to keep": drawn(*("\U0001f600" * 70 + name for name in many)),
        "deep": drawn("a", edges=functools.reduce(lambda inner, _: [inner], range(900), [])),
    }


def test_what_is_no_state_of_the_editor_is_one_sentence_and_the_network_stays() -> None:
    at = open_page("pages/network.py", graph="chain:5", prior="1")
    before, said = settings_of(at), sentences(at)
    editor = next(name for name, kind in controls_of(at).items() if kind == "json_value")
    texts = {name: json.dumps({"graph": drawing}) for name, drawing in drawings().items()}
    for name, raw in texts.items():
        send(at, [WidgetState(id=editor, json_value=raw)])
        new = [sentence for sentence in sentences(at) if sentence not in said]
        assert len(new) == 1, (name, new)
        assert len(new[0]) < 200, name
        assert settings_of(at) == before, name
        assert components(at, "dpbayes_dag_editor"), name
        assert sentences(send(at, [WidgetState(id=editor, json_value="{}")])) == said, "the next state is read anew"
