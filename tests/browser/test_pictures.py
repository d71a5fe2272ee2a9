"""The command that takes the pictures of the documents takes all of them, small enough to be kept."""

from pathlib import Path

import pytest

from tests.browser.pictures import PICTURES, WINDOW, take_pictures
from tests.test_docs import LARGEST_PICTURE

pytestmark = pytest.mark.browser


def test_every_picture_is_taken_in_the_size_of_the_window(served: str, tmp_path: Path) -> None:
    take_pictures(served, tmp_path)
    contents = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*.png")}
    assert set(contents) == set(PICTURES)
    sizes = {tuple(int.from_bytes(content[at : at + 4]) for at in (16, 20)) for content in contents.values()}
    assert sizes == {(WINDOW["width"], WINDOW["height"])}
    assert max(map(len, contents.values())) < LARGEST_PICTURE
