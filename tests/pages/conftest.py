"""Every page opened without a browser; `tests/pages/screen.py` has what a person does and sees."""

import ctypes
import functools
import gc
import itertools
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit import config
from streamlit.elements.widgets import selectbox, text_widgets
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.runtime.state.session_state_proxy import get_session_state
from streamlit.testing.v1 import app_test, local_script_runner

from dpbayes.ui.widgets import show
from tests.pages.screen import *  # noqa: F403 - what a person does and sees
from tests.pages.screen import CAUGHT


@pytest.fixture(autouse=True, scope="session")
def streamlit_in_a_test() -> Iterator[None]:
    """AppTest compiles every page anew, waits awake, mocks, looks up and hashes what a test does not need."""
    compiled = ScriptCache.get_bytecode
    keep = functools.cache(lambda path, _changed: compiled(ScriptCache(), path))
    config.set_option("client.showErrorDetails", "full")  # a test that fails states why
    with pytest.MonkeyPatch.context() as patch:
        own_navigation(patch)
        patch.setattr(ScriptCache, "get_bytecode", lambda _, path: keep(path, os.stat(path).st_mtime_ns))
        patch.setattr(local_script_runner, "require_widgets_deltas", lambda runner, _timeout: runner.join())
        patch.setattr(app_test, "MagicMock", functools.cache(app_test.MagicMock))
        patch.setattr(script_run_context, "populate_hash_if_needed", lambda _: None)
        for module in (text_widgets, selectbox):
            patch.setattr(module, "get_session_state", lambda: SimpleNamespace(filtered_state=get_session_state()))
        yield


def own_navigation(patch: pytest.MonkeyPatch) -> None:
    """Let `app.py` state which pages there are; a folder named pages/ would make a session run page files alone."""
    build = PagesManager.__init__

    def built(self: PagesManager, *args: Any, **more: Any) -> None:
        build(self, *args, **more)
        PagesManager.uses_pages_directory = False

    patch.setattr(PagesManager, "__init__", built)


TESTS = itertools.count(1)


@pytest.fixture(autouse=True, scope="module")
def nothing_is_kept_for_the_next_module() -> Iterator[None]:
    """What pages cache would fill a worker with a third of its memory by the end."""
    yield
    st.cache_data.clear()
    st.cache_resource.clear()
    freed()


@pytest.fixture(autouse=True)
def hosted() -> Iterator[None]:
    """Forget sessions, which are circles of many megabytes, after a few tests."""
    yield
    if next(TESTS) % 8 == 0:
        freed()


def freed() -> None:
    """Collect what nothing refers to, and hand its memory back: the C library would keep a fifth of a worker's."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # not every C library has it
        trim(0)


@pytest.fixture(autouse=True)
def nothing_unforeseen() -> Iterator[list[str]]:
    """An unexpected error fails the test, although the page shows only a sentence; a test that wants it clears it."""
    CAUGHT.tracebacks.clear()
    logging.getLogger(show.__name__).addHandler(CAUGHT)
    yield CAUGHT.tracebacks
    logging.getLogger(show.__name__).removeHandler(CAUGHT)
    assert not CAUGHT.tracebacks, "\n".join(CAUGHT.tracebacks)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the server's ledger is, or will be."""
    monkeypatch.setenv("DPBAYES_LEDGER", str(tmp_path / "ledger.sqlite"))
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pages offer as files, by name; the content of a file that is made on demand is a function."""
    real, offered = st.download_button, dict[str, Any]()

    def kept(label: str, data: Any, file_name: str, *other: Any, **more: Any) -> bool:
        offered[file_name] = data
        return real(label, data, file_name, *other, **more)

    monkeypatch.setattr(st, "download_button", kept)
    return offered


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a session holds, for what is tested without a page: long work does its first step."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state
