"""A class at once, as bare clients: where each student's hand rests is heard, and the board alone answers."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.classroom import Lesson, lesson

pytestmark = pytest.mark.browser


def attended(url: str, page: str, *, sessions: int, moves: int) -> Lesson:
    """Hold a lesson beside the browser, which has the loop of its thread."""
    work = lesson(url, page, os.getpid(), sessions=sessions, moves=moves)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


def test_every_student_of_a_small_class_is_answered_at_every_move(served: str) -> None:
    seen = attended(served, "explore", sessions=4, moves=2)
    assert len(seen.took_ms) == 4 * 2
    assert min(seen.took_ms) > 0
    assert 0.5 < seen.kib < 5, "no picture is sent again"
