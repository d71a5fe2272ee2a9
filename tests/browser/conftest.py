"""The app, served once for each module of stories."""

from collections.abc import Iterator

import pytest

from tests.browser.app_screen import APP, Visit, visits
from tests.browser.serving import streamlit_server


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with streamlit_server(APP) as address:
        yield address


@pytest.fixture
def visit(served: str) -> Iterator[Visit]:
    with visits(served) as open_screen:
        yield open_screen
