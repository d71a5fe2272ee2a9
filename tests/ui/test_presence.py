"""Work of a session whose browser is gone is ended where it goes on; that of others is left alone."""

import gc
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from dpbayes.base.steps import Work
from dpbayes.ui.widgets import running
from dpbayes.ui.widgets.running import Running, check_browsers, end_when_gone


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The sessions whose browsers are there; a test looks by itself."""
    sessions = {"mine", "other"}
    monkeypatch.setattr(running, "has_server", lambda: True)
    monkeypatch.setattr(running, "has_browser", sessions.__contains__)
    monkeypatch.setattr(running, "_watch", lambda: None)
    monkeypatch.setattr(running, "_watched", {})
    return sessions


def of_session(monkeypatch: pytest.MonkeyPatch, session: str, scan: Callable[[], Work[int]]) -> Running[int]:
    monkeypatch.setattr(running, "this_run", lambda: SimpleNamespace(session_id=session))
    work = Running(scan(), restart=scan)
    next(work.steps)
    end_when_gone(work)
    return work


def scanning(ended: list[str], name: str) -> Callable[[], Work[int]]:
    def scan() -> Work[int]:
        try:
            yield 0.25
            yield 0.5
            return 1
        finally:
            ended.append(name)

    return scan


def test_a_scan_ends_at_the_second_look_at_a_browser_that_is_gone(
    here: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    mine, other = (of_session(monkeypatch, name, scanning(ended, name)) for name in ("mine", "other"))
    assert check_browsers()
    here.remove("mine")
    assert check_browsers()
    here.add("mine")  # a connection that came back
    assert check_browsers()
    here.remove("mine")
    assert check_browsers()
    assert ended == []
    assert check_browsers()
    assert ended == ["mine"]
    assert (mine.stopped, other.stopped) == (True, False)
    here.add("mine")
    mine.go_on()
    assert check_browsers()
    assert mine.going, "who comes back can begin again"
    del mine, other
    gc.collect()
    assert not check_browsers(), "there is nothing left to look after"


def test_a_step_on_its_way_is_ended_at_the_next_look(here: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    def scan() -> Work[int]:
        try:
            yield 0.1
            here.clear()
            assert all([check_browsers(), check_browsers()]), "while it is taken"
            yield 0.2
            return 1
        finally:
            ended.append("mine")

    work = of_session(monkeypatch, "mine", scan)
    next(work.steps)
    assert (ended, work.stopped) == ([], False)
    check_browsers()
    assert (ended, work.stopped) == (["mine"], True)


def test_without_a_server_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_watched", {})
    end_when_gone(Running(scanning([], "mine")()))
    assert not running._watched
