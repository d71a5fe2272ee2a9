"""One browser for all, and the app, served once for each module of stories."""

from collections.abc import Iterator

import pytest

from tests.browser.app_screen import APP, Visit, visits
from tests.browser.serving import one_browser, streamlit_server


@pytest.fixture(scope="session", autouse=True)
def browser() -> Iterator[None]:
    with one_browser():
        yield


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with streamlit_server(APP) as address:
        yield address


@pytest.fixture
def visit(served: str) -> Iterator[Visit]:
    with visits(served) as open_screen:
        yield open_screen
