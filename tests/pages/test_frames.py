"""The frames that follow the hand in the browser are what the page shows at each stop of its slider."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from dpbayes.base.text import escaped
from dpbayes.ui.widgets import frames
from dpbayes.ui.widgets.frames import PageNumbers, block_of, unescaped
from tests.conftest import IS_THOROUGH
from tests.pages.conftest import charts, components, figures, open_page, plain, put

PAGES: list[tuple[str, dict[str, str], str]] = []
"""Pages that offer frames, with what their links choose and the number of their main slider."""


MOST_BYTES = 500_000
"""The largest size of a page's frames."""


def sent(at: AppTest) -> tuple[str, dict[str, Any], np.ndarray]:
    """Return what tells the frames from others, what they are, and the numbers that they name."""
    (proto,) = components(at, "dpbayes_frames")
    start = frames.TOKEN + 4
    length = int.from_bytes(proto.bytes[frames.TOKEN : start], "little")
    shown = json.loads(proto.bytes[start : start + length])
    return proto.bytes[: frames.TOKEN].decode(), shown, np.frombuffer(proto.bytes[start + length :], "<f4")


def whole(value: Any, numbers: np.ndarray, parts: list[Any]) -> Any:
    """Return a figure with its parts and arrays in their places, gaps None."""
    if isinstance(value, dict):
        if "@" in value:
            return whole(parts[value["@"]], numbers, parts)
        if "$" in value:
            start, length = value["$"]
            return [None if number != number else float(number) for number in numbers[start : start + length]]
        return {key: whole(inner, numbers, parts) for key, inner in value.items()}
    return [whole(inner, numbers, parts) for inner in value] if isinstance(value, list) else value


def same(frame: Any, shown: Any) -> bool:
    """Whether two figures are the same, numbers in the digits that 32 bits have."""
    if isinstance(frame, dict) and isinstance(shown, dict):
        return set(frame) == set(shown) and all(same(frame[key], shown[key]) for key in frame)
    if isinstance(frame, list) and isinstance(shown, list):
        return len(frame) == len(shown) and all(map(same, frame, shown))
    if isinstance(frame, float) and isinstance(shown, float | int):
        return bool(np.isclose(frame, shown, rtol=1e-6, atol=1e-30))
    return bool(frame == shown)


@pytest.mark.usefixtures("frames_are_offered")
@pytest.mark.parametrize(("page", "query", "name"), PAGES)
def test_a_frame_is_what_the_page_shows_at_its_stop(page: str, query: dict[str, str], name: str) -> None:
    check_frames(open_page(page, **query), name)


@pytest.mark.usefixtures("frames_are_offered")
@pytest.mark.parametrize(
    ("page", "module", "name", "sentence"),
    [
        ("network", "network.errors", "epsilon", "At ε = [0-9.]+, the noise on a count has an sd of"),
    ],
)
def test_a_frame_is_what_the_page_shows_while_its_slider_moves(
    page: str, module: str, name: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes longer is added at rest: noise with the delta, errors on planned tables, the search for an epsilon."""
    monkeypatch.setattr(f"dpbayes.ui.pages.{module}.hand_moves", lambda: True)
    at = open_page(f"pages/{page}.py")
    check_frames(at, name)
    _, shown, _ = sent(at)
    assert all(re.match(sentence, frame["sentences"]["headline h2"]) for frame in shown["shown"].values())


def check_frames(at: AppTest, name: str) -> None:
    """Compare the frames with the page at their stops of the slider of the number `name`."""
    token, shown, numbers = sent(at)
    assert shown["slider"] == f"number.{name}"
    assert len(json.dumps(shown)) + numbers.nbytes < MOST_BYTES
    stops = list(shown["shown"])
    assert len(stops) > 10
    for stop in stops if IS_THOROUGH else stops[:: len(stops) // 2]:
        put(at, f"box.{name}", stop)
        frame, now = shown["shown"][stop], figures(at)
        assert {chart["frames"] for chart in charts(at)} == {token}
        for key, figure in frame["figures"].items():
            assert same(whole(figure, numbers, shown["parts"]), now[key]), (stop, key)
        texts = {plain(m.value).removeprefix("## ") for m in (*at.markdown, *at.caption)}
        assert set(frame["sentences"].values()) <= texts


@pytest.mark.usefixtures("frames_are_offered")
def test_of_a_large_picture_the_browser_is_sent_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_BYTES", 1_000)
    assert not components(open_page("pages/explore.py"), "dpbayes_frames")


@pytest.mark.usefixtures("frames_are_offered")
def test_a_page_whose_table_is_missing_has_none() -> None:
    at = open_page("pages/explore.py", data="upload")
    assert not components(at, "dpbayes_frames")


def test_the_same_numbers_are_there_once() -> None:
    arrays = PageNumbers()
    first, gaps = np.array([1.0, 0.1]), np.array([np.nan, 2.0, 1e-40])
    assert [arrays.add(first), arrays.add(gaps), arrays.add(first.copy())] == [
        {"$": (0, 2)},
        {"$": (2, 3)},
        {"$": (0, 2)},
    ]
    block = block_of({"é": arrays.add(gaps)}, arrays)
    length = int.from_bytes(block[:4], "little")
    assert length % 4 == 0
    assert json.loads(block[4 : 4 + length]) == {"é": {"$": [2, 3]}}
    expected = np.concatenate([first, gaps]).astype("<f4")
    np.testing.assert_array_equal(np.frombuffer(block[4 + length :], "<f4"), expected)


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])))
def test_a_sentence_is_read_as_its_names_are(name: str) -> None:
    assert unescaped(escaped(name)).replace("⁠", "") == " ".join(name.split()).replace("⁠", "")


def test_the_browser_counts_the_same_bytes() -> None:
    script = (Path(frames.__file__).parent / "frames.js").read_text(encoding="utf-8")
    assert f"const TOKEN = {frames.TOKEN};" in script
