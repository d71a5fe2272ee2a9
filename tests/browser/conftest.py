"""One browser for all, and the app and the page of the editor, each served once for all who ask for it."""

from collections.abc import Callable, Iterator

import pytest

from tests.browser import app_screen, dag_editor_screen
from tests.browser.app_screen import Visit, visits
from tests.browser.dag_editor_screen import Screen, editor_screens
from tests.browser.serving import one_browser, streamlit_server


@pytest.fixture(scope="session", autouse=True)
def browser() -> Iterator[None]:
    with one_browser():
        yield


@pytest.fixture(scope="session")
def served() -> Iterator[str]:
    with streamlit_server(app_screen.APP) as address:
        yield address


@pytest.fixture
def visit(served: str) -> Iterator[Visit]:
    with visits(served) as open_screen:
        yield open_screen


@pytest.fixture(scope="session")
def served_editor() -> Iterator[str]:
    with streamlit_server(dag_editor_screen.APP) as address:
        yield address


@pytest.fixture
def start(served_editor: str) -> Iterator[Callable[..., Screen]]:
    with editor_screens(served_editor) as open_screen:
        yield open_screen
