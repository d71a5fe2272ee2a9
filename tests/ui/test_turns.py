"""Sessions that draw a whole page take turns, and none waits for one that computes something long."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpbayes.ui.widgets.turns import Turns

LONG_S = 10.0
"""Longer than any wait of these tests, unless something hangs."""


def draw(turns: Turns, drawn: list[str], name: str, work: Callable[[], object] = lambda: None) -> None:
    with turns.turn():
        drawn.append(f"{name} begins")
        work()
        drawn.append(f"{name} ends")


def test_a_session_waits_until_the_one_before_has_drawn_its_page() -> None:
    turns, drawn = Turns(patience_s=LONG_S), list[str]()
    begun, released = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert released.wait(LONG_S)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(draw, turns, drawn, "first", work)
        assert begun.wait(LONG_S)
        second = pool.submit(draw, turns, drawn, "second")
        assert drawn == ["first begins"]
        released.set()
        first.result(LONG_S)
        second.result(LONG_S)
    assert drawn == ["first begins", "first ends", "second begins", "second ends"]


def test_a_session_that_sleeps_gives_its_turn_to_others() -> None:
    turns, drawn = Turns(patience_s=LONG_S), list[str]()

    def sleep() -> None:
        with turns.others_turn(), ThreadPoolExecutor(1) as pool:
            pool.submit(draw, turns, drawn, "second").result(LONG_S)

    draw(turns, drawn, "first", sleep)
    assert drawn == ["first begins", "second begins", "second ends", "first ends"]


def test_a_session_goes_on_without_a_turn_where_another_keeps_it_for_too_long() -> None:
    turns, drawn = Turns(patience_s=0.01), list[str]()

    def work() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(draw, turns, drawn, "second").result(LONG_S)

    draw(turns, drawn, "first", work)
    assert drawn == ["first begins", "second begins", "second ends", "first ends"]
    assert turns.semaphore._value == 1  # the second has not given back a turn that it did not have


def test_a_thread_without_a_turn_has_none_to_give_and_takes_none() -> None:
    turns = Turns(patience_s=LONG_S)
    with turns.others_turn():
        assert turns.semaphore._value == 1
    assert turns.semaphore._value == 1
    assert not turns.thread.has_turn


def test_a_page_that_fails_gives_its_turn_back() -> None:
    turns, drawn = Turns(patience_s=LONG_S), list[str]()

    def fail() -> None:
        raise RuntimeError("the page fails")

    with pytest.raises(RuntimeError):
        draw(turns, drawn, "first", fail)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(draw, turns, drawn, "second").result(LONG_S)
    assert drawn == ["first begins", "second begins", "second ends"]


def test_one_turn_is_taken_at_a_time_by_many_sessions() -> None:
    turns, drawing, most = Turns(patience_s=LONG_S), [0], [0]

    def work() -> None:
        drawing[0] += 1
        most[0] = max(most[0], drawing[0])
        with turns.others_turn():
            drawing[0] -= 1
        drawing[0] += 1
        most[0] = max(most[0], drawing[0])
        drawing[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        for page in [pool.submit(draw, turns, [], "page", work) for _ in range(64)]:
            page.result(LONG_S)
    assert most == [1]
    assert turns.taken == 2 * 64
