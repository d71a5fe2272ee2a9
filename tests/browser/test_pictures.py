"""The command that takes the pictures of the documents takes all of them, small enough to be kept, and they are new."""

import pytest

from tests.browser.pictures import PICTURES, WINDOW, described, description, take_pictures
from tests.test_docs import LARGEST_PICTURE, ROOT

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def taken(served: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("pictures")
    take_pictures(served, folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.png")}


def test_every_picture_is_taken_in_the_size_of_the_window(taken: dict[str, bytes]) -> None:
    assert set(taken) == set(PICTURES)
    sizes = {tuple(int.from_bytes(content[at : at + 4]) for at in (16, 20)) for content in taken.values()}
    assert sizes == {(WINDOW["width"], WINDOW["height"])}
    assert max(map(len, taken.values())) < LARGEST_PICTURE


@pytest.mark.parametrize("file", PICTURES)
def test_no_picture_is_older_than_its_page(taken: dict[str, bytes], file: str) -> None:
    assert description((ROOT / file).read_bytes()) == description(taken[file]), "`make pictures` takes them anew"


def test_a_picture_with_other_words_is_reported(taken: dict[str, bytes]) -> None:
    picture = taken["docs/explore.png"]
    assert "Explore" in description(picture)
    assert description(described(picture[: picture.index(b"iTXt") - 4] + picture[-12:], "π of another page")) == (
        "π of another page"
    )
