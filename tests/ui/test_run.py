"""The runs of a page that wait when another page replaces it."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType

from dpbayes.ui.session import run
from dpbayes.ui.session.run import forget_fragments


@pytest.mark.parametrize(
    ("waiting", "left"),
    [
        ([], None),
        ([RerunData(fragment_id="board")], None),
        ([RerunData(fragment_id="board"), RerunData(fragment_id="editor")], None),
        ([RerunData(page_name="lab")], "lab"),
        ([RerunData(fragment_id="board"), RerunData(page_name="lab")], "lab"),
        ([RerunData(page_name="lab"), RerunData(fragment_id="board", page_name="lab")], "lab"),
    ],
)
def test_only_messages_to_fragments_of_the_former_page_are_forgotten(monkeypatch, waiting, left: str | None) -> None:
    requests, fragments = ScriptRequests(), {"board": None}
    for request in waiting:
        requests.request_rerun(request)
    monkeypatch.setattr(run, "this_run", lambda: SimpleNamespace(script_requests=requests, fragment_storage=fragments))
    forget_fragments()
    assert not fragments
    answer = requests.on_scriptrunner_ready()
    assert (answer.rerun_data.page_name if answer.type is ScriptRequestType.RERUN else None) == left
