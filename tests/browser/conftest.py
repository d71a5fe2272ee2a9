"""One browser for all, and the app and the page of the editor, each served once for all who ask for it.

`make test` tells the stories of `SMOKE`, `make browser` all.
"""

from collections.abc import Callable, Iterator

import pytest

from tests.browser import app_screen, dag_editor_screen
from tests.browser.app_screen import Visit, visits
from tests.browser.dag_editor_screen import Screen, editor_screens
from tests.browser.serving import one_browser, streamlit_server

SMOKE = {
    "test_back.py::test_one_press_goes_back_to_the_setting_before",
    "test_links.py::test_a_typed_number_out_of_range_gets_a_sentence_and_the_picture_stays",
    "test_boards.py::test_all_pictures_are_saved_with_headline_and_facts",
    "test_boards.py::test_pictures_and_sentences_of_a_stop_move_together_and_the_server_hears_the_rest",
    "test_boards.py::test_the_document_works_from_disk_and_everyone_can_read_it[dark]",
    "test_class.py::test_every_student_of_a_small_class_is_answered_at_every_move",
    "test_dag_editor.py::test_an_arrow_is_drawn_by_dragging_the_handle",
    "test_dag_editor.py::test_names_are_text_whatever_they_hold",
    "test_dag_editor.py::test_undo_and_redo_cover_a_move_an_arrow_and_a_deletion",
    "test_dag_editor_keys.py::test_a_finger_drags_a_node_and_an_arrow_and_two_fingers_zoom",
    "test_dag_editor_keys.py::test_two_nodes_are_added_connected_and_deleted_by_keys_alone",
    "test_paper.py::test_a_report_prints_to_one_page_and_asks_nothing_of_anybody",
    "test_seen.py::test_a_page_can_be_read_heard_and_walked_by_everyone[explore]",
    "test_links.py::test_a_copied_link_reopens_the_same_view_in_another_browser",
    "test_own_table.py::test_an_uploaded_table_goes_all_the_way_and_its_names_stay_text",
    "test_stories.py::test_a_click_counts_while_a_board_requests_its_stops[1]",
    "test_stories.py::test_a_story_is_walked_from_home_to_its_summary[epsilon-projector]",
    "test_stories_release.py::test_a_release_is_paid_for_made_taken_away_and_checked_by_whoever_gets_the_file",
}
"""A story of each kind that only a browser can tell, and none whose kind another one shows on its way.

An uploaded table's story draws an arrow and sees the cost.
"""


def story(item: pytest.Item) -> str:
    """Return what a test is called in this folder."""
    return item.nodeid.rpartition("/")[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if story(item) in SMOKE:
            item.add_marker("smoke")


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
