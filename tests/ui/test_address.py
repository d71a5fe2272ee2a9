"""Where the settings come from when the browser goes back, and when the address is written."""

from hashlib import sha256
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest

from dpbayes.ui.session.current import change, current, follow_address, link_problems, set_parameter
from dpbayes.ui.session.drawings import DrawnNetwork, draw, drawings, remember, revisit
from dpbayes.ui.session.graphs import MAX_CODE, Graph, code_of
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import address


class Query(dict[str, str]):
    """The query as Streamlit keeps it; counts how often it was written."""

    written = 0

    def to_dict(self) -> dict[str, str]:
        return dict(self)

    def from_dict(self, query: dict[str, str]) -> None:
        self.clear()
        self.update(query)
        self.written += 1


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A session without a browser: the query, and which page a run shows, and whether Back or Forward began it."""
    run = SimpleNamespace(query=Query(), page_script_hash="here", is_history_navigation=False, mounted=[])
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", run.query)
    monkeypatch.setattr(st, "fragment", lambda part: part)
    monkeypatch.setattr(address, "this_run", lambda: run)
    monkeypatch.setattr(address, "_mount", lambda **given: run.mounted.append(given))
    return run


def test_back_brings_the_settings_of_its_address(run: SimpleNamespace) -> None:
    run.query.update(epsilon="2", data_seed="7")
    address.begin_with_address()
    set_parameter("epsilon", 5.0)
    address.write_link()
    assert run.query == {"epsilon": "5", "data_seed": "7"}
    run.query.update(epsilon="2")
    address.begin_with_address()
    assert current().parameter("epsilon") == 5, "only Back and Forward are followed"
    run.is_history_navigation = True
    for query in ({"epsilon": "2", "data_seed": "7"}, {}):
        run.query.clear()
        run.query.update(query)
        address.begin_with_address()
        assert query_of(current()) == run.query == query


def test_a_click_in_the_navigation_keeps_the_settings(run: SimpleNamespace) -> None:
    run.query.update(epsilon="2")
    address.begin_with_address()
    run.query.clear()
    run.page_script_hash = "there"
    address.begin_with_address()
    assert run.query == {"epsilon": "2"}
    assert not run.mounted


def test_what_no_address_carries_is_kept_and_what_is_wrong_is_said(run: SimpleNamespace) -> None:
    long = code_of(Graph(tuple(sha256(bytes([number])).hexdigest() for number in range(200)), ()))
    assert len(long) > MAX_CODE
    change(graph=long, data_seed=3)
    follow_address({"epsilon": "2", "seed": "banana"})
    assert current() == Settings(graph=long).with_parameter("epsilon", 2.0)
    assert len(link_problems()) == 1
    follow_address({"graph": "chain:3"})
    assert current() == Settings(graph="chain:3")


def test_an_address_that_says_what_is_on_the_page_leaves_the_settings_the_same_object(run: SimpleNamespace) -> None:
    change(data_seed=3)
    before = current()
    follow_address(query_of(before))
    assert current() is before


@pytest.mark.parametrize("end", ["written", "another setting"])
def test_a_page_turned_to_with_other_settings_is_written_in_place_once(
    run: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    switched: list[dict[str, str]] = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: switched.append(query_params))
    run.query.update(epsilon="2")
    address.begin_with_address()
    set_parameter("epsilon", 5.0)
    address.turn_to("pages/proofs.py")
    assert switched == [{"epsilon": "2"}]
    run.page_script_hash = "there"
    address.begin_with_address()
    address.write_in_place("proofs")
    address.write_link()
    assert run.query.written == 0
    assert [(component["data"]["page"], component["data"]["query"]) for component in run.mounted] == [
        ("proofs", "epsilon=5")
    ]
    if end == "written":
        run.mounted[0]["on_written_change"]()
    else:
        change(seed=2)
    address.begin_with_address()
    address.write_in_place("proofs")
    assert len(run.mounted) == 1
    assert run.query == query_of(current())


def test_a_page_left_before_the_browser_has_written_leaves_the_next_one_its_settings(
    run: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: None)
    address.begin_with_address()
    change(seed=2)
    address.turn_to("pages/network.py")
    for page in ("there", "elsewhere"):
        run.page_script_hash = page
        run.query.clear()
        address.begin_with_address()
        address.write_in_place(page)
    assert [component["data"]["page"] for component in run.mounted] == ["there", "elsewhere"]
    assert {component["data"]["query"] for component in run.mounted} == {"seed=2"}
    assert len({component["data"]["order"] for component in run.mounted}) == 2


def test_a_story_on_its_own_page_is_a_step_like_any_other(
    run: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: None)
    address.begin_with_address()
    change(seed=2)
    address.turn_to("pages/network.py")
    address.begin_with_address()
    assert run.query == {"seed": "2"}


def test_a_first_link_that_is_written_otherwise_is_put_right_in_place(run: SimpleNamespace) -> None:
    run.query.update(epsilon="2.0", nothing="1", prior="capped:4")
    address.begin_with_address()
    address.write_in_place("explore")
    assert run.query.written == 0
    assert run.mounted[0]["data"]["query"] == "epsilon=2"


def test_back_goes_over_a_drawing_as_undo_does(run: SimpleNamespace) -> None:
    names = drawings().present.graph.names
    first = current()
    for arrow in (((names[0], names[-1]),), ((names[0], names[-2]),)):
        draw(Graph(names, arrow))
    history = drawings()
    assert len(history.line) == 3
    st.session_state["settings"] = first
    revisit()
    assert not remember()
    assert drawings().line == (DrawnNetwork(history.line[0].graph, first), *history.line[1:])
    assert drawings().place == 0
    assert drawings().rev == history.rev + 1
    revisit()
    assert drawings().rev == history.rev + 1, "what is drawn already stays as it is"


def test_a_run_that_back_began_shows_the_page_and_the_settings_of_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def script() -> None:
        import streamlit as st

        from dpbayes.ui.session.current import current, set_parameter
        from dpbayes.ui.widgets.address import begin_with_address, write_link

        begin_with_address()
        st.text(current().parameter("epsilon"))
        st.button("five", on_click=lambda: set_parameter("epsilon", 5.0))
        write_link()

    at = AppTest.from_function(script)
    at.query_params["epsilon"] = "2"
    at.run().button[0].click().run()
    assert (at.text[0].value, at.query_params["epsilon"]) == ("5.0", "5")
    at.query_params["epsilon"] = "2"
    assert at.run().text[0].value == "5.0"
    at.query_params["epsilon"] = "2"
    with monkeypatch.context() as patch:
        patch.setattr(
            "streamlit.testing.v1.local_script_runner.RerunData",
            lambda **given: RerunData(**given, is_history_navigation=True),
        )
        assert at.run().text[0].value == "2.0"
