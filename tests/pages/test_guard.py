"""Whatever fails on a page is one plain sentence there and a traceback in the log; and no test takes it for fine."""

import ast
import importlib
import logging
import tomllib
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.util import patch_config_options

from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets.show import WENT_WRONG
from tests.pages.conftest import APP, PAGES, fine, open_page, settings_of


def fail(*_: Any, **__: Any) -> None:
    raise RuntimeError("a fault that nobody foresaw")


def break_parts_of(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every function that the page file takes from the dashboard fail, but what shows sentences and settings."""
    for line in ast.parse((APP.parent / page).read_text(encoding="utf-8")).body:
        kept = ("dpbayes.ui.widgets.show", "dpbayes.ui.session.current")
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


@pytest.mark.parametrize("page", PAGES)
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


def test_the_log_of_the_server_has_the_traceback(
    monkeypatch: pytest.MonkeyPatch, nothing_unforeseen: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.explore.explore_page", fail)
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
